"""Many trees out of a packed chart: the k best by a sum of gains, and draws edge by edge.

`k_best_trees` keeps the k best ways of making each item, bottom-up; of an edge only those pairs of ranks (p, q) of
its children are looked at with (p+1)(q+1) ≤ k, since the others have k better ones. O(edges · k log k · k) in the
worst case, and little of it in practice: most offers are worse than the worst of a full list.

`draw_trees` follows an edge of each item with probability μ(edge) / μ(item), so trees come from the distribution
that chooses every edge by itself and has the chart's posteriors. For a grammar with one state a symbol that is the
posterior over trees itself.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable


@register_jitable
def _offer(score, way, found, item, value, left, right, left_rank, right_rank):
    """Put a way of making an item into its list, best first, if it is good enough; equal ones keep their order."""
    most = score.shape[1]
    place = found[item]
    if place == most:
        if value <= score[item, most - 1]:
            return
        place = most - 1
    else:
        found[item] += 1
    while place > 0 and score[item, place - 1] < value:
        score[item, place] = score[item, place - 1]
        way[item, place] = way[item, place - 1]
        place -= 1
    score[item, place] = value
    way[item, place, 0], way[item, place, 1] = left, right
    way[item, place, 2], way[item, place, 3] = left_rank, right_rank


@njit(cache=True)
def k_best_trees(chart, item_gain, edge_gain, k):
    """The items in preorder and the sizes of the subtrees of the k best trees, [trees, 2n − 1], best first."""
    items, leaves = chart.item_symbol.shape[0], chart.cell_begin[chart.length]
    score, way = np.empty((items + 1, k)), np.full((items + 1, k, 4), -1, np.int32)
    found = np.zeros(items + 1, np.int32)
    for leaf in range(leaves):
        _offer(score, way, found, leaf, item_gain[leaf], -1, -1, 0, 0)
    for group in range(chart.split_begin.shape[0] - 1):
        edge = chart.edge_begin[group]
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            parent = chart.parent_item[entry]
            for split in range(chart.split_begin[group], chart.split_begin[group + 1]):
                left, right = chart.split_left[split], chart.split_right[split]
                gain = item_gain[parent] + edge_gain[edge]
                edge += 1
                for p in range(found[left]):
                    for q in range(min(found[right], k // (p + 1))):
                        value = gain + score[left, p] + score[right, q]
                        if found[parent] == k and value <= score[parent, k - 1]:
                            break
                        _offer(score, way, found, parent, value, left, right, p, q)
    for root in range(chart.cell_begin[chart.cell_begin.shape[0] - 2], items):
        for rank in range(found[root]):
            _offer(score, way, found, items, score[root, rank], root, -1, rank, 0)
    nodes = 2 * chart.length - 1
    order, size = np.empty((found[items], nodes), np.int32), np.empty((found[items], nodes), np.int32)
    stack = np.empty((chart.length + 1, 2), np.int32)
    for tree in range(found[items]):
        stack[0, 0], stack[0, 1] = way[items, tree, 0], way[items, tree, 2]
        depth, count = 1, 0
        while depth > 0:
            depth -= 1
            item, rank = stack[depth, 0], stack[depth, 1]
            order[tree, count] = item
            count += 1
            left, right = way[item, rank, 0], way[item, rank, 1]
            if left >= 0:
                stack[depth + 1, 0], stack[depth + 1, 1] = left, way[item, rank, 2]
                stack[depth, 0], stack[depth, 1] = right, way[item, rank, 3]
                depth += 2
        sizes_of(chart, order[tree], size[tree])
    return order, size


@njit(cache=True)
def draw_trees(chart, item_posterior, edge_posterior, uniforms):
    """Draws, one a row of `uniforms` [trees, n]: the items in preorder and the sizes of the subtrees."""
    items, cells = chart.item_symbol.shape[0], chart.cell_begin.shape[0] - 1
    nodes = 2 * chart.length - 1
    order, size = np.empty((uniforms.shape[0], nodes), np.int32), np.empty((uniforms.shape[0], nodes), np.int32)
    cell_of_item = np.empty(items, np.int32)
    for cell in range(cells):
        cell_of_item[chart.cell_begin[cell] : chart.cell_begin[cell + 1]] = cell
    stack = np.empty(chart.length + 1, np.int32)
    for tree in range(uniforms.shape[0]):
        total = 0.0
        for item in range(chart.cell_begin[cells - 1], items):
            total += abs(item_posterior[item])
        rest = uniforms[tree, 0] * total
        for item in range(chart.cell_begin[cells - 1], items):
            if item_posterior[item] != 0.0:
                stack[0] = item
                rest -= abs(item_posterior[item])
                if rest < 0.0:
                    break
        depth, count, drawn = 1, 0, 1
        while depth > 0:
            depth -= 1
            item = stack[depth]
            order[tree, count] = item
            count += 1
            if item < chart.cell_begin[chart.length]:
                continue
            left, right = _draw_edge(chart, cell_of_item[item], item, edge_posterior, uniforms[tree, drawn])
            drawn += 1
            stack[depth], stack[depth + 1] = right, left
            depth += 2
        sizes_of(chart, order[tree], size[tree])
    return order, size


@register_jitable
def _draw_edge(chart, cell, item, edge_posterior, uniform):
    """The children of an item, by the posteriors of its edges."""
    total, rest, left, right = 0.0, 0.0, np.int32(-1), np.int32(-1)
    for choosing in range(2):
        if choosing:
            rest = uniform * total
        for group in range(chart.group_begin[cell], chart.group_begin[cell + 1]):
            splits = chart.split_begin[group + 1] - chart.split_begin[group]
            for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
                if chart.parent_item[entry] != item:
                    continue
                edge = chart.edge_begin[group] + (entry - chart.parent_begin[group]) * splits
                for number in range(splits):
                    share = abs(edge_posterior[edge + number])
                    if not choosing:
                        total += share
                    elif share > 0.0:
                        split = chart.split_begin[group] + number
                        left, right = chart.split_left[split], chart.split_right[split]
                        rest -= share
                        if rest < 0.0:
                            return left, right
    return left, right


@register_jitable
def sizes_of(chart, order, size):
    """The sizes of the subtrees of a binary tree whose items are given in preorder."""
    leaves = chart.cell_begin[chart.length]
    pending, depth = np.empty(chart.length + 1, np.int32), 0
    for number in range(order.shape[0] - 1, -1, -1):
        size[number] = 1
        if order[number] >= leaves:
            size[number] += pending[depth - 1] + pending[depth - 2]
            depth -= 2
        pending[depth] = size[number]
        depth += 1
