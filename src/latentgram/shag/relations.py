"""Counts of events in contexts, and `Relations`: the name of each arc by such counts, with back-off.

    p(relation | head, modifier, direction, distance) → (head, modifier, direction) → (modifier, direction)

each level trusted by λ = C / (C + 5 U) for C events, U of them different. The root counts as a head symbol; words
under it have p(relation | root) before the last level, so that one whose tag was never seen there is still a root.
A grammar that knows of heads only thus gives whole trees.

Counts stand in sorted flat arrays that kernels can search: building them is one sort, looking up two binary
searches. Counts add.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from operator import add
from typing import Annotated

import numpy as np

from latentgram.arrays import Floats, Integers, Ints
from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.invariants import ANY, NONNEGATIVE, holds, offsets, rising, shape, within
from latentgram.shag.kernels.lexical_backoff import TRUST

DISTANCES = np.array([1, 2, 3, 5, 8])
"""The last distance of each bucket but the last."""


@dataclass(frozen=True, eq=False)
class ContextCounts:
    """How often each event was seen in each context; both are numbers made by the caller.

    Context c holds the events `event[offset[c] : offset[c+1]]`.

    >>> counts = ContextCounts.of(np.array([7, 3, 7, 7]), np.array([1, 1, 2, 1]))
    >>> counts.context.tolist(), counts.offset.tolist(), counts.event.tolist(), counts.count.tolist()
    ([3, 7], [0, 1, 3], [1, 1, 2], [1.0, 2.0, 1.0])
    >>> (counts + counts).total.tolist(), counts.distinct.tolist()
    ([2.0, 6.0], [1, 2])
    """

    context: Annotated[Ints, shape(ANY), rising()]
    """[C] sorted."""
    offset: Annotated[Ints, shape("len(context) + 1"), offsets("event")]
    """[C+1]"""
    event: Annotated[Ints, shape(ANY), rising(rows="offset")]
    """[E] sorted within its context."""
    count: Annotated[Floats, shape("len(event)"), NONNEGATIVE]
    """[E]"""

    @classmethod
    def of(cls, context: Integers, event: Integers, count: Floats | None = None) -> ContextCounts:
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
    def total(self) -> Floats:
        """[C] events seen in each context."""
        return np.add.reduceat(self.count, self.offset[:-1]) if len(self.context) else np.zeros(0)

    @property
    def distinct(self) -> Ints:
        """[C] different events seen in each context."""
        return np.diff(self.offset)

    @property
    def context_of_event(self) -> Ints:
        """[E] the context of each event."""
        return np.repeat(self.context, self.distinct)

    def __add__(self, other: ContextCounts) -> ContextCounts:
        return ContextCounts.of(
            np.concatenate([self.context_of_event, other.context_of_event]),
            np.concatenate([self.event, other.event]),
            np.concatenate([self.count, other.count]),
        )


def _changes(*columns: Ints) -> Ints:
    """Where the rows of sorted columns begin to differ from those before."""
    return np.flatnonzero(np.any([np.diff(column, prepend=column[:1] - 1) for column in columns], axis=0))


def distance_bucket(distance: Integers) -> Ints:
    """The bucket of a distance between words.

    >>> distance_bucket(np.array([1, 2, 4, 5, 6, 30])).tolist()
    [0, 1, 3, 3, 4, 5]
    """
    return np.searchsorted(DISTANCES, distance)


def _are_named(relations: Relations) -> bool:
    """Whether all events are relations, on three levels or four."""
    ends = ((level.event.min(initial=0), level.event.max(initial=-1)) for level in relations.levels)
    named = (first >= 0 and last < len(relations.labels) for first, last in ends)
    return len(relations.levels) in (3, 4) and all(named)


@dataclass(frozen=True, eq=False)
class Relations:
    """Relation names of arcs between symbols.

    >>> relations = Relations.of(Alphabet(("det", "root")), 2, head=np.array([1, 2]), modifier=np.array([0, 1]),
    ...     signed_distance=np.array([-1, 0]), label=np.array([0, 1]))
    >>> relations.predict(np.array([1, 2]), np.array([0, 1]), np.array([-1, 0]))[0]
    ['det', 'root']
    """

    labels: Alphabet
    n_symbols: Annotated[int, within(0, 2**31)]
    levels: Annotated[tuple[ContextCounts, ...], holds(_are_named, "refers to relations without a name")]
    """From fine to coarse; files written before there was one for the root, the last but one, lack it."""

    @classmethod
    def of(
        cls,
        labels: Alphabet,
        n_symbols: int,
        *,
        head: Integers,
        modifier: Integers,
        signed_distance: Integers,
        label: Integers,
    ) -> Relations:
        """Count the arcs of a treebank; the head of a root word is `n_symbols`, its distance 0."""
        empty = cls(labels, n_symbols, ())
        contexts = empty._contexts(head, modifier, signed_distance)
        kept = [context != ABSENT for context in contexts]
        counted = (ContextCounts.of(of[used], label[used]) for of, used in zip(contexts, kept, strict=True))
        return cls(labels, n_symbols, tuple(counted))

    def renumbered(self, labels: Alphabet, symbol: Ints, n_symbols: int) -> Relations:
        """The same counts with the numbers of another alphabet of labels, and other numbers for the symbols."""
        label, head = labels.encode(self.labels), np.append(symbol, n_symbols)
        heads, buckets = self.n_symbols + 1, len(DISTANCES) + 1

        def coarse(key: Ints) -> Ints:
            return np.asarray(symbol[key // 2] * 2 + key % 2)

        def middle(key: Ints) -> Ints:
            return np.asarray(coarse(key // heads) * (n_symbols + 1) + head[key % heads])

        def fine(key: Ints) -> Ints:
            return middle(key // buckets) * buckets + key % buckets

        renamed: tuple[Callable[[Ints], Ints], ...]
        renamed = (fine, middle, coarse) if len(self.levels) == 3 else (fine, middle, np.copy, coarse)
        levels = (
            ContextCounts.of(name(counts.context_of_event), label[counts.event], counts.count)
            for name, counts in zip(renamed, self.levels, strict=True)
        )
        return Relations(labels, n_symbols, tuple(levels))

    def __add__(self, other: Relations) -> Relations:
        """The counts of both, which must be numbered alike."""
        others = [counts for level, counts in enumerate(other.levels) if len(self.levels) > 3 or level != 2]
        return replace(self, levels=tuple(map(add, self.levels, others)))

    def _contexts(self, head: Integers, modifier: Integers, signed_distance: Integers) -> tuple[Ints, ...]:
        """What each level knows an arc by; `ABSENT` where a level does not speak of it."""
        direction = (signed_distance > 0).astype(np.int64)
        coarse = modifier.astype(np.int64) * 2 + direction
        middle = coarse * (self.n_symbols + 1) + head
        fine = middle * (len(DISTANCES) + 1) + distance_bucket(np.abs(signed_distance))
        root = np.where(head == self.n_symbols, 0, ABSENT)
        return (fine, middle, coarse) if len(self.levels) == 3 else (fine, middle, root, coarse)

    def predict(self, head: Integers, modifier: Integers, signed_distance: Integers) -> tuple[list[str], Floats]:
        """The most probable relation of each arc and its probability."""
        levels = (keys.tolist() for keys in self._contexts(head, modifier, signed_distance))
        chosen = [self._choice(keys) for keys in zip(*levels, strict=True)]
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
