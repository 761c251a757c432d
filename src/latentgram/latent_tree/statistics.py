"""What a latent tree is learned from: nodes, arcs, and triples of neighbouring nodes (Dhillon et al. 2012, §3.2).

`Nodes` is a treebank as symbols with valency (symbols.py), the input of EM. Spectral learning uses its counts
(`TreeCounts`):

- `symbol`, `root`: how often each symbol is a node, and a root;
- `pairs[d]`: (child, parent), d = 0 for left children and 1 for right ones;
- `siblings`: (left child, parent, right child), all pairs of children of every node;
- `lines[d]`: (child, parent, grandparent), where d is the side of the child.

Each is a `Tally`, so statistics can be added. O(number of triples · log).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from latentgram.arrays import Flags, Floats, Ints
from latentgram.data.dependencies import DependencyArrays, DependencyTree
from latentgram.data.dependency_symbols import WordSymbols
from latentgram.data.treebank import Treebank
from latentgram.latent_tree.symbols import TreeSymbols
from latentgram.shag.statistics import Modifiers

SHARD = 512
"""Trees counted at a time."""
LARGEST = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Nodes:
    """A dependency treebank: heads and node symbols, end to end."""

    trees: DependencyArrays
    symbols: TreeSymbols
    symbol: Ints

    @classmethod
    def of(cls, trees: Iterable[DependencyTree], kind: str | WordSymbols, valency: int) -> Nodes:
        """Number the nodes of trees; `kind`, or a rule, says what words become."""
        bank = trees if isinstance(trees, Treebank) else Treebank.of(trees)
        sentences = bank.sentences()
        symbols = TreeSymbols(WordSymbols.of(sentences, kind), valency)
        return cls(bank.arrays, symbols, symbols.of_nodes(symbols.of_words(sentences), above_of(bank.arrays)))

    @property
    def unigram(self) -> Floats:
        """Relative frequencies of the symbols, with one more node over words × valencies as if independent."""
        counts = np.bincount(self.symbol, minlength=len(self.symbols)).reshape(-1, self.symbols.cells)
        words, cells = ((counts.sum(axis) + 1.0) / (counts.sum() + counts.shape[1 - axis]) for axis in (1, 0))
        smoothed = counts + np.outer(words, cells)
        return np.asarray((smoothed / smoothed.sum()).ravel())

    def select(self, wanted: Flags) -> Nodes:
        """The trees that are wanted."""
        lengths = np.diff(self.trees.offsets)
        held = np.repeat(wanted, lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths[wanted])])
        return Nodes(DependencyArrays(self.trees.heads[held], offsets), self.symbols, self.symbol[held])

    def shards(self) -> Iterator[Nodes]:
        """Parts with a fixed number of trees."""
        for first in range(0, len(self.trees), SHARD):
            bounds = self.trees.offsets[first : first + SHARD + 1]
            held = slice(bounds[0], bounds[-1])
            trees = DependencyArrays(self.trees.heads[held], bounds - bounds[0])
            yield Nodes(trees, self.symbols, self.symbol[held])


@dataclass(frozen=True, eq=False)
class Tally:
    """Tuples of symbols, each once, in order, with their counts.

    >>> some = Tally.of(np.array([[2, 1], [0, 1], [2, 1]]))
    >>> both = some + some
    >>> both.tuples.tolist(), both.count.tolist(), both.total
    ([[0, 1], [2, 1]], [2.0, 4.0], 6.0)
    """

    tuples: Ints
    count: Floats

    @classmethod
    def of(cls, tuples: Ints, count: Floats | None = None) -> Tally:
        """Count the rows of an array."""
        count = np.ones(len(tuples)) if count is None else count
        if not len(tuples):
            return cls(tuples.astype(np.int64), count)
        key = np.zeros(len(tuples), np.int64)
        for column in tuples.T:
            width = int(column.max()) + 1
            if int(key.max()) >= LARGEST // width:
                key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            key = key * width + column
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        return cls(tuples[first].astype(np.int64), np.bincount(place, count).astype(np.float64))

    @property
    def total(self) -> float:
        """How many were counted."""
        return float(self.count.sum())

    def __add__(self, other: Tally) -> Tally:
        return Tally.of(np.concatenate([self.tuples, other.tuples]), np.concatenate([self.count, other.count]))


@dataclass(frozen=True, eq=False)
class TreeCounts:
    """The statistics of a treebank; see the module."""

    symbol: Floats
    root: Floats
    pairs: tuple[Tally, Tally]
    siblings: Tally
    lines: tuple[Tally, Tally]

    @classmethod
    def of(cls, trees: DependencyArrays, symbol: Ints, n_symbols: int) -> TreeCounts:
        """Count trees whose nodes have these symbols, end to end.

        >>> trees = DependencyArrays.of_heads([[2, 0, 2, 3]])
        >>> counts = TreeCounts.of(trees, np.array([5, 6, 7, 8]), 9)
        >>> counts.siblings.tuples.tolist(), counts.lines[1].tuples.tolist(), counts.pairs[0].tuples.tolist()
        ([[5, 6, 7]], [[8, 7, 6]], [[5, 6]])
        """
        arcs = Modifiers.of(trees)
        above = above_of(trees)
        side = arcs.direction
        pairs = np.stack([symbol[arcs.word], symbol[arcs.head]], 1)
        inner = above[arcs.head] >= 0
        lines = np.column_stack([pairs[inner], symbol[above[arcs.head[inner]]]])
        # Every right child meets all the left children of its parent.
        right = np.flatnonzero(side == 1)
        mates = arcs.length[2 * arcs.head[right]]
        step = np.arange(int(mates.sum())) - np.repeat(np.cumsum(mates) - mates, mates)
        left = np.repeat(arcs.offset[2 * arcs.head[right]], mates) + step
        met = np.repeat(right, mates)
        siblings = np.column_stack([pairs[left, 0], pairs[met, 1], pairs[met, 0]])
        return cls(
            np.bincount(symbol, minlength=n_symbols).astype(np.float64),
            np.bincount(symbol[arcs.root], minlength=n_symbols).astype(np.float64),
            (Tally.of(pairs[side == 0]), Tally.of(pairs[side == 1])),
            Tally.of(siblings),
            (Tally.of(lines[side[inner] == 0]), Tally.of(lines[side[inner] == 1])),
        )

    def __add__(self, other: TreeCounts) -> TreeCounts:
        return TreeCounts(
            self.symbol + other.symbol,
            self.root + other.root,
            (self.pairs[0] + other.pairs[0], self.pairs[1] + other.pairs[1]),
            self.siblings + other.siblings,
            (self.lines[0] + other.lines[0], self.lines[1] + other.lines[1]),
        )


def above_of(trees: DependencyArrays) -> Ints:
    """The number of the node above every node, end to end; −1 for roots.

    >>> above_of(DependencyArrays.of_heads([[2, 0], [0, 1]])).tolist()
    [1, -1, -1, 2]
    """
    first = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    return np.where(trees.heads == 0, -1, first + trees.heads - 1)
