"""Limits on the cost of a sentence: how much of its chart is evaluated (`Pruning`), and for how long (`Deadline`).

Kernels run to their end. So those that can take seconds process a range of their outermost loop per call, and
between two calls the deadline and signals are checked.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from latentgram.errors import SettingError
from latentgram.interrupt import pause
from latentgram.kinds.fields import MOST_STATES

if TYPE_CHECKING:
    from latentgram.lpcfg.kernels.chart import SpanMasks

PRECISIONS = ("float32", "float64")
_THRESHOLDS = ("floor", "beam", "coarse_threshold", "coarse_edge_threshold", "threshold", "member_threshold")


class _None:
    """`Pruning.none`, for a class as for one of its objects."""

    def __get__(self, pruning: Pruning | None, kind: type[Pruning]) -> Callable[[], Pruning]:
        def none() -> Pruning:
            """No pruning at all; with all else as it is, or, asked of the class, in double precision."""
            base = kind(precision="float64") if pruning is None else pruning
            return dataclasses.replace(
                base,
                floor=0.0,
                beam=0.0,
                coarse_threshold=0.0,
                coarse_edge_threshold=0.0,
                threshold=0.0,
                member_threshold=0.0,
            )

        return none


@dataclass(frozen=True)
class Pruning:
    """Thresholds of coarse-to-fine parsing, as posteriors; the argument `pruning` of `Parser`.

    `Pruning.none()` prunes nothing and is exact; called on an object, it keeps the settings that are not
    thresholds.

    >>> Pruning.none().precision, Pruning(precision="float32").none().floor
    ('float64', 0.0)
    """

    none = _None()

    floor: float = 3e-5
    """Least estimated posterior of an item while the coarse chart grows."""
    beam: float = 3e-4
    """The same, relative to the best item over the same words."""
    unseen_rigour: float = 10.0
    """How much more is asked, while the chart grows, of items that come about by unseen rules only."""
    coarse_threshold: float = 3e-4
    """Least posterior of an item under the one-state projection of the grammar."""
    coarse_edge_threshold: float = 1e-4
    """Least posterior of two neighbouring items becoming one, under the same."""
    threshold: float = 1e-3
    """Least size of the posterior of an edge under the small latent grammar."""
    small_states: int = 4
    """States of the small latent grammar."""
    precision: str = "float32"
    """Of the charts of latent grammars."""
    member_threshold: float = 0.0
    """Least geometric mean of the posteriors of an edge under the grammars of an ensemble that were asked before,
    where cells may stay closed."""

    def __post_init__(self) -> None:
        for name in _THRESHOLDS:
            _check(name, getattr(self, name), lambda value: 0 <= value <= 1, "a number from 0 to 1")
        _check("unseen_rigour", self.unseen_rigour, lambda value: 0 < value < math.inf, "a number above 0")
        _check(
            "small_states",
            self.small_states,
            lambda value: 1 <= value == value // 1 < math.inf,
            "a whole number from 1 on",
        )
        if self.precision not in PRECISIONS:
            raise SettingError(f"Pruning.precision must be one of {', '.join(PRECISIONS)}, got {self.precision!r}")

    @classmethod
    def two_stage(cls, threshold: float = 5e-5) -> Pruning:
        """Prune as in Cohen et al. 2013 (§4): items below this posterior under the one-state projection are
        removed, and the full grammar evaluates all others."""
        return cls(
            floor=0.0,
            beam=0.0,
            coarse_threshold=threshold,
            coarse_edge_threshold=0.0,
            threshold=0.0,
            small_states=MOST_STATES,
        )

    @property
    def exact(self) -> bool:
        """Whether nothing is pruned.

        >>> Pruning.none().exact, Pruning().exact, Pruning.two_stage().exact
        (True, False, False)
        """
        return all(getattr(self, name) == 0.0 for name in _THRESHOLDS)

    @property
    def cuts(self) -> bool:
        """Whether items are pruned while the coarse chart is filled."""
        return self.floor > 0.0 or self.beam > 0.0

    def tightened(self) -> Pruning:
        """Thresholds for very long sentences: ten times as high while the coarse chart is filled."""
        return dataclasses.replace(
            self, floor=min(max(10 * self.floor, _TIGHT[0]), 1.0), beam=min(max(10 * self.beam, _TIGHT[1]), 1.0)
        )

    def loosened(self) -> Pruning:
        """Thresholds for sentences left without a tree: only the beam while the chart is filled, so that no cell
        is empty, and other thresholds a hundred times lower."""
        return dataclasses.replace(
            self,
            floor=0.0,
            coarse_threshold=self.coarse_threshold / 100,
            coarse_edge_threshold=self.coarse_edge_threshold / 100,
            threshold=self.threshold / 100,
            member_threshold=self.member_threshold / 100,
        )


_TIGHT = 3e-4, 3e-3
"""The least floor and the least beam of tighter pruning, also where nothing is cut otherwise."""


def _check(name: str, value: object, holds: Callable[[float], bool], wanted: str) -> None:
    """Raise if a value is not a number, or not in its range."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not holds(value):
        raise SettingError(f"Pruning.{name} must be {wanted}, got {value!r}")


class OutOfTime(Exception):
    """A sentence has had its time."""


@dataclass(frozen=True)
class Deadline:
    """The moment, on the clock of `time.monotonic`, after which no more work is begun.

    >>> Deadline.after(None).passed, PASSED.passed
    (False, True)
    """

    until: float = math.inf

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """So many seconds from now; None is no limit."""
        return NO_LIMIT if seconds is None else cls(time.monotonic() + seconds)

    @property
    def limited(self) -> bool:
        """Whether there is one."""
        return self.until < math.inf

    @property
    def passed(self) -> bool:
        """Whether it is over; a signal is obeyed here, too."""
        pause()
        return self.limited and time.monotonic() > self.until

    def check(self) -> None:
        """Raise `OutOfTime` where it is."""
        if self.passed:
            raise OutOfTime

    def parts(self, first: int, end: int, size: int) -> Iterator[tuple[int, int]]:
        """The ranges of a long loop, with a check before each.

        >>> list(Deadline().parts(2, 7, 2))
        [(2, 4), (4, 6), (6, 7)]
        """
        for begin in range(first, end, size):
            self.check()
            yield begin, min(begin + size, end)


class Attempt(NamedTuple):
    """How the chart of a sentence, or of a part `anywhere` in one, is to be filled."""

    pruning: Pruning
    closed: bool
    """Whether cells may stay closed."""
    anywhere: bool
    masks: SpanMasks | None
    deadline: Deadline
    double: bool = False
    """Whether numbers are in double precision, whatever the precision of the others."""


NO_LIMIT, PASSED = Deadline(), Deadline(-math.inf)


def checked_limit(seconds: object) -> float | None:
    """A limit in seconds, or none; anything else raises.

    >>> checked_limit(2)
    2.0
    """
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise SettingError(f"the time limit of a sentence must be a number of seconds above 0, got {seconds!r}")
    return float(seconds)
