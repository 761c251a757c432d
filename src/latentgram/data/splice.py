"""The two ways to change the structure of a forest: take nodes out, and put chains of nodes in.

In preorder both are sums: if c[v] nodes come out for each node v, and C is the running sum of c, then what comes
out of the subtree at v is C[v + size[v]] - C[v]. O(nodes), without a loop.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT
from latentgram.data.forest import Forest


def keep_nodes(forest: Forest, keep: NDArray[np.bool_]) -> Forest:
    """Only these nodes; the children of a node that goes become its parent's.

    Each tree must keep one root; a tree that keeps nothing is left out.
    """
    before = _running_sum(keep)
    here = np.flatnonzero(keep)
    size = before[here + forest.size[here]] - before[here]
    return Forest(
        forest.labels,
        forest.words,
        forest.label[keep],
        size.astype(np.int32),
        forest.word[keep],
        np.unique(before[forest.start]),
    )


def stretch_nodes(forest: Forest, times: NDArray[np.integer]) -> tuple[Forest, NDArray[np.int64]]:
    """Each node v as a unary chain of `times[v]` ≥ 1 nodes with its label, and the place of each in its chain."""
    before = _running_sum(times)
    source = np.repeat(np.arange(len(times)), times)
    step = np.arange(len(source)) - before[source]
    size = before[source + forest.size[source]] - before[source] - step
    word = np.where(step == np.asarray(times)[source] - 1, forest.word[source], ABSENT)
    stretched = Forest(
        forest.labels,
        forest.words,
        forest.label[source],
        size.astype(np.int32),
        word.astype(np.int32),
        before[forest.start],
    )
    return stretched, step


def _running_sum(counts: NDArray[np.generic]) -> NDArray[np.int64]:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))
