"""The modifier sequences of a dependency treebank: what a head-automata grammar is learned from (000 §2.1).

Every word h of every projective tree gives two sequences, the symbols of its left and of its right modifiers,
nearest first. They are counted by source 2·symbol(h) + direction (0 left, 1 right). Two sorts: O(W log W) for W
words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latentgram.data.dependencies import DependencyArrays
from latentgram.sequences.statistics import SequenceCounts


@dataclass(frozen=True, eq=False)
class Modifiers:
    """All arcs but those from the root, grouped by head and direction, nearest first; words are numbered from 0.

    Group 2·h + d holds the modifiers of word h in direction d (0 left, 1 right).

    >>> found = Modifiers.of(DependencyArrays.of_heads([[3, 3, 0, 3]]))
    >>> found.word.tolist(), found.group.tolist(), found.length.tolist(), found.root.tolist()
    ([1, 0, 3], [4, 4, 5], [0, 0, 0, 0, 2, 1, 0, 0], [2])
    """

    word: NDArray[np.int64]
    group: NDArray[np.int64]
    length: NDArray[np.int64]
    """[2W] how many modifiers each group has."""
    root: NDArray[np.int64]
    """[sentences] the root words."""

    @classmethod
    def of(cls, trees: DependencyArrays) -> Modifiers:
        """Sort the arcs of projective trees."""
        first = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
        head = first + trees.heads - 1
        word = np.flatnonzero(trees.heads != 0)
        group = 2 * head[word] + (word > head[word])
        order = np.lexsort((np.abs(word - head[word]), group))
        length = np.bincount(group, minlength=2 * len(trees.heads))
        return cls(word[order], group[order], length, np.flatnonzero(trees.heads == 0))

    @property
    def head(self) -> NDArray[np.int64]:
        """The head of every modifier."""
        return self.group // 2

    @property
    def direction(self) -> NDArray[np.int64]:
        """The direction of every modifier: 0 left, 1 right of its head."""
        return self.group % 2

    @property
    def offset(self) -> NDArray[np.int64]:
        """[2W+1] where each group begins."""
        return np.concatenate([[0], np.cumsum(self.length)])


def head_sequences(
    modifiers: Modifiers, symbols: NDArray[np.integer], n_symbols: int
) -> tuple[SequenceCounts, NDArray[np.float64]]:
    """The counted modifier sequences, and how often each symbol is the root.

    `symbols` numbers the symbol of every word, end to end like the heads.

    >>> modifiers = Modifiers.of(DependencyArrays.of_heads([[2, 0, 2, 2]]))
    >>> counts, roots = head_sequences(modifiers, np.array([0, 1, 0, 0]), n_symbols=2)
    >>> source, offset, symbols, count = counts.sequences()
    >>> source.tolist(), np.diff(offset).tolist(), count.tolist(), roots.tolist()
    ([0, 1, 2, 3], [0, 0, 1, 2], [3.0, 3.0, 1.0, 1.0], [0.0, 1.0])
    """
    counts = SequenceCounts.of_flat(
        2 * np.repeat(symbols, 2) + np.tile([0, 1], len(symbols)),
        modifiers.offset,
        symbols[modifiers.word],
        np.ones(len(modifiers.length)),
        n_sources=2 * n_symbols,
        n_symbols=n_symbols,
    )
    return counts, np.bincount(symbols[modifiers.root], minlength=n_symbols).astype(np.float64)
