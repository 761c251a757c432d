"""What commands print besides their output: messages and progress, on standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as RichBars
from rich.text import Text

from latentgram.data.files import expand, metered
from latentgram.interrupt import pause
from latentgram.progress import Progress, Silent

console = Console(stderr=True, highlight=False, soft_wrap=True)
"""Standard error."""

Item = TypeVar("Item")

MEGABYTE = 1_000_000
LARGE, PIECE = 10 * MEGABYTE, 4 * MEGABYTE
"""From what size on the reading of files is shown, and how often."""


def say(message: str) -> None:
    """A line on standard error."""
    console.print(message, markup=False)


def _shown(figures: dict[str, float]) -> str:
    return "  ".join(f"{name} {value:.4g}" for name, value in figures.items())


def _rate(speed: float) -> str:
    return f"{speed:,.0f}/s" if speed >= 10 else f"{speed:.2g}/s"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


class _Rate(ProgressColumn):
    """Units per second, on the average of the last ones."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(_rate(speed) if speed else "")


class Bars:
    """Progress as bars on a terminal."""

    def __init__(self, bars: RichBars) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}
        self._done: dict[str, int] = {}

    def step(self, stage: str, done: int, total: int | None = None, **figures: float) -> None:
        """Move the bar of a stage."""
        pause()
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=total, figures="")
        task = self._tasks[stage]
        if done < self._done.get(stage, 0):
            self._bars.reset(task)  # the stage begins again, and its time with it
        self._done[stage] = done
        self._bars.update(task, completed=done, total=total, figures=_shown(figures))


class Lines:
    """Progress as plain lines in a log, with rate and time left: the last one, and one every few seconds."""

    def __init__(self, interval: float = 5.0) -> None:
        self._interval = interval
        self._first: dict[str, tuple[float, int]] = {}
        self._last: dict[str, float] = {}
        self._done: dict[str, int] = {}

    def step(self, stage: str, done: int, total: int | None = None, **figures: float) -> None:
        """Print a line if the last one of this stage is old enough."""
        pause()
        now = time.monotonic()
        if done < self._done.get(stage, 0):
            del self._first[stage]  # the stage begins again, and its time with it
        self._done[stage] = done
        since, before = self._first.setdefault(stage, (now, done))
        if done != total and now - self._last.get(stage, now - self._interval) < self._interval:
            return
        self._last[stage] = now
        pace = ""
        if done > before and now > since:
            speed = (done - before) / (now - since)
            pace = f"  {_rate(speed)}"
            if total and done < total:
                pace += f"  {_clock((total - done) / speed)} left"
        say(f"{stage}: {done}{f' of {total}' if total else ''}{pace}  {_shown(figures)}".rstrip())


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
        _Rate(),
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
            pause()
            yield item
            if done % 100 == 0:
                shown.step(stage, done, total)
        if console.is_terminal or done >= 100:
            shown.step(stage, done, done)


@contextmanager
def reading(files: Iterable[str | os.PathLike[str]]) -> Iterator[Progress]:
    """Show how much of some files is read while the block runs; small files in silence. Gives what shows it."""
    names = [name for name in expand(files) if os.path.isfile(name)]
    if sum(map(os.path.getsize, names)) < LARGE:
        yield Silent()
        return
    with progress() as shown:
        before = 0

        def tell(done: int, total: int) -> None:
            nonlocal before
            done = min(done, total)  # some files are looked into first
            if done - before >= PIECE or before < done == total:
                before = done
                shown.step("reading, in MB", done // MEGABYTE, total // MEGABYTE)

        with metered(names, tell):
            yield shown


def ensure_input(files: Sized | None) -> None:
    """Say that standard input is awaited, where no files are named, when nobody may have noticed."""
    if not files and sys.stdin.isatty():
        say("reading standard input; end it with Ctrl-D")
