"""Constituency trees changed by hand: everything stays as it is except what is named.

A part is identified by its words and label, (first, end, label), with words counted from 0; traces (`-NONE-`) are
not counted, so that the words of a tree are numbered as in its sentence. A change keeps the order of the words;
changes that would have other words between them, or cross a constituent, are refused with a message. Each costs
O(nodes).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from latentgram.data.cleaning import EMPTY, plain_label
from latentgram.data.tree import Tree, preorder
from latentgram.errors import DataError

Part = tuple[int, int, str]
"""First word, one past the last, label."""
_INDEX = re.compile(r"-(\d+)$")
"""The index behind a label or a trace."""


@dataclass(eq=False)
class Draft:
    """A tree that can be changed in place.

    >>> from latentgram.data.brackets import parse_tree
    >>> draft = Draft.of(parse_tree("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))"))
    >>> draft.label_as((0, 2, "NP"), "NP-SBJ")
    >>> draft.bracket(1, 2, "NML")
    >>> print(draft.tree())
    (S (NP-SBJ (DT the) (NML (NN dog))) (VP (VBZ barks)))
    """

    label: str
    children: list[Draft] = field(default_factory=list)
    word: str | None = None

    @classmethod
    def of(cls, tree: Tree) -> Draft:
        """A draft of a tree."""
        made: list[Draft] = []
        for node in reversed(list(tree.nodes())):
            children = [made.pop() for _ in node.children]
            made.append(cls(node.label, children, node.word))
        return made[0]

    def tree(self) -> Tree:
        """The tree as it is now."""
        nodes = list(self.nodes())
        return Tree.of_preorder(
            [node.label for node in nodes], [node.word for node in nodes], [len(node.children) for node in nodes]
        )

    def nodes(self) -> Iterator[Draft]:
        """All nodes, parents before children, left before right."""
        return preorder(self)

    def spans(self) -> list[tuple[Draft, int, int]]:
        """Every node with its words, in the order of `nodes`; traces have none."""
        return [(node, first, end) for node, (_, first, end) in zip(self.nodes(), spans(self.tree()), strict=True)]

    def find(self, part: Part) -> Draft:
        """The topmost node of this name."""
        first, end, label = part
        for node, start, stop in self.spans():
            if (start, stop, node.label) == (first, end, label):
                return node
        raise DataError(f"there is no {label} over {self.quote(first, end)} in this tree")

    def has(self, part: Part) -> bool:
        """Whether there is a node of this name."""
        return any((start, stop, node.label) == tuple(part) for node, start, stop in self.spans())

    def quote(self, first: int, end: int) -> str:
        """Some words of the tree, in quotation marks."""
        words = [node.word or "" for node in self.nodes() if is_word(node)][first:end]
        return f"“{' '.join(words) if len(words) < 5 else f'{words[0]} … {words[-1]}'}”"

    def mother(self, wanted: Draft) -> Draft | None:
        """The node above another."""
        return next((node for node in self.nodes() if any(child is wanted for child in node.children)), None)

    def label_as(self, part: Part, label: str) -> None:
        """Give a node another label."""
        self.find(part).label = label

    def label_alike(self, part: Part, label: str) -> None:
        """Give a node another label, whatever function tags it has now."""
        first, end, old = part
        same = (node for node, *span in self.spans() if span == [first, end])
        alike = None if self.has(part) else next((node for node in same if plain_label(node.label) == old), None)
        (alike or self.find(part)).label = label

    def tag(self, word: int, tag: str) -> None:
        """Give a word another tag."""
        self._leaf(word).label = tag

    def bracket(self, first: int, end: int, label: str) -> None:
        """Put a new node over some words, above all nodes over just these."""
        exact = [node for node, start, stop in self.spans() if (start, stop) == (first, end)]
        if exact and exact[0] is self:
            exact = exact[1:]
        if exact:
            mother = self.mother(exact[0]) or self
            place = _index(mother, exact[0])
            mother.children[place] = Draft(label, [exact[0]])
            return
        covering = [node for node, start, stop in self.spans() if start <= first and end <= stop and node.children]
        mother = covering[-1]
        where = {id(node): (start, stop) for node, start, stop in self.spans()}
        inside = [child for child in mother.children if _within(where[id(child)], first, end)]
        if (
            not inside
            or sum(stop - start for start, stop in (where[id(child)] for child in inside)) != end - first
        ):
            crossed = next(child for child in mother.children if _crosses(where[id(child)], first, end))
            raise DataError(
                f"{label} over {self.quote(first, end)} would cross {crossed.label} over "
                f"{self.quote(*where[id(crossed)])}"
            )
        place = _index(mother, inside[0])
        mother.children[place : place + len(inside)] = [Draft(label, inside)]

    def unbracket(self, first: int, end: int, label: str | None) -> None:
        """Take a node away, or all nodes over some words; what it was over goes to its mother."""
        gone = [
            node
            for node, start, stop in self.spans()
            if (start, stop) == (first, end) and label in (None, node.label) and node.children
        ]
        if not gone:
            raise DataError(f"there is no {label or 'constituent'} over {self.quote(first, end)} in this tree")
        for node in gone:
            mother = self.mother(node)
            if mother is None:
                if len(gone) == 1:
                    raise DataError("the outermost node of a tree cannot be removed")
                continue
            place = _index(mother, node)
            mother.children[place : place + 1] = node.children

    def attach(self, part: Part, to: Part) -> None:
        """Put a node under another mother; the words keep their order.

        A mother that is left with one child of its own label is no node of its own any more.
        """
        words, quoted = self.tree().words, self.quote(part[0], part[1])
        node, mother = self.find(part), self.find(to)
        if any(below is mother for below in node.nodes()):
            raise DataError(f"{part[2]} cannot be attached to itself")
        if mother.word is not None:
            raise DataError(f"{to[2]} is the tag of a word: nothing else can be attached to it")
        left = self.mother(node)
        self._cut(node)
        where = {id(each): (start, stop) for each, start, stop in self.spans()}
        place = sum(where[id(child)][1] <= part[0] for child in mother.children if id(child) in where)
        mother.children.insert(place, node)
        if left is not None and len(left.children) == 1:
            (only,) = left.children
            if only.children and only.label == plain_label(left.label):
                left.children = only.children
        if self.tree().words != words:
            raise DataError(
                f"{part[2]} over {quoted} cannot be attached to {to[2]}: other words would stand between"
            )

    def trace(self, at: int, mother: Part, label: str, text: str) -> None:
        """Put an empty element before word `at`, under a node: `(NP (-NONE- *T*-1))`, or without a label."""
        over = self.find(mother)
        if over.word is not None or not mother[0] <= at <= mother[1]:
            raise DataError(f"{mother[2]} over {self.quote(mother[0], mother[1])} has no room for a trace there")
        where = {id(node): (start, stop) for node, start, stop in self.spans()}
        place = sum(where[id(child)][1] <= at for child in over.children)
        inside = [child for child in over.children if where[id(child)][0] < at < where[id(child)][1]]
        if inside:
            raise DataError(f"a trace there belongs under {inside[0].label}")
        leaf = Draft(EMPTY, [], text)
        over.children.insert(place, Draft(label, [leaf]) if label else leaf)

    def untrace(self, at: int, text: str) -> None:
        """Take an empty element away, and what is over nothing else."""
        self._cut(self._empty(at, text))

    def retrace(self, at: int, old: str, text: str) -> None:
        """Give an empty element another text."""
        self._empty(at, old).word = text

    def coindex(self, at: int, text: str, to: Part) -> None:
        """Let an empty element refer to a constituent: both get its index, or the next that is free."""
        empty, other = self._empty(at, text), self.find(to)
        known = _INDEX.search(other.label)
        names = [node.word if node.label == EMPTY else node.label for node in self.nodes()]
        used = [int(found[1]) for name in names if (found := _INDEX.search(name or ""))]
        index = int(known[1]) if known else max(used, default=0) + 1
        empty.word = f"{_INDEX.sub('', text)}-{index}"
        other.label = f"{_INDEX.sub('', other.label)}-{index}"

    def _empty(self, at: int, text: str) -> Draft:
        for node, first, _ in self.spans():
            if node.label == EMPTY and first == at and node.word == text:
                return node
        raise DataError(f"there is no trace {text} there")

    def split(self, word: int, parts: Sequence[str]) -> None:
        """Cut a word into several, each with its tag."""
        leaf = self._leaf(word)
        mother = self.mother(leaf)
        if mother is None:
            self.children, self.word = [Draft(self.label, [], part) for part in parts], None
            return
        place = _index(mother, leaf)
        mother.children[place : place + 1] = [Draft(leaf.label, [], part) for part in parts]

    def merge(self, word: int) -> None:
        """Make one word of this and the next, with the tag and the place of this."""
        leaf, following = self._leaf(word), self._leaf(word + 1)
        leaf.word = f"{leaf.word}{following.word}"
        self._cut(following)

    def _leaf(self, word: int) -> Draft:
        leaves = [node for node in self.nodes() if is_word(node)]
        if not 0 <= word < len(leaves):
            raise DataError(f"there is no word {word + 1} in this tree")
        return leaves[word]

    def _cut(self, node: Draft) -> None:
        """Take a node out, and all that would be over nothing then."""
        mother = self.mother(node)
        while mother is not None:
            mother.children = [child for child in mother.children if child is not node]
            if mother.children:
                return
            node, mother = mother, self.mother(mother)


def spans(tree: Tree) -> list[tuple[str, int, int]]:
    """(label, first word, one past the last) of every node; traces are not counted as words.

    >>> from latentgram.data.brackets import parse_tree
    >>> spans(parse_tree("(S (NP (-NONE- *)) (VP (VB go)))"))
    [('S', 0, 1), ('NP', 0, 0), ('-NONE-', 0, 0), ('VP', 0, 1), ('VB', 0, 1)]
    """
    counted = [0]
    for leaf in tree.preterminals():
        counted.append(counted[-1] + (leaf.label != EMPTY))
    return [(label, counted[first], counted[end]) for label, first, end in tree.spans()]


def stands_under(tree: Tree, part: Part, to: Part) -> bool:
    """Whether a node is a daughter of another one, which covers its words and those that it had before.

    >>> from latentgram.data.brackets import parse_tree
    >>> tree = parse_tree("(VP (VB eat) (NP (NP (NN pie)) (PP (IN with) (NN cream))))")
    >>> stands_under(tree, (2, 4, "PP"), (1, 2, "NP")), stands_under(tree, (2, 4, "PP"), (0, 4, "VP"))
    (True, False)
    """
    draft = Draft.of(tree)
    names = {id(node): (first, end, node.label) for node, first, end in draft.spans()}
    mother = (min(part[0], to[0]), max(part[1], to[1]), to[2])
    below = [child for node in draft.nodes() if names[id(node)] == mother for child in node.children]
    return any(names[id(child)] == tuple(part) for child in below)


def is_word(node: Draft | Tree) -> bool:
    """Whether a node stands over a word of the sentence."""
    return node.word is not None and node.label != EMPTY


def words_of(tree: Tree) -> tuple[str, ...]:
    """The words of a tree without its traces."""
    return tuple(node.word or "" for node in tree.preterminals() if node.label != EMPTY)


def _index(mother: Draft, wanted: Draft) -> int:
    return next(place for place, child in enumerate(mother.children) if child is wanted)


def _within(span: tuple[int, int], first: int, end: int) -> bool:
    return first <= span[0] and span[1] <= end


def _crosses(span: tuple[int, int], first: int, end: int) -> bool:
    return span[0] < end and first < span[1] and not _within(span, first, end)
