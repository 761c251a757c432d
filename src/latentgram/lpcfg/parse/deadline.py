"""`Deadline`: how long a sentence may take, and the places in long work where that, and signals, are looked at.

Kernels run to their end. So those that can take seconds do a range of their outermost loop per call, and between
two calls is a place to stop.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

from latentgram.errors import SettingError
from latentgram.interrupt import pause


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
