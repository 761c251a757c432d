"""Binary trees for grammars, the symbols of their nodes, and the conversion back to treebank trees.

A grammar needs nodes with either two children or one word. `Binarisation` converts treebank trees to this form,
and the parser's trees back to treebank trees, exactly:

1. the root label (`TOP`, `ROOT` or Penn's empty one) is removed if it has a single child;
2. unary chains become one symbol, over words as well: S over VP over VB over *go* is the preterminal `S+VP+VB`;
3. nodes with more than two children are split by nodes `@X`: from the left as in Cohen et al. (2012, 2013),
   `[VP [@VP [@VP V NP] PP] SBAR]`, from the right, or outward from the head (kernels/forest.py);
4. `@X` records `horizontal` siblings (`@X/PP`), and every node that is not directly over a word records
   `vertical` - 1 ancestors (`NP^S`).

The symbol of a node of a binary tree is a `Symbol`, whose name can be read back:

    [@] label {+ label} {/ sibling} {^ ancestor} [~]

`S+VP+VB` is a unary chain from top to bottom; `@VP` a node added by binarisation under VP, `@VP/PP/NP` one that
records the children added last; `NP^S` an NP under an S; `NP~` an NP directly over a word, in a treebank that also
has NP over other nodes. Where one of the six marks occurs in a label, it is escaped with a backslash, so no label,
such as `ADVP|PRT` or `A+B`, can be mistaken for a derived symbol.

Everything is one pass over the arrays of a forest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from latentgram.arrays import Flags, Ints, Ints32
from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.forest import Forest
from latentgram.data.head_rules import HeadRules
from latentgram.data.kernels import forest as kernel
from latentgram.data.kernels.forest import numbered
from latentgram.data.tree import Tree
from latentgram.errors import SettingError

_MARKS = re.compile(r"[\\+@/^~]")


class Symbol(NamedTuple):
    """What a symbol stands for; `str` writes it.

    >>> str(Symbol(("S", "VP"))), str(Symbol(("VP",), intermediate=True, siblings=("A/B",)))
    ('S+VP', '@VP/A\\\\/B')
    >>> Symbol.read("S+VP^SBAR").ancestors
    ('SBAR',)
    """

    chain: tuple[str, ...]
    intermediate: bool = False
    siblings: tuple[str, ...] = ()
    ancestors: tuple[str, ...] = ()
    over_word: bool = False

    def __str__(self) -> str:
        return "".join(
            (
                "@" if self.intermediate else "",
                "+".join(map(_quote, self.chain)),
                *("/" + _quote(sibling) for sibling in self.siblings),
                *("^" + _quote(ancestor) for ancestor in self.ancestors),
                "~" if self.over_word else "",
            )
        )

    @staticmethod
    def read(text: str) -> Symbol:
        """The symbol written so."""
        return _read(text)


def _quote(label: str) -> str:
    return _MARKS.sub(r"\\\g<0>", label)


@lru_cache(maxsize=1 << 16)
def _read(text: str) -> Symbol:
    parts: dict[str, list[str]] = {"+": [], "/": [], "^": []}
    intermediate = text.startswith("@")
    kind, label, quoted, over_word = "+", "", False, False
    for character in text[intermediate:]:
        if quoted:
            label, quoted = label + character, False
        elif character == "\\":
            quoted = True
        elif character == "~":
            over_word = True
        elif character in parts:
            parts[kind].append(label)
            kind, label = character, ""
        else:
            label += character
    parts[kind].append(label)
    return Symbol(tuple(parts["+"]), intermediate, tuple(parts["/"]), tuple(parts["^"]), over_word)


def tag_of(symbol: str) -> str:
    """The tag at the bottom of a preterminal symbol's chain.

    >>> tag_of("S+VP+VB"), tag_of("NP~")
    ('VB', 'NP')
    """
    return _read(symbol).chain[-1]


@dataclass(frozen=True)
class Binarisation:
    """How trees are binarised, and how parses are converted back.

    `direction` is left, right or head; `horizontal` is the number of siblings recorded in an intermediate symbol
    (None: all; 0: none, the papers' @X); `vertical` is the number of labels recorded in a symbol: that of the
    node, of its parent, and so on. `root` is the root label, which is removed and restored (None: there is none).
    `heads` are the head rules used by the direction head.

    >>> from latentgram.data.brackets import parse_forest
    >>> forest = parse_forest("(TOP (S (VP (VB go) (ADVP (RB home)) (NP (NN today)) (. .))))")
    >>> binary = Binarisation().binarise(forest)
    >>> print(binary[0])
    (S+VP (@VP (@VP (VB go) (ADVP+RB home)) (NP+NN today)) (. .))
    >>> print(Binarisation().restore(binary[0]))
    (TOP (S (VP (VB go) (ADVP (RB home)) (NP (NN today)) (. .))))
    """

    direction: Literal["left", "right", "head"] = "left"
    horizontal: int | None = 0
    vertical: int = 1
    root: str | None = "TOP"
    heads: HeadRules | None = None

    def __post_init__(self) -> None:
        if self.direction not in ("left", "right", "head"):
            raise SettingError(f"direction must be left, right or head, not {self.direction!r}")
        if self.horizontal is not None and self.horizontal < 0:
            raise SettingError(f"horizontal must be None or at least 0, not {self.horizontal}")
        if self.vertical < 1:
            raise SettingError(f"vertical must be at least 1, not {self.vertical}")
        if (self.direction == "head") != (self.heads is not None):
            raise SettingError("head rules are needed for the direction head, and only for it")

    @classmethod
    def of(
        cls,
        forest: Forest,
        *,
        direction: Literal["left", "right", "head"] = "left",
        horizontal: int | None = 0,
        vertical: int = 1,
        heads: HeadRules | None = None,
    ) -> Binarisation:
        """A binarisation with the root label of this treebank (see `root_label`).

        For the direction head its head rules are learned from it, where none are given.
        """
        if direction == "head" and heads is None:
            heads = HeadRules.learn(forest)
        return cls(direction, horizontal, vertical, root_label(forest), heads)

    def stripped(self, forest: Forest) -> Forest:
        """The same trees without the root label."""
        return forest if self.root is None else strip_root(forest, self.root)

    def binarise(self, forest: Forest) -> Forest:
        """The same trees, in which every node has two children or one word."""
        forest = self.stripped(forest)
        if not len(forest.label):
            return forest
        first, last = _chains(forest)
        chains = forest.keep_nodes(~forest.is_unary)
        size, source, siblings = kernel.binarise(
            chains.size, chains.arity, self._heads(chains, forest.label[first]), self._memory(chains)
        )
        new = source < 0
        owner = np.where(new, -1 - source, source)
        labels, label = self._symbols(forest, first, last, owner, new, siblings)
        word = np.where(new, ABSENT, chains.word[owner]).astype(np.int32)
        roots = np.flatnonzero(np.isin(source, chains.start[:-1]))
        return Forest(labels, forest.words, label, size, word, np.append(roots, len(source))).compact()

    def unary_chains(self, forest: Forest) -> tuple[Forest, list[tuple[str, ...]]]:
        """The same trees without nodes of a single child, and the chain of labels at each node from top to bottom.

        >>> from latentgram.data.brackets import parse_forest
        >>> Binarisation().unary_chains(parse_forest("(TOP (S (VP (VB go) (ADVP (RB home)))))"))[1]
        [('S', 'VP'), ('VB',), ('ADVP', 'RB')]
        """
        forest = self.stripped(forest)
        labels = forest.labels.decode(forest.label.tolist())
        chains = zip(*(part.tolist() for part in _chains(forest)), strict=True)
        return forest.keep_nodes(~forest.is_unary), [tuple(labels[top : low + 1]) for top, low in chains]

    def _symbols(
        self,
        forest: Forest,
        first: Ints,
        last: Ints,
        owner: Ints,
        new: Flags,
        siblings: Ints,
    ) -> tuple[Alphabet, Ints32]:
        """The symbol of each node: a row of label numbers is made for it, and equal rows are one symbol."""
        over_word = forest.is_tag[last]
        # A new node takes only the lowest label of its chain: @VP is the same under VP and under S+VP.
        top = np.where(new, last[owner], first[owner])
        chain = top[:, None] + np.arange((last - first).max() + 1)
        chain = np.where(chain <= last[owner, None], chain, ABSENT)
        ancestors = _ancestors(forest, top, self.vertical - 1)
        ancestors[over_word[owner]] = ABSENT
        siblings = np.where(siblings == ABSENT, ABSENT, first[siblings])
        nodes = np.column_stack((chain, siblings, ancestors))
        rows = np.where(nodes == ABSENT, ABSENT, forest.label[nodes])
        unique, number = _unique_rows(np.column_stack((new, over_word[owner], rows)))
        parts = np.cumsum([chain.shape[1], siblings.shape[1]])
        symbols = []
        for row in unique:
            names, beside, above = (_names(forest.labels, part) for part in np.split(row[2:], parts))
            symbols.append(Symbol(names, bool(row[0]), beside, above))
        phrases = {symbol for symbol, row in zip(symbols, unique, strict=True) if not row[1]}
        return Alphabet(
            tuple(
                str(symbol._replace(over_word=bool(row[1]) and symbol in phrases))
                for symbol, row in zip(symbols, unique, strict=True)
            )
        ), number

    def restore_forest(self, forest: Forest) -> Forest:
        """Binarised trees as treebank trees again; the inverse of `binarise`.

        An intermediate symbol on a root, where `binarise` never puts one, is taken for the label it is made from.
        """
        forest = forest.compact()
        symbols = [Symbol.read(name) for name in forest.labels]
        keep = ~np.array([symbol.intermediate for symbol in symbols], bool)[forest.label]
        keep[forest.start[:-1]] = True
        forest = forest.keep_nodes(keep)
        length = np.array([len(symbol.chain) for symbol in symbols], np.int64)
        labels = Alphabet.of(label for symbol in symbols for label in symbol.chain)
        chain = np.full((len(symbols), length.max(initial=0)), ABSENT, np.int32)
        for row, symbol in zip(chain, symbols, strict=True):
            row[: len(symbol.chain)] = labels.encode(symbol.chain)
        forest, step = forest.stretch_nodes(length[forest.label])
        forest = forest.with_labels(labels, chain[forest.label, step])
        return forest if self.root is None else add_root(forest, self.root)

    def restore(self, tree: Tree) -> Tree:
        """Convert one binarised tree back to a treebank tree."""
        return self.restore_forest(Forest.of([tree]))[0]

    def _memory(self, chains: Forest) -> int:
        everything = max(int(chains.arity.max()) - 1, 0)
        return everything if self.horizontal is None else min(self.horizontal, everything)

    def _heads(self, chains: Forest, child_label: Ints32) -> Ints32:
        if self.direction == "left":
            return np.zeros(len(chains.size), np.int32)
        if self.heads is None:
            return chains.arity - np.int32(1)
        return self.heads.head_children(chains, child_label=child_label)


def root_label(forest: Forest) -> str | None:
    """The label that stands for the root of this treebank only, such as TOP; None if there is none.

    It is on every root and nowhere else, and stands over a single node in most trees.
    """
    roots = forest.start[:-1]
    if not len(roots):
        return None
    label = forest.label[roots[0]]
    everywhere = bool((forest.label[roots] == label).all())
    nowhere_else = np.count_nonzero(forest.label == label) == len(roots)
    if everywhere and nowhere_else and 2 * np.count_nonzero(forest.is_unary[roots]) > len(roots):
        return forest.labels[label]
    return None


def strip_root(forest: Forest, root: str) -> Forest:
    """Without the root label where it stands over a single node that is not called so itself."""
    number = forest.labels.index(root)
    keep = np.ones(len(forest.label), bool)
    roots = forest.start[:-1]
    below = np.minimum(roots + 1, len(forest.label) - 1)
    keep[roots] = ~((forest.label[roots] == number) & forest.is_unary[roots] & (forest.label[below] != number))
    return forest.keep_nodes(keep)


def add_root(forest: Forest, root: str) -> Forest:
    """With the root label on every tree that does not have it: the inverse of `strip_root`."""
    labels = forest.labels if root in forest.labels else Alphabet.of((*forest.labels, root))
    label = labels.encode(forest.labels)[forest.label]
    roots = forest.start[:-1]
    times = np.ones(len(label), np.int64)
    times[roots] += label[roots] != labels.index(root)
    forest = Forest(labels, forest.words, label, forest.size, forest.word, forest.start)
    stretched, _ = forest.stretch_nodes(times)
    stretched.label[stretched.start[:-1]] = labels.index(root)
    return stretched


def _chains(forest: Forest) -> tuple[Ints, Ints]:
    """The first and the last node of each unary chain; the last one has its words and children."""
    last = np.flatnonzero(~forest.is_unary)
    return np.concatenate((np.zeros(1, np.int64), last[:-1] + 1)), last


def _ancestors(forest: Forest, node: Ints, count: int) -> Ints:
    """Up to `count` nodes above some nodes, nearest first, no more than trees are high; ABSENT above the roots."""
    columns: list[Ints] = []
    above = node
    while len(columns) < count and (above != ABSENT).any():
        above = np.where(above == ABSENT, ABSENT, forest.parent[above])
        columns.append(above)
    return np.array(columns, np.int64).reshape(len(columns), len(node)).T.copy()


def _unique_rows(rows: Ints) -> tuple[Ints, Ints32]:
    """The distinct rows and the number of each row among them.

    Rows are told apart by a 63-bit hash, and then compared.
    """
    code = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        code = (code ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        code ^= code >> np.uint64(29)
    distinct, number = numbered((code >> np.uint64(1)).astype(np.int64))
    example = np.empty(len(distinct), np.int64)
    example[number] = np.arange(len(rows))
    unique = rows[example]
    if not np.array_equal(unique[number], rows):
        unique, number = np.unique(rows, axis=0, return_inverse=True)
    return unique, number.astype(np.int32)


def _names(labels: Alphabet, numbers: Ints) -> tuple[str, ...]:
    return tuple(labels[number] for number in numbers.tolist() if number != ABSENT)
