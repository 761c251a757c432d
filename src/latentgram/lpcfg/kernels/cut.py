"""The first pass of parsing where it is cut: a PCFG's inside probabilities over the spans that look like phrases.

The equation is that of first_pass.py; here most cells stay empty. Each symbol of a cell is multiplied by what the
contexts on both sides say (projection.py gives the equation) and kept if this estimate of its posterior
passes an absolute and a relative threshold. So the cost is that of the few spans that look like constituents from
both sides, not n³ times the grammar: only cells that hold something are looked at, and each item on the left of a
split point looks at each on the right.

Unseen rules come in factors (`Unseen`): a cell that holds something has two rows of sums over its items,

    L(a) = Σ_b left(b, a) α(b),   R(a) = Σ_c right(c, a) α(c),   α(a,i,j) += Σ_k L_{ik}(a) R_{kj}(a),

one number for each parent a that may have unseen rules. These rows are where most of the time goes: they are
contiguous, and in the precision of the rules.

All numbers are scaled word by word (closing.py); where numbers drift away from one in spite of it, powers of two
are taken out of words as the chart grows: a span has the product of the scales of its words whichever way it is
split, so this is exact.

Cost: O(meeting items + U · (split points + items)) for U parents of unseen rules, counting cells that hold
something; memory: two rows for each of these.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from latentgram.arrays import Flags, Floats, Integers, Ints, Ints32, Reals
from latentgram.compiling import REORDER, grown, njit
from latentgram.lpcfg.kernels.chart import CLOSED, OPEN, cell_of, no_groups, note_drift, taken_out

NOTHING = -1
"""No cell, no pair."""
_DRIFT = 16.0
"""Powers of two by which the numbers of a width may leave 1 before the chart is scaled again."""

Numbers = Reals


class CutRules(NamedTuple):
    """The rules of a grammar as the cut pass reads them, in its precision.

    Interminals are numbered anew, those that may have unseen rules first: `name` has the grammar's numbers.
    """

    pair_of: Integers
    """[S · S] the number of a pair of child symbols, `NOTHING` where no rule has it."""
    pair_begin: Ints32
    parent: Ints32
    probability: Numbers
    """Of the rules, pair by pair, less what they would have if they were unseen."""
    left: Numbers
    """[S, U] the factors of unseen rules for the first U interminals; their weight is in this one."""
    right: Numbers
    name: Ints32
    """[S]"""
    bigram: Floats
    """[P+1, P+1] p(next tag | tag), the sentence boundary last."""
    after: Numbers
    """[P+1, I] see `Boundaries`."""
    before: Numbers


class Space(NamedTuple):
    """Room for the numbers of a sentence and of a cell: made once, used for one sentence after the other.

    What belongs to a cell is zero between two cells.
    """

    symbol: Ints32
    inside: Numbers
    outside: Numbers
    left: Numbers
    """[cells, U] L, see `CutChart`, and later its adjoint."""
    right: Numbers
    left_above: Numbers
    right_above: Numbers
    mass: Numbers
    """[pairs] Σ_k α(b,i,k) α(c,k,j) of the cell."""
    met: Ints32
    """[pairs] those that were met in the cell, in order."""
    value: Numbers
    """[I] α of the cell's symbols by rules that were seen."""
    reached: Ints32
    """[I] the symbols that these lead to, in order."""
    is_reached: Flags
    unseen: Numbers
    """[U] α of the cell's symbols by unseen rules."""
    merit: Numbers
    """[U + 1] the estimated posteriors by these, and the greatest of them."""
    merit_bits: Integers
    """The same memory, as integers."""
    group_of: Ints32
    """[S · S] which pairs of symbols of a cell have a group; see `pack_items`."""


def make_space(rules: CutRules, items: int = 16_384, cells: int = 1_024) -> Space:
    """Room for a sentence of some 60 words; longer ones make more for themselves."""
    kind, interminals, factors = rules.probability.dtype, rules.after.shape[1], rules.left.shape[1]
    pairs, merit = len(rules.pair_begin) - 1, np.empty(factors + 1, rules.probability.dtype)
    inside, outside = np.empty((2, items), kind)
    left, right, left_above, right_above = np.empty((4, cells, factors), kind)
    return Space(
        np.empty(items, np.int32),
        inside,
        outside,
        left,
        right,
        left_above,
        right_above,
        np.zeros(pairs, kind),
        np.empty(pairs, np.int32),
        np.zeros(interminals, kind),
        np.empty(interminals, np.int32),
        np.zeros(interminals, np.bool_),
        np.zeros(factors, kind),
        merit,
        merit.view(f"int{8 * merit.itemsize}"),
        no_groups(len(rules.name)),
    )


class CutChart(NamedTuple):
    """The cells that hold something, numbered by width, then by first word: cell r has the items from `begin[r]`
    to `begin[r + 1]`. The first n of them are words."""

    cells: Ints
    """[1] how many there are."""
    begin: Ints32
    first: Ints32
    end: Ints32
    at: Ints32
    """[n+1, n+1] the number of the cell with this end and this first word, or `NOTHING`."""
    ends: Ints32
    """[n, n] the ends of the cells with this first word, in order …"""
    ends_count: Ints32
    """[n] … and how many there are."""
    symbol: Ints32
    inside: Numbers
    left: Numbers
    """[cells, U] L"""
    right: Numbers
    exponent: Ints
    """[n] the powers of two that were taken out of each word."""


@njit(fastmath=REORDER, borrows=True)
def _merits(begins, unseen, ends, merit, bits):
    """The estimated posteriors of symbols by unseen rules, and the greatest of them.

    Numbers from zero on are in the order of their bits: a greatest integer is found by vector instructions.
    """
    size, greatest = unseen.shape[0], bits.dtype.type(0)
    for symbol in range(size):
        merit[symbol] = begins[symbol] * unseen[symbol] * ends[symbol]
    for symbol in range(size):
        if bits[symbol] > greatest:
            greatest = bits[symbol]
    bits[size] = greatest
    return merit[size]


@njit(fastmath=REORDER, borrows=True)
def _meet(chart, rules, space, first, end):
    """Σ_k α(b,i,k) α(c,k,j) of all pairs, item by item, and Σ_k L_{ik}(a) R_{kj}(a); how many pairs were met, or
    `NOTHING` where no cells meet."""
    begin, symbol, inside, ends, at = chart.begin, chart.symbol, chart.inside, chart.ends, chart.at
    left_row, right_row, unseen, mass, met = chart.left, chart.right, space.unseen, space.mass, space.met
    pair_of, symbols, count = rules.pair_of, rules.name.shape[0], NOTHING
    for place in range(chart.ends_count[first]):
        middle = ends[first, place]
        left_cell, right_cell = at[middle, first], at[end, middle]
        if right_cell < 0:
            continue
        count = max(count, 0)
        for a in range(unseen.shape[0]):
            unseen[a] += left_row[left_cell, a] * right_row[right_cell, a]
        right_from, right_to = begin[right_cell], begin[right_cell + 1]
        for left in range(begin[left_cell], begin[left_cell + 1]):
            row, value = symbol[left] * symbols, inside[left]
            for right in range(right_from, right_to):
                pair = pair_of[row + symbol[right]]
                if pair >= 0:
                    product = value * inside[right]
                    if mass[pair] == 0.0 and product > 0.0:
                        met[count] = pair
                        count += 1
                    mass[pair] += product
    return count


@njit(borrows=True)
def _spread(rules, space, count):
    """α(a) = Σ p(a→b c) · (mass of the pair), for the pairs that were met; how many symbols were reached."""
    pair_begin, parent, probability = rules.pair_begin, rules.parent, rules.probability
    mass, met, value, reached, is_reached = space.mass, space.met, space.value, space.reached, space.is_reached
    symbols = 0
    for number in range(count):
        pair = met[number]
        below = mass[pair]
        mass[pair] = 0.0
        for entry in range(pair_begin[pair], pair_begin[pair + 1]):
            symbol = parent[entry]
            if not is_reached[symbol]:
                is_reached[symbol] = True
                reached[symbols] = symbol
                symbols += 1
            value[symbol] += probability[entry] * below
    return symbols


@njit(borrows=True)
def _limit(chart, limits, masks, first, end, best):
    """The least estimated posterior in a cell whose best is this."""
    length, exponent = chart.exponent.shape[0], 0
    if end - first == length or masks.of_cell[cell_of(length, first, end - first)] != OPEN:
        return 0.0
    for word in range(first, end):
        exponent += chart.exponent[word]
    return max(math.ldexp(limits.floor, -int(exponent)), limits.beam * best)


@njit(borrows=True)
def _keep(chart, rules, contexts, limits, masks, space, first, end, count, items):
    """Put the symbols of a cell that pass the limits into the chart, behind its `items`; how many it has then.

    The first `count` that were reached have rules that were seen; others have unseen ones only, and are asked for
    more.
    """
    symbols, inside, name, unseen, merit = chart.symbol, chart.inside, rules.name, space.unseen, space.merit
    value, reached, is_reached = space.value, space.reached, space.is_reached
    begins, ends, factors = contexts.begins[first], contexts.ends[end], unseen.shape[0]
    allowed = masks.allowed[masks.of_cell[cell_of(chart.exponent.shape[0], first, end - first)]]
    kind = inside.dtype.type
    flush, best = kind(2.0**-100 if inside.itemsize == 4 else 2.0**-900), kind(0)
    for number in range(count):
        symbol = reached[number]
        if symbol < factors:
            value[symbol] += unseen[symbol]
            unseen[symbol] = 0.0
        best = max(best, begins[symbol] * value[symbol] * ends[symbol])
    best = max(best, _merits(begins, unseen, ends, merit, space.merit_bits))
    limit = kind(_limit(chart, limits, masks, first, end, best))
    for number in range(count):
        symbol = reached[number]
        passes = value[symbol] > flush and begins[symbol] * value[symbol] * ends[symbol] >= limit
        if passes and allowed[name[symbol]]:
            symbols[items], inside[items] = symbol, value[symbol]
            items += 1
        value[symbol] = 0.0
        is_reached[symbol] = False
    limit = kind(limits.unseen_rigour * limit)
    for symbol in range(factors):
        if merit[symbol] >= limit and unseen[symbol] > flush and allowed[name[symbol]]:
            symbols[items], inside[items] = symbol, unseen[symbol]
            items += 1
        unseen[symbol] = 0.0
    return items


@njit(fastmath=REORDER, borrows=True)
def _add_cell(chart, rules, first, end, items):
    """Number a cell whose items are in place, and sum its rows; those that no other cell will ask for stay out."""
    length, cell = chart.exponent.shape[0], chart.cells[0]
    chart.begin[cell + 1], chart.first[cell], chart.end[cell] = items, first, end
    chart.at[end, first] = cell
    chart.ends[first, chart.ends_count[first]] = end
    chart.ends_count[first] += 1
    chart.cells[0] += 1
    symbol, inside, left_row, right_row = chart.symbol, chart.inside, chart.left, chart.right
    to_left, to_right, factors = rules.left, rules.right, rules.left.shape[1]
    for a in range(factors):
        left_row[cell, a] = 0.0
        right_row[cell, a] = 0.0
    for item in range(chart.begin[cell], items):
        child, value = symbol[item], inside[item]
        if end < length:
            for a in range(factors):
                left_row[cell, a] += value * to_left[child, a]
        if first > 0:
            for a in range(factors):
                right_row[cell, a] += value * to_right[child, a]


@njit()
def _rebalance(chart, width):
    """Bring the inside numbers of a width near to one again, when they have drifted."""
    drift, drifted = np.zeros((chart.exponent.shape[0] + 1, 2)), False
    for cell in range(chart.cells[0] - 1, -1, -1):
        first, end, greatest = chart.first[cell], chart.end[cell], 0.0
        if end - first < width:
            break
        for item in range(chart.begin[cell], chart.begin[cell + 1]):
            greatest = max(greatest, chart.inside[item])
        power = math.log2(greatest)
        drifted |= abs(power) > _DRIFT
        note_drift(drift, first, end, power)
    if not drifted:
        return
    before = taken_out(drift, chart.exponent)
    for cell in range(chart.cells[0]):
        factor = math.ldexp(1.0, int(before[chart.first[cell]] - before[chart.end[cell]]))
        for item in range(chart.begin[cell], chart.begin[cell + 1]):
            chart.inside[item] *= factor
        for symbol in range(chart.left.shape[1]):
            chart.left[cell, symbol] *= factor
            chart.right[cell, symbol] *= factor


@njit()
def grown_rows(array, size):
    """`grown` for the rows of a matrix."""
    larger = np.empty((max(size, 2 * array.shape[0]), array.shape[1]), array.dtype)
    for row in range(array.shape[0]):
        for column in range(array.shape[1]):
            larger[row, column] = array[row, column]
    return larger


@njit()
def _with_room(chart, items):
    """The chart, with room for so many items and one more cell."""
    left, right = chart.left, chart.right
    if chart.cells[0] == left.shape[0]:
        left, right = grown_rows(left, chart.cells[0] + 1), grown_rows(right, chart.cells[0] + 1)
    return CutChart(
        chart.cells,
        chart.begin,
        chart.first,
        chart.end,
        chart.at,
        chart.ends,
        chart.ends_count,
        grown(chart.symbol, items),
        grown(chart.inside, items),
        left,
        right,
        chart.exponent,
    )


@njit()
def start_cut(words, rules, space):
    """The chart of the words alone."""
    length = words.begin.shape[0] - 1
    cells, items = length * (length + 1) // 2, np.int64(words.begin[length])
    chart = CutChart(
        np.zeros(1, np.int64),
        np.zeros(cells + 1, np.int32),
        np.empty(cells, np.int32),
        np.empty(cells, np.int32),
        np.full((length + 1, length + 1), NOTHING, np.int32),
        np.empty((length, length), np.int32),
        np.zeros(length, np.int32),
        space.symbol,
        space.inside,
        space.left,
        space.right,
        np.zeros(length, np.int64),
    )
    if items > chart.symbol.shape[0]:
        chart = _with_room(chart, items)
    for item in range(items):
        chart.symbol[item], chart.inside[item] = words.symbol[item], words.inside[item]
    for word in range(length):
        if word == chart.left.shape[0]:
            chart = _with_room(chart, items)
        _add_cell(chart, rules, word, word + 1, np.int64(words.begin[word + 1]))
    return chart


@njit(borrows=True)
def _fill_cells(chart, contexts, rules, limits, masks, space, width, first):
    """Fill the cells of a width from one on, as long as there is room; the first that is not filled."""
    length, interminals = chart.exponent.shape[0], rules.after.shape[1]
    items = np.int64(chart.begin[chart.cells[0]])
    while first + width <= length:
        end = first + width
        if masks.of_cell[cell_of(length, first, width)] != CLOSED:
            if items + interminals > chart.symbol.shape[0] or chart.cells[0] == chart.left.shape[0]:
                return first
            met = _meet(chart, rules, space, first, end)
            if met != NOTHING:
                reached = _spread(rules, space, met)
                more = _keep(chart, rules, contexts, limits, masks, space, first, end, reached, items)
                if more > items:
                    items = more
                    _add_cell(chart, rules, first, end, items)
        first += 1
    return first


@njit()
def grow_widths(chart, contexts, rules, limits, masks, space, narrowest, end_width):
    """The chart with the cells of some widths more: all that are narrower are there. `space` is as it was.

    Items are kept whose estimated posterior is at least the floor and at least the beam times that of their cell's
    best; those that come about by unseen rules only need `unseen_rigour` times as much. The whole sentence, and
    every span of which something is known, keep all symbols that `masks` allow.
    """
    length, interminals = chart.exponent.shape[0], rules.after.shape[1]
    for width in range(narrowest, end_width):
        first = _fill_cells(chart, contexts, rules, limits, masks, space, width, 0)
        while first + width <= length:
            chart = _with_room(chart, np.int64(chart.begin[chart.cells[0]]) + interminals)
            first = _fill_cells(chart, contexts, rules, limits, masks, space, width, first)
        if width >= 4 and width & (width - 1) == 0:
            _rebalance(chart, width)
    return chart


@njit()
def cell_begins(chart):
    """Where the items of each cell begin, empty cells included."""
    length = chart.exponent.shape[0]
    begin = np.zeros(length * (length + 1) // 2 + 1, np.int32)
    for number in range(chart.cells[0]):
        width = chart.end[number] - chart.first[number]
        begin[cell_of(length, chart.first[number], width) + 1] = chart.begin[number + 1]
    for cell in range(1, begin.shape[0]):
        begin[cell] = max(begin[cell], begin[cell - 1])
    return begin
