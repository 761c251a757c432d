"""From grammar symbols to treebank nodes: posteriors, trees, and what a treebank tree weighs.

A symbol of a binarised grammar stands for a chain of labels (`S+VP`), or for none at all (`@VP`), and a label may
be in many symbols. The posterior that the treebank tree has a node with label X over the words i … j−1 is

    μ(X,i,j) = Σ_{symbols a whose chain has X} μ(a,i,j).

A chain may have a label more than once (`NP+NP`). Its second X is right if the tree has two of them there, so

    μ(Xʳ,i,j) = Σ_{symbols a whose chain has X at least r times} μ(a,i,j)

belongs to the r-th X from the top, and sums over nodes are expected numbers of right nodes as EVALB counts them.

One pass over the items of a chart, and spans × labels numbers of memory. Spectral posteriors may leave [0, 1] by
error; sizes are summed and cut at 1.

The other way round, a treebank tree weighs what all its binary derivations weigh together
(kernels/tree_weight.py), so it has one probability, whichever derivation a parser found it by (`TreeWeights`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.binarisation import Binarisation, Symbol
from latentgram.data.forest import Forest
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.kinds.marginals import LEAST, Marginals
from latentgram.lpcfg.kernels.chart import PackedChart, RuleIndex, cells_of
from latentgram.lpcfg.kernels.decode import Chains, restore_nodes
from latentgram.lpcfg.kernels.inside_outside import Tensors, parts_of_tree
from latentgram.lpcfg.kernels.tree_weight import NodeNames, tree_weight, treebank_nodes
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.projection import Leaves

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Name = tuple[tuple[str, ...], bool]
"""The labels of a node with a single child at a time, from top to bottom, and whether it stands over a word."""


@dataclass(frozen=True)
class LabelTable:
    """The labels of all symbols; the first `interminals` symbols stand over phrases, the others over words.

    >>> table = LabelTable(Alphabet(("S+VP", "@VP", "NP+NN")), interminals=2)
    >>> table.labels.symbols, table.length, table.phrases
    (('NN', 'NP', 'S', 'VP'), array([2, 0, 2]), array([2, 0, 1]))
    """

    symbols: Alphabet
    interminals: int

    @cached_property
    def chains(self) -> tuple[tuple[str, ...], ...]:
        """The labels of each symbol from top to bottom; none where binarisation put it in."""
        read = (Symbol.read(name) for name in self.symbols)
        return tuple(() if symbol.intermediate else symbol.chain for symbol in read)

    @cached_property
    def labels(self) -> Alphabet:
        """All labels."""
        return Alphabet.of(label for chain in self.chains for label in chain)

    @cached_property
    def length(self) -> Longs:
        """[symbols] how many nodes a symbol stands for."""
        return np.array([len(chain) for chain in self.chains], np.int64)

    @cached_property
    def phrases(self) -> Longs:
        """[symbols] how many of them are not tags."""
        return self.length - (np.arange(len(self.length)) >= self.interminals)

    @cached_property
    def begin(self) -> Longs:
        """[symbols + 1] where the labels of each symbol begin in `flat`."""
        return np.concatenate(([0], np.cumsum(self.length)))

    @cached_property
    def flat(self) -> Longs:
        """The nodes of all symbols, one after the other: label + (r − 1) · labels for the r-th node of a label."""
        repeat = [chain[:place].count(label) for chain in self.chains for place, label in enumerate(chain)]
        label = self.labels.encode(label for chain in self.chains for label in chain)
        return np.asarray(label + np.array(repeat, np.int64) * len(self.labels))

    @cached_property
    def columns(self) -> int:
        """The number of labels, times the most that a chain has of one."""
        return len(self.labels) * (1 + int(self.flat.max(initial=0)) // max(len(self.labels), 1))

    @cached_property
    def spoken(self) -> tuple[Longs, NDArray[np.int32], NDArray[np.bool_], tuple[str, ...]]:
        """The labels of all symbols, those that binarisation put in included: where each symbol's begin, their
        numbers, which symbols are intermediate, and the names of the labels."""
        symbols = [Symbol.read(name) for name in self.symbols]
        names = Alphabet.of(label for symbol in symbols for label in symbol.chain)
        begin = np.cumsum([0, *(len(symbol.chain) for symbol in symbols)])
        chain = names.encode(label for symbol in symbols for label in symbol.chain)
        return begin, chain, np.array([symbol.intermediate for symbol in symbols], bool), names.symbols

    @cached_property
    def nodes(self) -> Chains:
        """The same for kernels."""
        return Chains(self.begin, self.flat, self.columns, self.interminals)

    def places(self, symbol: NDArray[np.int32]) -> tuple[Longs, Longs]:
        """For the nodes that some symbols stand for: the number among the symbols, and the place in `flat`."""
        times = self.length[symbol]
        owner = np.repeat(np.arange(len(symbol)), times)
        step = np.arange(len(owner)) - np.repeat(np.cumsum(times) - times, times)
        return owner, self.begin[symbol][owner] + step

    def posteriors(self, chart: PackedChart, item: Floats) -> Floats:
        """[cells, columns] μ(Xʳ,i,j) from the posteriors of a chart's items; the first columns are of r = 1."""
        cells = len(chart.cell_begin) - 1
        cell = np.repeat(np.arange(cells), np.diff(chart.cell_begin))
        owner, place = self.places(chart.item_symbol)
        key = cell[owner] * self.columns + self.flat[place]
        total = np.bincount(key, np.abs(item)[owner], cells * self.columns)
        return np.minimum(total, 1.0).reshape(cells, self.columns)

    def of_spans(self, posteriors: Floats, tree: Tree) -> Floats:
        """The posteriors of the nodes of any treebank tree."""
        spans = list(tree.spans())
        label, first, end = (np.array(column) for column in zip(*spans, strict=True))
        seen: Counter[tuple[str, int, int]] = Counter()
        repeat = np.zeros(len(spans), np.int64)
        for place, span in enumerate(spans):
            repeat[place] = seen[span]
            seen[span] += 1
        number = self.labels.encode(label.tolist())
        column = number + repeat * len(self.labels)
        known = (number != ABSENT) & (column < self.columns)
        cell = cells_of(int(end[0]), first, end - first)
        return np.where(known, posteriors[cell, np.where(known, column, 0)], 0.0)


def span_marginals(table: LabelTable, chart: PackedChart, item: NDArray[np.float64]) -> Marginals:
    """What the items of a chart say of labelled spans."""
    posterior = table.posteriors(chart, item)[:, : len(table.labels)]
    length = chart.length
    width = np.repeat(np.arange(1, length + 1), np.arange(length, 0, -1))
    first = np.concatenate([np.arange(length - size) for size in range(length)])
    tags = {chain[-1] for chain in table.chains[table.interminals :]}
    spans, over_words = [], []
    for cell, label in zip(*np.nonzero(posterior >= LEAST), strict=True):
        name, p = table.labels[int(label)], float(posterior[cell, label])
        if width[cell] == 1 and name in tags:
            over_words.append((int(first[cell]), name, p))
        else:
            spans.append((int(first[cell]), int(first[cell] + width[cell]), name, p))
    return Marginals(spans=tuple(spans), tags=tuple(over_words))


class Nodes(NamedTuple):
    """A tree over grammar symbols in preorder: their numbers, and the sizes of the subtrees.

    `posterior` belongs to the treebank nodes that the symbols stand for, one after the other.
    """

    symbol: NDArray[np.int32]
    size: NDArray[np.int32]
    posterior: NDArray[np.float64]


class Assembled(NamedTuple):
    """A treebank tree and the posteriors of its nodes and of its tags."""

    tree: Tree
    confidence: NDArray[np.float64]
    tag_confidence: NDArray[np.float64]


def assemble(
    sentences: Sequence[Sentence], trees: Sequence[Nodes], table: LabelTable, binarisation: Binarisation
) -> list[Assembled]:
    """Undo binarisation. The added root has the posterior one."""
    start = np.cumsum([0, *(len(nodes.symbol) for nodes in trees)])
    symbol, size, sure = (np.concatenate(part) for part in zip(*trees, strict=True))
    begin, chain, intermediate, names = table.spoken
    root = ABSENT
    if binarisation.root is not None:
        if binarisation.root not in names:
            names = (*names, binarisation.root)
        root = names.index(binarisation.root)
    restored = restore_nodes(start, symbol, size, sure, begin, chain, intermediate, root)
    words = [word for sentence in sentences for word in sentence.words]
    ends, label, arity, word = (part.tolist() for part in restored[:4])
    confidence, over_word = restored.confidence, restored.word != ABSENT
    return [
        Assembled(
            Tree.of_preorder(
                [names[number] for number in label[first:end]],
                [None if number < 0 else words[number] for number in word[first:end]],
                arity[first:end],
            ),
            confidence[first:end],
            confidence[first:end][over_word[first:end]],
        )
        for first, end in itertools.pairwise(ends)
    ]


@dataclass(frozen=True)
class NameTable:
    """The names of treebank nodes that a grammar has symbols for."""

    grammar: LPCFG
    index: RuleIndex

    @cached_property
    def _numbers(self) -> dict[Name, int]:
        phrases = len(self.grammar.interminals)
        names = dict.fromkeys(
            (symbol.chain, number >= phrases)
            for number, symbol in enumerate(self.grammar.symbols)
            if not symbol.intermediate
        )
        return {name: number for number, name in enumerate(names)}

    @cached_property
    def nodes(self) -> NodeNames:
        """The same for kernels."""
        phrases, symbols = len(self.grammar.interminals), self.grammar.symbols
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
        symbols, unseen = len(self.grammar.symbols), self.index.unseen
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
