"""`Relations`: the name of each arc, by counts with back-off (so that a head-only grammar gives whole trees).

    p(relation | head, modifier, direction, distance) → (head, modifier, direction) → (modifier, direction)

each level trusted by λ = C / (C + 5 U) for C events, U of them different. The root counts as a head symbol.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.dp.lexical_backoff import TRUST
from latentgram.stats.context_counts import ContextCounts

DISTANCES = np.array([1, 2, 3, 5, 8])
"""The last distance of each bucket but the last."""


def distance_bucket(distance: NDArray[np.integer]) -> NDArray[np.int64]:
    """The bucket of a distance between words.

    >>> distance_bucket(np.array([1, 2, 4, 5, 6, 30])).tolist()
    [0, 1, 3, 3, 4, 5]
    """
    return np.searchsorted(DISTANCES, distance)


@dataclass(frozen=True, eq=False)
class Relations:
    """Relation names of arcs between symbols.

    >>> relations = Relations.of(Alphabet(("det", "root")), 2, head=np.array([1, 2]), modifier=np.array([0, 1]),
    ...     signed_distance=np.array([-1, 0]), label=np.array([0, 1]))
    >>> relations.predict(np.array([1, 2]), np.array([0, 1]), np.array([-1, 0]))[0]
    ['det', 'root']
    """

    labels: Alphabet
    n_symbols: int
    levels: tuple[ContextCounts, ...]
    """From fine to coarse."""

    @classmethod
    def of(
        cls,
        labels: Alphabet,
        n_symbols: int,
        *,
        head: NDArray[np.integer],
        modifier: NDArray[np.integer],
        signed_distance: NDArray[np.integer],
        label: NDArray[np.integer],
    ) -> Relations:
        """Count the arcs of a treebank; the head of a root word is `n_symbols`, its distance 0."""
        empty = cls(labels, n_symbols, ())
        contexts = empty._contexts(head, modifier, signed_distance)
        return cls(labels, n_symbols, tuple(ContextCounts.of(context, label) for context in contexts))

    def _contexts(
        self, head: NDArray[np.integer], modifier: NDArray[np.integer], signed_distance: NDArray[np.integer]
    ) -> tuple[NDArray[np.int64], ...]:
        direction = (signed_distance > 0).astype(np.int64)
        coarse = modifier.astype(np.int64) * 2 + direction
        middle = coarse * (self.n_symbols + 1) + head
        fine = middle * (len(DISTANCES) + 1) + distance_bucket(np.abs(signed_distance))
        return fine, middle, coarse

    def predict(
        self, head: NDArray[np.integer], modifier: NDArray[np.integer], signed_distance: NDArray[np.integer]
    ) -> tuple[list[str], NDArray[np.float64]]:
        """The most probable relation of each arc and its probability."""
        fine, middle, coarse = (keys.tolist() for keys in self._contexts(head, modifier, signed_distance))
        chosen = [self._choice(keys) for keys in zip(fine, middle, coarse, strict=True)]
        return [self.labels[label] for label, _ in chosen], np.array([share for _, share in chosen])

    @cached_property
    def _remembered(self) -> dict[int, tuple[int, float]]:
        return {}

    def _choice(self, keys: tuple[int, ...]) -> tuple[int, float]:
        """The best label for the contexts of an arc, fine to coarse; the fine one names the others."""
        if keys[0] not in self._remembered:
            shares = np.full(len(self.labels), 1.0 / max(len(self.labels), 1))
            for counts, key in zip(reversed(self.levels), reversed(keys), strict=True):
                place = int(np.searchsorted(counts.context, key))
                if place == len(counts.context) or counts.context[place] != key:
                    continue
                span = slice(int(counts.offset[place]), int(counts.offset[place + 1]))
                total = float(counts.count[span].sum())
                trust = total / (total + TRUST * (span.stop - span.start))
                shares *= 1.0 - trust
                shares[counts.event[span]] += trust * counts.count[span] / total
            best = int(np.argmax(shares))
            self._remembered[keys[0]] = (best, float(shares[best]))
        return self._remembered[keys[0]]

    def summary(self) -> str:
        """One phrase about the size."""
        return f"{len(self.labels)} relations"
