"""Decoders of phrases: what a tree is worth, from the posteriors μ of a packed chart.

`Goodman`: the tree whose nodes are expected to be right most often (Goodman 1996). The expected number of right
labelled nodes of a tree is the sum of their posteriors, so

    best = argmax_tree Σ_{(a,i,j) in tree} μ(a,i,j).

Spectral posteriors may be negative by error; |μ| is what Cohen et al. 2013 (§3.3) use. Over rules in place of
nodes it is what their program does (footnote 3), with words counted as nodes, since no rule is over them:

    best = argmax_tree Σ_{(a→b c,i,k,j) in tree} μ(a→b c,i,k,j) + Σ_{(a,i,i+1) in tree} μ(a,i,i+1).

`MaxRule`: the tree whose rules are most probably all right, taken one by one (Petrov & Klein 2007),

    best = argmax_tree ∏_{(a→b c,i,k,j) in tree} μ(a→b c,i,k,j).

Posteriors of rules sum over hidden states, which makes this the way to get one tree out of a latent grammar.

`Brackets`: minimum risk over treebank brackets, with or without labels. With μ(X,i,j) the posterior of a treebank
node (labels.py), |T| the brackets of a tree and E = Σ μ those expected,

    recall   best = argmax_T Σ_{(X,i,j) in T} μ(X,i,j)                        (Goodman 1996, on treebank nodes)
    F1       best = argmax_T 2 Σ_{(X,i,j) in T} μ(X,i,j) / (|T| + E),

the second by Dinkelbach's rule: maximise Σ (2μ − F) for the F of the tree before, until it does not change; F
rises each time. The denominator takes the number of true brackets at its expectation. Tags are no brackets; among
equals the tree with the more probable tags is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np

from latentgram.arrays import Floats, Ints32
from latentgram.errors import SettingError
from latentgram.lpcfg.kernels.chart import PackedChart
from latentgram.lpcfg.kernels.chart_trees import best_tree, k_best_trees
from latentgram.lpcfg.kernels.decode import expected_brackets, most_expected_f1

if TYPE_CHECKING:
    from latentgram.lpcfg.parse.backend import Phrases

Trees = tuple[Ints32, Ints32]
"""[trees, 2n − 1] the symbols of the nodes of binary trees in preorder, and the sizes of the subtrees."""

_LEAST = 1e-12


@runtime_checkable
class PhraseDecoder(Protocol):
    """What a decoder of phrases must offer."""

    def trees(self, phrases: Phrases, count: int) -> Trees:
        """At most so many trees, the best first: symbols and sizes of subtrees in preorder, a tree in a row."""


def _best(chart: PackedChart, item_gain: Floats, edge_gain: Floats, count: int) -> Trees:
    """The trees of the greatest sums of gains."""
    if count > 1:
        items, sizes = k_best_trees(chart, item_gain, edge_gain, count)
        return chart.item_symbol[items], sizes
    roots = len(chart.item_symbol) - chart.cell_begin[-2]
    items, size, _ = best_tree(chart, item_gain, edge_gain, np.zeros(roots))
    return chart.item_symbol[items][None], size[None]


def parents_of_edges(chart: PackedChart) -> Ints32:
    """[edges] the parent item of each edge."""
    splits = np.repeat(np.diff(chart.split_begin), np.diff(chart.parent_begin))
    return np.repeat(chart.parent_item, splits)


@dataclass(frozen=True)
class Goodman:
    """Maximise the expected number of correct labelled nodes, or of correct rules with their spans.

    `intermediate` is the weight of nodes that were added by binarisation and are not in the final tree. With
    `signed`, marginals keep the signs they have before they are divided by p(sentence), which may be negative
    itself; Cohen et al. 2013 §3.3 found this to be worse. `over` is what is counted: nodes or rules.

    >>> Goodman(over="rules")
    Goodman(intermediate=1.0, signed=False, over='rules')
    """

    intermediate: float = 1.0
    signed: bool = False
    over: Literal["nodes", "rules"] = "nodes"

    def __post_init__(self) -> None:
        if self.over not in ("nodes", "rules"):
            raise SettingError(f"Goodman counts nodes or rules, not {self.over!r}")

    def gains(self, phrases: Phrases) -> tuple[Floats, Floats]:
        """The contribution of each item and each edge to the objective."""
        chart = phrases.chart
        worth = np.where(phrases.table.length[chart.item_symbol] == 0, self.intermediate, 1.0)
        item, edge = (
            phrases.sign * marginal if self.signed else np.abs(marginal)
            for marginal in (phrases.item, phrases.edge)
        )
        if self.over == "nodes":
            return worth * item, np.zeros_like(edge)
        over_phrases = np.arange(len(item)) >= chart.cell_begin[chart.length]
        return np.where(over_phrases, 0.0, item), worth[parents_of_edges(chart)] * edge

    def trees(self, phrases: Phrases, count: int) -> Trees:
        """The trees with the greatest sums of gains."""
        return _best(phrases.chart, *self.gains(phrases), count)


@dataclass(frozen=True)
class MaxRule:
    """Maximise the product of the posteriors of rules.

    >>> import latentgram as lg
    >>> grammar = lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting())
    >>> lg.Parser(grammar, decoder=MaxRule()).parse("The dog sleeps .").tree.words
    ('The', 'dog', 'sleeps', '.')
    """

    def gains(self, phrases: Phrases) -> tuple[Floats, Floats]:
        """The contribution of each item and each edge to the objective."""
        gain, words = np.zeros_like(phrases.item), phrases.chart.cell_begin[phrases.chart.length]
        gain[:words] = np.log(np.maximum(np.abs(phrases.item[:words]), _LEAST))
        return gain, np.log(np.maximum(np.abs(phrases.edge), _LEAST))

    def trees(self, phrases: Phrases, count: int) -> Trees:
        """The trees with the greatest sums of gains."""
        return _best(phrases.chart, *self.gains(phrases), count)


@dataclass(frozen=True)
class Brackets:
    """Maximise the expected number of correct brackets, or the expected F1.

    >>> Brackets("recall", labelled=False)
    Brackets(gain='recall', labelled=False)
    """

    gain: Literal["recall", "f1"] = "f1"
    labelled: bool = True

    def __post_init__(self) -> None:
        if self.gain not in ("recall", "f1"):
            raise SettingError(f"Brackets has the gain recall or f1, not {self.gain!r}")

    def gains(self, phrases: Phrases) -> tuple[Floats, Floats]:
        """The contribution of each item and each edge to the objective.

        For F1 an item adds 2μ − F of its brackets at the F of the best tree.
        """
        none = np.zeros_like(phrases.edge)
        if self.gain == "recall":
            _, right, tags, _ = self._expected(phrases)
            return 2 * right + tags, none
        gain, _, _ = most_expected_f1(phrases.chart, *self._expected(phrases))
        return gain, none

    def trees(self, phrases: Phrases, count: int) -> Trees:
        """The trees with the greatest sums of gains."""
        if count > 1 or self.gain == "recall":
            return _best(phrases.chart, *self.gains(phrases), count)
        _, items, size = most_expected_f1(phrases.chart, *self._expected(phrases))
        return phrases.chart.item_symbol[items][None], size[None]

    def _expected(self, phrases: Phrases) -> tuple[Floats, Floats, Floats, float]:
        """Of each item: its brackets, how many of them are right in expectation, and the posterior of its tag; and
        the number of brackets expected."""
        chart = phrases.chart
        brackets, right, tags, expected = expected_brackets(chart, phrases.item, phrases.table.nodes)
        if self.labelled:
            return brackets, right, tags, expected
        has_bracket = (brackets > 0).astype(np.float64)
        cell = np.repeat(np.arange(len(chart.cell_begin) - 1), np.diff(chart.cell_begin))
        span = np.minimum(np.bincount(cell, np.abs(phrases.item) * has_bracket), 1.0)
        return has_bracket, has_bracket * span[cell], tags, float(np.abs(phrases.item) @ has_bracket)
