"""Commands are run in this process, through the same `main` that the shell calls.

Typer reads the options of all commands at each call, which takes longer than most commands: here it does so once.
"""

from __future__ import annotations

import functools
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer

from latentgram.cli.main import main
from latentgram.data.demo import demo_dependencies, demo_treebank

typer.main.get_command = functools.cache(typer.main.get_command)


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run a command line; `given` is its standard input."""

    def call(*arguments: object, given: str = "") -> Outcome:
        monkeypatch.setattr(sys, "argv", ["latentgram", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8"))
        status = 0
        try:
            main()
        except SystemExit as stop:
            status = int(stop.code or 0)
        seen = capsys.readouterr()
        return Outcome(status, seen.out, seen.err)

    return call


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with small demo treebanks."""
    folder = tmp_path_factory.mktemp("corpus")
    demo_treebank(300, 0).write(folder / "train.mrg")
    demo_treebank(20, 1).write(folder / "test.mrg")
    return folder


@pytest.fixture(scope="session")
def dependencies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small dependency treebank in three parts, as under LATENTGRAM_DATA."""
    folder = tmp_path_factory.mktemp("data") / "dependency" / "demo"
    folder.mkdir(parents=True)
    for seed, (part, size) in enumerate((("train", 200), ("dev", 30), ("test", 30))):
        demo_dependencies(size, seed).write(folder / f"{part}.conllu")
    return folder
