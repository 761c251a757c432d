"""One binary tree under a grammar: its rules and words found by number, and its weight."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.dp.tree_weight import tree_weight
from latentgram.models.leaves import Leaves
from latentgram.models.lpcfg import LPCFG

Ints = NDArray[np.int32]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class TreeWeights:
    """Weighs trees given by their symbols and the sizes of their subtrees in preorder."""

    grammar: LPCFG

    @cached_property
    def _rule_keys(self) -> Places:
        return _key(len(self.grammar.states), *self.grammar.rules.T)

    def places(self, leaves: Leaves, symbols: Ints, sizes: Ints) -> tuple[Places, Places] | None:
        """The numbers of the tree's rules and of its leaves; None if the grammar does not derive it."""
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
        return None if (rule < 0).any() or (leaf < 0).any() else (rule, leaf)

    def log_weight(self, leaves: Leaves, symbols: Ints, sizes: Ints) -> float:
        """log p(tree, sentence), hidden states summed out; nan where it comes out negative."""
        places = self.places(leaves, symbols, sizes)
        if places is None:
            return -math.inf
        grammar, (rule, leaf) = self.grammar, places
        vectors = [self._vector(leaves, number) for number in leaf]
        begin, end = grammar.root_offset[symbols[0] : symbols[0] + 2]
        size, sign = tree_weight(
            grammar.states,
            grammar.rule_tensor,
            grammar.rule_offset,
            symbols,
            sizes,
            rule,
            np.concatenate(vectors),
            np.cumsum([0, *(len(vector) for vector in vectors)]),
            grammar.root_vector[begin:end],
        )
        return float(size) if sign >= 0 else math.nan

    def _vector(self, leaves: Leaves, leaf: int) -> NDArray[np.float64]:
        """The inside vector of a leaf: that of the lexicon, or the mean of its symbol."""
        entry, grammar = leaves.entry[leaf], self.grammar
        if entry >= 0:
            begin, end = grammar.lexicon_offset[entry : entry + 2]
            return grammar.lexicon_vector[begin:end]
        begin, end = grammar.root_offset[leaves.symbol[leaf] : leaves.symbol[leaf] + 2]
        return np.asarray(leaves.weight[leaf] * grammar.mean_inside[begin:end])


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
