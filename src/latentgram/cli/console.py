"""What commands say besides their output: messages and progress, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as RichBars

console = Console(stderr=True, highlight=False, soft_wrap=True)
"""Standard error."""

Item = TypeVar("Item")


def say(message: str) -> None:
    """A line on standard error."""
    console.print(message, markup=False)


def _shown(figures: dict[str, float]) -> str:
    return "  ".join(f"{name} {value:.4g}" for name, value in figures.items())


class Bars:
    """Progress as bars on a terminal."""

    def __init__(self, bars: RichBars) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def step(self, stage: str, done: int, total: int | None = None, **figures: float) -> None:
        """Move the bar of a stage."""
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=total, figures="")
        self._bars.update(self._tasks[stage], completed=done, total=total, figures=_shown(figures))


class Lines:
    """Progress as plain lines in a log: the first, the last, and one every few seconds of a stage."""

    def __init__(self, interval: float = 5.0) -> None:
        self._interval = interval
        self._last: dict[str, float] = {}

    def step(self, stage: str, done: int, total: int | None = None, **figures: float) -> None:
        """Print a line if the last one of this stage is old enough."""
        now = time.monotonic()
        if done != total and now - self._last.get(stage, now - self._interval) < self._interval:
            return
        self._last[stage] = now
        say(f"{stage}: {done}{f' of {total}' if total else ''}  {_shown(figures)}".rstrip())


@contextmanager
def progress() -> Iterator[Bars | Lines]:
    """Bars on a terminal, lines elsewhere."""
    if not console.is_terminal:
        yield Lines()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[figures]}"),
    )
    with RichBars(*columns, console=console, transient=True) as bars:
        yield Bars(bars)


def counted(items: Iterable[Item], stage: str, total: int | None = None) -> Iterator[Item]:
    """Pass items through while showing how many there were, every hundred."""
    with progress() as shown:
        done = 0
        for done, item in enumerate(items, 1):
            yield item
            if done % 100 == 0:
                shown.step(stage, done, total)
        if console.is_terminal or done >= 100:
            shown.step(stage, done, done)


def ensure_input(given: int) -> None:
    """Say that standard input is awaited when nobody may have noticed."""
    if given == 0 and sys.stdin.isatty():
        say("reading standard input; end it with Ctrl-D")
