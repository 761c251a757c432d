"""`Tree`: a constituency tree for people; `Forest` (forest.py) is the representation for programs.

Nothing here is recursive, so a right-branching tree over a thousand words is no harder than a flat one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from latentgram.data.sentence import Sentence, bracket_safe

_CLOSE = None


class _Node(Protocol):
    """What has children of its own kind."""

    @property
    def children(self: Node) -> Sequence[Node]: ...


Node = TypeVar("Node", bound=_Node)


def preorder(root: Node) -> Iterator[Node]:
    """All nodes below a node and itself, parents before children, left before right."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


@dataclass(frozen=True, slots=True)
class Tree:
    """A node: either a label over children, or a tag over one word.

    >>> tree = Tree("S", (Tree("NP", (Tree("NNS", word="Cats"),)), Tree("VBP", word="sleep")))
    >>> tree.words, tree.tags, str(tree)
    (('Cats', 'sleep'), ('NNS', 'VBP'), '(S (NP (NNS Cats)) (VBP sleep))')
    >>> list(tree.spans())
    [('S', 0, 2), ('NP', 0, 1), ('NNS', 0, 1), ('VBP', 1, 2)]
    """

    label: str
    children: tuple[Tree, ...] = ()
    word: str | None = None

    def __repr__(self) -> str:
        return f"<Tree {self}>"

    @classmethod
    def of_preorder(cls, labels: Sequence[str], words: Sequence[str | None], arities: Sequence[int]) -> Tree:
        """The tree whose nodes have these labels, words and numbers of children, parents before children."""
        pending: list[Tree] = []
        # From the last node back, so that the children of a node lie on the stack, the first one on top.
        for label, word, arity in zip(labels[::-1], words[::-1], arities[::-1], strict=True):
            if not arity:
                pending.append(cls(label, (), word))
                continue
            children = tuple(pending[: -arity - 1 : -1])
            del pending[-arity:]
            pending.append(cls(label, children, word))
        return pending[0]

    def nodes(self) -> Iterator[Tree]:
        """All nodes, parents before children, left before right."""
        return preorder(self)

    def preterminals(self) -> Iterator[Tree]:
        """The nodes directly over words, from left to right."""
        return (node for node in self.nodes() if node.word is not None)

    def spans(self) -> Iterator[tuple[str, int, int]]:
        """(label, first word, one past the last word) of every node, in the order of `nodes`."""
        nodes = list(self.nodes())
        lengths: list[int] = []
        pending: list[int] = []
        for node in reversed(nodes):
            length = 1
            if node.word is None:
                length = sum(pending[len(pending) - len(node.children) :])
                del pending[len(pending) - len(node.children) :]
            pending.append(length)
            lengths.append(length)
        start = 0
        for node, length in zip(nodes, reversed(lengths), strict=True):
            yield node.label, start, start + length
            start += node.word is not None

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the sentence."""
        return tuple(node.word or "" for node in self.preterminals())

    @property
    def tags(self) -> tuple[str, ...]:
        """The labels directly over the words."""
        return tuple(node.label for node in self.preterminals())

    @property
    def sentence(self) -> Sentence:
        """The words and tags without the tree."""
        return Sentence(self.words, self.tags)

    def __len__(self) -> int:
        return sum(1 for _ in self.preterminals())

    def _repr_svg_(self) -> str:
        """The tree as a picture, in a notebook."""
        from latentgram.view.trees import draw

        return draw(self)

    def __str__(self) -> str:
        parts: list[str] = []
        stack: list[Tree | None] = [self]
        while stack:
            node = stack.pop()
            if node is _CLOSE:
                parts.append(")")
            elif node.word is not None:
                parts.append(f" ({bracket_safe(node.label)} {bracket_safe(node.word)})")
            else:
                parts.append(f" ({bracket_safe(node.label)}")
                stack.append(_CLOSE)
                stack.extend(reversed(node.children))
        return "".join(parts)[1:]
