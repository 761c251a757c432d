"""`--cluster` on the command line."""

from __future__ import annotations

import gzip
import lzma
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import latentgram as lg
from latentgram.cli.main import main
from latentgram.parallel import Cluster

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["latentgram", *map(str, arguments)])
        status = 0
        try:
            main()
        except SystemExit as stop:
            status = int(stop.code or 0)
        return status, *capsys.readouterr()

    return call


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    lg.demo_treebank(120, seed=0).write(folder / "train.mrg")
    lg.demo_treebank(100, seed=1).write(folder / "test.mrg")
    lg.save(lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(120, seed=0), by=lg.Counting())), folder / "parser.lg")
    return folder


def test_train_parse_and_eval(run: Callable[..., Any], processes: Any, cluster: Cluster, folder: Path) -> None:
    there = ("--cluster", processes.address)
    trained = []
    for options in ((), there):
        status, _, err = run("train", "lpcfg", folder / "train.mrg", "-o", folder / "grammar.lg", *options)
        assert status == 0, err
        trained.append(lg.load(folder / "grammar.lg").model.rule_tensor.tobytes())
    assert trained[0] == trained[1]
    for command in (
        ("parse", folder / "parser.lg", folder / "test.mrg"),
        ("eval", folder / "parser.lg", folder / "test.mrg"),
    ):
        here = run(*command)[:2]
        assert run(*command, *there)[:2] == here


def test_a_folder_of_compressed_shards(
    run: Callable[..., Any], processes: Any, cluster: Cluster, tmp_path: Path
) -> None:
    words = [" ".join(sentence.words) + "\n" for sentence in lg.demo_treebank(100, seed=1).sentences()]
    shards = tmp_path / "shards"
    shards.mkdir()
    for name, open_file, part in (("a.gz", gzip.open, words[:40]), ("b.xz", lzma.open, words[40:])):
        with open_file(shards / name, "wt", encoding="utf-8") as out:
            out.writelines(part)
    (tmp_path / "text").write_text("".join(words))
    there = ("--cluster", processes.address)
    command = ("ngram", "count", "--order", 4, "--cutoff", 2, "-o")
    cases = (("here.tsv", "text", ()), ("shards.tsv", "shards", ()), ("there.tsv", "shards", there))
    for name, source, options in cases:
        assert run(*command, tmp_path / name, tmp_path / source, *options)[0] == 0
    assert len({(tmp_path / name).read_bytes() for name, _, _ in cases}) == 1
    models = []
    for options in ((), there):
        learned = run("train", "hmm", shards, "--states", 3, "--iterations", 2, "-o", tmp_path / "h.lg", *options)
        assert learned[0] == 0, learned[2]
        models.append(lg.load(tmp_path / "h.lg").emit_prob.tobytes())
    assert models[0] == models[1]
    status, _, err = run(
        *command, tmp_path / "none.tsv", tmp_path / "text", "--n-jobs", 2, "--dictionary", tmp_path / "text"
    )
    assert status == 1
    assert "--dictionary needs the whole text in one process" in err
    assert not (tmp_path / "none.tsv").exists()


def test_a_cluster_that_vanishes_leaves_what_was_parsed(
    run: Callable[..., Any], start: Callable[..., Any], folder: Path, tmp_path: Path
) -> None:
    own = start(workers=1)
    words = [" ".join(sentence.words) for sentence in lg.demo_treebank(100, seed=1).sentences()] * 40
    (tmp_path / "many.txt").write_text("\n".join(words) + "\n")
    output, part = tmp_path / "many.mrg", tmp_path / "many.mrg.part"
    arguments = ["parse", "--tokenised", folder / "parser.lg", tmp_path / "many.txt", "-o", output]
    process = subprocess.Popen(
        [sys.executable, "-m", "latentgram", *map(str, arguments), "--cluster", own.address],
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        text=True,
    )
    while process.poll() is None and not (part.exists() and part.stat().st_size):
        time.sleep(0.01)
    own.scheduler.kill()
    started = time.monotonic()
    _, complaint = process.communicate(timeout=60)
    assert time.monotonic() - started < 10
    assert process.returncode == 1
    told = [line for line in complaint.splitlines() if not line.startswith("parsing")]
    assert len(told) == 1
    assert told[0].startswith(f"latentgram: the cluster at {own.address} has disappeared; finished work is kept")
    assert told[0].endswith("--resume continues after them")
    assert not output.exists()
    done = part.read_text().count("\n")
    assert 0 < done < len(words)
    assert run(*arguments, "--resume")[0] == 0
    parser = lg.load(folder / "parser.lg")
    assert output.read_text() == "".join(f"{parse.tree}\n" for parse in parser.parse_many(words[:100])) * 40


def test_bad_options(run: Callable[..., Any], folder: Path) -> None:
    parse = ("parse", folder / "parser.lg", folder / "test.mrg", "--cluster")
    assert run(*parse, "tcp://127.0.0.1:1", "--n-jobs", "2") == (
        1, "", "latentgram: use either --n-jobs or --cluster: a cluster has its own number of workers\n"
    )  # fmt: skip
    status, out, err = run(*parse, "127.0.0.1:8786")
    assert (status, out) == (1, "")
    assert err == "latentgram: the address of a cluster is like tcp://10.0.0.1:8786, got '127.0.0.1:8786'\n"


def test_workers_of_another_version_are_told_of(
    run: Callable[..., Any], start: Callable[..., Any], folder: Path, tmp_path: Path
) -> None:
    """A worker whose latentgram is another one, and a worker that has none."""
    (tmp_path / "latentgram").mkdir()
    for content, told in (
        ("__version__ = '0.0.1'", "has latentgram 0.0.1 in place of "),
        ("raise ImportError", "has no latentgram: install "),
    ):
        (tmp_path / "latentgram" / "__init__.py").write_text(content)
        own = start(workers=1, path=tmp_path)
        status, _, err = run("parse", folder / "parser.lg", folder / "test.mrg", "--cluster", own.address)
        own.close()
        assert status == 1
        assert told in err.replace("\n", " ")
