"""Inside numbers in rows: how a first pass meets children and hands down where nothing is cut.

Cells are full then. The numbers of a symbol stand side by side twice, by the first word and by the end of its
spans, so that the sum over the split points of two interminals,

    ⊕_{i<k<j} α(b,i,k) α(c,k,j),

is the product of two contiguous rows, and its adjoint adds multiples of each row to the outside numbers of the
other. A pair with a preterminal has one split point, next to its word. O(Q n³/6) for Q pairs of interminals; 16
bytes per symbol and span.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Floats, Ints32
from latentgram.compiling import jitable
from latentgram.lpcfg.kernels.chart import add_scaled, cell_of
from latentgram.numeric.semiring import plus


class Rows(NamedTuple):
    """The inside numbers of a chart of which nothing is cut, with zeros for what is not there; else empty."""

    by_first: Floats
    """Those of one symbol and one first word stand side by side, see `at_first` …"""
    by_end: Floats
    """… and those of one symbol and one end, see `at_end`."""
    tags: Floats
    """[n, P] the numbers over words."""
    ends: Ints32
    """[n, I, 2] the least and the greatest end of the spans from a word on that can be the symbol."""
    firsts: Ints32
    """[n+1, I, 2] the least and the greatest first word of the spans with an end that can be the symbol."""


@jitable()
def at_first(interminals, length, symbol, first, end):
    """Where the number of a symbol over the words first … end−1 stands in `Rows.by_first`."""
    return interminals * (first * length - first * (first - 1) // 2) + symbol * (length - first) + end - first - 1


@jitable()
def at_end(interminals, symbol, first, end):
    """The same in `Rows.by_end`."""
    return interminals * (end * (end - 1) // 2) + symbol * end + first


@jitable()
def splits(rows, b, c, first, end):
    """The range of the split points at which interminal b may end and c begin."""
    low = max(rows.ends[first, b, 0], rows.firsts[end, c, 0])
    return low, min(rows.ends[first, b, 1], rows.firsts[end, c, 1]) + 1


@jitable()
def empty_rows(length, interminals, preterminals):
    """Rows without any number."""
    size = interminals * length * (length + 1) // 2
    ends, firsts = np.empty((length, interminals, 2), np.int32), np.empty((length + 1, interminals, 2), np.int32)
    ends[:, :, 0], firsts[:, :, 0] = length + 1, length + 1
    ends[:, :, 1], firsts[:, :, 1] = -1, -1
    return Rows(np.zeros(size), np.zeros(size), np.zeros((length, preterminals)), ends, firsts)


@jitable()
def put_into_rows(chart, interminals, first, end):
    """Copy the numbers of a cell into the rows."""
    length, rows = chart.exponent.shape[0], chart.rows
    cell = cell_of(length, first, end - first)
    for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
        symbol, value = chart.symbol[item], chart.inside[item]
        if symbol >= interminals:
            rows.tags[first, symbol - interminals] = value
            continue
        rows.by_first[at_first(interminals, length, symbol, first, end)] = value
        rows.by_end[at_end(interminals, symbol, first, end)] = value
        rows.ends[first, symbol, 0] = min(rows.ends[first, symbol, 0], end)
        rows.ends[first, symbol, 1] = max(rows.ends[first, symbol, 1], end)
        rows.firsts[end, symbol, 0] = min(rows.firsts[end, symbol, 0], first)
        rows.firsts[end, symbol, 1] = max(rows.firsts[end, symbol, 1], first)


@jitable()
def _dot(semiring, left, right):
    """⊕ₖ leftₖ rightₖ."""
    total = 0.0
    for k in range(left.shape[0]):
        total = plus(semiring, total, left[k] * right[k])
    return total


@jitable()
def meet_in_rows(semiring, chart, index, first, end, here):
    """⊕_k α(b,i,k) α(c,k,j) of all pairs; how many pairs were met. A pair with a preterminal has one split point,
    next to its word; of two interminals it is the product of their rows."""
    length, interminals, rows, met = chart.exponent.shape[0], index.interminals, chart.rows, 0
    left_cell = first
    for left in range(chart.cell_begin[left_cell], chart.cell_begin[left_cell + 1] if end > first + 2 else 0):
        b, value = chart.symbol[left], chart.inside[left]
        for pair in range(index.row_begin[b], index.tags_begin[b]):
            other = rows.by_end[at_end(interminals, index.right[pair], first + 1, end)]
            if other != 0.0:
                here.mass[pair], here.met[met] = value * other, pair
                met += 1
    left_cell = cell_of(length, first, end - first - 1)
    for left in range(chart.cell_begin[left_cell], chart.cell_begin[left_cell + 1]):
        b, value = chart.symbol[left], chart.inside[left]
        for pair in range(index.tags_begin[b], index.row_begin[b + 1]):
            other = rows.tags[end - 1, index.right[pair] - interminals]
            if other != 0.0:
                here.mass[pair], here.met[met] = value * other, pair
                met += 1
    for b in range(interminals if end > first + 3 else 0):
        if rows.ends[first, b, 1] < 0:
            continue
        row = at_first(interminals, length, b, first, 0)
        for pair in range(index.row_begin[b], index.tags_begin[b]):
            low, high = splits(rows, b, index.right[pair], first, end)
            if low < high:
                column = at_end(interminals, index.right[pair], 0, end)
                value = _dot(
                    semiring, rows.by_first[row + low : row + high], rows.by_end[column + low : column + high]
                )
                if value != 0.0:
                    here.mass[pair], here.met[met] = value, pair
                    met += 1
    return met


@jitable()
def handed_down(index, probability, outside, pair):
    """What the parents in a cell hand down to a pair of children: Σ_a p(a→b c) β(a)."""
    above = 0.0
    for entry in range(index.pair_begin[pair], index.pair_begin[pair + 1]):
        above += probability[entry] * outside[index.parent[entry]]
    return above


@jitable()
def hand_down_in_rows(chart, index, probability, first, end, above, item_outside, adjoint):
    """The adjoint of meeting in rows; what children get is added up in rows (`adjoint`), or by item."""
    length, interminals, rows = chart.exponent.shape[0], index.interminals, chart.rows
    left_cell = first
    for left in range(chart.cell_begin[left_cell], chart.cell_begin[left_cell + 1] if end > first + 2 else 0):
        b, value = chart.symbol[left], chart.inside[left]
        for pair in range(index.row_begin[b], index.tags_begin[b]):
            place = at_end(interminals, index.right[pair], first + 1, end)
            if rows.by_end[place] != 0.0:
                handed = handed_down(index, probability, above, pair)
                item_outside[left] += handed * rows.by_end[place]
                adjoint.by_end[place] += handed * value
    left_cell = cell_of(length, first, end - first - 1)
    for left in range(chart.cell_begin[left_cell], chart.cell_begin[left_cell + 1]):
        b, value = chart.symbol[left], chart.inside[left]
        for pair in range(index.tags_begin[b], index.row_begin[b + 1]):
            tag = index.right[pair] - interminals
            if rows.tags[end - 1, tag] != 0.0:
                handed = handed_down(index, probability, above, pair)
                item_outside[left] += handed * rows.tags[end - 1, tag]
                adjoint.tags[end - 1, tag] += handed * value
    for b in range(interminals if end > first + 3 else 0):
        if rows.ends[first, b, 1] < 0:
            continue
        row = at_first(interminals, length, b, first, 0)
        for pair in range(index.row_begin[b], index.tags_begin[b]):
            low, high = splits(rows, b, index.right[pair], first, end)
            if low >= high:
                continue
            handed = handed_down(index, probability, above, pair)
            if handed != 0.0:
                column = at_end(interminals, index.right[pair], 0, end)
                add_scaled(
                    adjoint.by_first[row + low : row + high], handed, rows.by_end[column + low : column + high]
                )
                add_scaled(
                    adjoint.by_end[column + low : column + high], handed, rows.by_first[row + low : row + high]
                )
