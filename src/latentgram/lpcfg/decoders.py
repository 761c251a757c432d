"""Decoders of phrases: what a tree is worth, from the posteriors μ of a packed chart (`Phrases`).

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

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np

from latentgram.arrays import Floats, Ints32
from latentgram.errors import NoParse, SettingError
from latentgram.lpcfg.kernels.chart_trees import best_tree, draw_trees, k_best_trees
from latentgram.lpcfg.kernels.decode import Told, expected_brackets, most_expected_f1, tell
from latentgram.lpcfg.kernels.draws import draw_exactly
from latentgram.lpcfg.kernels.edgewise import tree_log_share
from latentgram.lpcfg.parse.labels import Nodes

if TYPE_CHECKING:
    from latentgram.lpcfg.kernels.chart import PackedChart, SpanMasks
    from latentgram.lpcfg.parse.cascade import Cascade, Posterior
    from latentgram.lpcfg.parse.labels import LabelTable
    from latentgram.lpcfg.projection import Leaves

Trees = tuple[Ints32, Ints32]
"""[trees, 2n − 1] the symbols of the nodes of binary trees in preorder, and the sizes of the subtrees."""

_LEAST = 1e-12
_NO_TREE = np.zeros(0, np.int32)


class Decoded(NamedTuple):
    """A tree over grammar symbols with what is said about it in `Parse`."""

    nodes: Nodes
    logprob: float
    tree_logprob: float
    fallback: bool = False
    entropy: float = math.nan
    expected: float = math.nan
    conditional: bool = False
    coarse: bool = False
    tightened: bool = False
    pruned: bool = False


@dataclass(frozen=True)
class Phrases:
    """The posteriors over a sentence, or over a part of one: what decoders choose trees by."""

    cascade: Cascade
    table: LabelTable
    leaves: Leaves
    posterior: Posterior
    masks: SpanMasks | None = None
    anywhere: bool = False
    widened: bool = False
    """Whether words were given preterminals that the grammar never has over them: p(sentence) is 0, and what there
    is to say of trees is p(tree | sentence) with the wider lexicon."""

    @property
    def chart(self) -> PackedChart:
        """The items and edges that may be in a tree."""
        return self.posterior.chart

    @property
    def item(self) -> Floats:
        """The posteriors of the items."""
        return self.posterior.item

    @property
    def edge(self) -> Floats:
        """The posteriors of the edges."""
        return self.posterior.edge

    @property
    def sign(self) -> float:
        """That of p(sentence) under a single grammar."""
        return -1.0 if self.posterior.tensors is not None and self.posterior.negative else 1.0

    @property
    def chosen_by(self) -> Phrases:
        """What decoders look at: the posteriors, or what they were made of."""
        if self.posterior.means is None:
            return self
        item, edge = self.posterior.means
        return replace(self, posterior=self.posterior._replace(item=item, edge=edge))

    @cached_property
    def labels(self) -> Floats:
        """The posteriors of treebank nodes, from those of grammar symbols."""
        return self.table.posteriors(self.chart, self.item)

    @property
    def searchable(self) -> bool:
        """Whether the trees are those of a plain PCFG, so that p(tree) can be searched and drawn from exactly."""
        return self.cascade.plain

    def treebank_nodes(self, symbol: Ints32, size: Ints32) -> tuple[Ints32, Ints32]:
        """The names of the treebank nodes of a derivation, and the sizes of their subtrees."""
        return self.cascade.names.of_derivation(symbol, size)

    def own_logprob(self, name: Ints32, size: Ints32) -> float:
        """What the grammars give a treebank tree, be it in the chart or not; see `tree_logprob`."""
        return self.cascade.tree_logprob(self.leaves, name, size)

    def tree_logprob(self, name: Ints32, size: Ints32) -> float:
        """log p(tree, sentence) of a treebank tree given by the names of its nodes."""
        return self.own_logprob(name, size)

    def log_share(self, name: Ints32, size: Ints32) -> float:
        """log p(tree | sentence) of such a tree under the posteriors."""
        return self.tree_logprob(name, size) - self.posterior.logprob

    def _told(self, symbol: Ints32, size: Ints32) -> Told:
        if not len(symbol):  # the best tree of weights that leave the range of floats
            raise NoParse(
                "the numbers of this grammar are too large or too small to compare the trees of a sentence"
            )
        told: Told = tell(self.chart, self.item, self.edge, symbol, size, self.table.nodes)
        return told

    def nodes(self, symbol: Ints32, size: Ints32) -> Nodes:
        """A tree with the posteriors of its treebank nodes."""
        return Nodes(symbol, size, self._told(symbol, size).nodes)

    @cached_property
    def entropy(self) -> float:
        """That of the posterior over trees (`tell`)."""
        told: Told = tell(self.chart, self.item, self.edge, _NO_TREE, _NO_TREE, self.table.nodes)
        return told.entropy

    def decoded(self, symbol: Ints32, size: Ints32, logprob: float | None = None) -> Decoded:
        """A tree with all that is said about it; with log p(tree, sentence) where that is known."""
        nodes, expected, entropy = self._told(symbol, size)
        sentence = self.posterior.logprob
        tree = self.tree_logprob(*self.treebank_nodes(symbol, size)) if logprob is None else logprob
        coarse, tightened = self.posterior.coarse, self.posterior.tightened
        if coarse:
            sentence = math.nan  # what there is, is of another grammar
        elif self.widened:
            sentence, tree = -math.inf, tree - sentence
        conditional = self.widened and not coarse
        about = Nodes(symbol, size, nodes), sentence, tree, False, entropy, expected, conditional
        return Decoded(*about, coarse, tightened, self.cascade.prunes)

    def most_probable(self, count: int) -> Trees:
        """The most probable trees under a plain PCFG: symbols and sizes of subtrees, a tree in a row."""
        if not self.searchable:
            raise SettingError(
                "with hidden states the most probable tree cannot be computed; use Goodman, MaxRule or Brackets"
            )
        return self.cascade.whole.most_probable(self.leaves, count, self.anywhere, self.masks)

    def draws(self, uniforms: Floats) -> Trees:
        """Draws from the posterior over trees, one per row of numbers in [0, 1).

        They are exact if the grammar is a single one of non-negative numbers. Others draw from the distribution
        that chooses each rule by itself and has the same posteriors.
        """
        posterior, cascade = self.posterior, self.cascade
        if self.searchable:
            return cascade.whole.draws(self.leaves, uniforms, self.masks)
        if posterior.tensors is not None and cascade.finest[0].nonnegative:
            items, sizes = draw_exactly(posterior.chart, posterior.tensors, *posterior.leaves, uniforms)
        else:
            items, sizes = draw_trees(posterior.chart, posterior.item, posterior.edge, uniforms)
        return posterior.chart.item_symbol[items], sizes


class EdgewisePhrases(Phrases):
    """Posteriors of a distribution that chooses each edge of the chart by itself (kernels/edgewise.py): those of
    an ensemble, and of a layer over a grammar. Its most probable trees can be searched, and draws are exact."""

    @property
    def searchable(self) -> bool:
        """The trees are not those of a plain PCFG, even where the grammar of the chart is one."""
        return False

    def log_share(self, name: Ints32, size: Ints32) -> float:
        """That of the distribution; −∞ for a tree that is not in the chart."""
        return float(tree_log_share(self.chart, self.item, self.edge, self.cascade.names.nodes, name, size))

    def tree_logprob(self, name: Ints32, size: Ints32) -> float:
        """log p(sentence) of the grammars, and log p(tree | sentence) of the distribution.

        It knows nothing of trees that are not in the chart: these have what the grammars give them, which is not
        in the p(sentence) of a pruned chart either.
        """
        share = self.log_share(name, size)
        return self.posterior.logprob + share if share > -math.inf else self.own_logprob(name, size)

    def most_probable(self, count: int) -> Trees:
        """The trees of the greatest log p(root) + Σ log p(edge)/p(parent)."""
        chart, gain = self.chart, np.zeros(len(self.item))
        with np.errstate(divide="ignore"):
            logs, edges = np.log(self.item), np.log(self.edge)
        roots = slice(chart.cell_begin[-2], None)
        gain[roots] = logs[roots]
        shares = np.subtract(
            edges, logs[parents_of_edges(chart)], out=np.full(len(edges), -np.inf), where=edges > -np.inf
        )
        items, sizes = k_best_trees(chart, gain, shares, count)
        return chart.item_symbol[items], sizes


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
