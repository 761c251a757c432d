"""Trees out of a chart: the best and the k best by a sum of gains, and draws edge by edge.

**Out of a packed chart.** With g the gain of an item or an edge, the best tree at an item a is

    best(a) = g(a) + max_{edges a→b c} g(edge) + best(b) + best(c).

The k best are those of numeric/kbest.py over these numbers. `draw_trees` follows an edge of each item with
probability μ(edge) / μ(item), so trees come from the distribution that chooses every edge by itself and has the
chart's posteriors. O(edges), and then what numeric/kbest.py and numeric/sampling.py say.

**Out of a first pass** of which nothing was cut (first_pass.py). The edges of an item are found when they are
asked for, from the inside numbers and the rules of its symbol: a tree has n − 1 such items, so nothing need be
packed. In `Max` these are the most probable trees, in `Real` draws from the posterior over trees. O(rules of a
symbol · n) for each item that is looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.compiling import by_type, njit
from latentgram.lpcfg.kernels.chart import PackedChart, cell_of
from latentgram.lpcfg.kernels.decode import follow_children, sizes_of
from latentgram.lpcfg.kernels.first_pass import Grown
from latentgram.lpcfg.kernels.rows import at_end, at_first, splits
from latentgram.numeric.hypergraph import NOTHING, list_edges
from latentgram.numeric.kbest import k_best
from latentgram.numeric.sampling import draw
from latentgram.numeric.semiring import Real


@njit()
def _best_gains(chart, item_gain, edge_gain):
    """The greatest total gain of a tree at each item, and the children that reach it (−1 at a leaf)."""
    items, leaves = chart.item_symbol.shape[0], chart.cell_begin[chart.length]
    best = np.full(items, -np.inf)
    for leaf in range(leaves):
        best[leaf] = item_gain[leaf]
    left_child, right_child = np.full(items, -1, np.int32), np.full(items, -1, np.int32)
    for group in range(chart.split_begin.shape[0] - 1):
        edge = chart.edge_begin[group]
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            parent = chart.parent_item[entry]
            for split in range(chart.split_begin[group], chart.split_begin[group + 1]):
                left, right = chart.split_left[split], chart.split_right[split]
                gain = item_gain[parent] + edge_gain[edge] + best[left] + best[right]
                if gain > best[parent]:
                    best[parent], left_child[parent], right_child[parent] = gain, left, right
                edge += 1
    return best, left_child, right_child


@njit()
def best_tree(chart, item_gain, edge_gain, root_gain):
    """The tree of greatest total gain, as its items in preorder and the size of the subtree at each.

    `root_gain` belongs to the items of the whole sentence. Of equal trees the one found first is taken: fewest
    symbols first, then earliest split. An empty chart gives an empty tree.
    """
    best, left_child, right_child = _best_gains(chart, item_gain, edge_gain)
    first_root = chart.cell_begin[chart.cell_begin.shape[0] - 2]
    root, total = -1, -np.inf
    for item in range(first_root, best.shape[0]):
        if best[item] + root_gain[item - first_root] > total:
            root, total = item, best[item] + root_gain[item - first_root]
    order, size = follow_children(chart, root, left_child, right_child)
    return order, size, total


class _ChartEdges(NamedTuple):
    """A chart as a hypergraph, its goal above the items of the whole sentence."""

    chart: PackedChart
    entry_begin: Ints
    """[items + 1] where the edges of each item are: its entries among the parents begin here in the next two."""
    entry: Ints32
    group: Ints32
    root_weight: Floats
    """[items]"""
    item_weight: Floats
    """[items] the weight of an edge is this of its item and that of its own."""
    edge_weight: Floats


@njit()
def _edges_by_item(chart, root_weight, item_weight, edge_weight):
    """The hypergraph with these weights."""
    items, parents = chart.item_symbol.shape[0], chart.parent_item.shape[0]
    begin = np.zeros(items + 2, np.int64)
    for parent in chart.parent_item:
        begin[parent + 2] += 1
    begin = np.cumsum(begin)
    entries, groups = np.empty(parents, np.int32), np.empty(parents, np.int32)
    for group in range(chart.split_begin.shape[0] - 1):
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            place = begin[chart.parent_item[entry] + 1]
            begin[chart.parent_item[entry] + 1] += 1
            entries[place], groups[place] = entry, group
    return _ChartEdges(chart, begin[:-1], entries, groups, root_weight, item_weight, edge_weight)


def _list_edges(structure, item, edges):
    chart, entry_begin, entries, groups, root_weight, item_weight, edge_weight = structure
    items = chart.item_symbol.shape[0]
    if item == items:
        for root in range(chart.cell_begin[chart.cell_begin.shape[0] - 2], items):
            edges.append((root, NOTHING, root_weight[root]))
        return
    for place in range(entry_begin[item], entry_begin[item + 1]):
        group = groups[place]
        first, end = chart.split_begin[group], chart.split_begin[group + 1]
        edge = chart.edge_begin[group] + (entries[place] - chart.parent_begin[group]) * (end - first)
        for split in range(first, end):
            weight = item_weight[item] + edge_weight[edge + split - first]
            edges.append((chart.split_left[split], chart.split_right[split], weight))


class RulesByParent(NamedTuple):
    """The rules of a grammar, found by their parent."""

    rules: Ints32
    """[R, 3] parent, left and right child, sorted."""
    begin: Ints
    """[I + 1] where those of each parent begin."""


class _Unpacked(NamedTuple):
    """A first pass of a PCFG as a hypergraph, its goal above the items of the whole sentence."""

    chart: Grown
    rules: RulesByParent
    rule_weight: Floats
    root_weight: Floats
    by_first: Ints32
    """The items of interminals in the order of the chart's rows, `NOTHING` where there is none."""
    by_end: Ints32
    tags: Ints32


@njit()
def _unpacked(chart, rules, rule_weight, root_weight):
    """The hypergraph with these weights."""
    length, interminals, rows = chart.exponent.shape[0], rules.begin.shape[0] - 1, chart.rows
    by_first, by_end = (
        np.full(rows.by_first.shape, NOTHING, np.int32),
        np.full(rows.by_end.shape, NOTHING, np.int32),
    )
    tags = np.full(rows.tags.shape, NOTHING, np.int32)
    for width in range(1, length + 1):
        for first in range(length - width + 1):
            cell, end = cell_of(length, first, width), first + width
            for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
                symbol = chart.symbol[item]
                if symbol >= interminals:
                    tags[first, symbol - interminals] = item
                else:
                    by_first[at_first(interminals, length, symbol, first, end)] = item
                    by_end[at_end(interminals, symbol, first, end)] = item
    return _Unpacked(chart, rules, rule_weight, root_weight, by_first, by_end, tags)


def _list_unpacked(structure, item, edges):
    chart, (rules, rule_begin), rule_weight, root_weight, by_first, by_end, tags = structure
    length, items, interminals = chart.exponent.shape[0], chart.symbol.shape[0], rule_begin.shape[0] - 1
    if item == items:
        for root in range(chart.cell_begin[chart.cell_begin.shape[0] - 2], items):
            edges.append((root, NOTHING, root_weight[chart.symbol[root]]))
        return
    first, width = np.searchsorted(chart.cell_begin, item, "right") - 1, 1
    while first > length - width:
        first -= length - width + 1
        width += 1
    a, end = chart.symbol[item], first + width
    for rule in range(rule_begin[a], rule_begin[a + 1]):
        b, c, weight = rules[rule, 1], rules[rule, 2], rule_weight[rule]
        if b >= interminals or c >= interminals:
            # A preterminal stands over one word: there is one split point.
            middle = first + 1 if b >= interminals else end - 1
            left = right = NOTHING
            if b >= interminals:
                left = tags[first, b - interminals]
            elif middle > first + 1:
                left = by_first[at_first(interminals, length, b, first, middle)]
            if c < interminals and middle < end - 1:
                right = by_end[at_end(interminals, c, middle, end)]
            elif c >= interminals and middle == end - 1:
                right = tags[middle, c - interminals]
            if left != NOTHING and right != NOTHING:
                edges.append((left, right, weight))
            continue
        low, high = splits(chart.rows, b, c, first, end)
        row, column = at_first(interminals, length, b, first, 0), at_end(interminals, c, 0, end)
        for middle in range(low, high):
            left, right = by_first[row + middle], by_end[column + middle]
            if left != NOTHING and right != NOTHING:
                edges.append((left, right, weight))


by_type(list_edges, {_ChartEdges: _list_edges, _Unpacked: _list_unpacked})


@njit()
def k_best_trees(chart, item_gain, edge_gain, k):
    """The items in preorder and the sizes of the subtrees of the k best trees, [trees, 2n − 1], best first."""
    best, _, _ = _best_gains(chart, item_gain, edge_gain)
    structure = _edges_by_item(chart, np.zeros_like(item_gain), item_gain, edge_gain)
    items, begin, _ = k_best(structure, best, chart.cell_begin[chart.length], k)
    return _in_rows(items, len(begin) - 1, chart.length, chart.cell_begin[chart.length])


@njit()
def draw_trees(chart, item_posterior, edge_posterior, uniforms):
    """Draws, one a row of `uniforms` [trees, n]: the items in preorder and the sizes of the subtrees."""
    none = np.zeros_like(item_posterior)
    structure = _edges_by_item(chart, np.abs(item_posterior), none, np.abs(edge_posterior))
    leaves, values = chart.cell_begin[chart.length], np.ones(item_posterior.shape[0])
    items, begin = draw(Real(), structure, values, leaves, uniforms, True)
    return _in_rows(items, len(begin) - 1, chart.length, leaves)


@njit()
def most_probable_trees(chart, rules, rule_weight, root_weight, k):
    """`k_best_trees` by probability, out of a first pass in `MaxProduct`; weights are logarithms."""
    length, leaves = chart.exponent.shape[0], chart.cell_begin[chart.exponent.shape[0]]
    structure = _unpacked(chart, rules, rule_weight, root_weight)
    items, begin, _ = k_best(structure, np.log(chart.inside), leaves, k)
    return _in_rows(items, len(begin) - 1, length, leaves)


@njit()
def draw_from_all(chart, rules, rule_weight, root_weight, uniforms):
    """`draw_trees` from the posterior over all trees, out of a first pass in `Real`."""
    length, leaves = chart.exponent.shape[0], chart.cell_begin[chart.exponent.shape[0]]
    structure = _unpacked(chart, rules, rule_weight, root_weight)
    items, begin = draw(Real(), structure, chart.inside, leaves, uniforms, True)
    return _in_rows(items, len(begin) - 1, length, leaves)


@register_jitable
def _in_rows(items, trees, length, leaves):
    """Trees one a row, and the sizes of their subtrees; each has 2n − 1 items."""
    order = items.astype(np.int32).reshape(trees, 2 * length - 1)
    size = np.empty_like(order)
    for tree in range(trees):
        size[tree] = sizes_of(order[tree], leaves)
    return order, size


@njit()
def best_cover(cell_begin, item_value, cost):
    """The spans (first word, end) side by side over the sentence with the greatest sum of values.

    A span is worth its best item less `cost`. Every word has an item, so there is always a cover.
    """
    cells = cell_begin.shape[0] - 1
    length = int((np.sqrt(8.0 * cells + 1.0) - 1.0) / 2.0 + 0.5)
    best, came_from = np.full(length + 1, -np.inf), np.zeros(length + 1, np.int64)
    best[0] = 0.0
    for end in range(1, length + 1):
        for first in range(end):
            cell = cell_of(length, first, end - first)
            for item in range(cell_begin[cell], cell_begin[cell + 1]):
                value = best[first] + item_value[item] - cost
                if value > best[end]:
                    best[end], came_from[end] = value, first
    spans = [(came_from[length], length)]
    while spans[-1][0] > 0:
        spans.append((came_from[spans[-1][0]], spans[-1][0]))
    return spans[::-1]
