"""From posteriors of grammar symbols to posteriors of treebank nodes.

A symbol of a binarised grammar stands for a chain of labels (`S+VP`), or for none at all (`@VP`), and a label may
be in many symbols. The posterior that the treebank tree has a node with label X over the words i … j−1 is

    μ(X,i,j) = Σ_{symbols a whose chain has X} μ(a,i,j).

A chain may have a label more than once (`NP+NP`). Its second X is right if the tree has two of them there, so

    μ(Xʳ,i,j) = Σ_{symbols a whose chain has X at least r times} μ(a,i,j)

belongs to the r-th X from the top, and sums over nodes are expected numbers of right nodes as EVALB counts them.

One pass over the items of a chart, and spans × labels numbers of memory. Spectral posteriors may leave [0, 1] by
error; sizes are summed and cut at 1.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.binarisation import Symbol
from latentgram.data.tree import Tree
from latentgram.kinds.marginals import LEAST, Marginals
from latentgram.lpcfg.kernels.chart import PackedChart

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
    def length(self) -> Ints:
        """[symbols] how many nodes a symbol stands for."""
        return np.array([len(chain) for chain in self.chains], np.int64)

    @cached_property
    def phrases(self) -> Ints:
        """[symbols] how many of them are not tags."""
        return self.length - (np.arange(len(self.length)) >= self.interminals)

    @cached_property
    def begin(self) -> Ints:
        """[symbols + 1] where the labels of each symbol begin in `flat`."""
        return np.concatenate(([0], np.cumsum(self.length)))

    @cached_property
    def flat(self) -> Ints:
        """The nodes of all symbols, one after the other: label + (r − 1) · labels for the r-th node of a label."""
        repeat = [chain[:place].count(label) for chain in self.chains for place, label in enumerate(chain)]
        label = self.labels.encode(label for chain in self.chains for label in chain)
        return np.asarray(label + np.array(repeat, np.int64) * len(self.labels))

    @cached_property
    def columns(self) -> int:
        """The number of labels, times the most that a chain has of one."""
        return len(self.labels) * (1 + int(self.flat.max(initial=0)) // max(len(self.labels), 1))

    def places(self, symbol: NDArray[np.int32]) -> tuple[Ints, Ints]:
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

    def of_tree(
        self, posteriors: Floats, length: int, symbol: NDArray[np.int32], size: NDArray[np.int32]
    ) -> Floats:
        """The posteriors of the treebank nodes of a binary tree in preorder over `length` words."""
        owner, place = self.places(symbol)
        return np.asarray(posteriors[cells_of(length, size)[owner], self.flat[place]])

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
        cell = _cell(int(end[0]), first, end - first)
        return np.where(known, posteriors[cell, np.where(known, column, 0)], 0.0)


def cells_of(length: int, size: NDArray[np.int32]) -> Ints:
    """The cells of the nodes of a binary tree, given by the sizes of its subtrees in preorder."""
    width = (size.astype(np.int64) + 1) // 2
    first = np.cumsum(size == 1) - (size == 1)
    return _cell(length, first, width)


def _cell(length: int, first: Ints, width: Ints) -> Ints:
    return np.asarray((width - 1) * length - (width - 1) * (width - 2) // 2 + first)


def tree_entropy(chart: PackedChart, item: Floats, edge: Floats) -> float:
    """The entropy, in nats, of the distribution over trees that chooses each edge by itself with these posteriors,

        H = − Σ_root μ log μ − Σ_edges μ(edge) log μ(edge)/μ(parent).

    It is the entropy of the posterior over trees for grammars with one state a symbol, and an upper bound of it
    for grammars with hidden states: no distribution with the same posteriors has a greater one.
    """
    size, edge = np.abs(item), np.abs(edge)
    splits, parents = np.diff(chart.split_begin), np.diff(chart.parent_begin)
    parent = np.repeat(chart.parent_item, np.repeat(splits, parents))
    there = (edge > 0) & (size[parent] > 0)
    edge, above = edge[there], size[parent][there]
    roots = size[chart.cell_begin[-2] :]
    roots = roots[roots > 0]
    return max(float(-(roots * np.log(roots)).sum() - (edge * np.log(edge / above)).sum()), 0.0)


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
