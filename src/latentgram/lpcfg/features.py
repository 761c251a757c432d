"""Features of inside and outside trees: how a node looks from below and above (Cohen et al. 2013, §3.1).

A feature is a function from all nodes at once to one number per node, equal numbers meaning equal looks. Within
one symbol a feature with K distinct numbers is K indicators, so a node's view of F features is a sparse vector
with F ones. A number below zero says that the feature does not apply; that too is an indicator, so that every
node has as many. Cost: one pass over the nodes per feature, 4·F bytes per node.

Words as such are too many for features. Where there are vectors of them from raw text, their clusters are few
(`cluster_features`): those of the words beside a span, of its head and of the next head above, by the beginnings
of their bits. They serve in learning only; a grammar does not keep them.

To add one's own, put a function into `INSIDE` or `OUTSIDE` under a new name, name a set in `FEATURE_SETS` that has
it, and ask for that set (`Spectral(features="mine")`):

>>> INSIDE["odd-width"] = lambda nodes: nodes.derivations.width % 2
>>> FEATURE_SETS["mine"] = (("rule", "odd-width"), ("rule-above",))
>>> del INSIDE["odd-width"], FEATURE_SETS["mine"]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from latentgram.arrays import Flags, Floats, Integers, Ints, Ints32
from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.kernels.forest import number_values
from latentgram.data.word_clusters import WordClusters
from latentgram.errors import SettingError
from latentgram.lpcfg.statistics import Derivations
from latentgram.parallel import Engine, run_pieces

Values = Ints


@dataclass(frozen=True)
class Nodes:
    """What features may look at: the derivations, and the leaf that is each node's head."""

    derivations: Derivations
    head: Values
    """[nodes] a leaf each."""

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
    def after(self) -> Values:
        """The number of words after each node in its sentence."""
        d = self.derivations
        length = np.repeat(d.width[d.root], np.diff(d.start))
        return np.asarray(length - d.first - d.width, np.int64)

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

    def beside(self, values: Values, place: Integers | int, wanted: Flags) -> Values:
        """Of `values` [leaves] that of the leaf so many places behind each node's first, -1 if not wanted."""
        number = np.clip(self.derivations.leaf_number + place, 0, len(values) - 1)
        return np.where(wanted, values[number], ABSENT)

    def tag(self, place: Integers | int, wanted: Flags) -> Values:
        """The symbol of that leaf."""
        return self.beside(self.symbol[self.derivations.leaf], place, wanted)


WIDTHS = np.array([1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40])
"""Span widths are told apart up to these bounds (a real-valued width drowns the indicators)."""


def pair(first: Values, second: Values) -> Values:
    """One number for each pair; -1 where either is missing.

    >>> pair(np.array([0, 0, 1, -1]), np.array([0, 2, 0, 1]))
    array([ 0,  2,  3, -1])
    """
    joined = first * (int(second.max(initial=0)) + 1) + second
    return np.where((first >= 0) & (second >= 0), joined, ABSENT)


Feature = Callable[[Nodes], Values]


def _child(nodes: Nodes, left: bool) -> Values:
    return (nodes.derivations.left if left else nodes.derivations.right).astype(np.int64)


def _rule_above(nodes: Nodes) -> Values:
    return pair(nodes.at(nodes.production, nodes.up(1)), nodes.side)


def _rules_above(nodes: Nodes, levels: int) -> Values:
    rule = fragment = _rule_above(nodes)
    for level in range(1, levels):
        # A fragment that ends at the root is a look of its own, not a missing one.
        above = nodes.at(rule, nodes.up(level)) + 1
        known = number_values(np.zeros_like(fragment), fragment + 1, 1)[0].astype(np.int64)
        fragment = np.where(fragment >= 0, pair(known, above), ABSENT)
    return fragment


def _above_head(nodes: Nodes) -> Values:
    """The first node on the way up whose head is not the node's own, or -1."""
    parent, head = nodes.derivations.parent, nodes.head
    above = parent.astype(np.int64)
    climbing = np.flatnonzero(above >= 0)
    while len(climbing := climbing[head[above[climbing]] == head[climbing]]):
        above[climbing] = parent[above[climbing]]
        climbing = climbing[above[climbing] >= 0]
    return above


INSIDE: dict[str, Feature] = {
    "left-child": lambda n: n.at(n.symbol, _child(n, left=True)),
    "right-child": lambda n: n.at(n.symbol, _child(n, left=False)),
    "rule": lambda n: n.production,
    "left-rule": lambda n: pair(n.production, n.at(n.production, _child(n, left=True))),
    "right-rule": lambda n: pair(n.production, n.at(n.production, _child(n, left=False))),
    "head": lambda n: n.symbol[n.head],
    "width": lambda n: n.width,
    "first-tag": lambda n: n.tag(0, n.derivations.width > 1),
    "last-tag": lambda n: n.tag(n.derivations.width - 1, n.derivations.width > 1),
}
"""The features of inside trees by name."""

OUTSIDE: dict[str, Feature] = {
    "rule-above": _rule_above,
    "two-rules-above": lambda n: _rules_above(n, 2),
    "three-rules-above": lambda n: _rules_above(n, 3),
    "parent": lambda n: n.at(n.symbol, n.up(1)),
    "grandparent": lambda n: pair(n.at(n.symbol, n.up(1)), n.at(n.symbol, n.up(2)) + 1),
    "head-above": lambda n: n.at(n.symbol[n.head], _above_head(n)),
    "left-width": lambda n: np.searchsorted(WIDTHS, n.derivations.first).astype(np.int64),
    "right-width": lambda n: np.searchsorted(WIDTHS, n.after).astype(np.int64),
    "previous-tag": lambda n: n.tag(-1, n.derivations.first > 0),
    "next-tag": lambda n: n.tag(n.derivations.width, n.after > 0),
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
"""Named sets: Cohen et al. 2013's simple one (§4.3) and full one (§3.1), and that with the tags at the edges of
the span."""


BITS = 5
"""How many bits of its cluster are told of a word: more make features too rare to learn from."""
CLUSTERS = 256
"""Clusters of words, at most."""


def cluster_features(groups: Values) -> tuple[dict[str, Feature], dict[str, Feature]]:
    """Features of inside and of outside trees by the groups [leaves] of words; a word of no group is -1."""

    def of_head(nodes: Nodes) -> Values:
        return np.asarray(groups[nodes.derivations.leaf_number[nodes.head]])

    outside: dict[str, Feature] = {
        "head-above-cluster": lambda n: n.at(of_head(n), _above_head(n)),
        "previous-cluster": lambda n: n.beside(groups, -1, n.derivations.first > 0),
        "next-cluster": lambda n: n.beside(groups, n.derivations.width, n.after > 0),
    }
    return {"head-cluster": of_head}, outside


def word_groups(clusters: WordClusters, words: Alphabet, word: Values) -> Values:
    """[leaves] the group of each word: clusters whose first bits agree are one, -1 for unknown words."""
    prefixes = [clusters[name][:BITS] for name in words]
    number = {prefix: place for place, prefix in enumerate(sorted(set(prefixes) - {""}))}
    return np.array([number.get(prefix, ABSENT) for prefix in prefixes], np.int64)[word]


@dataclass(frozen=True)
class View:
    """F indicators per node: `column[v]` are the features of node v among the `width[s]` of its symbol s."""

    column: Ints32
    width: Ints
    value: Floats | None = None
    """[nodes, F] what noise made of them; else they are 1."""


def view(nodes: Nodes, names: Sequence[str], table: dict[str, Feature], engine: Engine) -> View:
    """Compute features by their names in a table (`INSIDE` or `OUTSIDE`)."""
    unknown = sorted(set(names) - set(table))
    if unknown or not names:
        raise SettingError(
            f"no feature is named {', '.join(unknown) or '(none given)'}; known: {', '.join(table)}"
        )
    symbols = nodes.derivations.symbols
    column = np.empty((len(nodes.symbol), len(names)), np.int32)
    widths = np.empty((symbols, len(names)), np.int64)

    def compute(first: int, last: int) -> None:
        for place in range(first, last):
            values = np.maximum(np.asarray(table[names[place]](nodes), np.int64), ABSENT) + 1
            column[:, place], widths[:, place] = number_values(nodes.symbol, values, symbols)

    run_pieces(engine, compute, np.ones(len(names)))
    ends = np.cumsum(widths, axis=1)
    column += np.take((ends - widths).astype(np.int32), nodes.symbol, axis=0)
    return View(column, ends[:, -1])


def dropped(view: View, symbol: Values, share: float, random: np.random.Generator) -> View:
    """The view in which each feature of each node is replaced, with the probability `share`, by one more that
    stands for nothing, the last of its symbol; where a node would be left with none it keeps its first."""
    drop = random.random(view.column.shape) < share
    drop[drop.all(1), 0] = False
    column = np.where(drop, np.take(view.width, symbol)[:, None], view.column)
    return View(column.astype(np.int32), view.width + 1)


def disturbed(view: View, deviation: float, random: np.random.Generator) -> View:
    """The view in which each feature of each node is multiplied by a Gaussian of mean 1."""
    return replace(view, value=random.normal(1.0, deviation, view.column.shape))
