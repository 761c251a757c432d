"""`Forest`: many constituency trees as five flat arrays, the representation for programs.

Nodes are in preorder (parents before children, left before right), tree after tree. A node's subtree is the slice
``[v, v + size[v])``, so its first child is ``v + 1`` and the next sibling of ``c`` is ``c + size[c]``. A transform
that only renames labels is a map over the alphabet. The structure is changed in two ways, by removing nodes and by
inserting chains of nodes, and both are sums: if c[v] nodes replace each node v, and C is the cumulative sum of c,
then C[v + size[v]] - C[v] nodes replace the subtree at v; O(nodes), without a loop. A forest takes 12 bytes per
node.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Flags, Integers, Ints, Ints32
from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.kernels import forest as kernel
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees in preorder.

    >>> forest = Forest.of([Tree("NP", (Tree("DT", word="the"), Tree("NN", word="cat")))])
    >>> forest.size, [forest.labels[i] for i in forest.label], str(forest[0])
    (array([3, 1, 1], dtype=int32), ['NP', 'DT', 'NN'], '(NP (DT the) (NN cat))')
    """

    labels: Alphabet
    words: Alphabet
    label: Ints32
    """[nodes] the label of each node."""
    size: Ints32
    """[nodes] how many nodes the subtree at each node has, itself included."""
    word: Ints32
    """[nodes] the word under each node, `ABSENT` unless it is a tag."""
    start: Ints
    """[trees + 1] tree t holds the nodes `start[t] : start[t + 1]`."""

    @classmethod
    def of(cls, trees: Iterable[Tree]) -> Forest:
        """Flatten trees."""
        labels: list[str] = []
        words: list[str | None] = []
        arities: list[int] = []
        start = [0]
        for tree in trees:
            nodes = list(tree.nodes())
            labels.extend(node.label for node in nodes)
            words.extend(node.word for node in nodes)
            arities.extend(len(node.children) for node in nodes)
            start.append(len(labels))
        sizes: list[int] = []
        pending: list[int] = []
        for arity in reversed(arities):
            size = 1 + sum(pending[len(pending) - arity :])
            pending[len(pending) - arity :] = [size]
            sizes.append(size)
        label_alphabet = Alphabet.of(labels)
        word_alphabet = Alphabet.of(word for word in words if word is not None)
        return cls(
            label_alphabet,
            word_alphabet,
            label_alphabet.encode(labels),
            np.array(sizes[::-1], np.int32),
            np.array([ABSENT if word is None else word_alphabet.index(word) for word in words], np.int32),
            np.array(start, np.int64),
        )

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, number: int) -> Tree:
        """The tree with this number, built again."""
        if not -len(self) <= number < len(self):
            raise IndexError(f"tree {number} of a forest of {len(self)}")
        number %= len(self)
        here = slice(int(self.start[number]), int(self.start[number + 1]))
        names, words = self.labels.symbols, self.words.symbols
        labels = [names[label] for label in self.label[here].tolist()]
        forms = [None if word == ABSENT else words[word] for word in self.word[here].tolist()]
        return Tree.of_preorder(labels, forms, self.arity[here].tolist())

    def __iter__(self) -> Iterator[Tree]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same trees in the same order, however their alphabets are ordered."""
        return isinstance(other, Forest) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Forest({len(self)} trees, {int(self.is_tag.sum())} words, {len(self.label)} nodes)"

    @cached_property
    def is_tag(self) -> Flags:
        """Whether each node is directly above a word."""
        return np.asarray(self.word != ABSENT)

    @cached_property
    def is_unary(self) -> Flags:
        """Whether each node has exactly one child."""
        below = np.append(self.size[1:], np.int32(0))
        return np.asarray((self.size > 1) & (below == self.size - 1))

    @cached_property
    def parent(self) -> Ints32:
        """The parent of each node, `ABSENT` at the roots."""
        return np.asarray(kernel.parents(self.size))

    @cached_property
    def depth(self) -> Ints32:
        """The number of ancestors of each node."""
        return np.asarray(kernel.depths(self.parent))

    @cached_property
    def arity(self) -> Ints32:
        """The number of children of each node."""
        below = self.parent[self.parent != ABSENT]
        return np.bincount(below, minlength=len(self.size)).astype(np.int32)

    @cached_property
    def tree_of(self) -> Ints32:
        """The number of the tree that each node is in."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.start))

    @cached_property
    def _words_before(self) -> Ints:
        return _running_sum(self.is_tag)

    @cached_property
    def begin(self) -> Ints32:
        """The first word of each node, counted from 0 in its sentence."""
        before = self._words_before
        return np.asarray(before[:-1] - before[self.start[:-1]][self.tree_of], np.int32)

    @cached_property
    def end(self) -> Ints32:
        """One past the last word of each node."""
        before = self._words_before
        here = np.arange(len(self.size))
        return np.asarray(self.begin + (before[here + self.size] - before[here]), np.int32)

    @cached_property
    def lengths(self) -> Ints:
        """The number of words of each tree."""
        return np.diff(self._words_before[self.start])

    @cached_property
    def digest(self) -> str:
        """A hash of the content: equal for equal trees in equal order, whatever the order of the alphabets."""
        plain = self.compact()
        content = hashlib.sha256()
        for alphabet in (plain.labels, plain.words):
            content.update(json.dumps(alphabet.symbols).encode())
        for array in (plain.label, plain.size, plain.word, plain.start):
            content.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
        return content.hexdigest()

    def sentences(self) -> list[Sentence]:
        """The words and tags without the trees."""
        words = self.words.decode(self.word[self.is_tag].tolist())
        tags = self.labels.decode(self.label[self.is_tag].tolist())
        ends = np.cumsum(self.lengths).tolist()
        return [Sentence(tuple(words[a:b]), tuple(tags[a:b])) for a, b in zip([0, *ends], ends, strict=False)]

    def compact(self) -> Forest:
        """The same trees with sorted alphabets that hold only symbols in use."""
        labels, label = _sorted_symbols(self.labels, self.label)
        words, word = _sorted_symbols(self.words, self.word)
        return Forest(labels, words, label, self.size, word, self.start)

    def with_labels(self, labels: Alphabet, label: Integers) -> Forest:
        """The same structure and words with other labels."""
        return Forest(labels, self.words, np.asarray(label, np.int32), self.size, self.word, self.start).compact()

    def rename(self, name: Callable[[str], str]) -> Forest:
        """Apply a function to every label; it is called once per symbol, not once per node."""
        labels = [name(symbol) for symbol in self.labels]
        alphabet = Alphabet.of(labels)
        return self.with_labels(alphabet, alphabet.encode(labels)[self.label] if labels else self.label)

    def select(self, trees: Integers | Iterable[int]) -> Forest:
        """The trees with these numbers, in this order; repeats are allowed, the alphabets stay.

        >>> forest = Forest.of([Tree("A", word="a"), Tree("B", word="b")])
        >>> [str(tree) for tree in forest.select([1, 0, 1])]
        ['(B b)', '(A a)', '(B b)']
        """
        chosen = np.asarray(trees if isinstance(trees, np.ndarray) else list(trees), np.int64)
        if len(chosen) and not (chosen.min() >= -len(self) and chosen.max() < len(self)):
            raise IndexError(f"trees outside of a forest of {len(self)}")
        chosen = chosen % max(len(self), 1)
        nodes = np.diff(self.start)[chosen]
        start = _running_sum(nodes)
        here = np.repeat(self.start[chosen] - start[:-1], nodes) + np.arange(start[-1])
        return Forest(self.labels, self.words, self.label[here], self.size[here], self.word[here], start)

    def keep_nodes(self, keep: Flags) -> Forest:
        """Only these nodes; the children of a removed node become children of its parent.

        Each tree must keep one root; a tree that keeps nothing is left out.
        """
        before = _running_sum(keep)
        here = np.flatnonzero(keep)
        size = (before[here + self.size[here]] - before[here]).astype(np.int32)
        start = np.unique(before[self.start])
        return Forest(self.labels, self.words, self.label[keep], size, self.word[keep], start)

    def stretch_nodes(self, times: Integers) -> tuple[Forest, Ints]:
        """Each node v as a unary chain of `times[v]` ≥ 1 nodes with its label, and the place of each in it."""
        before = _running_sum(times)
        source = np.repeat(np.arange(len(times)), times)
        step = np.arange(len(source)) - before[source]
        size = (before[source + self.size[source]] - before[source] - step).astype(np.int32)
        word = np.where(step == np.asarray(times)[source] - 1, self.word[source], ABSENT).astype(np.int32)
        return Forest(self.labels, self.words, self.label[source], size, word, before[self.start]), step

    @classmethod
    def concatenate(cls, forests: Sequence[Forest]) -> Forest:
        """The trees of several forests, one after the other."""
        if len(forests) == 1:
            return forests[0]
        labels = Alphabet.of(symbol for forest in forests for symbol in forest.labels)
        words = Alphabet.of(symbol for forest in forests for symbol in forest.words)
        starts = np.cumsum([0, *(len(forest.label) for forest in forests)])
        return cls(
            labels,
            words,
            _joined([labels.encode(forest.labels)[forest.label] for forest in forests]),
            _joined([forest.size for forest in forests]),
            _joined([np.append(words.encode(forest.words), ABSENT)[forest.word] for forest in forests]),
            np.concatenate(
                [np.zeros(1, np.int64)]
                + [forest.start[1:] + before for forest, before in zip(forests, starts, strict=False)]
            ),
        )


def _running_sum(counts: NDArray[np.generic]) -> Ints:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))


def _joined(arrays: list[Ints32]) -> Ints32:
    return np.concatenate([np.zeros(0, np.int32), *arrays]).astype(np.int32)


def _sorted_symbols(alphabet: Alphabet, number: Ints32) -> tuple[Alphabet, Ints32]:
    used = np.flatnonzero(np.bincount(number + 1, minlength=len(alphabet) + 1)[1:]).tolist()
    order = sorted(used, key=alphabet.symbols.__getitem__)
    if len(order) == len(alphabet) and order == used:
        return alphabet, number
    position = np.full(len(alphabet) + 1, ABSENT, np.int32)  # the last one is for ABSENT itself
    position[order] = np.arange(len(order), dtype=np.int32)
    return Alphabet(tuple(map(alphabet.symbols.__getitem__, order))), position[number]
