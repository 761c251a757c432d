"""The first pass of parsing: a PCFG's inside probabilities, grown bottom-up and cut as they grow.

With p the probabilities of rules, the items of a cell get their inside probabilities from those of its parts,

    α(a,i,j) = ⊕_{a→b c} p(a→b c) ⊕_{i<k<j} α(b,i,k) α(c,k,j),

the sum over split points of a pair (b, c) of children first, then the rules. In `Real` that is the probability of
all trees over a span, in `MaxProduct` that of the best one.

Each symbol of a cell is multiplied by what the contexts on both sides say (parse/projection.py gives the equation)
and kept if this estimate of its posterior passes an absolute and a relative threshold. Cells deep in the chart are
mostly empty then, so the cost is that of the few spans that look like constituents from both sides, not n³ times
the grammar: each item on the left of a split point looks at each on the right.

With thresholds of zero nothing is cut and all is exact: so grammars with one state per symbol are parsed. Cells
are full then, and the numbers of a symbol stand in rows, by the first word and by the end of its spans: the sum
over the split points of two interminals is the product of two rows. O(Q n³/6) in time for Q pairs of interminals,
32 bytes per item in memory.

All numbers are scaled word by word, with the probabilities of a bigram model of tags,
p(x_i | x_0 … x_{i-1}) = c_i, or so that the greatest number over each word is one. Where numbers drift away from
one in spite of it, powers of two are taken out of words as the chart grows: a span has the product of the scales
of its words whichever way it is split, so this is exact. The tag of the sentence boundary is the last,
`bigram.shape[0] - 1`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable
from numpy.typing import NDArray

from latentgram.lpcfg.kernels.chart import cell_of
from latentgram.numeric.semiring import plus

CLOSED = -1
"""A cell in which nothing may stand."""
OPEN = 0
"""A cell about which nothing is known."""
_FLUSH = 2.0**-900
"""Inside numbers below this are nothing: their adjoints might overflow."""
_DRIFT = 32.0
"""Powers of two by which the numbers of a width may leave 1 before the chart is scaled again."""


class SpanMasks(NamedTuple):
    """Which symbols may stand over which spans: how constraints reach a chart.

    A node of a binary tree stands over the words i … j−1 just when no other node crosses this span (the smallest
    node that holds the span would else split it). So a required span closes all cells that cross it, and the chart
    shrinks; over the span itself only some symbols are let in. Cells go by width, then by first word.
    """

    allowed: NDArray[np.bool_]
    """[sets, interminals]; the first set is all of them."""
    of_cell: NDArray[np.int32]
    """[cells] the number of a set, or `CLOSED`."""


class Words(NamedTuple):
    """The items over words: word w has those from `begin[w]` to `begin[w + 1]`."""

    begin: NDArray[np.int32]
    symbol: NDArray[np.int32]
    inside: NDArray[np.float64]
    """q(symbol → word), scaled."""


class Contexts(NamedTuple):
    """[n+1, I] what the words before and after each gap say for a symbol that begins, or ends, there."""

    begins: NDArray[np.float64]
    ends: NDArray[np.float64]


class Limits(NamedTuple):
    """What is cut while a chart grows; see `Pruning`."""

    floor: float = 0.0
    beam: float = 0.0
    unseen_rigour: float = 1.0


class Rows(NamedTuple):
    """The inside numbers of a chart of which nothing is cut, with zeros for what is not there; else empty."""

    by_first: NDArray[np.float64]
    """Those of one symbol and one first word stand side by side, see `at_first` …"""
    by_end: NDArray[np.float64]
    """… and those of one symbol and one end, see `at_end`."""
    tags: NDArray[np.float64]
    """[n, P] the numbers over words."""
    ends: NDArray[np.int32]
    """[n, I, 2] the least and the greatest end of the spans from a word on that can be the symbol."""
    firsts: NDArray[np.int32]
    """[n+1, I, 2] the least and the greatest first word of the spans with an end that can be the symbol."""


class Grown(NamedTuple):
    """Items by cell with their inside probabilities."""

    cell_begin: NDArray[np.int32]
    symbol: NDArray[np.int32]
    """Sorted in a cell if nothing is cut and all rules were seen."""
    inside: NDArray[np.float64]
    rows: Rows
    exponent: NDArray[np.int64]
    """[n] the powers of two that were taken out of each word."""
    left_sum: NDArray[np.float64]
    """[cells, I] Σ_b left(b, a) α(b), for unseen rules; empty where there are none."""
    right_sum: NDArray[np.float64]


@register_jitable
def at_first(interminals, length, symbol, first, end):
    """Where the number of a symbol over the words first … end−1 stands in `Rows.by_first`."""
    return interminals * (first * length - first * (first - 1) // 2) + symbol * (length - first) + end - first - 1


@register_jitable
def at_end(interminals, symbol, first, end):
    """The same in `Rows.by_end`."""
    return interminals * (end * (end - 1) // 2) + symbol * end + first


@register_jitable
def splits(rows, b, c, first, end):
    """The range of the split points at which interminal b may end and c begin."""
    low = max(rows.ends[first, b, 0], rows.firsts[end, c, 0])
    return low, min(rows.ends[first, b, 1], rows.firsts[end, c, 1]) + 1


@njit(cache=True)
def everything(length, interminals):
    """Masks that allow all."""
    return SpanMasks(np.ones((1, interminals), np.bool_), np.zeros(length * (length + 1) // 2, np.int32))


@njit(cache=True)
def filter_tags(leaf_begin, leaf_tag, leaf_weight, bigram):
    """Scaled forward and backward numbers of the tags a bigram model gives to words, and the scales c.

    `leaf_tag` and `leaf_weight` list, word after word, the tags t that a word x may have, and q(t→x). With f the
    forward and b the backward numbers, f(t) b(t) is the posterior of a tag.
    """
    length, edge = leaf_begin.shape[0] - 1, bigram.shape[0] - 1
    forward, backward = np.zeros(leaf_tag.shape[0]), np.zeros(leaf_tag.shape[0])
    scale = np.empty(length)
    for word in range(length):
        total = 0.0
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            if word == 0:
                mass = bigram[edge, leaf_tag[leaf]]
            else:
                mass = 0.0
                for previous in range(leaf_begin[word - 1], leaf_begin[word]):
                    mass += forward[previous] * bigram[leaf_tag[previous], leaf_tag[leaf]]
            forward[leaf] = mass * leaf_weight[leaf]
            total += forward[leaf]
        scale[word] = total
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            forward[leaf] /= total
    total = 0.0
    for leaf in range(leaf_begin[length - 1], leaf_begin[length]):
        backward[leaf] = bigram[leaf_tag[leaf], edge]
        total += forward[leaf] * backward[leaf]
    for leaf in range(leaf_begin[length - 1], leaf_begin[length]):
        backward[leaf] /= total
    for word in range(length - 2, -1, -1):
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            for following in range(leaf_begin[word + 1], leaf_begin[word + 2]):
                backward[leaf] += (
                    bigram[leaf_tag[leaf], leaf_tag[following]]
                    * leaf_weight[following]
                    / scale[word + 1]
                    * backward[following]
                )
    return forward, backward, scale


@njit(cache=True)
def context_scores(leaf_begin, leaf_tag, leaf_weight, forward, backward, scale, after, before):
    """[n+1, I] what the words before and after each gap say for a symbol that begins, or ends, there."""
    length, edge, symbols = leaf_begin.shape[0] - 1, after.shape[0] - 1, after.shape[1]
    begins, ends = np.zeros((length + 1, symbols)), np.zeros((length + 1, symbols))
    begins[0] = after[edge]
    ends[length] = before[edge]
    for word in range(length):
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            here = leaf_weight[leaf] / scale[word] * backward[leaf]
            for symbol in range(symbols):
                begins[word + 1, symbol] += forward[leaf] * after[leaf_tag[leaf], symbol]
                ends[word, symbol] += here * before[leaf_tag[leaf], symbol]
    return Contexts(begins, ends)


@register_jitable
def add_scaled(target, value, vector):
    """target += value · vector."""
    for place in range(target.shape[0]):
        target[place] += value * vector[place]


@register_jitable
def _sum_factors(cell, chart, unseen):
    """Σ_b left(b, a) α(b) and Σ_c right(c, a) α(c) of a cell, for all interminals a."""
    if chart.cell_begin[cell] < chart.cell_begin[cell + 1]:
        chart.left_sum[cell], chart.right_sum[cell] = 0.0, 0.0
    for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
        add_scaled(chart.left_sum[cell], chart.inside[item], unseen.left[chart.symbol[item]])
        add_scaled(chart.right_sum[cell], chart.inside[item], unseen.right[chart.symbol[item]])


class _Cell(NamedTuple):
    """What is known of the cell that is being filled: of its pairs of children and of its symbols."""

    mass: NDArray[np.float64]
    """[pairs] ⊕_k α(b,i,k) α(c,k,j)."""
    met: NDArray[np.int32]
    """The pairs that were met, in order."""
    met_in: NDArray[np.int32]
    """[pairs] in which cell a pair was met last."""
    inside: NDArray[np.float64]
    """[I] α(a,i,j) of the symbols."""
    reached: NDArray[np.int32]
    """The symbols that rules lead to, in order."""
    reached_in: NDArray[np.int32]
    unseen: NDArray[np.float64]
    """[I] the sums of unseen rules, or nothing."""
    merit: NDArray[np.float64]
    """[I] the estimated posteriors of the symbols."""


@register_jitable
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


@register_jitable
def _meet(semiring, chart, index, first, width, here):
    """⊕_k α(b,i,k) α(c,k,j) of all pairs, item by item; how many pairs were met."""
    length, symbols = chart.exponent.shape[0], index.pair_of.shape[0]
    met, cell, pair_of, mass = 0, cell_of(length, first, width), index.pair_of.ravel(), here.mass
    for left_width in range(1, width):
        left_cell = cell_of(length, first, left_width)
        right_cell = cell_of(length, first + left_width, width - left_width)
        left_from, left_to = chart.cell_begin[left_cell], chart.cell_begin[left_cell + 1]
        right_from, right_to = chart.cell_begin[right_cell], chart.cell_begin[right_cell + 1]
        if left_from == left_to or right_from == right_to:
            continue
        for left in range(left_from, left_to):
            row, value = chart.symbol[left] * symbols, chart.inside[left]
            for right in range(right_from, right_to):
                pair = pair_of[row + chart.symbol[right]]
                if pair >= 0:
                    if here.met_in[pair] != cell:
                        here.met_in[pair] = cell
                        here.met[met] = pair
                        met += 1
                    mass[pair] = plus(semiring, mass[pair], value * chart.inside[right])
    return met


@register_jitable
def _dot(semiring, left, right):
    """⊕ₖ leftₖ rightₖ."""
    total = 0.0
    for k in range(left.shape[0]):
        total = plus(semiring, total, left[k] * right[k])
    return total


@register_jitable
def _meet_in_rows(semiring, chart, index, first, end, here):
    """The same where there are rows. A pair with a preterminal has one split point, next to its word; of two
    interminals it is the product of their rows."""
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


@register_jitable
def _spread(semiring, index, probability, cell, here, met):
    """α(a) = ⊕ p(a→b c) · (mass of the pair), for the pairs that were met; how many symbols were reached."""
    count = 0
    for number in range(met):
        pair = here.met[number]
        value = here.mass[pair]
        here.mass[pair] = 0.0
        for entry in range(index.pair_begin[pair], index.pair_begin[pair + 1]):
            symbol = index.parent[entry]
            if here.reached_in[symbol] != cell:
                here.reached_in[symbol] = cell
                here.reached[count] = symbol
                count += 1
            here.inside[symbol] = plus(semiring, here.inside[symbol], probability[entry] * value)
    return count


@register_jitable
def _put_into_rows(chart, interminals, first, end):
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


@register_jitable
def _rebalance(chart, interminals, width):
    """Bring the inside numbers of a width near to one again, when they have drifted.

    A word's share of the drift is the mean, over the spans of this width that cover it, of the logarithm of the
    greatest number, per word.
    """
    length = chart.exponent.shape[0]
    drift, covering = np.zeros(length + 1), np.zeros(length + 1)
    drifted = False
    for first in range(length - width + 1):
        cell, greatest = cell_of(length, first, width), 0.0
        for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
            greatest = max(greatest, chart.inside[item])
        if greatest > 0.0:
            power = math.log2(greatest)
            drifted |= abs(power) > _DRIFT
            drift[first] += power / width
            covering[first] += 1
            drift[first + width] -= power / width
            covering[first + width] -= 1
    if not drifted:
        return
    drift, covering = np.cumsum(drift), np.cumsum(covering)
    shift = np.zeros(length, np.int64)
    for word in range(length):
        if covering[word] > 0.5:
            shift[word] = round(drift[word] / covering[word])
            chart.exponent[word] += shift[word]
    for narrow in range(1, width + 1):
        for first in range(length - narrow + 1):
            cell, factor = (
                cell_of(length, first, narrow),
                math.ldexp(1.0, -int(shift[first : first + narrow].sum())),
            )
            for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
                chart.inside[item] *= factor
            if chart.rows.ends.shape[0]:
                _put_into_rows(chart, interminals, first, first + narrow)
            if chart.left_sum.shape[0]:
                chart.left_sum[cell] *= factor
                chart.right_sum[cell] *= factor


@register_jitable
def _keep_symbols(chart, contexts, limits, masks, first, width, here, seen, weight):
    """Put the symbols of a cell that pass the limits into the chart.

    The first `seen` of those that were reached have rules that were seen; others have the `weight` of unseen ones.
    """
    length = chart.exponent.shape[0]
    cell, smooth = cell_of(length, first, width), weight > 0.0
    begins, ends = contexts.begins[first], contexts.ends[first + width]
    if smooth:
        add_scaled(here.inside, weight, here.unseen)
        here.unseen[:] = 0.0
    limit = 0.0
    if limits.floor + limits.beam > 0.0:
        for symbol in range(here.inside.shape[0]):
            here.merit[symbol] = begins[symbol] * here.inside[symbol] * ends[symbol]
        if width < length and masks.of_cell[cell] == OPEN:
            floor = math.ldexp(limits.floor, -int(chart.exponent[first : first + width].sum()))
            limit = max(floor, limits.beam * here.merit.max())
    items, allowed = chart.cell_begin[cell], masks.allowed[masks.of_cell[cell]]
    for number in range(seen):
        symbol = here.reached[number]
        if here.merit[symbol] >= limit and here.inside[symbol] > _FLUSH and allowed[symbol]:
            chart.symbol[items], chart.inside[items] = symbol, here.inside[symbol]
            items += 1
    limit = max(limits.unseen_rigour * limit, 0.0)
    for symbol in range(here.inside.shape[0] * smooth):
        is_new = here.reached_in[symbol] != cell and here.inside[symbol] > _FLUSH
        if here.merit[symbol] >= limit and is_new and allowed[symbol]:
            chart.symbol[items], chart.inside[items] = symbol, here.inside[symbol]
            items += 1
    here.inside[:] = 0.0
    chart.cell_begin[cell + 1] = items


@register_jitable
def _empty_rows(length, interminals, preterminals):
    """Rows without any number."""
    size = interminals * length * (length + 1) // 2
    ends, firsts = np.empty((length, interminals, 2), np.int32), np.empty((length + 1, interminals, 2), np.int32)
    ends[:, :, 0], firsts[:, :, 0] = length + 1, length + 1
    ends[:, :, 1], firsts[:, :, 1] = -1, -1
    return Rows(np.zeros(size), np.zeros(size), np.zeros((length, preterminals)), ends, firsts)


@njit(cache=True)
def grow_items(semiring, words, contexts, index, probability, limits, masks):
    """The items whose estimated posterior is at least the floor and at least the beam times that of their cell's
    best; items that come about by unseen rules only need `unseen_rigour` times as much.

    `probability` follows the order of `index`. The whole sentence, and every span of which something is known,
    keep all symbols that `masks` allow. The best tree is asked for (`MaxProduct`) only where all rules were seen.
    """
    length, leaves = words.begin.shape[0] - 1, words.symbol.shape[0]
    cells, interminals, pairs = length * (length + 1) // 2, index.interminals, index.right.shape[0]
    smooth, in_rows = index.unseen.weight > 0.0, limits.floor + limits.beam == 0.0
    chart = Grown(
        np.empty(cells + 1, np.int32),
        np.empty(leaves + (cells - length) * interminals, np.int32),
        np.empty(leaves + (cells - length) * interminals, np.float64),
        _empty_rows(length * in_rows, interminals, index.pair_of.shape[0] - interminals),
        np.zeros(length, np.int64),
        np.empty((cells * smooth, interminals)),
        np.empty((cells * smooth, interminals)),
    )
    chart.cell_begin[: length + 1] = words.begin
    chart.symbol[:leaves], chart.inside[:leaves] = words.symbol, words.inside
    for word in range(length * smooth):
        _sum_factors(word, chart, index.unseen)
    for word in range(length * in_rows):
        _put_into_rows(chart, interminals, word, word + 1)
    here = _Cell(
        np.zeros(pairs),
        np.empty(pairs, np.int32),
        np.zeros(pairs, np.int32),
        np.zeros(interminals),
        np.empty(interminals, np.int32),
        np.zeros(interminals, np.int32),
        np.zeros(interminals * smooth),
        np.zeros(interminals),
    )
    for width in range(2, length + 1):
        for first in range(length - width + 1):
            cell = cell_of(length, first, width)
            if masks.of_cell[cell] == CLOSED:
                chart.cell_begin[cell + 1] = chart.cell_begin[cell]
                continue
            if in_rows:
                met = _meet_in_rows(semiring, chart, index, first, first + width, here)
            else:
                met = _meet(semiring, chart, index, first, width, here)
            if smooth:
                _sum_unseen(chart, first, width, here.unseen)
            count = _spread(semiring, index, probability, cell, here, met)
            if in_rows:
                count = 0
                for symbol in range(interminals):
                    if here.reached_in[symbol] == cell:
                        here.reached[count] = symbol
                        count += 1
            _keep_symbols(chart, contexts, limits, masks, first, width, here, count, index.unseen.weight)
            if in_rows:
                _put_into_rows(chart, interminals, first, first + width)
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
