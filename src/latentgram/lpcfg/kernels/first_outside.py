"""The posteriors of the items of a first pass, and the joints that are worth packing.

Outside is the adjoint of inside (first_pass.py),

    β(b,i,k) = Σ_{a→b c} p(a→b c) Σ_j β(a,i,j) α(c,k,j) + the same to the right,   μ(a,i,j) = α β / Z,

by the same walk over cells from the widest to the narrowest, at about twice the cost. An item and a *joint* (two
items that meet at a split point of a cell, whatever they become) are kept for the next grammar if their
posteriors pass a threshold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.compiling import REORDER, grown, jitable, njit
from latentgram.lpcfg.kernels.chart import Joints, cell_of, unseen_rule
from latentgram.lpcfg.kernels.rows import Rows, at_end, at_first, hand_down_in_rows, handed_down


class Outside(NamedTuple):
    """Z, and of each item ∂Z/∂α and its posterior α ∂Z/∂α / Z."""

    total: float
    outside: Floats
    posterior: Floats


@njit(fastmath=REORDER)
def _pull_factors(unseen, symbol, left_adjoint, right_adjoint):
    """The adjoint of `_sum_factors`."""
    to_left, to_right, total = unseen.left[symbol], unseen.right[symbol], 0.0
    for parent in range(to_left.shape[0]):
        total += to_left[parent] * left_adjoint[parent] + to_right[parent] * right_adjoint[parent]
    return total


@jitable()
def _hand_factors(chart, weight, first, width, item_outside, left_adjoint, right_adjoint):
    """The adjoint of `_sum_unseen`."""
    length = chart.exponent.shape[0]
    cell = cell_of(length, first, width)
    for left_width in range(1, width):
        left_cell = cell_of(length, first, left_width)
        right_cell = cell_of(length, first + left_width, width - left_width)
        if (
            chart.cell_begin[left_cell] < chart.cell_begin[left_cell + 1]
            and chart.cell_begin[right_cell] < chart.cell_begin[right_cell + 1]
        ):
            for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
                symbol, above = chart.symbol[item], weight * item_outside[item]
                left_adjoint[left_cell, symbol] += above * chart.right_sum[right_cell, symbol]
                right_adjoint[right_cell, symbol] += above * chart.left_sum[left_cell, symbol]


@njit(error_model="numpy")
def outside_items(chart, root, index, probability):
    """Z and the posteriors of the items, by the adjoint of `grow_items`; `root` is [S].

    Where Z is not positive there are no posteriors.
    """
    length, cells = chart.exponent.shape[0], chart.cell_begin.shape[0] - 1
    unseen, smooth, interminals = index.unseen, index.unseen.weight > 0.0, index.interminals
    item_outside, total = np.zeros(chart.symbol.shape[0]), 0.0
    for item in range(chart.cell_begin[cells - 1], chart.cell_begin[cells]):
        item_outside[item] = root[chart.symbol[item]]
        total += item_outside[item] * chart.inside[item]
    rows = chart.rows
    adjoint = Rows(
        np.zeros_like(rows.by_first), np.zeros_like(rows.by_end), np.zeros_like(rows.tags), rows.ends, rows.firsts
    )
    left_adjoint, right_adjoint = np.empty_like(chart.left_sum), np.empty_like(chart.right_sum)
    for cell in range(cells * smooth):
        if chart.cell_begin[cell] < chart.cell_begin[cell + 1]:
            left_adjoint[cell], right_adjoint[cell] = 0.0, 0.0
    above = np.zeros(interminals)
    for width in range(length if total > 0.0 else 0, 1, -1):
        for first in range(length - width + 1):
            cell, end, mass = cell_of(length, first, width), first + width, 0.0
            item_from, item_to = chart.cell_begin[cell], chart.cell_begin[cell + 1]
            for item in range(item_from, item_to):
                symbol = chart.symbol[item]
                item_outside[item] += adjoint.by_first[at_first(interminals, length, symbol, first, end)]
                item_outside[item] += adjoint.by_end[at_end(interminals, symbol, first, end)]
                if smooth:
                    item_outside[item] += _pull_factors(unseen, symbol, left_adjoint[cell], right_adjoint[cell])
                above[symbol] = item_outside[item]
                mass += item_outside[item]
            if mass != 0.0:
                hand_down_in_rows(chart, index, probability, first, end, above, item_outside, adjoint)
                if smooth:
                    _hand_factors(chart, unseen.weight, first, width, item_outside, left_adjoint, right_adjoint)
            for item in range(item_from, item_to):
                above[chart.symbol[item]] = 0.0
    for word in range(length if length > 1 else 0):
        for item in range(chart.cell_begin[word], chart.cell_begin[word + 1]):
            symbol = chart.symbol[item]
            item_outside[item] += adjoint.tags[word, symbol - interminals]
            if smooth:
                item_outside[item] += _pull_factors(unseen, symbol, left_adjoint[word], right_adjoint[word])
    return Outside(total, item_outside, chart.inside * item_outside / total)


@jitable()
def _unseen_above(chart, cell, item_outside, to_left, to_right):
    """Σ_a left(a) right(a) β(a) over the items of a cell; the factors are [I]."""
    total = 0.0
    for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
        symbol = chart.symbol[item]
        total += to_left[symbol] * to_right[symbol] * item_outside[item]
    return total


class Kept(NamedTuple):
    """The items of a chart that are kept, by cell, and their numbers in it."""

    cell_begin: Ints32
    item: Ints


@njit()
def probable_joints(chart, outside, kept, index, probability, threshold):
    """The joints of at least this posterior between items that are kept, by their numbers among these.

    Unseen rules are looked at only where all of them together reach the threshold.
    """
    length, cells = chart.exponent.shape[0], chart.cell_begin.shape[0] - 1
    unseen, smooth, symbols = index.unseen, index.unseen.weight > 0.0, index.pair_of.shape[0]
    pair_of, least, item_outside = index.pair_of.ravel(), threshold * outside.total, outside.outside
    begin, end, joints = np.zeros(cells, np.int64), np.zeros(cells, np.int64), 0
    left_item, right_item = np.empty(4096, np.int32), np.empty(4096, np.int32)
    above_of, above_in = np.empty(index.right.shape[0]), np.zeros(index.right.shape[0], np.int32)
    outside_of = np.zeros(index.interminals)
    for width in range(2, length + 1):
        for first in range(length - width + 1):
            cell = cell_of(length, first, width)
            begin[cell] = end[cell] = joints
            if kept.cell_begin[cell] == kept.cell_begin[cell + 1]:
                continue
            outside_of[:] = 0.0
            for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
                outside_of[chart.symbol[item]] = item_outside[item]
            for left_width in range(1, width):
                left_cell = cell_of(length, first, left_width)
                right_cell = cell_of(length, first + left_width, width - left_width)
                left_from, left_to = kept.cell_begin[left_cell], kept.cell_begin[left_cell + 1]
                right_from, right_to = kept.cell_begin[right_cell], kept.cell_begin[right_cell + 1]
                if left_from == left_to or right_from == right_to:
                    continue
                most = joints + (left_to - left_from) * (right_to - right_from)
                if most > left_item.shape[0]:
                    left_item, right_item = grown(left_item, most), grown(right_item, most)
                with_unseen = smooth
                if smooth:
                    sums = chart.left_sum[left_cell], chart.right_sum[right_cell]
                    with_unseen = unseen.weight * _unseen_above(chart, cell, item_outside, *sums) >= least
                for left in range(left_from, left_to):
                    b, left_inside = chart.symbol[kept.item[left]], chart.inside[kept.item[left]]
                    left_unseen = with_unseen
                    if with_unseen:
                        factors = unseen.left[b], chart.right_sum[right_cell]
                        mass = left_inside * _unseen_above(chart, cell, item_outside, *factors)
                        left_unseen = unseen.weight * mass >= least
                    for right in range(right_from, right_to):
                        c, inside = chart.symbol[kept.item[right]], left_inside * chart.inside[kept.item[right]]
                        pair, above = pair_of[b * symbols + c], 0.0
                        if pair >= 0:
                            if above_in[pair] != cell:
                                above_in[pair] = cell
                                above_of[pair] = handed_down(index, probability, outside_of, pair)
                            above = above_of[pair]
                        if left_unseen:
                            factors = unseen.left[b], unseen.right[c]
                            above += unseen.weight * _unseen_above(chart, cell, item_outside, *factors)
                        if above > 0.0 and above * inside >= least:
                            left_item[joints], right_item[joints] = left, right
                            joints += 1
            end[cell] = joints
    return Joints(begin, end, left_item[:joints], right_item[:joints])


@njit()
def edge_posteriors(chart, weights, unseen, inside, outside):
    """μ(a→b c,i,k,j) = β(a,i,j) · w(a→b c) · α(b,i,k) · α(c,k,j) for all edges of a packed chart.

    `inside` and `outside` belong to the chart's items, `weights` and `unseen` to the rules; outside numbers are
    divided by Z.
    """
    posterior, symbol = np.empty(chart.edge_begin[chart.edge_begin.shape[0] - 1]), chart.item_symbol
    for group in range(chart.split_begin.shape[0] - 1):
        edge, first = chart.edge_begin[group], chart.split_begin[group]
        b, c = symbol[chart.split_left[first]], symbol[chart.split_right[first]]
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            rule, above = chart.parent_rule[entry], outside[chart.parent_item[entry]]
            if rule >= 0:
                above *= weights[rule]
            else:
                above *= unseen_rule(unseen, symbol[chart.parent_item[entry]], b, c)
            for split in range(chart.split_begin[group], chart.split_begin[group + 1]):
                posterior[edge] = above * inside[chart.split_left[split]] * inside[chart.split_right[split]]
                edge += 1
    return posterior
