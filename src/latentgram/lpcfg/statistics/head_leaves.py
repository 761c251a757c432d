"""The head leaf of every node of a binarised forest, found on the trees before they were made binary.

Nodes that binarisation put in (`@X`) have the head of the X they belong to if it is below them, else the head of
their child that is a node of the treebank.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentgram.data.binarisation import Binarisation, Symbol, strip_root
from latentgram.data.forest import Forest
from latentgram.data.heads import HeadRules
from latentgram.data.kernels.heads import head_words
from latentgram.lpcfg.statistics.derivations import Derivations

Ints = NDArray[np.int64]


def head_leaves(
    forest: Forest, binary: Forest, derivations: Derivations, rules: HeadRules, binarisation: Binarisation
) -> Ints:
    """For each node of `binary`, which is `forest` made binary, the leaf node that is its head."""
    if binarisation.root is not None:
        forest = strip_root(forest, binarisation.root)
    added = np.array([Symbol.read(name).intermediate for name in binary.labels])[binary.label]
    node = np.arange(len(binary.label))
    leaf = np.flatnonzero(derivations.rule < 0)
    before: Ints = np.cumsum(derivations.rule < 0) - (derivations.rule < 0)
    first: Ints = before - np.repeat(before[derivations.root], np.diff(derivations.start))
    # The nodes of a unary chain became one node and the order was kept, so the lowest of each chain stand for
    # the nodes that were not added.
    position = np.zeros(len(node), np.int64)
    words = head_words(forest.size, forest.arity, rules.head_children(forest), forest.begin)
    position[~added] = words[~forest.is_unary]
    owner = node.copy()
    for _ in range(int(added.sum())):
        climbing = added[owner]
        if not climbing.any():
            break
        owner = np.where(climbing, derivations.parent[owner], owner)
    shared = position[owner]
    below = (shared >= first) & (shared < first + derivations.width)
    own_child = np.where(added[np.maximum(derivations.right, 0)], derivations.left, derivations.right)
    position[added] = np.where(below, shared, position[np.maximum(own_child, 0)])[added]
    return np.asarray(leaf[before - first + position], np.int64)
