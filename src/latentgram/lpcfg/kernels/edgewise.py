"""Distributions over the trees of a packed chart that choose each edge by itself.

With scores s of items, edges and roots,

    p(tree | sentence) = exp( s(root) + Σ_edges s(edge) + Σ_items s(item) ) / Z,
    inside(a) = s(a) + log Σ_{edges a→b c} exp( s(edge) + inside(b) + inside(c) ),

and from the roots down p(edge) = p(a) · exp(s(edge) + inside(b) + inside(c)) / Σ …. Posteriors μ, whoever gave
them, are such scores: s(root) = log μ(root), s(edge) = log μ(edge)/μ(parent). If they are those of one
distribution the products telescope, Z = 1, and the marginals are μ again; else (`normalised`) they are those of
the distribution that these choices make. O(edges), and one exponential for each.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from latentgram.arrays import Floats
from latentgram.compiling import njit
from latentgram.lpcfg.kernels.chart import cell_of

_LEAST = 1e-30
_NOTHING = -2


class Scores(NamedTuple):
    """Of the items, edges and roots of a chart."""

    item: Floats
    edge: Floats
    root: Floats
    """[items of the whole sentence] that of a tree with this root."""


@njit()
def log_shares(chart, item, edge):
    """log μ(edge)/μ(parent) of all edges, and log μ(root) of the items of the whole sentence."""
    share = np.empty(edge.shape[0])
    number = 0
    for group in range(chart.split_begin.shape[0] - 1):
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            above = math.log(max(abs(np.float64(item[chart.parent_item[entry]])), _LEAST))
            for _ in range(chart.split_begin[group], chart.split_begin[group + 1]):
                share[number] = math.log(max(abs(np.float64(edge[number])), _LEAST)) - above
                number += 1
    first = chart.cell_begin[-2]
    root = np.empty(chart.item_symbol.shape[0] - first)
    for place in range(root.shape[0]):
        root[place] = math.log(max(abs(np.float64(item[first + place])), _LEAST))
    return share, root


@njit()
def marginals(chart, scores):
    """log Z, and the marginals of all items and edges."""
    items, leaves = chart.item_symbol.shape[0], chart.cell_begin[chart.length]
    inside = np.full(items, -np.inf)
    below, top = np.zeros(items), np.full(items, -np.inf)
    for leaf in range(leaves):
        inside[leaf] = scores.item[leaf]
    exponent = np.empty(scores.edge.shape[0])
    for cell in range(chart.length, chart.cell_begin.shape[0] - 1):
        for group in range(chart.group_begin[cell], chart.group_begin[cell + 1]):
            number = chart.edge_begin[group]
            for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
                parent = chart.parent_item[entry]
                for split in range(chart.split_begin[group], chart.split_begin[group + 1]):
                    value = (
                        scores.edge[number] + inside[chart.split_left[split]] + inside[chart.split_right[split]]
                    )
                    exponent[number] = value
                    if value > top[parent]:
                        below[parent] = below[parent] * math.exp(top[parent] - value) + 1.0
                        top[parent] = value
                    elif value > -np.inf:
                        below[parent] += math.exp(value - top[parent])
                    number += 1
        for some in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
            if below[some] > 0.0:
                inside[some] = scores.item[some] + top[some] + math.log(below[some])
    first, best, total = chart.cell_begin[-2], -np.inf, 0.0
    for some in range(first, items):
        best = max(best, inside[some] + scores.root[some - first])
    for some in range(first, items):
        total += math.exp(inside[some] + scores.root[some - first] - best)
    log_total = best + math.log(total)
    item, edge = np.zeros(items), np.zeros(scores.edge.shape[0])
    for some in range(first, items):
        item[some] = math.exp(inside[some] + scores.root[some - first] - log_total)
    for group in range(chart.split_begin.shape[0] - 2, -1, -1):
        number = chart.edge_begin[group]
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            parent = chart.parent_item[entry]
            for split in range(chart.split_begin[group], chart.split_begin[group + 1]):
                if item[parent] > 0.0:
                    edge[number] = item[parent] * math.exp(exponent[number] - top[parent]) / below[parent]
                    item[chart.split_left[split]] += edge[number]
                    item[chart.split_right[split]] += edge[number]
                number += 1
    return log_total, item, edge


@njit()
def normalised(chart, item, edge):
    """The marginals of the distribution that chooses edges by these posteriors."""
    shares, roots = log_shares(chart, item, edge)
    _, item_marginal, edge_marginal = marginals(chart, Scores(np.zeros(item.shape[0]), shares, roots))
    return item_marginal, edge_marginal


@njit()
def tree_log_share(chart, item, edge, names, name, size):
    """log p(tree | sentence) of a treebank tree in preorder, from the posteriors, all derivations together:

        Σ_roots p(root) s(root),   s(parent) = Σ_edges p(edge)/p(parent) · s(left) s(right),   s(word) = 1.

    A tree that is not in the chart has −∞.
    """
    over = _cells_of_tree(chart, name, size)
    allowed = np.zeros(chart.item_symbol.shape[0], np.bool_)
    below = np.full(allowed.shape[0], -np.inf)
    for cell in range(chart.cell_begin.shape[0] - 1):
        if over[cell] == _NOTHING:
            continue
        for some in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
            allowed[some] = names.of_symbol[chart.item_symbol[some]] == over[cell]
            if allowed[some] and cell < chart.length:
                below[some] = 0.0
        for group in range(chart.group_begin[cell], chart.group_begin[cell + 1]):
            number = chart.edge_begin[group]
            for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
                parent = chart.parent_item[entry]
                for split in range(chart.split_begin[group], chart.split_begin[group + 1]):
                    children = below[chart.split_left[split]] + below[chart.split_right[split]]
                    if allowed[parent] and children > -np.inf:
                        share = math.log(max(edge[number], _LEAST) / max(item[parent], _LEAST))
                        below[parent] = np.logaddexp(below[parent], share + children)
                    number += 1
    total = -np.inf
    for some in range(chart.cell_begin[-2], chart.cell_begin[-1]):
        total = np.logaddexp(total, below[some] + math.log(max(item[some], _LEAST)))
    return total


@njit()
def _cells_of_tree(chart, name, size):
    """Of each cell the name of the tree's node over it; that of intermediate symbols, −1, where there are some
    children of a node, but not all, and `_NOTHING` elsewhere."""
    over, first = np.full(chart.cell_begin.shape[0] - 1, _NOTHING, np.int32), np.zeros(name.shape[0] + 1, np.int64)
    for node in range(name.shape[0]):
        first[node + 1] = first[node] + (size[node] == 1)  # the words before each node
    child = np.empty(name.shape[0], np.int64)
    for node in range(name.shape[0]):
        end = node + size[node]
        over[cell_of(chart.length, first[node], first[end] - first[node])] = name[node]
        children, below = 0, node + 1
        while below < end:
            child[children] = below
            children, below = children + 1, below + size[below]
        for i in range(children):
            for k in range(i + 1, children):
                if i > 0 or k < children - 1:
                    last = child[k] + size[child[k]]
                    over[cell_of(chart.length, first[child[i]], first[last] - first[child[i]])] = -1
    return over
