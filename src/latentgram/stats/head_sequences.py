"""The modifier sequences of a dependency treebank: what a head-automata grammar is learned from (000 §2.1).

Every word h of every projective tree gives two sequences, the symbols of its left and of its right modifiers,
nearest first. They are counted by source 2·symbol(h) + direction (0 left, 1 right). Two sorts: O(W log W) for W
words.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentgram.data.dependencies import DependencyArrays
from latentgram.stats.sequences import SequenceCounts


def head_sequences(
    trees: DependencyArrays, symbols: NDArray[np.integer], n_symbols: int
) -> tuple[SequenceCounts, NDArray[np.float64]]:
    """The counted modifier sequences, and how often each symbol is the root.

    `symbols` numbers the symbol of every word, end to end like the heads.

    >>> trees = DependencyArrays.of_heads([[2, 0, 2, 2]])
    >>> counts, roots = head_sequences(trees, np.array([0, 1, 0, 0]), n_symbols=2)
    >>> source, offset, modifiers, count = counts.sequences()
    >>> source.tolist(), np.diff(offset).tolist(), count.tolist(), roots.tolist()
    ([0, 1, 2, 3], [0, 0, 1, 2], [3.0, 3.0, 1.0, 1.0], [0.0, 1.0])
    """
    n_words = len(trees.heads)
    first = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    head = first + trees.heads - 1
    is_root = trees.heads == 0
    word = np.flatnonzero(~is_root)
    group = 2 * head[word] + (word > head[word])
    order = np.lexsort((np.abs(word - head[word]), group))
    length = np.bincount(group, minlength=2 * n_words)
    source = 2 * np.repeat(symbols, 2) + np.tile([0, 1], n_words)
    counts = SequenceCounts.of_flat(
        source,
        np.concatenate([[0], np.cumsum(length)]),
        symbols[word[order]],
        np.ones(2 * n_words),
        n_sources=2 * n_symbols,
        n_symbols=n_symbols,
    )
    return counts, np.bincount(symbols[is_root], minlength=n_symbols).astype(np.float64)
