"""What a conditional random field is taught: of the trees of a chart the one that has most nodes of the gold tree.

Pruning loses a node of the gold tree in every third sentence, so the gold tree itself may not be in the chart. An
item gains one for each of its treebank nodes that the gold tree has and loses `WRONG` for each other; among equals
the grammar decides. One pass over the edges (kernels/chart_trees.py).
"""

from __future__ import annotations

import numpy as np

from latentgram.compiling import njit
from latentgram.lpcfg.kernels.chart import cell_of
from latentgram.lpcfg.kernels.chart_trees import best_tree

WRONG = 0.5
_TIE = 1e-4


@njit()
def gold_nodes(label, begin, end, length, labels, columns):
    """[cells, columns] whether the gold tree, its nodes in preorder, has the r-th node of a label over a span.

    Its column is label + (r − 1) · labels, as in `LabelTable`; labels of -1 are unknown.
    """
    has = np.zeros((length * (length + 1) // 2, columns), np.bool_)
    for node in range(label.shape[0]):
        if label[node] < 0:
            continue
        cell, column = cell_of(length, begin[node], end[node] - begin[node]), label[node]
        while column < columns and has[cell, column]:
            column += labels
        if column < columns:
            has[cell, column] = True
    return has


@njit()
def target_tree(chart, shares, has, chain_begin, chain):
    """The items of the tree with most gold nodes in preorder, and its edges.

    `shares` are log μ(edge)/μ(parent) of edges and log μ(root) of roots; symbol s stands for the nodes of the
    columns chain[chain_begin[s] : chain_begin[s + 1]].
    """
    gain = np.zeros(chart.item_symbol.shape[0])
    for cell in range(chart.cell_begin.shape[0] - 1):
        for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
            symbol = chart.item_symbol[item]
            for place in range(chain_begin[symbol], chain_begin[symbol + 1]):
                gain[item] += 1.0 if has[cell, chain[place]] else -WRONG
    items, size, _ = best_tree(chart, gain, _TIE * shares[0], _TIE * shares[1])
    left, right = np.full(gain.shape[0], -1, np.int32), np.full(gain.shape[0], -1, np.int32)
    for node in range(items.shape[0]):
        if size[node] > 1:
            left[items[node]] = items[node + 1]
            right[items[node]] = items[node + 1 + size[node + 1]]
    edges, count = np.empty(chart.length - 1, np.int64), 0
    number = 0
    for group in range(chart.split_begin.shape[0] - 1):
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            parent = chart.parent_item[entry]
            for split in range(chart.split_begin[group], chart.split_begin[group + 1]):
                if left[parent] == chart.split_left[split] and right[parent] == chart.split_right[split]:
                    edges[count] = number
                    count += 1
                number += 1
    return items, edges
