"""Packed charts: what is built, what pruning keeps, the best tree; each against plain loops over everything."""

import itertools
import math

import numpy as np
import pytest

from latentgram.lpcfg.kernels.chart import index_rules, prune_chart
from latentgram.lpcfg.kernels.chart_trees import best_tree
from latentgram.lpcfg.kernels.members import agreed_chart
from oracles.chart_items import complete_chart, complete_items, edges_of, spans_of

INTERMINALS, SYMBOLS = 3, 5


def random_chart(seed, length, kept=0.7):
    """A chart over random items and rules, and the cell of each item as (first word, end)."""
    random = np.random.default_rng(seed)
    rules = np.argwhere(random.random((INTERMINALS, SYMBOLS, SYMBOLS)) < 0.5).astype(np.int32)
    leaf_begin = np.arange(0, 2 * length + 1, 2).astype(np.int32)
    leaf_symbol = np.tile([3, 4], length).astype(np.int32)
    cell_begin, item_symbol = complete_items(length, leaf_begin, leaf_symbol, INTERMINALS)
    cell = np.repeat(np.arange(len(cell_begin) - 1), np.diff(cell_begin))
    keep = (random.random(len(cell)) < kept) | (cell < length) | (cell == cell[-1])
    cell, item_symbol = cell[keep], item_symbol[keep]
    cell_begin = np.searchsorted(cell, np.arange(len(cell_begin))).astype(np.int32)
    spans = spans_of(length)
    chart = complete_chart(length, cell_begin, item_symbol, index_rules(rules, INTERMINALS, SYMBOLS))
    return chart, rules, [spans[c] for c in cell], random


@pytest.mark.parametrize("seed", range(4))
def test_every_edge_is_there_once(seed):
    chart, rules, spans, _ = random_chart(seed, length=5)
    expected = set()
    for parent, left, right in itertools.product(range(len(spans)), repeat=3):
        joined = spans[left][1] == spans[right][0] and spans[parent] == (spans[left][0], spans[right][1])
        if joined:
            symbols = chart.item_symbol[[parent, left, right]]
            expected |= {(parent, rule, left, right) for rule in np.flatnonzero((rules == symbols).all(1))}
    found = edges_of(chart)
    assert len(found) == len(set(found)) == chart.edge_begin[-1]
    assert set(found) == expected


@pytest.mark.parametrize("seed", range(4))
def test_pruning_keeps_what_is_probable_and_alive(seed):
    chart, _, spans, random = random_chart(seed, length=6)
    item_marginal = random.normal(size=len(spans))
    edge_marginal = random.normal(size=chart.edge_begin[-1])
    pruned, source, edge_source = prune_chart(chart, item_marginal, edge_marginal, 1.0)

    alive = {item for item, (first, end) in enumerate(spans) if end - first == 1 and abs(item_marginal[item]) >= 1}
    wanted = set()
    for edge, marginal in zip(edges_of(chart), edge_marginal, strict=True):
        if abs(marginal) >= 1 and edge[2] in alive and edge[3] in alive:
            alive.add(edge[0])
            wanted.add(edge)
    assert set(source) == alive
    renamed = [(source[p], rule, source[left], source[right]) for p, rule, left, right in edges_of(pruned)]
    assert renamed == [edges_of(chart)[edge] for edge in edge_source]
    kept = set(renamed)
    assert wanted <= kept
    for group in {(p, rule) for p, rule, _, _ in kept}:
        assert any(edge[:2] == group for edge in wanted)
    np.testing.assert_array_equal(pruned.item_symbol, chart.item_symbol[source])
    assert [int(end) for end in pruned.cell_begin] == [
        sum(1 for item in alive if item < begin) for begin in chart.cell_begin
    ]


@pytest.mark.parametrize("seed", range(4))
def test_the_next_grammar_looks_at_what_the_mean_of_the_others_leaves(seed):
    chart, _, spans, random = random_chart(seed, length=5)
    leaves = int(chart.cell_begin[chart.length])
    entry, weight = np.arange(leaves, dtype=np.int32), random.random(leaves)
    item_logs, edge_logs = random.normal(size=len(spans)), random.normal(size=chart.edge_begin[-1])
    item_logs[:leaves] = 0.0
    item_logs[entry[::7]] = -9.0
    left, entries, weights, items, edges = agreed_chart(chart, entry, weight, item_logs, edge_logs, 3, 0.7)

    alive = {int(item) for item in entry if item_logs[item] == 0.0}
    wanted = set()
    for edge, log in zip(edges_of(chart), edge_logs, strict=True):
        if math.exp(log / 3) >= 0.7 and edge[2] in alive and edge[3] in alive:
            alive.add(edge[0])
            wanted.add(edge)
    assert len(alive) < len(spans)
    source = sorted(alive)
    kept = [(source[p], rule, source[x], source[y]) for p, rule, x, y in edges_of(left)]
    assert wanted <= set(kept)
    np.testing.assert_array_equal(left.item_symbol, chart.item_symbol[source])
    np.testing.assert_array_equal(items, item_logs[source])
    np.testing.assert_array_equal(entries, source[: len(entries)])
    np.testing.assert_array_equal(weights, weight[entries])
    logs = dict(zip(edges_of(chart), edge_logs, strict=True))
    np.testing.assert_array_equal(edges, [logs[edge] for edge in kept])


def test_a_chart_stays_whole_where_grammars_agree_on_no_tree():
    chart, _, spans, _ = random_chart(0, length=4)
    leaves = int(chart.cell_begin[chart.length])
    logs = np.zeros(len(spans)), np.full(int(chart.edge_begin[-1]), -9.0)
    left, *_, items, edges = agreed_chart(chart, np.zeros(leaves, np.int32), np.ones(leaves), *logs, 1, 0.5)
    assert edges_of(left) == edges_of(chart)
    assert (len(items), len(edges)) == tuple(map(len, logs))


def test_pruning_at_zero_drops_only_what_has_no_tree():
    chart, _, spans, random = random_chart(7, length=5, kept=1.0)
    marginal = random.normal(size=chart.edge_begin[-1])
    pruned, source, _ = prune_chart(chart, np.ones(len(spans)), marginal, 0.0)
    alive = set(source.tolist())
    expected = {edge for edge in edges_of(chart) if edge[2] in alive and edge[3] in alive}
    assert {
        (source[p], rule, source[left], source[right]) for p, rule, left, right in edges_of(pruned)
    } == expected
    leaf = [end - first == 1 for first, end in spans]
    listed = edges_of(chart)
    assert alive == {item for item in range(len(spans)) if next(all_trees(listed, item, leaf), None)}


def all_trees(edges, item, leaf):
    """Every tree below an item, as (items in preorder, numbers of its edges)."""
    if leaf[item]:
        yield (item,), ()
    for number, (parent, _, left, right) in enumerate(edges):
        if parent == item:
            for (left_items, left_edges), (right_items, right_edges) in itertools.product(
                all_trees(edges, left, leaf), all_trees(edges, right, leaf)
            ):
                yield (item, *left_items, *right_items), (number, *left_edges, *right_edges)


@pytest.mark.parametrize("seed", range(4))
def test_best_tree_is_best_of_all(seed):
    chart, _, spans, random = random_chart(seed, length=4)
    items, edges = random.normal(size=len(spans)), random.normal(size=chart.edge_begin[-1])
    first_root = chart.cell_begin[-2]
    roots = random.normal(size=len(spans) - first_root)
    leaf = [end - first == 1 for first, end in spans]
    listed = edges_of(chart)

    def value(tree):
        return items[list(tree[0])].sum() + edges[list(tree[1])].sum() + roots[tree[0][0] - first_root]

    every = [tree for root in range(first_root, len(spans)) for tree in all_trees(listed, root, leaf)]
    best = max(every, key=value)
    order, size, total = best_tree(chart, items, edges, roots)
    assert total == pytest.approx(value(best))
    assert tuple(order) == best[0]
    widths = [spans[item][1] - spans[item][0] for item in order]
    assert size.tolist() == [2 * width - 1 for width in widths]


def test_empty_chart_has_no_tree():
    index = index_rules(np.array([[0, 3, 4]]), INTERMINALS, SYMBOLS)
    chart = complete_chart(2, np.array([0, 1, 2, 2], np.int32), np.array([3, 3], np.int32), index)
    order, _, total = best_tree(chart, np.ones(2), np.ones(0), np.ones(0))
    assert len(order) == 0
    assert total == -np.inf
