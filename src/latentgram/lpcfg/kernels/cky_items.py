"""From the dense chart of a PCFG to a packed chart: the items that are probable, and their edges' posteriors.

An item (a,i,j) survives if its posterior μ = L·∂Z/∂L / Z is at least a threshold. No tree whose own posterior
reaches the threshold is lost, since each of its items is at least as probable as the tree. The cells of a packed
chart (packed_chart.py) go by width, then by first word.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from latentgram.lpcfg.kernels.cky import at_start


@njit(cache=True)
def surviving_items(interminals, chart, adjoints, total, threshold):
    """The items with posteriors of at least `threshold`: begin of each cell, symbols, inside values, adjoints / Z.

    The chart is one of the Real semiring.
    """
    n, preterminals = chart.tags.shape
    cell_begin = np.zeros(n * (n + 1) // 2 + 1, np.int32)
    room = 16 * n
    symbol = np.empty(room, np.int32)
    inside = np.empty(room, np.float64)
    outside = np.empty(room, np.float64)
    count, cell = 0, 0
    for width in range(1, n + 1):
        symbols = preterminals if width == 1 else interminals
        for i in range(n - width + 1):
            if count + symbols > room:
                room = 2 * room + symbols
                symbol, kept_symbol = np.empty(room, np.int32), symbol
                inside, kept_inside = np.empty(room, np.float64), inside
                outside, kept_outside = np.empty(room, np.float64), outside
                symbol[:count] = kept_symbol[:count]
                inside[:count] = kept_inside[:count]
                outside[:count] = kept_outside[:count]
            for s in range(symbols):
                if width == 1:
                    value, adjoint = chart.tags[i, s], adjoints.tags[i, s] / total
                else:
                    place = at_start(interminals, n, s, i, i + width)
                    value, adjoint = chart.by_start[place], adjoints.by_start[place] / total
                if value != 0 and value * adjoint >= threshold:
                    symbol[count] = s + interminals if width == 1 else s
                    inside[count], outside[count] = value, adjoint
                    count += 1
            cell += 1
            cell_begin[cell] = count
    return cell_begin, symbol[:count].copy(), inside[:count].copy(), outside[:count].copy()


@njit(cache=True)
def edge_posteriors(packed, weights, inside, outside):
    """μ(a→b c,i,k,j) = ∂Z/∂L(a,i,j) · w(a→b c) · L(b,i,k) · L(c,k,j) / Z for all edges of a packed chart."""
    found = np.empty(packed.edge_begin[packed.edge_begin.shape[0] - 1])
    for group in range(packed.split_begin.shape[0] - 1):
        edge = packed.edge_begin[group]
        for entry in range(packed.parent_begin[group], packed.parent_begin[group + 1]):
            above = outside[packed.parent_item[entry]] * weights[packed.parent_rule[entry]]
            for split in range(packed.split_begin[group], packed.split_begin[group + 1]):
                found[edge] = above * inside[packed.split_left[split]] * inside[packed.split_right[split]]
                edge += 1
    return found


@njit(cache=True)
def best_cover(interminals, chart, prior, piece):
    """The spans that best cover a sentence side by side, as rows of first word and one past the last word.

    The chart is one of the Max semiring. A span counts the log-probability of its best symbol and what is below,
    the `prior` of the symbol, and `piece`, which is negative, so that fewer spans are better.
    """
    n, preterminals = chart.tags.shape
    best = np.full(n + 1, -np.inf)
    best[0] = 0
    begin = np.zeros(n + 1, np.int32)
    for j in range(1, n + 1):
        for i in range(j):
            for s in range(interminals if j > i + 1 else preterminals):
                if j > i + 1:
                    value = prior[s] + chart.by_start[at_start(interminals, n, s, i, j)]
                else:
                    value = prior[interminals + s] + chart.tags[i, s]
                if best[i] + value + piece > best[j]:
                    best[j], begin[j] = best[i] + value + piece, i
    spans = np.empty((n, 2), np.int32)
    j, count = n, n
    while j > 0:
        count -= 1
        spans[count, 0], spans[count, 1] = begin[j], j
        j = begin[j]
    return spans[count:].copy()
