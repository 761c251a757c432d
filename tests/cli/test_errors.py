"""Bad input: one line that names the file and the line, a non-zero status, and nothing half-written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

BAD_TREES = {
    "empty": (b"", "no trees"),
    "truncated": (b"(S (NP (NN a)", "1:1: the tree that begins here is never closed"),
    "encoding": (b"(S (NN a))\n(S (NN \xff\xfe))\n", "2:8"),
    "unbalanced": (b"(S (NN a)))\n", "1:11"),
    "text": (b"hello\n", "1:1"),
    "mixed": (b"(S (NN a) b)\n", "1:"),
}


@pytest.mark.parametrize("name", BAD_TREES)
def test_bad_trees(run: Callable, tmp_path: Path, name: str) -> None:
    content, place = BAD_TREES[name]
    (tmp_path / "bad.mrg").write_bytes(content)
    result = run("train", "lpcfg", tmp_path / "bad.mrg", "-o", tmp_path / "model.lg")
    assert result.status == 1
    message = result.err.splitlines()[-1]
    assert message.startswith("latentgram: ")
    assert place in message
    assert os.listdir(tmp_path) == ["bad.mrg"]


def test_a_missing_file_is_named(run: Callable, tmp_path: Path) -> None:
    result = run("train", "lpcfg", tmp_path / "nowhere.mrg", "-o", tmp_path / "m.lg")
    assert result.status == 1
    assert "nowhere.mrg" in result.err


def test_a_treebank_of_the_wrong_kind(run: Callable, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text("1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n\n")
    result = run("train", "lpcfg", tmp_path / "a.conllu", "-o", tmp_path / "m.lg")
    assert result.status == 1
    assert "constituency" in result.err


def test_a_wrong_kind_is_told_before_a_tagger_is_trained(run: Callable, corpus: Path, tmp_path: Path) -> None:
    result = run("train", "shag", corpus / "test.mrg", "-o", tmp_path / "m.lg")
    assert result.status == 1
    assert "a dependency treebank is needed" in result.err
    assert "learning" not in result.err


def test_settings_out_of_range_and_without_meaning(run: Callable, corpus: Path, tmp_path: Path) -> None:
    result = run("train", "lpcfg", corpus / "train.mrg", "--vertical", "0", "-o", tmp_path / "m.lg")
    assert result.status == 1
    assert "vertical must be at least 1" in result.err
    assert not (tmp_path / "m.lg").exists()


def test_a_file_that_is_no_model(run: Callable, corpus: Path) -> None:
    result = run("parse", corpus / "train.mrg", given="a b\n")
    assert result.status == 1
    assert "not a latentgram model file" in result.err


def test_usage_errors_exit_with_2(run: Callable) -> None:
    assert run("nosuch").status == 2
    assert run("train", "lpcfg", "--by", "magic", "x", "-o", "y").status == 2
    assert run("parse", "x.lg", "--n-jobs", "0").status == 2


def test_an_interrupt_within_compiled_code_is_an_interrupt(run: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr("latentgram.cli.main.app", interrupted)
    result = run("demo")
    assert (result.status, result.err) == (130, "latentgram: interrupted\n")


def test_the_program_starts_and_reports_by_itself() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "latentgram", "info", "nowhere.lg"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("latentgram: nowhere.lg")
    assert done.stdout == ""


def test_faulty_trees_are_left_out_when_asked_and_counted(run: Callable, corpus: Path, tmp_path: Path) -> None:
    good = (corpus / "train.mrg").read_text("utf-8")
    (tmp_path / "some.mrg").write_text(f"(S (NN a) b)\n{good}", "utf-8")
    assert run("train", "lpcfg", tmp_path / "some.mrg", "-o", tmp_path / "m.lg").status == 1
    result = run("train", "lpcfg", tmp_path / "some.mrg", "--skip-bad", "-o", tmp_path / "m.lg")
    assert result.status == 0
    assert "left out faulty trees: 1" in result.err
    assert "read 300 sentences" in result.err
