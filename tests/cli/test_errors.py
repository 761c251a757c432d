"""Bad input: one line that names the file and the line, a non-zero status, and nothing half-written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import latentgram
from latentgram import LPCFG, Counting, Treebank

BAD_TREES = {
    "empty": (b"", "bad.mrg: there are no trees"),
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


def test_what_does_not_fit_into_memory_is_one_sentence(run: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    def filled() -> None:
        raise MemoryError("Unable to allocate 1 TiB")

    monkeypatch.setattr("latentgram.cli.main.app", filled)
    result = run("demo")
    assert (result.status, result.err) == (1, "latentgram: out of memory: Unable to allocate 1 TiB\n")


def test_usage_errors_exit_with_2(run: Callable) -> None:
    assert run("nosuch").status == 2
    assert run("train", "lpcfg", "--by", "magic", "x", "-o", "y").status == 2
    assert run("parse", "x.lg", "--n-jobs", "0").status == 2


@pytest.mark.parametrize("way", ["plain", "typer", "compiled", "import", "handler"])
def test_an_interrupt_is_one_word_wherever_it_strikes(
    run: Callable, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    def interrupted() -> None:
        try:
            raise SystemExit(130) if way == "typer" else KeyboardInterrupt
        except KeyboardInterrupt as interrupt:
            if way == "plain":
                raise
            if way == "handler":
                raise ValueError("met on the way out")  # noqa: B904
            if way == "compiled":
                raise SystemError("returned a result with an exception set") from interrupt
            try:
                raise SystemError("returned a result with an exception set") from interrupt
            except SystemError as error:
                raise ImportError("cannot be imported") from error

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
    assert "malformed trees skipped: 1" in result.err
    assert "read 300 sentences" in result.err


@pytest.fixture(scope="module")
def grammar(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "m.lg"
    latentgram.save(
        latentgram.Parser(latentgram.fit(LPCFG, Treebank.read(corpus / "train.mrg"), by=Counting())), path
    )
    return path


ROW = b"1\t%b\t_\tX\tNN\t_\t%b\t_\t_\t_\n\n"


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.txt", b"the cat sleeps .\nthe \xe9 sleeps .\nit sleeps .\n", 2),
        ("a.tsv", b"it\tPRP\n\n\xe9\tNN\n\nyou\tPRP\n", 3),
        ("a.conllu", ROW % (b"it", b"0") + ROW % (b"\xe9", b"0") + ROW % (b"you", b"0"), 3),
        ("a.mrg", b"(S (NN a))\n(S\n (NN \xe9))\n(S (NN b))\n", 2),
    ],
)
def test_what_is_not_utf8_is_left_out_when_asked(
    run: Callable, grammar: Path, tmp_path: Path, name: str, text: bytes, line: int
) -> None:
    (tmp_path / name).write_bytes(text)
    refused = run("parse", grammar, tmp_path / name)
    assert refused.status == 1
    assert "is not UTF-8" in refused.err
    assert refused.err.count("\n") == 1
    assert f"{name}:{line + (name == 'a.mrg')}:" in refused.err
    result = run("parse", grammar, tmp_path / name, "--skip-bad")
    assert result.status == 0
    assert result.out.count("\n") == 2
    assert f"malformed sentences skipped: 1, the first: {tmp_path / name}:{line}:" in result.err.replace("\n", "")


def test_heads_in_the_input_of_a_parser_are_not_looked_at(run: Callable, grammar: Path, tmp_path: Path) -> None:
    rows = b"".join(ROW[:-1].replace(b"1", b"%d" % (i + 1), 1) % (b"it", b"0") for i in range(2)) + b"\n"
    (tmp_path / "two-roots.conllu").write_bytes(rows + ROW % (b"it", b"_") + ROW % (b"it", b"7"))
    result = run("parse", grammar, tmp_path / "two-roots.conllu")
    assert result.status == 0, result.err
    assert result.out.count("\n") == 3


def test_bench_measures_and_refuses_what_has_no_speed(run: Callable, grammar: Path, corpus: Path) -> None:
    result = run("bench", grammar, corpus / "test.mrg", "--repeats", 1, "--json")
    found = json.loads(result.out)
    assert found["sentences"] == 20
    assert 0 < found["low"] <= found["sentences_per_second"] <= found["high"]
    assert found["words_per_second"] == pytest.approx(found["sentences_per_second"] * found["words"] / 20)
    assert "sentences per second" in run("bench", grammar, corpus / "test.mrg", "--repeats", 1).out
    (corpus / "none.txt").write_text("\n")
    assert "no sentences" in run("bench", grammar, corpus / "none.txt").err


def test_nothing_to_judge_by(
    run: Callable, grammar: Path, corpus: Path, dependencies: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty.mrg"
    empty.write_text("", "utf-8")
    for command in (("eval", grammar, empty), ("calibrate", grammar, empty, "-o", tmp_path / "c.lg")):
        result = run(*command)
        assert result.status == 1
        assert "there are no" in result.err
    assert not (tmp_path / "c.lg").exists()
    gold, other = tmp_path / "gold.mrg", tmp_path / "other.mrg"
    gold.write_text("(S (NP (N Cats)) (VP (V sleep)))\n", "utf-8")
    other.write_text("(S (NP (N Dogs)) (VP (V bark)))\n", "utf-8")
    result = run("eval", gold, other)
    assert result.status == 1
    assert "no sentence of the output has the same words as its gold tree" in result.err
    held = {
        empty: "there are no held-out trees",
        dependencies / "dev.conllu": "held-out trees must be constituency",
    }
    for dev, message in held.items():
        output = tmp_path / "m.lg"
        result = run("train", "lpcfg", corpus / "train.mrg", "--by", "em", "--dev", dev, "-o", output)
        assert result.status == 1
        assert f"{dev}: {message}" in result.err.replace("\n", "")
        assert not output.exists()


def test_tags_that_a_grammar_does_not_know_are_counted(run: Callable, grammar: Path, tmp_path: Path) -> None:
    given = tmp_path / "given.tsv"
    given.write_text("The\tQQ\ndog\tWW\n\n", "utf-8")
    result = run("parse", grammar, given, "--format", "tagged")
    assert result.status == 0
    assert "tags the grammar does not know, tagged by the parser: 2" in result.err
