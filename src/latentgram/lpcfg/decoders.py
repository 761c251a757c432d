"""Decoders of phrases: what a tree is worth, from the posteriors μ of a packed chart.

`Goodman`: the tree whose nodes are expected to be right most often (Goodman 1996). The expected number of right
labelled nodes of a tree is the sum of their posteriors, so

    best = argmax_tree Σ_{(a,i,j) in tree} μ(a,i,j).

Spectral posteriors may be negative by error; |μ| is what Cohen et al. 2013 (section 4.2) use.

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
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from latentgram.errors import SettingError
from latentgram.lpcfg.kernels.chart import PackedChart
from latentgram.lpcfg.kernels.chart_trees import best_tree
from latentgram.lpcfg.parse.labels import LabelTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

_ROUNDS = 20
_LEAST = 1e-12


@dataclass(frozen=True)
class Goodman:
    """Most labelled nodes right in expectation.

    `intermediate` is what a node counts that binarisation put in and that is not in the tree in the end. With
    `signed` negative posteriors count as they are, which 004 §3.3 found to be bad.

    >>> Goodman()
    Goodman(intermediate=1.0, signed=False)
    """

    intermediate: float = 1.0
    signed: bool = False

    def gains(
        self,
        items: NDArray[np.float64],
        edges: NDArray[np.float64],
        leaves: int,
        intermediate: NDArray[np.bool_],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What each item and each edge adds to the objective, from their posteriors.

        The first `leaves` items are over words; `intermediate` are those that binarisation put in.
        """
        gain = items if self.signed else np.abs(items)
        return np.where(intermediate, self.intermediate * gain, gain), np.zeros_like(edges)


@dataclass(frozen=True)
class MaxRule:
    """Greatest product of the posteriors of rules.

    >>> import latentgram as lg
    >>> grammar = lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting())
    >>> lg.Parser(grammar, decoder=MaxRule()).parse("The dog sleeps .").tree.words
    ('The', 'dog', 'sleeps', '.')
    """

    def gains(
        self,
        items: NDArray[np.float64],
        edges: NDArray[np.float64],
        leaves: int,
        intermediate: NDArray[np.bool_],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What each item and each edge adds to the objective, from their posteriors.

        The first `leaves` items are over words; `intermediate` are those that binarisation put in.
        """
        gain = np.zeros_like(items)
        gain[:leaves] = np.log(np.maximum(np.abs(items[:leaves]), _LEAST))
        return gain, np.log(np.maximum(np.abs(edges), _LEAST))


@dataclass(frozen=True)
class Brackets:
    """Most brackets right in expectation.

    >>> Brackets("recall", labelled=False)
    Brackets(gain='recall', labelled=False)
    """

    gain: Literal["recall", "f1"] = "f1"
    labelled: bool = True

    def __post_init__(self) -> None:
        if self.gain not in ("recall", "f1"):
            raise SettingError(f"Brackets has the gain recall or f1, not {self.gain!r}")

    def item_gains(self, chart: PackedChart, item: Floats, labels: Floats, table: LabelTable) -> Floats:
        """What each item adds to the objective: the tree with the greatest sum is the best.

        `labels` are the posteriors of treebank nodes (`LabelTable.posteriors`).
        For F1 that is 2μ − F of its brackets at the F of the best tree.
        """
        brackets, right, tags = self._expected(chart, item, labels, table)
        if self.gain == "recall":
            return 2 * right + tags
        expected = _expected_number(chart, item, table, self.labelled)
        score, none, roots = 0.0, np.zeros(chart.edge_begin[-1]), np.zeros(len(tags) - chart.cell_begin[-2])
        for _ in range(_ROUNDS):
            items, _, _ = best_tree(chart, 2 * right - score * brackets + tags, none, roots)
            reached = 2 * right[items].sum() / max(brackets[items].sum() + expected, 1.0)
            if reached <= score + 1e-12:
                break
            score = reached
        return 2 * right - score * brackets + tags

    def _expected(
        self, chart: PackedChart, item: Floats, labels: Floats, table: LabelTable
    ) -> tuple[Floats, Floats, Floats]:
        """Of each item: its brackets, how many of them are right in expectation, and the posterior of its tag."""
        cell = np.repeat(np.arange(len(chart.cell_begin) - 1), np.diff(chart.cell_begin))
        owner, place = table.places(chart.item_symbol)
        node = labels[cell[owner], table.flat[place]]
        is_tag = (place + 1 == table.begin[chart.item_symbol + 1][owner]) & (
            chart.item_symbol[owner] >= table.interminals
        )
        tags = _sums(owner, node * is_tag, len(item))
        phrases = table.phrases[chart.item_symbol]
        if self.labelled:
            return phrases.astype(np.float64), _sums(owner, node * ~is_tag, len(item)), tags
        has_bracket = (phrases > 0).astype(np.float64)
        return has_bracket, has_bracket * _spans(chart, item, has_bracket)[cell], tags


def _sums(key: NDArray[np.int64], values: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(key, values, size), np.float64)


def _spans(chart: PackedChart, item: Floats, has_bracket: Floats) -> Floats:
    """[cells] the posterior of each span being a bracket, whatever its label."""
    cell = np.repeat(np.arange(len(chart.cell_begin) - 1), np.diff(chart.cell_begin))
    return np.minimum(np.bincount(cell, np.abs(item) * has_bracket, len(chart.cell_begin) - 1), 1.0)


def _expected_number(chart: PackedChart, item: Floats, table: LabelTable, labelled: bool) -> float:
    phrases = table.phrases[chart.item_symbol]
    return float(np.abs(item) @ (phrases if labelled else phrases > 0))


def expected_f1(chart: PackedChart, item: Floats, symbol: Ints, node: Floats, table: LabelTable) -> float:
    """2 Σ μ / (|T| + E) of a tree with these symbols, whose treebank nodes have the posteriors `node`."""
    owner, place = table.places(symbol)
    is_tag = (place + 1 == table.begin[symbol + 1][owner]) & (symbol[owner] >= table.interminals)
    brackets = len(place) - int(is_tag.sum())
    total = brackets + _expected_number(chart, item, table, True)
    return min(2 * float(node[~is_tag].sum()) / total, 1.0) if total > 0 else 1.0
