"""Exact posteriors of a grammar with one state a symbol: CKY inside and outside, then probable items packed."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.data.binarisation import Symbol
from latentgram.lpcfg.kernels.chart import build_chart, index_rules
from latentgram.lpcfg.kernels.cky import Chart, inside_within, outside, pair_index, root_value
from latentgram.lpcfg.kernels.cky_items import best_cover, edge_posteriors, surviving_items
from latentgram.lpcfg.kernels.kbest import best_trees
from latentgram.lpcfg.kernels.sampling import rule_table, trees_below_root
from latentgram.lpcfg.kernels.span_masks import SpanMasks, everything
from latentgram.lpcfg.leaves import LeafTable, Leaves
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.parse.cascade import Posterior
from latentgram.lpcfg.parse.single_tree import TreeWeights
from latentgram.numeric.semiring import Max, Real

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]

THRESHOLD = 1e-4
"""Items of a smaller posterior are not looked at in decoding."""
PULL = 100.0
"""How strongly the words of a tag smooth those of its preterminals (wsj-sample dev: F1 67.0 at 0, 68.0 at 20)."""
PIECE = math.log(1e-4)
"""What a piece of a cover costs: fewer pieces are better."""


def _log(values: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values), np.float64)


class OneState:
    """The posteriors of a PCFG: those of at least `threshold` are kept, and all are exact."""

    def __init__(self, grammar: LPCFG, threshold: float = THRESHOLD) -> None:
        self.grammar = grammar
        self.threshold = threshold
        self.leaves = LeafTable(grammar, PULL)
        self.weights = TreeWeights(grammar)
        interminals, preterminals = len(grammar.interminals), len(grammar.preterminals)
        self.index = pair_index(grammar.rules, interminals, preterminals)
        self.table = rule_table(grammar.rules, interminals)
        self.packing = index_rules(grammar.rules, interminals + preterminals)

    def posterior(
        self, leaves: Leaves, *, anywhere: bool = False, masks: SpanMasks | None = None
    ) -> Posterior | None:
        """The posteriors over a sentence with these leaves, or `anywhere` in one; None if there is no parse."""
        interminals, weights = len(self.grammar.interminals), self.grammar.rule_tensor
        root = self._share if anywhere else self.grammar.root_vector
        chart = self._chart(Real(), weights, self._lexical(leaves), masks)
        total = root_value(Real(), interminals, chart, root)
        if not total > 0:
            return None
        adjoints = outside(Real(), self.index, weights, chart, root, 0.0)
        cell_begin, symbol, item_inside, item_outside = surviving_items(
            interminals, chart, adjoints, total, self.threshold
        )
        packed = build_chart(len(leaves.begin) - 1, cell_begin, symbol, self.packing)
        edge = edge_posteriors(packed, weights, item_inside, item_outside)
        logprob = math.log(total) + math.log(2) * float(chart.exponents.sum())
        return Posterior(packed, item_inside * item_outside, edge, logprob, 0, 0)

    def fragments(self, leaves: Leaves) -> list[tuple[int, int]]:
        """The fewest and likeliest spans that have parses of their own and together make up a sentence."""
        cover = best_cover(len(self.grammar.interminals), self._max_chart(leaves), _log(self._share), PIECE)
        return [(first, last) for first, last in cover.tolist()]

    def best(
        self, leaves: Leaves, count: int, *, anywhere: bool = False, masks: SpanMasks | None = None
    ) -> list[tuple[Ints, Ints]]:
        """The most probable trees, best first: symbols and sizes of subtrees in preorder."""
        chart = self._max_chart(leaves, masks)
        root = _log(self._share) if anywhere else self._log_root
        if count == 1:
            one = np.zeros((1, len(leaves.begin) - 1))
            symbols, widths = trees_below_root(Max(), self.table, self._log_rules, chart, root, one)
        else:
            symbols, widths, _ = best_trees(Max(), self.table, self._log_rules, chart, root, count)
        return list(zip(symbols, 2 * widths - 1, strict=True))

    def draw(self, leaves: Leaves, uniforms: Floats, masks: SpanMasks | None = None) -> list[tuple[Ints, Ints]]:
        """Draws from the posterior over trees, one a row of numbers in [0, 1)."""
        chart = self._chart(Real(), self.grammar.rule_tensor, self._lexical(leaves), masks)
        symbols, widths = trees_below_root(
            Real(), self.table, self.grammar.rule_tensor, chart, self.grammar.root_vector, uniforms
        )
        return list(zip(symbols, 2 * widths - 1, strict=True))

    def log_probability(self, leaves: Leaves, symbols: Ints, sizes: Ints) -> float:
        """log p(tree, sentence) of a binary tree in preorder."""
        places = self.weights.places(leaves, symbols, sizes)
        if places is None or (places[0] < 0).any():
            return -math.inf
        rule, leaf = places
        return float(self._log_root[symbols[0]] + self._log_rules[rule].sum() + _log(leaves.weight[leaf]).sum())

    @cached_property
    def _share(self) -> Floats:
        """[I+P] how often each symbol heads any part of a tree that is a part without binarisation, too."""
        whole = [not Symbol.read(name).intermediate for name in self.grammar.interminals]
        count = self.leaves.symbol_count * np.append(whole, np.ones(len(self.grammar.preterminals), bool))
        return np.asarray(count / count.sum(), np.float64)

    @cached_property
    def _log_rules(self) -> Floats:
        return _log(self.grammar.rule_tensor)

    @cached_property
    def _log_root(self) -> Floats:
        return _log(self.grammar.root_vector)

    def _lexical(self, leaves: Leaves) -> Floats:
        """[n, P] the weight of each preterminal over each word."""
        words = len(leaves.begin) - 1
        lexical = np.zeros((words, len(self.grammar.preterminals)))
        word = np.repeat(np.arange(words), np.diff(leaves.begin))
        lexical[word, leaves.symbol - len(self.grammar.interminals)] = leaves.weight
        return lexical

    def _max_chart(self, leaves: Leaves, masks: SpanMasks | None = None) -> Chart:
        return self._chart(Max(), self._log_rules, _log(self._lexical(leaves)), masks)

    def _chart(self, semiring: Any, weights: Floats, lexical: Floats, masks: SpanMasks | None) -> Chart:
        masks = masks or everything(len(lexical), len(self.grammar.interminals))
        chart: Chart = inside_within(semiring, self.index, weights, lexical, masks)
        return chart
