"""`TreeWeights`: the probability of a tree that is given, under a grammar."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latentgram.lpcfg.kernels.chart import RuleIndex
from latentgram.lpcfg.kernels.inside_outside import Tensors, parts_of_tree, tree_weight
from latentgram.lpcfg.leaves import Leaves
from latentgram.lpcfg.model import LPCFG

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class TreeWeights:
    """Weighs trees given by their symbols and the sizes of their subtrees in preorder."""

    grammar: LPCFG
    tensors: Tensors
    index: RuleIndex

    def weight(self, leaves: Leaves, symbols: Ints, sizes: Ints) -> tuple[float, float]:
        """log |p(tree, sentence)|, hidden states summed out, and its sign; −∞ and 0 for nothing."""
        log, sign = tree_weight(self.tensors, self.index, leaves, symbols, sizes)
        return float(log), float(sign)

    def log_weight(self, leaves: Leaves, symbols: Ints, sizes: Ints) -> float:
        """log p(tree, sentence); nan where it comes out negative."""
        log, sign = self.weight(leaves, symbols, sizes)
        return log if sign >= 0 else math.nan

    def impossible_node(self, leaves: Leaves, symbols: Ints, sizes: Ints) -> int:
        """The node that is to blame for a weight of 0.

        It is one whose symbol was never seen; else one over a word it cannot stand over; else a root that never
        was one; else the smallest phrase made by a rule that was never seen.
        """
        absent = np.flatnonzero(symbols < 0)
        if len(absent):
            return int(absent[np.argmin(sizes[absent])])
        part = parts_of_tree(self.index, leaves, symbols, sizes)
        unseen, over_words = np.flatnonzero(part < 0), np.flatnonzero((part < 0) & (sizes == 1))
        if len(over_words):
            return int(over_words[0])
        if not len(unseen) or not self.grammar.root_count[symbols[0]]:
            return 0
        return int(unseen[np.argmin(sizes[unseen])])
