"""What the learners of head-automata grammars see of a treebank (Luque et al. 2012, section 2.1). Statistics add.

Every word h of every projective tree gives two sequences, the symbols of its left and of its right modifiers,
nearest first. They are counted by source 2·symbol(h) + direction (0 left, 1 right). Two sorts: O(W log W) for W
words. Trees that are not projective are lifted first; how many is told in the trace of the grammar's provenance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from latentgram.arrays import Floats, Integers, Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.dependencies import DependencyArrays, DependencyTree
from latentgram.data.dependency_symbols import WordSymbols
from latentgram.data.provenance import Provenance
from latentgram.data.sentence import Sentence
from latentgram.data.treebank import Treebank, TreebankStream
from latentgram.errors import DataError
from latentgram.sequences.statistics import SequenceCounts
from latentgram.shag.relations import Relations

Trees = Treebank[DependencyTree] | TreebankStream | Sequence[DependencyTree]
"""What these grammars are learned from."""


@dataclass(frozen=True, eq=False)
class Modifiers:
    """All arcs but those from the root, grouped by head and direction, nearest first; words are numbered from 0.

    Group 2·h + d holds the modifiers of word h in direction d (0 left, 1 right).

    >>> arcs = Modifiers.of(DependencyArrays.of_heads([[3, 3, 0, 3]]))
    >>> arcs.word.tolist(), arcs.group.tolist(), arcs.length.tolist(), arcs.root.tolist()
    ([1, 0, 3], [4, 4, 5], [0, 0, 0, 0, 2, 1, 0, 0], [2])
    """

    word: Ints
    group: Ints
    length: Ints
    """[2W] how many modifiers each group has."""
    root: Ints
    """[sentences] the root words."""

    @classmethod
    def of(cls, trees: DependencyArrays) -> Modifiers:
        """Sort the arcs of projective trees."""
        first = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
        head = first + trees.heads - 1
        word = np.flatnonzero(trees.heads != 0)
        group = 2 * head[word] + (word > head[word])
        order = np.lexsort((np.abs(word - head[word]), group))
        length = np.bincount(group, minlength=2 * len(trees.heads))
        return cls(word[order], group[order], length, np.flatnonzero(trees.heads == 0))

    @property
    def head(self) -> Ints:
        """The head of every modifier."""
        return self.group // 2

    @property
    def direction(self) -> Ints:
        """The direction of every modifier: 0 left, 1 right of its head."""
        return self.group % 2

    @property
    def offset(self) -> Ints:
        """[2W+1] where each group begins."""
        return np.concatenate([[0], np.cumsum(self.length)])


@dataclass(frozen=True, eq=False)
class HeadData:
    """A dependency treebank, flat and projective; words are numbered from 0 through all sentences.

    It is made part by part, so a `TreebankStream` is never in memory but for one part. What is held is 4 bytes per
    word for its head and 8 for its symbol, and `modifiers` with 40; `sentences`, which only learners of words ask
    for, are Python objects.
    """

    source: Treebank[DependencyTree] | TreebankStream
    trees: DependencyArrays
    modifiers: Modifiers
    symbols: WordSymbols
    symbol: Ints
    """[W] the symbol of every word."""
    relations: Relations
    lifted: int

    @classmethod
    def of(cls, trees: Trees, kind: str | WordSymbols) -> HeadData:
        """Observe trees with symbols of a kind, or by a known rule."""
        bank = trees if isinstance(trees, Treebank | TreebankStream) else Treebank.of(trees)
        sentences = (sentence for part in bank.shards() for sentence in part.sentences())
        rule = WordSymbols.rule(kind).seeing(sentences)
        heads, lengths, lifted = [], [], 0
        names, labels = _Numbering(), _Numbering()
        for part in bank.shards():
            projective, lifts = part.arrays.projectivise()
            heads.append(projective.heads)
            lengths.append(np.diff(projective.offsets))
            lifted += int((lifts > 0).sum())
            names.add(name for tree in part for name in rule.names(tree.sentence))
            labels.add(name for tree in part if isinstance(tree, DependencyTree) for name in tree.deprels)
        if not heads:
            raise DataError("there are no trees to learn from")
        arrays = DependencyArrays(np.concatenate(heads), np.concatenate(([0], np.cumsum(np.concatenate(lengths)))))
        alphabet, symbol = names.sorted()
        counts = np.bincount(symbol, minlength=len(alphabet)).astype(np.int64)
        symbols = replace(rule, alphabet=alphabet, counts=counts)
        relations = _relations(*labels.sorted(), arrays, symbol, len(alphabet))
        return cls(bank, arrays, Modifiers.of(arrays), symbols, symbol, relations, lifted)

    def __len__(self) -> int:
        """The number of trees."""
        return len(self.trees.offsets) - 1

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The words and tags of all sentences."""
        return [sentence for part in self.source.shards() for sentence in part.sentences()]

    @property
    def provenance(self) -> Provenance:
        """What is known before `fit` adds the rest."""
        return Provenance(trace=({"words": float(len(self.symbol)), "lifted": float(self.lifted)},))


class _Numbering:
    """Numbers names as they come, part by part, and in their order at the end."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._parts: list[Ints32] = []

    def add(self, names: Iterable[str]) -> None:
        """The names of the next part."""
        known = self._known
        self._parts.append(np.array([known.setdefault(name, len(known)) for name in names], np.int32))

    def sorted(self) -> tuple[Alphabet, Ints]:
        """The alphabet of all names, and the number of every name that came."""
        alphabet = Alphabet.of(self._known)
        return alphabet, alphabet.encode(self._known).astype(np.int64)[np.concatenate(self._parts)]


def _relations(labels: Alphabet, label: Ints, trees: DependencyArrays, symbol: Ints, n_symbols: int) -> Relations:
    first = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    word = np.arange(len(symbol))
    is_root = trees.heads == 0
    head = np.where(is_root, word, first + trees.heads - 1)
    return Relations.of(
        labels,
        n_symbols,
        head=np.where(is_root, n_symbols, symbol[head]),
        modifier=symbol,
        signed_distance=word - head,
        label=label,
    )


def head_sequences(modifiers: Modifiers, symbols: Integers, n_symbols: int) -> tuple[SequenceCounts, Floats]:
    """The counted modifier sequences, and how often each symbol is the root.

    `symbols` numbers the symbol of every word, end to end like the heads.

    >>> modifiers = Modifiers.of(DependencyArrays.of_heads([[2, 0, 2, 2]]))
    >>> counts, roots = head_sequences(modifiers, np.array([0, 1, 0, 0]), n_symbols=2)
    >>> source, offset, symbols, count = counts.sequences()
    >>> source.tolist(), np.diff(offset).tolist(), count.tolist(), roots.tolist()
    ([0, 1, 2, 3], [0, 0, 1, 2], [3.0, 3.0, 1.0, 1.0], [0.0, 1.0])
    """
    counts = SequenceCounts.of_flat(
        2 * np.repeat(symbols, 2) + np.tile([0, 1], len(symbols)),
        modifiers.offset,
        symbols[modifiers.word],
        np.ones(len(modifiers.length)),
        n_sources=2 * n_symbols,
        n_symbols=n_symbols,
    )
    return counts, np.bincount(symbols[modifiers.root], minlength=n_symbols).astype(np.float64)


def sequences_of(trees: Trees, symbols: WordSymbols) -> dict[tuple[str, int], list[list[str]]]:
    """The modifier sequences of every head symbol and direction, one after another.

    >>> tree = DependencyTree(("the", "old", "man"), heads=(3, 3, 0), xpos=("DT", "JJ", "NN"))
    >>> sequences_of([tree], WordSymbols.rule("xpos", [tree.sentence]))["NN", 0]
    [['JJ', 'DT']]
    """
    data = HeadData.of(trees, symbols)
    names = [data.symbols.alphabet[number] for number in data.symbol.tolist()]
    offset, word = data.modifiers.offset.tolist(), data.modifiers.word.tolist()
    sequences: dict[tuple[str, int], list[list[str]]] = {}
    for group, (begin, end) in enumerate(pairwise(offset)):
        sequence = [names[modifier] for modifier in word[begin:end]]
        sequences.setdefault((names[group // 2], group % 2), []).append(sequence)
    return sequences


@dataclass(frozen=True, eq=False)
class HeadCounts:
    """A treebank as the learners of `SHAG` take it: counted modifier sequences, roots and relations."""

    symbols: WordSymbols
    counts: SequenceCounts
    roots: Floats
    relations: Relations
    provenance: Provenance

    @classmethod
    def of(cls, trees: Trees, kind: str | WordSymbols) -> HeadCounts:
        """Count the modifier sequences of trees over symbols of a kind, or by a known rule."""
        data = HeadData.of(trees, kind)
        counts, roots = head_sequences(data.modifiers, data.symbol, len(data.symbols.alphabet))
        return cls(data.symbols, counts, roots, data.relations, data.provenance)

    def __add__(self, other: HeadCounts) -> HeadCounts:
        """The statistics of both, over the symbols and relations of both; the provenance is that of the first."""
        symbols = self.symbols + other.symbols
        labels = Alphabet.of((*self.relations.labels, *other.relations.labels))
        first, second = (part._numbered(symbols.alphabet, labels) for part in (self, other))
        return HeadCounts(
            symbols,
            first.counts + second.counts,
            first.roots + second.roots,
            first.relations + second.relations,
            self.provenance,
        )

    def _numbered(self, alphabet: Alphabet, labels: Alphabet) -> HeadCounts:
        """With the numbers of other alphabets, which have all symbols and labels of these."""
        if self.symbols.alphabet == alphabet and self.relations.labels == labels:
            return self
        size, place = len(alphabet), alphabet.encode(self.symbols.alphabet).astype(np.int64)
        roots = np.zeros(size)
        roots[place] = self.roots
        return replace(
            self,
            counts=self.counts.renumbered(
                sources_of(alphabet, self.symbols.alphabet), place, n_sources=2 * size, n_symbols=size
            ),
            roots=roots,
            relations=self.relations.renumbered(labels, place, size),
        )


def sources_of(alphabet: Alphabet, heads: Alphabet) -> Ints:
    """The sources of some heads, in both directions, numbered by an alphabet."""
    return np.asarray(2 * np.repeat(alphabet.encode(heads).astype(np.int64), 2) + np.tile([0, 1], len(heads)))
