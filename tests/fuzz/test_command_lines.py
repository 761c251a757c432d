"""A short round of command lines drawn at random; see command_lines.py for the long one."""

from __future__ import annotations

from pathlib import Path

import typer

from fuzz import command_lines
from fuzz.processes import harmful
from latentgram.cli.main import app


def test_command_lines_end_as_they_should(tmp_path: Path) -> None:
    command_lines.prepare(tmp_path, quick=True)
    outcomes = command_lines.attempt(0, 60, tmp_path)
    assert not list(filter(harmful, outcomes))
    assert outcomes.total() == 60
    assert {"status 1", "status 2"} <= outcomes.keys()


def test_every_command_is_drawn() -> None:
    known = {path for path, _ in command_lines.leaves(typer.main.get_command(app))}
    assert {"parse", "ngram count", "train lpcfg", "train ud"} <= known
