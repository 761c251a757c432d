"""The first pass of parsing: a PCFG's inside probabilities, grown bottom-up and cut as they grow; then outside.

With p the probabilities of rules, the items of a cell get their inside probabilities from those of its parts,

    α(a,i,j) = Σ_{a→b c} p(a→b c) Σ_{i<k<j} α(b,i,k) α(c,k,j),

the sum over split points of a pair (b, c) of children first, then the rules. A child b asks only for the few c
that some rule has beside it, and finds α(c,k,j) in a dense row of its cell. Each symbol of a cell is multiplied by
what the contexts on both sides say (parse/projection.py gives the equation) and kept if this estimate of its
posterior passes an absolute and a relative threshold. Cells deep in the chart are mostly empty then, so the cost
is that of the few spans that look like constituents from both sides, not n³ times the grammar. With thresholds of
zero nothing is cut and all is exact: so grammars with one state per symbol are parsed.

Outside is the adjoint of inside. An item and a *joint* (two items that meet at a split point of a cell, whatever
they become) are kept for the next grammar if their posteriors pass a threshold.

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

from latentgram.lpcfg.kernels.chart import Joints, cell_of, grown
from latentgram.numeric.compiling import REORDER

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


class Grown(NamedTuple):
    """Items by cell with their inside probabilities."""

    cell_begin: NDArray[np.int32]
    symbol: NDArray[np.int32]
    inside: NDArray[np.float64]
    dense: NDArray[np.float64]
    """[cells − n, I] the same for the cells above the words, with zeros for what is not there; empty where the
    chart was cut."""
    exponent: NDArray[np.int64]
    """[n] the powers of two that were taken out of each word."""
    left_sum: NDArray[np.float64]
    """[cells, I] Σ_b left(b, a) α(b), for unseen rules; empty where there are none."""
    right_sum: NDArray[np.float64]


class Outside(NamedTuple):
    """Z, and of each item ∂Z/∂α and its posterior α ∂Z/∂α / Z."""

    total: float
    outside: NDArray[np.float64]
    posterior: NDArray[np.float64]


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
def _add(target, value, vector):
    """target += value · vector."""
    for place in range(target.shape[0]):
        target[place] += value * vector[place]


@register_jitable
def _sum_factors(cell, chart, unseen):
    """Σ_b left(b, a) α(b) and Σ_c right(c, a) α(c) of a cell, for all interminals a."""
    if chart.cell_begin[cell] < chart.cell_begin[cell + 1]:
        chart.left_sum[cell], chart.right_sum[cell] = 0.0, 0.0
    for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
        _add(chart.left_sum[cell], chart.inside[item], unseen.left[chart.symbol[item]])
        _add(chart.right_sum[cell], chart.inside[item], unseen.right[chart.symbol[item]])


class _Cell(NamedTuple):
    """What is known of the cell that is being filled: of its pairs of children and of its symbols."""

    mass: NDArray[np.float64]
    """[pairs] Σ_k α(b,i,k) α(c,k,j)."""
    met: NDArray[np.int32]
    """The pairs that were met item by item, in order."""
    met_in: NDArray[np.int32]
    """[pairs] in which cell a pair was met last."""
    left: NDArray[np.int32]
    """The left children that were met row by row, in order."""
    left_in: NDArray[np.int32]
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
def _meet(chart, index, first, width, here):
    """Σ_k α(b,i,k) α(c,k,j) of all pairs, and the sums of unseen rules; how many pairs and left children were met.

    Where cells have few items each left one looks at each right one; where they have many, at its row.
    """
    length, symbols, interminals = chart.exponent.shape[0], index.row_begin.shape[0], here.unseen.shape[0]
    met, lefts, cell, rows = 0, 0, cell_of(length, first, width), chart.dense.shape[0] > 0
    pair_of, mass = index.pair_of.ravel(), here.mass
    for left_width in range(1, width):
        left_cell = cell_of(length, first, left_width)
        right_cell = cell_of(length, first + left_width, width - left_width)
        left_from, left_to = chart.cell_begin[left_cell], chart.cell_begin[left_cell + 1]
        right_from, right_to = chart.cell_begin[right_cell], chart.cell_begin[right_cell + 1]
        if left_from == left_to or right_from == right_to:
            continue
        # Σ_{b,c} p(a→b c) α(b) α(c) = weight · (Σ_b left(b, a) α(b)) · (Σ_c right(c, a) α(c))
        for symbol in range(interminals):
            here.unseen[symbol] += chart.left_sum[left_cell, symbol] * chart.right_sum[right_cell, symbol]
        if rows and left_width < width - 1:
            for left in range(left_from, left_to):
                b, value = chart.symbol[left], chart.inside[left]
                begin, end = index.row_begin[b], index.row_end[b]
                if begin < end and here.left_in[b] != cell:
                    here.left_in[b] = cell
                    here.left[lefts] = b
                    lefts += 1
                for pair in range(begin, end):
                    mass[pair] += value * chart.dense[right_cell - length, index.right[pair]]
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
                    mass[pair] += value * chart.inside[right]
    return met, lefts


@register_jitable
def _spread(index, probability, cell, here, met, lefts):
    """α(a) = Σ p(a→b c) · (mass of the pair), for the pairs that were met; how many symbols were reached."""
    count = 0
    for number in range(met + lefts):
        begin, end = here.met[number], here.met[number] + 1
        if number >= met:
            b = here.left[number - met]
            begin, end = index.row_begin[b], index.row_end[b]
        for pair in range(begin, end):
            value = here.mass[pair]
            here.mass[pair] = 0.0
            if value == 0.0:
                continue
            for entry in range(index.pair_begin[pair], index.pair_begin[pair + 1]):
                symbol = index.parent[entry]
                if here.reached_in[symbol] != cell:
                    here.reached_in[symbol] = cell
                    here.reached[count] = symbol
                    count += 1
                here.inside[symbol] += probability[entry] * value
    return count


@register_jitable
def _rebalance(chart, width):
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
            if chart.dense.shape[0] and narrow > 1:
                chart.dense[cell - length] *= factor
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
        _add(here.inside, weight, here.unseen)
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


@njit(cache=True)
def grow_items(words, contexts, index, probability, limits, masks):
    """The items whose estimated posterior is at least the floor and at least the beam times that of their cell's
    best; items that come about by unseen rules only need `unseen_rigour` times as much.

    `probability` follows the order of `index`. The whole sentence, and every span of which something is known,
    keep all symbols that `masks` allow. Where nothing is cut cells have many items, which are sorted by symbol and
    stand in dense rows as well.
    """
    length, leaves = words.begin.shape[0] - 1, words.symbol.shape[0]
    cells, interminals, pairs = length * (length + 1) // 2, index.interminals, index.right.shape[0]
    smooth, rows = index.unseen.weight > 0.0, limits.floor + limits.beam == 0.0
    chart = Grown(
        np.empty(cells + 1, np.int32),
        np.empty(leaves + (cells - length) * interminals, np.int32),
        np.empty(leaves + (cells - length) * interminals, np.float64),
        np.zeros(((cells - length) * rows, interminals)),
        np.zeros(length, np.int64),
        np.empty((cells * smooth, interminals)),
        np.empty((cells * smooth, interminals)),
    )
    chart.cell_begin[: length + 1] = words.begin
    chart.symbol[:leaves], chart.inside[:leaves] = words.symbol, words.inside
    for word in range(length * smooth):
        _sum_factors(word, chart, index.unseen)
    here = _Cell(
        np.zeros(pairs),
        np.empty(pairs, np.int32),
        np.zeros(pairs, np.int32),
        np.empty(index.row_begin.shape[0], np.int32),
        np.zeros(index.row_begin.shape[0], np.int32),
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
            met, lefts = _meet(chart, index, first, width, here)
            count = _spread(index, probability, cell, here, met, lefts)
            if rows:
                count = 0
                for symbol in range(interminals):
                    if here.reached_in[symbol] == cell:
                        here.reached[count] = symbol
                        count += 1
            _keep_symbols(chart, contexts, limits, masks, first, width, here, count, index.unseen.weight)
            if rows:
                for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
                    chart.dense[cell - length, chart.symbol[item]] = chart.inside[item]
            if smooth:
                _sum_factors(cell, chart, index.unseen)
        if width >= 4 and width & (width - 1) == 0:
            _rebalance(chart, width)
    items = chart.cell_begin[cells]
    return Grown(
        chart.cell_begin,
        chart.symbol[:items],
        chart.inside[:items],
        chart.dense,
        chart.exponent,
        chart.left_sum,
        chart.right_sum,
    )


@register_jitable
def _handed(index, probability, outside, pair):
    """What the parents in a cell hand down to a pair of children: Σ_a p(a→b c) β(a)."""
    above = 0.0
    for entry in range(index.pair_begin[pair], index.pair_begin[pair + 1]):
        above += probability[entry] * outside[index.parent[entry]]
    return above


@njit(cache=True, fastmath=REORDER)
def _pull_factors(unseen, symbol, left_adjoint, right_adjoint):
    """The adjoint of `_sum_factors`."""
    to_left, to_right, total = unseen.left[symbol], unseen.right[symbol], 0.0
    for parent in range(to_left.shape[0]):
        total += to_left[parent] * left_adjoint[parent] + to_right[parent] * right_adjoint[parent]
    return total


class _Above(NamedTuple):
    """What the parents of one cell hand down to pairs of children."""

    outside: NDArray[np.float64]
    """[I] β(a) of the parents."""
    of_pair: NDArray[np.float64]
    pair_in: NDArray[np.int32]
    """[pairs] for which cell a pair's number was made."""
    row: NDArray[np.float64]
    """[pairs] the same in rows, by left child; those that get nothing are left out."""
    right: NDArray[np.uint32]
    row_end: NDArray[np.int32]
    row_in: NDArray[np.int32]


@register_jitable
def _hand_down(chart, index, probability, first, width, above, item_outside, adjoint):
    """The adjoint of `_meet`; what rows hand to the right is added up in `adjoint`, which is dense."""
    length, symbols = chart.exponent.shape[0], index.row_begin.shape[0]
    cell, rows, pair_of = cell_of(length, first, width), chart.dense.shape[0] > 0, index.pair_of.ravel()
    for left_width in range(1, width):
        left_cell = cell_of(length, first, left_width)
        right_cell = cell_of(length, first + left_width, width - left_width)
        left_from, left_to = chart.cell_begin[left_cell], chart.cell_begin[left_cell + 1]
        right_from, right_to = chart.cell_begin[right_cell], chart.cell_begin[right_cell + 1]
        if left_from == left_to or right_from == right_to:
            continue
        dense = right_cell - length
        for left in range(left_from, left_to):
            b, value, below = chart.symbol[left], chart.inside[left], 0.0
            if rows and left_width < width - 1:
                begin = index.row_begin[b]
                if above.row_in[b] != cell:
                    above.row_in[b], end = cell, begin
                    for pair in range(begin, index.row_end[b]):
                        handed = _handed(index, probability, above.outside, pair)
                        if handed != 0.0:
                            above.row[end], above.right[end] = handed, index.right[pair]
                            end += 1
                    above.row_end[b] = end
                for place in range(begin, above.row_end[b]):
                    below += above.row[place] * chart.dense[dense, above.right[place]]
                    adjoint[dense, above.right[place]] += above.row[place] * value
            else:
                for right in range(right_from, right_to):
                    pair = pair_of[b * symbols + chart.symbol[right]]
                    if pair >= 0:
                        if above.pair_in[pair] != cell:
                            above.pair_in[pair] = cell
                            above.of_pair[pair] = _handed(index, probability, above.outside, pair)
                        below += above.of_pair[pair] * chart.inside[right]
                        item_outside[right] += above.of_pair[pair] * value
            item_outside[left] += below


@register_jitable
def _hand_factors(chart, weight, first, width, item_outside, left_adjoint, right_adjoint):
    """The adjoint of the sums of unseen rules in `_meet`."""
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


@njit(cache=True, error_model="numpy")
def outside_items(chart, root, index, probability):
    """Z and the posteriors of the items, by the adjoint of `grow_items`; `root` is [S].

    Where Z is not positive there are no posteriors.
    """
    length, cells = chart.exponent.shape[0], chart.cell_begin.shape[0] - 1
    unseen, smooth, rows = index.unseen, index.unseen.weight > 0.0, chart.dense.shape[0] > 0
    symbols, pairs = index.row_begin.shape[0], index.right.shape[0]
    item_outside, total = np.zeros(chart.symbol.shape[0]), 0.0
    for item in range(chart.cell_begin[cells - 1], chart.cell_begin[cells]):
        item_outside[item] = root[chart.symbol[item]]
        total += item_outside[item] * chart.inside[item]
    adjoint = np.zeros_like(chart.dense)
    left_adjoint, right_adjoint = np.empty_like(chart.left_sum), np.empty_like(chart.right_sum)
    for cell in range(cells * smooth):
        if chart.cell_begin[cell] < chart.cell_begin[cell + 1]:
            left_adjoint[cell], right_adjoint[cell] = 0.0, 0.0
    above = _Above(
        np.zeros(index.interminals),
        np.empty(pairs),
        np.zeros(pairs, np.int32),
        np.empty(pairs),
        np.empty(pairs, np.uint32),
        np.empty(symbols, np.int32),
        np.zeros(symbols, np.int32),
    )
    for width in range(length if total > 0.0 else 0, 1, -1):
        for first in range(length - width + 1):
            cell, mass = cell_of(length, first, width), 0.0
            item_from, item_to = chart.cell_begin[cell], chart.cell_begin[cell + 1]
            for item in range(item_from, item_to):
                symbol = chart.symbol[item]
                if rows:
                    item_outside[item] += adjoint[cell - length, symbol]
                if smooth:
                    item_outside[item] += _pull_factors(unseen, symbol, left_adjoint[cell], right_adjoint[cell])
                above.outside[symbol] = item_outside[item]
                mass += item_outside[item]
            if mass != 0.0:
                _hand_down(chart, index, probability, first, width, above, item_outside, adjoint)
                if smooth:
                    _hand_factors(chart, unseen.weight, first, width, item_outside, left_adjoint, right_adjoint)
            for item in range(item_from, item_to):
                above.outside[chart.symbol[item]] = 0.0
    for word in range(length if smooth and length > 1 else 0):
        for item in range(chart.cell_begin[word], chart.cell_begin[word + 1]):
            item_outside[item] += _pull_factors(
                unseen, chart.symbol[item], left_adjoint[word], right_adjoint[word]
            )
    return Outside(total, item_outside, chart.inside * item_outside / total)


@register_jitable
def _unseen_above(chart, cell, item_outside, to_left, to_right):
    """Σ_a left(a) right(a) β(a) over the items of a cell; the factors are [I]."""
    total = 0.0
    for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
        symbol = chart.symbol[item]
        total += to_left[symbol] * to_right[symbol] * item_outside[item]
    return total


class Kept(NamedTuple):
    """The items of a chart that are kept, by cell, and their numbers in it."""

    cell_begin: NDArray[np.int32]
    item: NDArray[np.int64]


@njit(cache=True)
def probable_joints(chart, outside, kept, index, probability, threshold):
    """The joints of at least this posterior between items that are kept, by their numbers among these.

    Unseen rules are looked at only where all of them together reach the threshold.
    """
    length, cells = chart.exponent.shape[0], chart.cell_begin.shape[0] - 1
    unseen, smooth, symbols = index.unseen, index.unseen.weight > 0.0, index.row_begin.shape[0]
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
                                above_of[pair] = _handed(index, probability, outside_of, pair)
                            above = above_of[pair]
                        if left_unseen:
                            factors = unseen.left[b], unseen.right[c]
                            above += unseen.weight * _unseen_above(chart, cell, item_outside, *factors)
                        if above > 0.0 and above * inside >= least:
                            left_item[joints], right_item[joints] = left, right
                            joints += 1
            end[cell] = joints
    return Joints(begin, end, left_item[:joints], right_item[:joints])


@njit(cache=True)
def edge_posteriors(chart, weights, inside, outside):
    """μ(a→b c,i,k,j) = β(a,i,j) · w(a→b c) · α(b,i,k) · α(c,k,j) for all edges of a packed chart.

    `inside` and `outside` belong to the chart's items, `weights` to the rules; outside numbers are divided by Z.
    """
    posterior = np.empty(chart.edge_begin[chart.edge_begin.shape[0] - 1])
    for group in range(chart.split_begin.shape[0] - 1):
        edge = chart.edge_begin[group]
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            above = outside[chart.parent_item[entry]] * weights[chart.parent_rule[entry]]
            for split in range(chart.split_begin[group], chart.split_begin[group + 1]):
                posterior[edge] = above * inside[chart.split_left[split]] * inside[chart.split_right[split]]
                edge += 1
    return posterior


@njit(cache=True)
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
