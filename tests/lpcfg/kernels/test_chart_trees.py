"""Many trees of a packed chart, against all of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from latentgram.lpcfg.kernels.chart import index_rules
from latentgram.lpcfg.kernels.chart_trees import draw_trees, k_best_trees
from oracles.binary_trees import SmallGrammar
from oracles.chart_items import complete_chart


def case(seed: int, words: int = 4):
    grammar = SmallGrammar.random(seed)
    lexical = grammar.lexical(words, seed)
    trees = [tree for tree in grammar.derivations(lexical) if tree.weight > 0]
    every = sorted({item for tree in trees for item in tree.items}, key=lambda it: (it[2] - it[1], it[1], it[0]))
    number = {item: place for place, item in enumerate(every)}
    cells = [(i, i + width) for width in range(1, words + 1) for i in range(words - width + 1)]
    begin = np.cumsum([0, *(sum(item[1:] == cell for item in every) for cell in cells)]).astype(np.int32)
    symbol = np.array([item[0] for item in every], np.int32)
    chart = complete_chart(words, begin, symbol, index_rules(grammar.rules, 2, 4))
    return trees, number, chart


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("k", [1, 3, 1000])
def test_k_best(seed: int, k: int) -> None:
    trees, number, chart = case(seed)
    gain = np.random.default_rng(seed).random(len(chart.item_symbol))
    order, size = k_best_trees(chart, gain, np.zeros(chart.edge_begin[-1]), k)
    different = {tuple(number[item] for item in tree.items) for tree in trees}
    merits = sorted((gain[list(tree)].sum() for tree in different), reverse=True)[:k]
    np.testing.assert_allclose(gain[order].sum(1), merits)
    assert {tuple(row) for row in order.tolist()} <= different
    assert len({tuple(row) for row in order.tolist()}) == len(order)
    assert (size[:, 0] == 7).all()
    assert ((size == 1).sum(1) == 4).all()


@pytest.mark.parametrize("seed", [1, 2])
def test_draws_have_the_posteriors_of_edges(seed: int) -> None:
    """With posteriors that come from a distribution over trees, trees are drawn from it (chi-square)."""
    trees, number, chart = case(seed)
    total = sum(tree.weight for tree in trees)
    shares = Counter()
    item, edge = np.zeros(len(chart.item_symbol)), np.zeros(chart.edge_begin[-1])
    for tree in trees:
        rows = [number[each] for each in tree.items]
        shares[tuple(rows)] += tree.weight / total
        item[rows] += tree.weight / total
    for rows, share in shares.items():
        for _, parent, split, place in _edges(chart):
            left, right = chart.split_left[split], chart.split_right[split]
            if {parent, left, right} <= set(rows):
                edge[place] += share
    # A pair of items is joined by as many edges as there are rules; they share the posterior.
    joined = Counter(
        (parent, chart.split_left[split], chart.split_right[split]) for _, parent, split, _ in _edges(chart)
    )
    for _, parent, split, place in _edges(chart):
        edge[place] /= joined[parent, chart.split_left[split], chart.split_right[split]]
    draws = 6000
    order, _ = draw_trees(chart, item, edge, np.random.default_rng(seed).random((draws, 4)))
    seen = Counter(map(tuple, order.tolist()))
    assert set(seen) <= set(shares)
    expected = np.array([draws * share for share in shares.values()])
    observed = np.array([seen[rows] for rows in shares])
    likely = expected > 5
    statistic = ((observed - expected) ** 2 / expected)[likely].sum()
    freedom = likely.sum()
    assert statistic < freedom + 4 * np.sqrt(2 * freedom)


def _edges(chart):
    for group in range(len(chart.split_begin) - 1):
        place = chart.edge_begin[group]
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            for split in range(chart.split_begin[group], chart.split_begin[group + 1]):
                yield group, chart.parent_item[entry], split, place
                place += 1
