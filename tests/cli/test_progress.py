"""Rates and time left in logs and on terminals."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.progress import Progress

from latentgram.cli import console
from latentgram.cli.console import Bars, Lines, reading
from latentgram.data.text import Text


def test_a_stage_that_begins_anew_is_timed_anew(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten rounds in ten seconds, an hour of other work, then ten rounds in ten seconds again."""
    clock = iter([*range(1, 11), *range(3601, 3611)])
    monkeypatch.setattr(console.time, "monotonic", lambda: float(next(clock)))
    lines = Lines(interval=0.0)
    for _ in range(2):
        for done in range(1, 11):
            lines.step("EM", done, 10, bound=-1.5)
    shown = capsys.readouterr().err.splitlines()
    assert shown[:10] == shown[10:]
    assert shown[4] == "EM: 5 of 10  1/s  0:00:05 left  bound -1.5"
    assert shown[9] == "EM: 10 of 10  1/s  bound -1.5"


def test_bars_begin_anew_too() -> None:
    with Progress(disable=True) as drawn:
        bars = Bars(drawn)
        for done in (1, 2, 3):
            bars.step("EM", done, 3)
        (task,) = drawn.tasks
        assert task.finished
        bars.step("EM", 1, 4)
        assert (task.completed, task.total) == (1, 4)
        assert not task.finished


def test_the_reading_of_large_files_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.txt").write_text("a rose is a rose\n" * 1000)
    for least, lines in ((17_001, []), (17_000, ["reading, in MB: 17 of 17"])):
        monkeypatch.setattr(console, "LARGE", least)
        monkeypatch.setattr(console, "MEGABYTE", 1000)
        monkeypatch.setattr(console, "PIECE", 1_000_000)
        with reading([tmp_path]):
            assert len(Text.read(tmp_path)) == 1000
        assert capsys.readouterr().err.splitlines() == lines
