"""How long work tells how far it is: anything with `step`; the command line draws bars from it."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives steps of named stages."""

    def step(self, stage: str, done: int, total: int | None = None, **figures: float) -> None:
        """`done` of `total` units of `stage` are finished; `figures` are worth showing (loss, accuracy)."""


class Silent:
    """Shows nothing.

    >>> Silent().step("EM", 1, 10, loglik=-3.5)
    """

    def step(self, stage: str, done: int, total: int | None = None, **figures: float) -> None:
        """Do nothing."""
