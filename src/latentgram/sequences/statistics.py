"""Counts of symbol sequences by source, kept as a trie: one node for each distinct prefix of each source.

A head-automata grammar sees a treebank only through the sequences x₁ … x_T that each source (a head symbol and a
direction) generates head-outwards (Luque et al. 2012, §2.1). All that any learner here needs is a sum over
distinct prefixes: substring statistics of every length (Eqs. 6, 7 and longer), the forward–backward passes of EM,
and forward vectors. A trie holds each prefix once, so one pass over its nodes serves as a pass over the data.

Building it is a sort for each level of depth: O(S log S) for S symbols. Tries add.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from latentgram.arrays import Floats, Integers, Ints, Ints32
from latentgram.data.invariants import ANY, NONNEGATIVE, below, earlier, shape, within

NO_PARENT = -1
LARGEST_KEY = 1 << 62
"""Keys of strings, times the number of sources, stay below."""


@dataclass(frozen=True, eq=False)
class SequenceCounts:
    """Sequences over symbols 0 … `n_symbols`−1 from sources 0 … `n_sources`−1, with their counts.

    Nodes are numbered by depth, then source and prefix; node s < `n_sources` is the empty prefix of source s.

    >>> counts = SequenceCounts.of([0, 0, 1], [[1, 0], [1], []], n_sources=2, n_symbols=2)
    >>> counts.parent.tolist(), counts.symbol.tolist(), counts.stops.tolist()
    ([-1, -1, 0, 2], [-1, -1, 1, 0], [0.0, 1.0, 1.0, 1.0])
    >>> counts.passes.tolist()
    [2.0, 1.0, 2.0, 1.0]
    >>> (counts + counts).total(0)
    4.0
    """

    n_sources: Annotated[int, within(0, 2**31)]
    n_symbols: Annotated[int, within(0, 2**31)]
    parent: Annotated[Ints32, shape(ANY), earlier("n_sources")]
    """[V] the prefix without its last symbol; −1 for empty prefixes."""
    symbol: Annotated[Ints32, shape("len(parent)"), below("n_symbols", or_none=True)]
    """[V] the last symbol of the prefix; −1 for empty prefixes."""
    stops: Annotated[Floats, shape("len(parent)"), NONNEGATIVE]
    """[V] how many sequences are equal to the prefix."""

    @classmethod
    def of(
        cls, sources: list[int], sequences: list[list[int]], *, n_sources: int, n_symbols: int
    ) -> SequenceCounts:
        """Count given sequences."""
        lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int64)
        offset = np.concatenate([[0], np.cumsum(lengths)])
        flat = np.array([symbol for sequence in sequences for symbol in sequence], dtype=np.int32)
        counts = np.ones(len(sources))
        return cls.of_flat(np.array(sources), offset, flat, counts, n_sources=n_sources, n_symbols=n_symbols)

    @classmethod
    def of_flat(
        cls,
        source: Integers,
        offset: Integers,
        symbols: Integers,
        count: Floats,
        *,
        n_sources: int,
        n_symbols: int,
    ) -> SequenceCounts:
        """Count sequences laid end to end: sequence q is symbols[offset[q] : offset[q+1]], seen count[q] times."""
        node = source.astype(np.int64)
        begin, length = offset[:-1], np.diff(offset)
        parents = [np.full(n_sources, NO_PARENT, dtype=np.int32)]
        last = [np.full(n_sources, NO_PARENT, dtype=np.int32)]
        stops = [np.bincount(node[length == 0], count[length == 0], n_sources)]
        n_nodes, depth = n_sources, 0
        open_ = np.flatnonzero(length > 0)
        while len(open_):
            keys, place = np.unique(node[open_] * n_symbols + symbols[begin[open_] + depth], return_inverse=True)
            parents.append((keys // n_symbols).astype(np.int32))
            last.append((keys % n_symbols).astype(np.int32))
            depth += 1
            ends = length[open_] == depth
            stops.append(np.bincount(place[ends], count[open_[ends]], len(keys)))
            node[open_] = n_nodes + place
            n_nodes += len(keys)
            open_ = open_[~ends]
        return cls(n_sources, n_symbols, np.concatenate(parents), np.concatenate(last), np.concatenate(stops))

    @cached_property
    def level(self) -> Ints:
        """[D+1] where each depth begins."""
        starts = [0, self.n_sources]
        while starts[-1] < len(self.parent):
            starts.append(int(np.searchsorted(self.parent, starts[-1])))
        return np.array(starts)

    @cached_property
    def passes(self) -> Floats:
        """[V] how many sequences begin with the prefix."""
        passes = self.stops.copy()
        for begin, end in reversed(list(zip(self.level[1:-1], self.level[2:], strict=True))):
            np.add.at(passes, self.parent[begin:end], passes[begin:end])
        return passes

    @cached_property
    def source(self) -> Ints32:
        """[V] the source of every prefix."""
        source = np.arange(len(self.parent), dtype=np.int32)
        for begin, end in zip(self.level[1:-1], self.level[2:], strict=True):
            source[begin:end] = source[self.parent[begin:end]]
        return source

    @cached_property
    def step(self) -> tuple[Ints, Ints]:
        """The distinct pairs source · symbols + symbol, sorted, and the place of each prefix's last pair there."""
        pair = self.source.astype(np.int64) * self.n_symbols + self.symbol
        pairs, place = np.unique(pair[self.n_sources :], return_inverse=True)
        return pairs, np.concatenate([np.full(self.n_sources, NO_PARENT), place])

    def total(self, source: int) -> float:
        """The number of sequences of a source."""
        return float(self.passes[source])

    def sequences(self) -> tuple[Ints32, Ints, Ints32, Floats]:
        """The distinct sequences laid end to end: source, offset, symbols, count."""
        ends = np.flatnonzero(self.stops > 0)
        depth = np.searchsorted(self.level, ends, side="right") - 1
        offset = np.concatenate([[0], np.cumsum(depth)])
        symbols = np.empty(offset[-1], dtype=np.int32)
        node, place = ends.copy(), offset[1:] - 1
        while len(node):
            inner = self.parent[node] != NO_PARENT
            node, place = node[inner], place[inner]
            symbols[place] = self.symbol[node]
            node, place = self.parent[node], place - 1
        return self.source[ends], offset, symbols, self.stops[ends]

    def only(self, sources: Integers) -> SequenceCounts:
        """The counts of some sources, given in order, which are numbered from 0 then.

        >>> counts = SequenceCounts.of([0, 1, 2], [[1], [0, 1], [0]], n_sources=3, n_symbols=2)
        >>> counts.only(np.array([1, 2])).parent.tolist()
        [-1, -1, 0, 1, 2]
        """
        wanted = np.zeros(self.n_sources, bool)
        wanted[sources] = True
        node = np.flatnonzero(wanted[self.source])
        place = np.full(len(self.parent) + 1, NO_PARENT, np.int32)
        place[node] = np.arange(len(node))
        return SequenceCounts(
            len(sources), self.n_symbols, place[self.parent[node]], self.symbol[node], self.stops[node]
        )

    def renumbered(self, source: Integers, symbol: Integers, *, n_sources: int, n_symbols: int) -> SequenceCounts:
        """The same counts with other numbers, and more of them, for the sources and the symbols."""
        sources, offset, symbols, count = self.sequences()
        return SequenceCounts.of_flat(
            source[sources], offset, symbol[symbols], count, n_sources=n_sources, n_symbols=n_symbols
        )

    def __add__(self, other: SequenceCounts) -> SequenceCounts:
        """The counts of both; the sources and symbols must be numbered alike."""
        if (self.n_sources, self.n_symbols) != (other.n_sources, other.n_symbols):
            raise ValueError("counts can be added only over the same sources and symbols")
        parts = [self.sequences(), other.sequences()]
        shift = parts[0][1][-1]
        return SequenceCounts.of_flat(
            np.concatenate([parts[0][0], parts[1][0]]),
            np.concatenate([parts[0][1], parts[1][1][1:] + shift]),
            np.concatenate([parts[0][2], parts[1][2]]),
            np.concatenate([parts[0][3], parts[1][3]]),
            n_sources=self.n_sources,
            n_symbols=self.n_symbols,
        )


def ancestors(prefixes: SequenceCounts, longest: int) -> list[tuple[Ints, Ints, Ints]]:
    """For m = 0 … longest: the nodes of depth ≥ m, their m-th ancestors, and the keys of the strings between.

    The key of a string is a number in base `n_symbols`. Where one digit more could pass 64 bits, keys are first
    replaced by their ranks, of which there are no more than prefixes.
    """
    base = max(prefixes.n_symbols, 1)
    node = np.arange(len(prefixes.parent))
    above, key, unit = node, np.zeros(len(node), np.int64), 1
    ancestors = [(node, above, key)]
    for _ in range(longest):
        inner = prefixes.parent[above] >= 0
        node, above, key = node[inner], above[inner], key[inner]
        if unit > LARGEST_KEY // (base * prefixes.n_sources):
            distinct, key = np.unique(key, return_inverse=True)
            unit = len(distinct)
        key = key + unit * prefixes.symbol[above].astype(np.int64)
        above = prefixes.parent[above].astype(np.int64)
        unit *= base
        ancestors.append((node, above, key))
    return ancestors
