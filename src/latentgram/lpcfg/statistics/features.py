"""Features of inside and outside trees: what a node looks like from below and from above (004 §3.1).

A feature is a function from all nodes at once to one number a node, equal numbers meaning equal looks. Within
one symbol a feature with K distinct numbers is K indicators, so a node's view of F features is a sparse vector
with F ones. A number below zero says that the feature does not apply; that too is an indicator, so that every
node has as many. Cost: one pass over the nodes a feature, 4·F bytes a node.

To add one's own, put a function into `INSIDE` or `OUTSIDE` under a new name, name a set in `FEATURE_SETS` that has
it, and ask for that set (`Spectral(features="mine")`):

>>> INSIDE["odd-width"] = lambda nodes: nodes.derivations.width % 2
>>> FEATURE_SETS["mine"] = (("rule", "odd-width"), ("rule-above",))
>>> del INSIDE["odd-width"], FEATURE_SETS["mine"]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT
from latentgram.errors import SettingError
from latentgram.lpcfg.statistics.derivations import Derivations
from latentgram.lpcfg.statistics.preorder import nearest_other
from latentgram.numeric.numbering import number_values

Values = NDArray[np.int64]

WIDTHS = np.array([1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40])
"""Span widths are told apart up to these bounds (a real-valued width drowns the indicators)."""


@dataclass(frozen=True)
class Nodes:
    """What features may look at: the derivations, and the leaf that is each node's head."""

    derivations: Derivations
    head: Values

    @cached_property
    def production(self) -> Values:
        """The rule or lexical entry at each node, as one number."""
        d = self.derivations
        return np.where(d.rule >= 0, d.rule, d.entry + len(d.rules)).astype(np.int64)

    @cached_property
    def symbol(self) -> Values:
        """The symbol of each node."""
        return self.derivations.symbol.astype(np.int64)

    @cached_property
    def width(self) -> Values:
        """The bucket of the number of words below each node."""
        return np.searchsorted(WIDTHS, self.derivations.width).astype(np.int64)

    @cached_property
    def side(self) -> Values:
        """0 for left children, 1 for right ones."""
        d = self.derivations
        return np.asarray(d.left[d.parent] != np.arange(len(d.symbol)), np.int64)

    @cached_property
    def first(self) -> Values:
        """The number of words before each node in its sentence."""
        d = self.derivations
        before: Values = np.cumsum(d.rule < 0) - (d.rule < 0)
        return np.asarray(before - np.repeat(before[d.root], np.diff(d.start)), np.int64)

    @cached_property
    def after(self) -> Values:
        """The number of words after each node in its sentence."""
        d = self.derivations
        length = np.repeat(d.width[d.root], np.diff(d.start))
        return np.asarray(length - self.first - d.width, np.int64)

    @cached_property
    def leaf(self) -> Values:
        """The leaf nodes from left to right over all trees."""
        return np.flatnonzero(self.derivations.rule < 0)

    @cached_property
    def leaf_number(self) -> Values:
        """The number of each node's first leaf in `leaf`."""
        leaf = self.derivations.rule < 0
        return np.asarray(np.cumsum(leaf) - leaf, np.int64)

    def at(self, values: Values, nodes: Values) -> Values:
        """`values` at other nodes, -1 where the node is missing."""
        return np.where(nodes >= 0, values[nodes], ABSENT)

    def up(self, levels: int) -> Values:
        """The ancestor so many levels above each node, or -1."""
        parent = self.derivations.parent.astype(np.int64)
        above = np.arange(len(parent))
        for _ in range(levels):
            above = self.at(parent, above)
        return above

    def tag(self, leaf_number: Values, inside: NDArray[np.bool_]) -> Values:
        """The symbol of leaves given by number, -1 where `inside` is false."""
        number = np.clip(leaf_number, 0, len(self.leaf) - 1)
        return np.where(inside, self.symbol[self.leaf[number]], ABSENT)


def pair(first: Values, second: Values) -> Values:
    """One number for each pair; -1 where either is missing.

    >>> pair(np.array([0, 0, 1, -1]), np.array([0, 2, 0, 1]))
    array([ 0,  2,  3, -1])
    """
    joined = first * (int(second.max(initial=0)) + 1) + second
    return np.where((first >= 0) & (second >= 0), joined, ABSENT)


Feature = Callable[[Nodes], Values]
Each = Callable[[Callable[[int], Values], Iterable[int]], Iterable[Values]]


def _child(nodes: Nodes, left: bool) -> Values:
    return (nodes.derivations.left if left else nodes.derivations.right).astype(np.int64)


def _rule_above(nodes: Nodes) -> Values:
    return pair(nodes.at(nodes.production, nodes.up(1)), nodes.side)


def _rules_above(nodes: Nodes, levels: int) -> Values:
    one = _rule_above(nodes)
    fragment = one
    for level in range(1, levels):
        # A fragment that ends at the root is a look of its own, not a missing one.
        above = nodes.at(one, nodes.up(level)) + 1
        known = number_values(np.zeros_like(fragment), fragment + 1, 1)[0].astype(np.int64)
        fragment = np.where(fragment >= 0, pair(known, above), ABSENT)
    return fragment


def _head_above(nodes: Nodes) -> Values:
    """The tag of the first head on the way up that is not the node's own head."""
    return np.asarray(nearest_other(nodes.derivations.parent, nodes.head, nodes.symbol))


INSIDE: dict[str, Feature] = {
    "left-child": lambda n: n.at(n.symbol, _child(n, left=True)),
    "right-child": lambda n: n.at(n.symbol, _child(n, left=False)),
    "rule": lambda n: n.production,
    "left-rule": lambda n: pair(n.production, n.at(n.production, _child(n, left=True))),
    "right-rule": lambda n: pair(n.production, n.at(n.production, _child(n, left=False))),
    "head": lambda n: n.symbol[n.head],
    "width": lambda n: n.width,
    "first-tag": lambda n: n.tag(n.leaf_number, n.derivations.width > 1),
    "last-tag": lambda n: n.tag(n.leaf_number + n.derivations.width - 1, n.derivations.width > 1),
}
"""The features of inside trees by name."""

OUTSIDE: dict[str, Feature] = {
    "rule-above": _rule_above,
    "two-rules-above": lambda n: _rules_above(n, 2),
    "three-rules-above": lambda n: _rules_above(n, 3),
    "parent": lambda n: n.at(n.symbol, n.up(1)),
    "grandparent": lambda n: pair(n.at(n.symbol, n.up(1)), n.at(n.symbol, n.up(2)) + 1),
    "head-above": _head_above,
    "left-width": lambda n: np.searchsorted(WIDTHS, n.first).astype(np.int64),
    "right-width": lambda n: np.searchsorted(WIDTHS, n.after).astype(np.int64),
    "previous-tag": lambda n: n.tag(n.leaf_number - 1, n.first > 0),
    "next-tag": lambda n: n.tag(n.leaf_number + n.derivations.width, n.after > 0),
}
"""The features of outside trees by name."""

_PAPER = (
    ("left-child", "right-child", "rule", "left-rule", "right-rule", "head", "width"),
    tuple(name for name in OUTSIDE if not name.endswith("-tag")),
)

FEATURE_SETS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "simple": (("rule",), ("rule-above",)),
    "paper": _PAPER,
    "full": (tuple(INSIDE), tuple(OUTSIDE)),
}
"""Named sets: 004 §4.3's simple one, 004 §3.1's, and all with the tags at the edges of the span."""


@dataclass(frozen=True)
class View:
    """F indicators a node: `column[v]` are the features of node v among the `width[s]` of its symbol s."""

    column: NDArray[np.int32]
    width: NDArray[np.int64]


def view(nodes: Nodes, names: Sequence[str], table: dict[str, Feature], each: Each = map) -> View:
    """Compute features by their names in a table (`INSIDE` or `OUTSIDE`); `each` maps over them."""
    unknown = sorted(set(names) - set(table))
    if unknown or not names:
        raise SettingError(
            f"no feature is named {', '.join(unknown) or '(none given)'}; known: {', '.join(table)}"
        )
    symbols = nodes.derivations.symbols
    column = np.empty((len(nodes.symbol), len(names)), np.int32)

    def compute(place: int) -> Values:
        values = np.maximum(np.asarray(table[names[place]](nodes), np.int64), ABSENT) + 1
        column[:, place], distinct = number_values(nodes.symbol, values, symbols)
        return np.asarray(distinct, np.int64)

    widths = np.stack(list(each(compute, range(len(names)))), axis=1)
    ends = np.cumsum(widths, axis=1)
    column += np.take((ends - widths).astype(np.int32), nodes.symbol, axis=0)
    return View(column, ends[:, -1])
