"""The interface for reporting progress: anything with `step`; the command line draws bars from it."""

from __future__ import annotations

from typing import Protocol

from latentgram.interrupt import pause


class Progress(Protocol):
    """Receives steps of named stages."""

    def step(self, stage: str, done: int, total: int | None = None, **figures: float) -> None:
        """`done` of `total` units of `stage` are finished; `figures` are worth showing (loss, accuracy).

        Every step is a place where work can be interrupted (`interrupt.pause`).
        """


class Silent:
    """Shows nothing.

    >>> Silent().step("EM", 1, 10, loglik=-3.5)
    """

    def step(self, stage: str, done: int, total: int | None = None, **figures: float) -> None:
        """Be a place where work can be interrupted, and nothing else."""
        pause()
