"""`Derivations`: binary trees as sequences of rules, the form in which grammars are counted and learned.

A node of a binarised forest is either an application of a rule a → b c or of a lexical entry a → x (003 §4.1).
Interminals (numbered 0 … I-1) and preterminals (I … I+P-1) are told apart by what they do, not by their names.
Rules and entries are numbered in the sorted order in which a grammar keeps them. All of it is a few passes over
arrays: O(nodes · log nodes) time, 40 bytes a node.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.forest import Forest
from latentgram.errors import DataError
from latentgram.numeric.numbering import numbered

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Derivations:
    """The nodes of binary trees in preorder with their symbols, rules, entries and neighbours.

    `left`, `right`, `parent` are nodes (-1 where there is none); `rule[v]` is the row of `rules` used at v (-1 at
    leaves), `entry[v]` the row of `lexicon` (-1 elsewhere), `width[v]` the number of words below
    v. Tree t holds the nodes `start[t]` to `start[t + 1]`.

    >>> from latentgram.data.tree import Tree
    >>> the, cat = Tree("DT", word="the"), Tree("NN", word="cat")
    >>> found = Derivations.of(Forest.of([Tree("NP", (the, cat)), Tree("NP", (the, Tree("NP", (cat, cat))))]))
    >>> found.rules.tolist(), found.rule_count.tolist(), found.entry_count.tolist()
    ([[0, 1, 0], [0, 1, 2], [0, 2, 2]], [1, 1, 1], [3, 2])
    """

    interminals: Alphabet
    preterminals: Alphabet
    words: Alphabet
    symbol: Ints
    left: Ints
    right: Ints
    parent: Ints
    word: Ints
    rules: Ints
    rule: Ints
    lexicon: Ints
    entry: Ints
    width: Ints
    start: NDArray[np.int64]

    @classmethod
    def of(cls, forest: Forest) -> Derivations:
        """Read the rules off a forest in which every node has two children or a word."""
        size, number = forest.size.astype(np.int64), len(forest.label)
        node = np.arange(number)
        leaf = forest.word != ABSENT
        left = np.where(leaf, ABSENT, node + 1)
        right = np.where(leaf, ABSENT, left + size[np.minimum(left, number - 1)])
        inner = np.flatnonzero(~leaf)
        ends = right[inner]
        unary = ends >= inner + size[inner]
        if unary.any() or np.any(ends + size[ends] != inner + size[inner]):
            raise DataError("a tree is not binary: binarise a treebank before reading rules off it")
        parent = np.full(number, ABSENT)
        parent[left[inner]] = inner
        parent[right[inner]] = inner

        interminals, inner_symbol = _alphabet(forest, ~leaf)
        preterminals, leaf_symbol = _alphabet(forest, leaf)
        symbol = np.where(leaf, leaf_symbol[forest.label] + len(interminals), inner_symbol[forest.label]).astype(
            np.int32
        )
        rules, rule = _numbered(symbol[inner], symbol[left[inner]], symbol[right[inner]])
        entries, entry = _numbered(forest.word[leaf], symbol[leaf])
        return cls(
            interminals,
            preterminals,
            forest.words,
            symbol,
            left.astype(np.int32),
            right.astype(np.int32),
            parent.astype(np.int32),
            forest.word,
            rules,
            _spread(rule, inner, number),
            entries[:, ::-1].copy(),
            _spread(entry, np.flatnonzero(leaf), number),
            (forest.size + 1) // 2,
            forest.start,
        )

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def symbols(self) -> int:
        """The number of symbols, interminals and preterminals."""
        return len(self.interminals) + len(self.preterminals)

    def name(self, symbol: int) -> str:
        """The label of a symbol."""
        inner = len(self.interminals)
        return self.interminals[symbol] if symbol < inner else self.preterminals[symbol - inner]

    @cached_property
    def root(self) -> NDArray[np.int64]:
        """The root node of every tree."""
        return self.start[:-1]

    @cached_property
    def symbol_count(self) -> NDArray[np.int64]:
        """How often each symbol occurs."""
        return np.bincount(self.symbol, minlength=self.symbols)

    @cached_property
    def root_count(self) -> NDArray[np.int64]:
        """How often each symbol is a root."""
        return np.bincount(self.symbol[self.root], minlength=self.symbols)

    @cached_property
    def rule_count(self) -> NDArray[np.int64]:
        """How often each rule occurs."""
        return np.bincount(self.rule[self.rule >= 0], minlength=len(self.rules))

    @cached_property
    def entry_count(self) -> NDArray[np.int64]:
        """How often each lexical entry occurs."""
        return np.bincount(self.entry[self.entry >= 0], minlength=len(self.lexicon))


def _alphabet(forest: Forest, where: NDArray[np.bool_]) -> tuple[Alphabet, Ints]:
    """The labels used at some nodes, and the map from the forest's numbers to theirs."""
    used = np.unique(forest.label[where])
    alphabet = Alphabet.of(forest.labels[i] for i in used)
    renumbered = np.full(len(forest.labels), ABSENT, np.int32)
    renumbered[used] = alphabet.encode(forest.labels[i] for i in used)
    return alphabet, renumbered


def _numbered(*columns: Ints) -> tuple[Ints, NDArray[np.int64]]:
    """The distinct rows of some columns, sorted, and the number of each row."""
    key = np.zeros(len(columns[0]), np.int64)
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    for column, size in zip(columns, sizes, strict=True):
        key = key * size + column
    distinct, number = numbered(key)
    rows = np.empty((len(distinct), len(columns)), np.int32)
    for i in range(len(columns) - 1, -1, -1):
        distinct, rows[:, i] = np.divmod(distinct, sizes[i])
    return rows, number


def _spread(values: NDArray[np.int64], nodes: NDArray[np.int64], number: int) -> Ints:
    """Values at some nodes, -1 at the others."""
    spread = np.full(number, ABSENT, np.int32)
    spread[nodes] = values
    return spread
