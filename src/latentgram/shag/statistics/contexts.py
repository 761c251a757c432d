"""Counts of events in contexts, as sorted flat arrays that kernels can search.

Context c holds the events `event[offset[c] : offset[c+1]]`, sorted, with their counts. Both contexts and events
are numbers made by the caller. Building is one sort; looking up is two binary searches. Counts add.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ContextCounts:
    """How often each event was seen in each context.

    >>> counts = ContextCounts.of(np.array([7, 3, 7, 7]), np.array([1, 1, 2, 1]))
    >>> counts.context.tolist(), counts.offset.tolist(), counts.event.tolist(), counts.count.tolist()
    ([3, 7], [0, 1, 3], [1, 1, 2], [1.0, 2.0, 1.0])
    >>> (counts + counts).total.tolist(), counts.distinct.tolist()
    ([2.0, 6.0], [1, 2])
    """

    context: Ints
    """[C] sorted."""
    offset: Ints
    """[C+1]"""
    event: Ints
    """[E] sorted within its context."""
    count: NDArray[np.float64]
    """[E]"""

    @classmethod
    def of(
        cls, context: NDArray[np.integer], event: NDArray[np.integer], count: NDArray[np.float64] | None = None
    ) -> ContextCounts:
        """Count pairs of a context and an event."""
        order = np.lexsort((event, context))
        sorted_context: Ints = context[order].astype(np.int64)
        sorted_event: Ints = event[order].astype(np.int64)
        weight = np.ones(len(order)) if count is None else count[order]
        first = _changes(sorted_context, sorted_event)
        contexts = sorted_context[first]
        begin = _changes(contexts)
        return cls(
            contexts[begin],
            np.append(begin, len(contexts)),
            sorted_event[first],
            np.add.reduceat(weight, first) if len(first) else np.zeros(0),
        )

    @property
    def total(self) -> NDArray[np.float64]:
        """[C] events seen in each context."""
        return np.add.reduceat(self.count, self.offset[:-1]) if len(self.context) else np.zeros(0)

    @property
    def distinct(self) -> Ints:
        """[C] different events seen in each context."""
        return np.diff(self.offset)

    def __add__(self, other: ContextCounts) -> ContextCounts:
        return ContextCounts.of(
            np.concatenate([np.repeat(self.context, self.distinct), np.repeat(other.context, other.distinct)]),
            np.concatenate([self.event, other.event]),
            np.concatenate([self.count, other.count]),
        )


def _changes(*columns: Ints) -> Ints:
    """Where the rows of sorted columns begin to differ from those before."""
    if not len(columns[0]):
        return np.zeros(0, np.int64)
    new = np.zeros(len(columns[0]), bool)
    new[0] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)
