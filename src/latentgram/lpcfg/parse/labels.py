"""From grammar symbols to treebank nodes: posteriors, trees and constraints.

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
from latentgram.data.constraints import Constraints
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.errors import DataError, NoParse
from latentgram.kinds.marginals import LEAST, Marginals
from latentgram.lpcfg.kernels.chart import CLOSED, OPEN, PackedChart, SpanMasks, cells_of
from latentgram.lpcfg.kernels.decode import Chains, restore_nodes
from latentgram.lpcfg.leaves import LeafTable, Leaves

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

    @cached_property
    def spoken(self) -> tuple[Ints, NDArray[np.int32], NDArray[np.bool_], tuple[str, ...]]:
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


def span_masks(known: Constraints, length: int, table: LabelTable, root: str | None) -> SpanMasks:
    """The sets of symbols that required and forbidden spans leave to each cell of two words and more.

    Binarisation took the label `root` off the whole sentence: to require it asks nothing, to forbid it all.
    """
    if known.heads or known.forbidden_heads:
        raise DataError("heads can be required only in dependency trees; this is a constituency grammar")
    of_cell = np.full(length * (length + 1) // 2, OPEN, np.int32)
    width = np.repeat(np.arange(1, length + 1), np.arange(length, 0, -1))
    first = np.concatenate([np.arange(length - wide + 1) for wide in range(1, length + 1)])
    end = first + width
    sets: dict[tuple[int, int], np.ndarray] = {}
    chains = table.chains[: table.interminals]
    for required, spans in ((True, known.spans), (False, known.forbidden_spans)):
        for begin, stop, label in spans:
            if required:
                crosses = (first < begin) & (begin < end) & (end < stop)
                crosses |= (begin < first) & (first < stop) & (stop < end)
                of_cell[crosses & (width > 1)] = CLOSED
            if label == root and stop - begin == length:
                if not required:
                    raise NoParse(f"every tree of this grammar has {root} over the whole sentence")
                continue
            has = np.array([bool(chain) if label is None else label in chain for chain in chains], np.bool_)
            allowed = sets.setdefault((begin, stop), np.ones(len(chains), bool))
            allowed &= has if required else ~has
    for number, (begin, stop) in enumerate(sets, 1):
        if stop - begin > 1:
            of_cell[(first == begin) & (end == stop) & (of_cell != CLOSED)] = number
    return SpanMasks(np.stack([np.ones(len(chains), bool), *sets.values()]), of_cell)


def choose_leaves(
    known: Constraints, sentence: Sentence, leaves: Leaves, tables: tuple[LeafTable, LabelTable]
) -> Leaves:
    """The leaves of a sentence whose tags, and whose chains over single words, obey."""
    lookup, table = tables
    required, words = dict(known.tags), range(len(sentence))
    asked = lookup.of(Sentence(sentence.words, tuple(required.get(word, "") for word in words)))
    parts = [(asked if word in required else leaves).between(word, word + 1) for word in words]
    single = [(spans, must) for spans, must in ((known.spans, True), (known.forbidden_spans, False))]
    for word in words:
        keep = np.ones(len(parts[word].symbol), bool)
        chains = [table.chains[symbol] for symbol in parts[word].symbol]
        if word in required:
            keep &= [chain[-1] == required[word] for chain in chains]
        for _, tag in (pair for pair in known.forbidden_tags if pair[0] == word):
            keep &= [chain[-1] != tag for chain in chains]
        for spans, must in single:
            for first, end, label in spans:
                if (first, end) == (word, word + 1):
                    # Every word has its tag, so a single word is a unit already, and can never be none.
                    keep &= [(label is None or label in chain) == must for chain in chains]
        _, symbol, entry, weight, code = parts[word]
        parts[word] = Leaves(np.array([0, keep.sum()], np.int32), symbol[keep], entry[keep], weight[keep], code)
    empty = [word for word in words if not len(parts[word].symbol)]
    if empty:
        raise NoParse(f"no symbol over {sentence.words[empty[0]]!r} satisfies the constraints")
    begin = np.concatenate(([0], np.cumsum([len(part.symbol) for part in parts]))).astype(np.int32)
    return Leaves(begin, *(np.concatenate(column) for column in zip(*(part[1:] for part in parts), strict=True)))
