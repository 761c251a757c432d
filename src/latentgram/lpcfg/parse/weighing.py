"""`TreeWeights`: the probability of a treebank tree under a grammar, and which of its nodes makes it 0.

All binary derivations of the tree count together (kernels/tree_weight.py), so a tree has one probability,
whichever derivation a parser found it by.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT
from latentgram.data.binarisation import Binarisation, Symbol
from latentgram.data.forest import Forest
from latentgram.lpcfg.kernels.chart import RuleIndex
from latentgram.lpcfg.kernels.inside_outside import Tensors, parts_of_tree
from latentgram.lpcfg.kernels.tree_weight import NodeNames, tree_weight, treebank_nodes
from latentgram.lpcfg.leaves import Leaves
from latentgram.lpcfg.model import LPCFG

Ints = NDArray[np.int32]
Name = tuple[tuple[str, ...], bool]
"""The labels of a node with a single child at a time, from top to bottom, and whether it stands over a word."""


@dataclass(frozen=True)
class NameTable:
    """The names of treebank nodes that a grammar has symbols for."""

    grammar: LPCFG
    index: RuleIndex

    @cached_property
    def _symbols(self) -> list[Symbol]:
        return [Symbol.read(name) for name in (*self.grammar.interminals, *self.grammar.preterminals)]

    @cached_property
    def _numbers(self) -> dict[Name, int]:
        phrases = len(self.grammar.interminals)
        names = dict.fromkeys(
            (symbol.chain, number >= phrases)
            for number, symbol in enumerate(self._symbols)
            if not symbol.intermediate
        )
        return {name: number for number, name in enumerate(names)}

    @cached_property
    def nodes(self) -> NodeNames:
        """The same for kernels."""
        phrases, symbols = len(self.grammar.interminals), self._symbols
        of_symbol = np.array(
            [
                ABSENT if symbol.intermediate else self._numbers[symbol.chain, number >= phrases]
                for number, symbol in enumerate(symbols)
            ],
            np.int32,
        )
        parts = [np.flatnonzero(row) for row in self._under_names(of_symbol)]
        order = np.argsort(of_symbol, kind="stable")
        named = order[np.searchsorted(of_symbol[order], 0) :]
        left, right = (np.array([under[part].any() for part in parts], np.bool_) for under in self._under)
        return NodeNames(
            of_symbol,
            np.searchsorted(of_symbol[named], np.arange(len(parts) + 1)).astype(np.int32),
            named.astype(np.int32),
            np.cumsum([0, *map(len, parts)]).astype(np.int32),
            np.concatenate([*parts, np.zeros(0, np.int64)]).astype(np.int32),
            left,
            right,
        )

    @cached_property
    def _under(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """[symbols, symbols] which symbols a rule has as left children of which, and which as right ones."""
        symbols, unseen = len(self._symbols), self.index.unseen
        under = np.zeros((2, symbols, symbols), bool)
        for side in (0, 1):
            under[side, self.grammar.rules[:, 1 + side], self.grammar.rules[:, 0]] = True
            if unseen.weight > 0.0:
                under[side, :, : len(self.grammar.interminals)] |= (unseen.left, unseen.right)[side] > 0.0
        return under[0], under[1]

    def _under_names(self, of_symbol: Ints) -> NDArray[np.bool_]:
        """[names, symbols] which intermediate symbols may stand over some children of a node: those under its
        symbols, and those under these."""
        left, right = self._under
        intermediate = of_symbol == ABSENT
        under = (left | right).T & intermediate
        reached = np.zeros((len(self._numbers), len(of_symbol)), bool)
        np.logical_or.at(reached, of_symbol[~intermediate], under[~intermediate])
        while True:
            further = reached | ((reached.astype(np.float32) @ under) > 0.0)
            if np.array_equal(further, reached):
                return reached
            reached = further

    def of_derivation(self, symbol: Ints, size: Ints) -> tuple[Ints, Ints]:
        """The names of the treebank nodes of a binary tree in preorder, and the sizes of their subtrees."""
        name, nodes = treebank_nodes(self.nodes, symbol, size)
        return name, nodes

    def of_trees(self, forest: Forest, binarisation: Binarisation) -> list[tuple[Ints, Ints]]:
        """The same of treebank trees, `ABSENT` where the grammar has no symbol for a node."""
        chains, labels = binarisation.unary_chains(forest)
        names = zip(labels, chains.is_tag.tolist(), strict=True)
        name = np.array([self._numbers.get(node, ABSENT) for node in names], np.int32)
        return [(name[first:end], chains.size[first:end]) for first, end in itertools.pairwise(chains.start)]


@dataclass(frozen=True)
class TreeWeights:
    """Weighs trees given by the names of their nodes and the sizes of their subtrees in preorder."""

    grammar: LPCFG
    tensors: Tensors
    index: RuleIndex
    names: NameTable

    def weight(self, leaves: Leaves, name: Ints, size: Ints) -> tuple[float, float]:
        """log |p(tree, sentence)|, hidden states and derivations summed out, and its sign; −∞, 0 for nothing."""
        log, sign = tree_weight(self.tensors, self.index, self.names.nodes, leaves, name, size)
        return float(log), float(sign)

    def impossible_node(self, leaves: Leaves, symbols: Ints, sizes: Ints, intermediate: NDArray[np.bool_]) -> int:
        """The node of a binary tree that is to blame for a weight of 0.

        It is one whose symbol was never seen, rather a node of the treebank tree than an `intermediate` one; else
        one over a word it cannot stand over; else a root that never was one; else the smallest phrase made by a
        rule that was never seen.
        """
        absent = symbols < 0
        for never_seen in (np.flatnonzero(absent & ~intermediate), np.flatnonzero(absent)):
            if len(never_seen):
                return int(never_seen[np.argmin(sizes[never_seen])])
        part = parts_of_tree(self.index, leaves, symbols, sizes)
        unseen, over_words = np.flatnonzero(part < 0), np.flatnonzero((part < 0) & (sizes == 1))
        if len(over_words):
            return int(over_words[0])
        if not len(unseen) or not self.grammar.root_count[symbols[0]]:
            return 0
        return int(unseen[np.argmin(sizes[unseen])])
