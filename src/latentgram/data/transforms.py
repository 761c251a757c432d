"""Binary trees for grammars, and the way back.

A grammar wants every node to have two children or one word. `Binarisation` makes treebank trees so, and turns
what a parser finds back into treebank trees, exactly:

1. the root label (`TOP`, `ROOT` or Penn's empty one), where it stands over a single node, is taken off;
2. unary chains become one symbol, over words as well: S over VP over VB over *go* is the preterminal `S+VP+VB`;
3. nodes with more than two children are split by nodes `@X`: from the left as in 003 and 004,
   `[VP [@VP [@VP V NP] PP] SBAR]`, from the right, or outward from the head (kernels/binarise.py);
4. `horizontal` siblings are remembered by `@X` (`@X/PP`), and `vertical` - 1 ancestors by every node that is not
   over a word (`NP^S`).

symbols.py says how symbols are written. Everything is one pass over the arrays of a forest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.forest import Forest
from latentgram.data.kernels import binarise as kernel
from latentgram.data.splice import keep_nodes, stretch_nodes
from latentgram.data.symbols import Symbol
from latentgram.data.tree import Tree
from latentgram.errors import SettingError


@dataclass(frozen=True)
class Binarisation:
    """How trees are made binary, and how parses are turned back.

    `direction` is left, right or head; `horizontal` limits the siblings an intermediate symbol remembers (None:
    all; 0: none, the papers' @X); `vertical` is the number of labels a node knows on the way up, its own
    included. `root` is the label that is taken off and put back (None: trees have no such label).

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

    def __post_init__(self) -> None:
        if self.direction not in ("left", "right", "head"):
            raise SettingError(f"direction must be left, right or head, not {self.direction!r}")
        if self.horizontal is not None and self.horizontal < 0:
            raise SettingError(f"horizontal must be None or at least 0, not {self.horizontal}")
        if self.vertical < 1:
            raise SettingError(f"vertical must be at least 1, not {self.vertical}")

    @classmethod
    def of(
        cls,
        forest: Forest,
        *,
        direction: Literal["left", "right", "head"] = "left",
        horizontal: int | None = 0,
        vertical: int = 1,
    ) -> Binarisation:
        """A binarisation with the root label of this treebank: see `root_label`."""
        return cls(direction, horizontal, vertical, root_label(forest))

    def binarise(self, forest: Forest) -> Forest:
        """The same trees, in which every node has two children or one word."""
        forest = forest if self.root is None else strip_root(forest, self.root)
        if not len(forest.label):
            return forest
        bottom = ~forest.is_unary
        last = np.flatnonzero(bottom)
        first = np.concatenate((np.zeros(1, np.int64), last[:-1] + 1))
        compact = keep_nodes(forest, bottom)
        size, source, siblings, _ = kernel.binarise(
            compact.size, compact.arity, self._heads(compact, forest, first, last), self._memory(compact)
        )
        new = source < 0
        owner = np.where(new, -1 - source, source)
        # One row a node: length of the chain, the chain, siblings and ancestors; equal rows are one symbol.
        length = last - first + 1
        chain = _rows(forest.label, first[:, None] + np.arange(length.max()), first[:, None] + length[:, None])
        lowest = np.full_like(chain, ABSENT)
        lowest[:, 0] = forest.label[last]
        ancestor = _ancestors(forest, first, self.vertical - 1)
        ancestor[compact.is_tag] = ABSENT
        lowest_ancestor = _ancestors(forest, last, self.vertical - 1)
        sibling = np.where(siblings >= 0, forest.label[first[np.maximum(siblings, 0)]], ABSENT)
        over_word = compact.is_tag[owner]
        # A new node takes only the lowest label of its chain: @VP is the same under VP and under S+VP.
        own_chain = np.where(new[:, None], lowest[owner], chain[owner])
        own_ancestor = np.where(new[:, None], lowest_ancestor[owner], ancestor[owner])
        rows = np.column_stack((new, over_word, own_chain, sibling, own_ancestor))
        unique, number = _unique_rows(rows)
        symbols = [
            Symbol(
                _labels(forest.labels, row[2 : 2 + chain.shape[1]]),
                bool(row[0]),
                _labels(forest.labels, row[2 + chain.shape[1] : 2 + chain.shape[1] + sibling.shape[1]]),
                _labels(forest.labels, row[2 + chain.shape[1] + sibling.shape[1] :]),
            )
            for row in unique
        ]
        both = {s for s, row in zip(symbols, unique, strict=True) if row[1]} & {
            s for s, row in zip(symbols, unique, strict=True) if not row[1]
        }
        names = [
            str(s._replace(over_word=bool(row[1]) and s in both)) for s, row in zip(symbols, unique, strict=True)
        ]
        word = np.where(new, ABSENT, compact.word[owner]).astype(np.int32)
        start = np.append(np.flatnonzero(np.isin(source, compact.start[:-1])), len(source))
        return Forest(Alphabet(tuple(names)), forest.words, number.astype(np.int32), size, word, start).compact()

    def restore_forest(self, forest: Forest) -> Forest:
        """Binarised trees as treebank trees again; the inverse of `binarise`."""
        symbols = [Symbol.read(name) for name in forest.labels]
        intermediate = np.array([symbol.intermediate for symbol in symbols], bool)
        forest = keep_nodes(forest, ~intermediate[forest.label])
        length = np.array([len(symbol.chain) for symbol in symbols], np.int64)
        labels = Alphabet.of(label for symbol in symbols for label in symbol.chain)
        chain = np.full((len(symbols), length.max(initial=0)), ABSENT, np.int32)
        for row, symbol in zip(chain, symbols, strict=True):
            row[: len(symbol.chain)] = labels.encode(symbol.chain)
        symbol_of = forest.label
        forest, step = stretch_nodes(forest, length[symbol_of])
        forest = forest.with_labels(labels, chain[forest.label, step])
        return forest if self.root is None else add_root(forest, self.root)

    def restore(self, tree: Tree) -> Tree:
        """One binarised tree as a treebank tree again."""
        return self.restore_forest(Forest.of([tree]))[0]

    def _memory(self, compact: Forest) -> int:
        everything = max(int(compact.arity.max()) - 1, 0)
        return everything if self.horizontal is None else min(self.horizontal, everything)

    def _heads(
        self, compact: Forest, forest: Forest, first: NDArray[np.int64], last: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        if self.direction == "left":
            return np.zeros(len(compact.size), np.int32)
        if self.direction == "head":
            raise SettingError("binarisation outward from the head needs head rules")
        return compact.arity - np.int32(1)


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
    return keep_nodes(forest, keep)


def add_root(forest: Forest, root: str) -> Forest:
    """With the root label on every tree that does not have it: the inverse of `strip_root`."""
    labels = forest.labels if root in forest.labels else Alphabet.of((*forest.labels, root))
    label = labels.encode(forest.labels)[forest.label]
    roots = forest.start[:-1]
    times = np.ones(len(label), np.int64)
    times[roots] += label[roots] != labels.index(root)
    forest = Forest(labels, forest.words, label, forest.size, forest.word, forest.start)
    stretched, _ = stretch_nodes(forest, times)
    stretched.label[stretched.start[:-1]] = labels.index(root)
    return stretched


def _rows(values: NDArray[np.int32], index: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int32]:
    """values[index], ABSENT from the column where the index reaches the end of its row."""
    found = values[np.minimum(index, len(values) - 1)]
    return np.where(index < end, found, np.int32(ABSENT))


def _ancestors(forest: Forest, first: NDArray[np.int64], count: int) -> NDArray[np.int32]:
    """The labels above the tops of chains, nearest first."""
    rows = np.full((len(first), count), ABSENT, np.int32)
    above = np.asarray(first)
    for column in range(count):
        above = np.where(above >= 0, forest.parent[np.maximum(above, 0)], ABSENT)
        rows[:, column] = np.where(above >= 0, forest.label[np.maximum(above, 0)], ABSENT)
    return rows


def _unique_rows(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows and the number of each row among them."""
    packed = np.ascontiguousarray(rows, np.int32).view(np.dtype((np.void, 4 * rows.shape[1]))).ravel()
    _, first, number = np.unique(packed, return_index=True, return_inverse=True)
    return rows[first], number


def _labels(alphabet: Alphabet, numbers: NDArray[np.int64]) -> tuple[str, ...]:
    return tuple(alphabet[number] for number in numbers if number != ABSENT)
