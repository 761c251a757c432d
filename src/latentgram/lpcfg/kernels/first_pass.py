"""The first pass of parsing where nothing is cut: a PCFG's inside probabilities over all spans.

With p the probabilities of rules, the items of a cell get their inside probabilities from those of its parts,

    α(a,i,j) = ⊕_{a→b c} p(a→b c) ⊕_{i<k<j} α(b,i,k) α(c,k,j),

the sum over split points of a pair (b, c) of children first, then the rules. In `Real` that is the probability of
all trees over a span, in `MaxProduct` that of the best one. All is exact: so grammars with one state per symbol
are parsed, and latent ones whose charts are not to be pruned. Cells are full, and children meet in rows (rows.py);
cut.py is the same pass where most cells stay empty.

All numbers are scaled word by word, so that the greatest number over each word is one. Where numbers drift away
from one in spite of it, powers of two are taken out of words as the chart grows: a span has the product of the
scales of its words whichever way it is split, so this is exact.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.compiling import jitable, njit
from latentgram.lpcfg.kernels.chart import CLOSED, add_scaled, cell_of, note_drift, taken_out
from latentgram.lpcfg.kernels.rows import Rows, empty_rows, meet_in_rows, put_into_rows
from latentgram.numeric.semiring import plus

_FLUSH = 2.0**-900
"""Inside numbers below this are nothing: their adjoints might overflow."""
_DRIFT = 32.0
"""Powers of two by which the numbers of a width may leave 1 before the chart is scaled again."""


class Limits(NamedTuple):
    """What is cut while a chart grows; see `Pruning`."""

    floor: float = 0.0
    beam: float = 0.0
    unseen_rigour: float = 1.0


class Grown(NamedTuple):
    """Items by cell with their inside probabilities."""

    cell_begin: Ints32
    symbol: Ints32
    """Sorted in a cell if all rules were seen."""
    inside: Floats
    rows: Rows
    exponent: Ints
    """[n] the powers of two that were taken out of each word."""
    left_sum: Floats
    """[cells, I] Σ_b left(b, a) α(b), for unseen rules; empty where there are none."""
    right_sum: Floats


@jitable()
def _sum_factors(cell, chart, unseen):
    """Σ_b left(b, a) α(b) and Σ_c right(c, a) α(c) of a cell, for all interminals a."""
    if chart.cell_begin[cell] < chart.cell_begin[cell + 1]:
        chart.left_sum[cell], chart.right_sum[cell] = 0.0, 0.0
    for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
        add_scaled(chart.left_sum[cell], chart.inside[item], unseen.left[chart.symbol[item]])
        add_scaled(chart.right_sum[cell], chart.inside[item], unseen.right[chart.symbol[item]])


class _Cell(NamedTuple):
    """What is known of the cell that is being filled: of its pairs of children and of its symbols."""

    mass: Floats
    """[pairs] ⊕_k α(b,i,k) α(c,k,j)."""
    met: Ints32
    """The pairs that were met, in order."""
    inside: Floats
    """[I] α(a,i,j) of the symbols."""
    reached_in: Ints32
    """[I] in which cell a rule led to a symbol last."""
    unseen: Floats
    """[I] the sums of unseen rules, or nothing."""


@jitable()
def _sum_unseen(chart, first, width, sums):
    """Σ_{b,c} p(a→b c) α(b) α(c) = weight · (Σ_b left(b, a) α(b)) · (Σ_c right(c, a) α(c)), over all split points
    and but for the weight."""
    length, begin = chart.exponent.shape[0], chart.cell_begin
    for left_width in range(1, width):
        left = cell_of(length, first, left_width)
        right = cell_of(length, first + left_width, width - left_width)
        if begin[left] < begin[left + 1] and begin[right] < begin[right + 1]:
            for symbol in range(sums.shape[0]):
                sums[symbol] += chart.left_sum[left, symbol] * chart.right_sum[right, symbol]


@jitable()
def _spread(semiring, index, probability, cell, here, met):
    """α(a) = ⊕ p(a→b c) · (mass of the pair), for the pairs that were met."""
    for number in range(met):
        pair = here.met[number]
        value = here.mass[pair]
        here.mass[pair] = 0.0
        for entry in range(index.pair_begin[pair], index.pair_begin[pair + 1]):
            symbol = index.parent[entry]
            here.reached_in[symbol] = cell
            here.inside[symbol] = plus(semiring, here.inside[symbol], probability[entry] * value)


@jitable()
def _rebalance(chart, interminals, width):
    """Bring the inside numbers of a width near to one again, when they have drifted."""
    length, drifted = chart.exponent.shape[0], False
    drift = np.zeros((length + 1, 2))
    for first in range(length - width + 1):
        cell, greatest = cell_of(length, first, width), 0.0
        for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
            greatest = max(greatest, chart.inside[item])
        if greatest > 0.0:
            power = math.log2(greatest)
            drifted |= abs(power) > _DRIFT
            note_drift(drift, first, first + width, power)
    if not drifted:
        return
    before = taken_out(drift, chart.exponent)
    for narrow in range(1, width + 1):
        for first in range(length - narrow + 1):
            cell, factor = (
                cell_of(length, first, narrow),
                math.ldexp(1.0, int(before[first] - before[first + narrow])),
            )
            for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
                chart.inside[item] *= factor
            put_into_rows(chart, interminals, first, first + narrow)
            for symbol in range(interminals if chart.left_sum.shape[0] else 0):
                chart.left_sum[cell, symbol] *= factor
                chart.right_sum[cell, symbol] *= factor


@jitable()
def _keep_symbols(chart, masks, first, width, here, weight):
    """Put the symbols of a cell that masks allow into the chart: those with rules that were seen, then those that
    have the `weight` of unseen ones only."""
    cell = cell_of(chart.exponent.shape[0], first, width)
    items, allowed = chart.cell_begin[cell], masks.allowed[masks.of_cell[cell]]
    for symbol in range(here.unseen.shape[0]):
        here.inside[symbol] += weight * here.unseen[symbol]
        here.unseen[symbol] = 0.0
    for seen in (True, False):
        for symbol in range(here.inside.shape[0]):
            if (here.reached_in[symbol] == cell) == seen and here.inside[symbol] > _FLUSH and allowed[symbol]:
                chart.symbol[items], chart.inside[items] = symbol, here.inside[symbol]
                items += 1
    for symbol in range(here.inside.shape[0]):
        here.inside[symbol] = 0.0
    chart.cell_begin[cell + 1] = items


@njit()
def grow_items(semiring, words, index, probability, masks):
    """All items that `masks` allow. `probability` follows the order of `index`.

    The best tree is asked for (`MaxProduct`) only where all rules were seen.
    """
    length, leaves = words.begin.shape[0] - 1, words.symbol.shape[0]
    cells, interminals, pairs = length * (length + 1) // 2, index.interminals, index.right.shape[0]
    smooth = index.unseen.weight > 0.0
    chart = Grown(
        np.empty(cells + 1, np.int32),
        np.empty(leaves + (cells - length) * interminals, np.int32),
        np.empty(leaves + (cells - length) * interminals, np.float64),
        empty_rows(length, interminals, index.pair_of.shape[0] - interminals),
        np.zeros(length, np.int64),
        np.empty((cells * smooth, interminals)),
        np.empty((cells * smooth, interminals)),
    )
    for word in range(length + 1):
        chart.cell_begin[word] = words.begin[word]
    for leaf in range(leaves):
        chart.symbol[leaf], chart.inside[leaf] = words.symbol[leaf], words.inside[leaf]
    for word in range(length):
        if smooth:
            _sum_factors(word, chart, index.unseen)
        put_into_rows(chart, interminals, word, word + 1)
    here = _Cell(
        np.zeros(pairs),
        np.empty(pairs, np.int32),
        np.zeros(interminals),
        np.zeros(interminals, np.int32),
        np.zeros(interminals * smooth),
    )
    for width in range(2, length + 1):
        for first in range(length - width + 1):
            cell = cell_of(length, first, width)
            if masks.of_cell[cell] == CLOSED:
                chart.cell_begin[cell + 1] = chart.cell_begin[cell]
                continue
            met = meet_in_rows(semiring, chart, index, first, first + width, here)
            if smooth:
                _sum_unseen(chart, first, width, here.unseen)
            _spread(semiring, index, probability, cell, here, met)
            _keep_symbols(chart, masks, first, width, here, index.unseen.weight)
            put_into_rows(chart, interminals, first, first + width)
            if smooth:
                _sum_factors(cell, chart, index.unseen)
        if width >= 4 and width & (width - 1) == 0:
            _rebalance(chart, interminals, width)
    items = chart.cell_begin[cells]
    return Grown(
        chart.cell_begin,
        chart.symbol[:items],
        chart.inside[:items],
        chart.rows,
        chart.exponent,
        chart.left_sum,
        chart.right_sum,
    )
