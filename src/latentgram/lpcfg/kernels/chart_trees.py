"""Trees out of a packed chart: the best and the k best by a sum of gains, and draws edge by edge.

With g the gain of an item or an edge, the best tree at an item a is

    best(a) = g(a) + max_{edges a→b c} g(edge) + best(b) + best(c).

The k best are those of numeric/kbest.py over these numbers. `draw_trees` follows an edge of each item with
probability μ(edge) / μ(item), so trees come from the distribution that chooses every edge by itself and has the
chart's posteriors. For a grammar with one state per symbol that is the posterior over trees itself.

O(edges), and then what numeric/kbest.py and numeric/sampling.py say.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable
from numpy.typing import NDArray

from latentgram.lpcfg.kernels.chart import PackedChart
from latentgram.numeric.compiling import by_type
from latentgram.numeric.hypergraph import NOTHING, list_edges
from latentgram.numeric.kbest import k_best
from latentgram.numeric.sampling import draw
from latentgram.numeric.semiring import Real


@njit(cache=True)
def _best_gains(chart, item_gain, edge_gain):
    """The greatest total gain of a tree at each item, and the children that reach it (−1 at a leaf)."""
    items, leaves = chart.item_symbol.shape[0], chart.cell_begin[chart.length]
    best = np.full(items, -np.inf)
    best[:leaves] = item_gain[:leaves]
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


@njit(cache=True)
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
    if root < 0:
        return np.empty(0, np.int32), np.empty(0, np.int32), total
    nodes = 2 * chart.length - 1
    order, stack = np.empty(nodes, np.int32), np.empty(chart.length + 1, np.int32)
    stack[0], depth, count = root, 1, 0
    while depth > 0:
        depth -= 1
        item = stack[depth]
        order[count] = item
        count += 1
        if left_child[item] >= 0:
            stack[depth], stack[depth + 1] = right_child[item], left_child[item]
            depth += 2
    return order, sizes_of(chart, order), total


class _ChartEdges(NamedTuple):
    """A chart as a hypergraph, its goal above the items of the whole sentence."""

    chart: PackedChart
    entry_begin: NDArray[np.int64]
    """[items + 1] where the edges of each item are: its entries among the parents begin here in the next two."""
    entry: NDArray[np.int32]
    group: NDArray[np.int32]
    root_weight: NDArray[np.float64]
    """[items]"""
    item_weight: NDArray[np.float64]
    """[items] the weight of an edge is this of its item and that of its own."""
    edge_weight: NDArray[np.float64]


@njit(cache=True)
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


by_type(list_edges, {_ChartEdges: _list_edges})


@njit(cache=True)
def k_best_trees(chart, item_gain, edge_gain, k):
    """The items in preorder and the sizes of the subtrees of the k best trees, [trees, 2n − 1], best first."""
    best, _, _ = _best_gains(chart, item_gain, edge_gain)
    structure = _edges_by_item(chart, np.zeros_like(item_gain), item_gain, edge_gain)
    items, begin, _ = k_best(structure, best, chart.cell_begin[chart.length], k)
    return _in_rows(chart, items, len(begin) - 1)


@njit(cache=True)
def draw_trees(chart, item_posterior, edge_posterior, uniforms):
    """Draws, one a row of `uniforms` [trees, n]: the items in preorder and the sizes of the subtrees."""
    none = np.zeros_like(item_posterior)
    structure = _edges_by_item(chart, np.abs(item_posterior), none, np.abs(edge_posterior))
    leaves, values = chart.cell_begin[chart.length], np.ones(item_posterior.shape[0])
    items, begin = draw(Real(), structure, values, leaves, uniforms, True)
    return _in_rows(chart, items, len(begin) - 1)


@register_jitable
def _in_rows(chart, items, trees):
    """Trees one a row, and the sizes of their subtrees; each has 2n − 1 items."""
    order = items.astype(np.int32).reshape(trees, 2 * chart.length - 1)
    size = np.empty_like(order)
    for tree in range(trees):
        size[tree] = sizes_of(chart, order[tree])
    return order, size


@register_jitable
def sizes_of(chart, order):
    """The sizes of the subtrees of a binary tree whose items are given in preorder."""
    size = np.ones(order.shape[0], np.int32)
    leaves = chart.cell_begin[chart.length]
    pending, depth = np.empty(chart.length + 1, np.int32), 0
    for number in range(order.shape[0] - 1, -1, -1):
        if order[number] >= leaves:
            size[number] += pending[depth - 1] + pending[depth - 2]
            depth -= 2
        pending[depth] = size[number]
        depth += 1
    return size
