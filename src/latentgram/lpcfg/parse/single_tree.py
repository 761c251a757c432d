"""One binary tree under a grammar: its rules and words found by number, and its weight."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.lpcfg.kernels.chart import NONE_UNSEEN, Unseen
from latentgram.lpcfg.kernels.inside_outside import Tensors
from latentgram.lpcfg.kernels.tree_weight import tree_weight
from latentgram.lpcfg.leaves import Leaves
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.parse.cascade import tensors_of

Ints = NDArray[np.int32]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class TreeWeights:
    """Weighs trees given by their symbols and the sizes of their subtrees in preorder."""

    grammar: LPCFG
    unseen: Unseen = NONE_UNSEEN

    @cached_property
    def _rule_keys(self) -> Places:
        return _key(len(self.grammar.states), *self.grammar.rules.T)

    def places(self, leaves: Leaves, symbols: Ints, sizes: Ints) -> tuple[Places, Places] | None:
        """The numbers of the tree's rules (−1: never seen) and of its leaves; None if it has other symbols."""
        if (symbols < 0).any():
            return None
        number = len(self.grammar.states)
        inner = np.flatnonzero(sizes > 1)
        left = inner + 1
        right = left + sizes[left]
        rule = _find(self._rule_keys, _key(number, symbols[inner], symbols[left], symbols[right]))
        word = np.repeat(np.arange(len(leaves.begin) - 1), np.diff(leaves.begin))
        over_words = symbols[sizes == 1]
        leaf = _find(_key(number, word, leaves.symbol), _key(number, np.arange(len(over_words)), over_words))
        return None if (leaf < 0).any() else (rule, leaf)

    def log_weight(self, leaves: Leaves, symbols: Ints, sizes: Ints) -> float:
        """log p(tree, sentence), hidden states summed out; nan where it comes out negative."""
        places = self.places(leaves, symbols, sizes)
        if places is None:
            return -math.inf
        rule, leaf = places
        size, sign = tree_weight(self._tensors, symbols, sizes, rule, leaves.entry[leaf], leaves.weight[leaf])
        return float(size) if sign >= 0 else math.nan

    @cached_property
    def _tensors(self) -> Tensors:
        return tensors_of(self.grammar, "float64")._replace(unseen=self.unseen)


def _key(base: int, *columns: NDArray[np.integer]) -> Places:
    """One number for each row of some columns of numbers below the base."""
    key = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        key = key * base + column
    return key


def _find(keys: Places, wanted: Places) -> Places:
    """Where each number stands in sorted ones, -1 where it does not."""
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)
