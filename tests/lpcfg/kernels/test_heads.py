"""Heads of the nodes of binarised trees, against their definition."""

import numpy as np

from latentgram.lpcfg.kernels.heads import head_words


class Nodes:
    """A random binary tree over some words: its nodes in preorder, and which of them binarisation put in."""

    def __init__(self, random: np.random.Generator, words: int) -> None:
        self.left, self.right, self.parent, self.before, self.width = (list[int]() for _ in range(5))
        self._random = random
        self._grow(-1, 0, words)
        self.added = np.zeros(len(self.left), bool)
        for node in range(1, len(self.left)):
            sibling = self.left[self.parent[node]] + self.right[self.parent[node]] - node
            # Binarisation never puts two new nodes below one.
            may_be = self.left[node] >= 0 and not (sibling < node and self.added[sibling])
            self.added[node] = may_be and random.random() < 0.6

    def _grow(self, parent: int, before: int, width: int) -> int:
        node, row = len(self.left), (-1, -1, parent, before, width)
        columns = (self.left, self.right, self.parent, self.before, self.width)
        for column, value in zip(columns, row, strict=True):
            column.append(value)
        if width > 1:
            cut = int(self._random.integers(1, width))
            self.left[node] = self._grow(node, before, cut)
            self.right[node] = self._grow(node, before + cut, width - cut)
        return node

    def head(self, node: int, own: list[int]) -> int:
        """The definition."""
        owner = node
        while self.added[owner]:
            owner = self.parent[owner]
        if self.before[node] <= own[owner] < self.before[node] + self.width[node]:
            return own[owner]
        return next(own[child] for child in (self.right[node], self.left[node]) if not self.added[child])


def test_heads_are_those_of_the_definition() -> None:
    """Each node of the treebank has a random word below it as its head."""
    random, outside = np.random.default_rng(0), 0
    for _ in range(200):
        nodes = Nodes(random, int(random.integers(1, 12)))
        spans = list(zip(nodes.before, nodes.width, strict=True))
        own = [int(random.integers(before, before + width)) for before, width in spans]
        wanted = [nodes.head(node, own) for node in range(len(own))]
        columns = (nodes.left, nodes.right, nodes.parent, nodes.before, nodes.width)
        heads = np.array(own, np.int32)[~nodes.added]
        found = head_words(nodes.added, heads, *(np.array(column, np.int32) for column in columns))
        np.testing.assert_array_equal(found, wanted)
        outside += sum(own[node] != head for node, head in enumerate(wanted))
    assert outside > 100
