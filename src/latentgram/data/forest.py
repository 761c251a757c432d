"""`Forest`: many constituency trees as five flat arrays, the form in which machines read them.

Nodes stand in preorder (parents before children, left before right), tree after tree. A node's subtree is the
slice ``[v, v + size[v])``, so its first child is ``v + 1`` and the next sibling of ``c`` is ``c + size[c]``.
A transform that only renames labels is a map over the alphabet; one that changes structure is one pass over
the arrays. A forest takes 12 bytes a node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.tree import Tree


@dataclass(frozen=True)
class Forest:
    """Trees in preorder: `label[v]`, `size[v]` (nodes of the subtree at v), `word[v]` (-1 unless v is a tag).

    Tree `t` holds the nodes `start[t]` to `start[t + 1]`.

    >>> forest = Forest.of([Tree("NP", (Tree("DT", word="the"), Tree("NN", word="cat")))])
    >>> forest.size, [forest.labels[i] for i in forest.label], str(forest[0])
    (array([3, 1, 1], dtype=int32), ['NP', 'DT', 'NN'], '(NP (DT the) (NN cat))')
    """

    labels: Alphabet
    words: Alphabet
    label: NDArray[np.int32]
    size: NDArray[np.int32]
    word: NDArray[np.int32]
    start: NDArray[np.int64]

    @classmethod
    def of(cls, trees: Iterable[Tree]) -> Forest:
        """Flatten trees."""
        labels: list[str] = []
        words: list[str | None] = []
        sizes: list[int] = []
        start = [0]
        for tree in trees:
            nodes = list(tree.nodes())
            pending: list[int] = []
            reversed_sizes = []
            for node in reversed(nodes):
                below = len(pending) - len(node.children)
                size = 1 + sum(pending[below:])
                del pending[below:]
                pending.append(size)
                reversed_sizes.append(size)
            labels.extend(node.label for node in nodes)
            words.extend(node.word for node in nodes)
            sizes.extend(reversed(reversed_sizes))
            start.append(len(labels))
        label_alphabet = Alphabet.of(labels)
        word_alphabet = Alphabet.of(word for word in words if word is not None)
        return cls(
            label_alphabet,
            word_alphabet,
            label_alphabet.encode(labels),
            np.array(sizes, np.int32),
            np.array([ABSENT if word is None else word_alphabet.index(word) for word in words], np.int32),
            np.array(start, np.int64),
        )

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, number: int) -> Tree:
        """The tree with this number, built anew."""
        if not -len(self) <= number < len(self):
            raise IndexError(f"tree {number} of a forest of {len(self)}")
        number %= len(self)
        pending: list[Tree] = []
        for v in range(int(self.start[number + 1]) - 1, int(self.start[number]) - 1, -1):
            label = self.labels[self.label[v]]
            if self.word[v] != ABSENT:
                pending.append(Tree(label, word=self.words[self.word[v]]))
                continue
            arity, child, end = 0, v + 1, v + int(self.size[v])
            while child < end:
                arity, child = arity + 1, child + int(self.size[child])
            children = tuple(reversed(pending[len(pending) - arity :]))
            del pending[len(pending) - arity :]
            pending.append(Tree(label, children))
        return pending[0]

    def __iter__(self) -> Iterator[Tree]:
        return (self[i] for i in range(len(self)))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of words of each tree."""
        before = np.concatenate(([0], np.cumsum(self.word != ABSENT)))
        return np.asarray(np.diff(before[self.start]), np.int64)
