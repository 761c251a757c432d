"""The posteriors of the items of a cut first pass, the joints that are worth packing, and the chart of these.

Outside is the adjoint of inside (cut.py): with β(a) of the items of a cell, each pair of items that meets in it
gets Σ_a p(a→b c) β(a) times its partner's inside number, and the rows of unseen rules get

    ∂L_{ik}(a) = Σ_j β(a,i,j) R_{kj}(a),   ∂R_{kj}(a) = Σ_i β(a,i,j) L_{ik}(a).

Cells go from the widest to the narrowest, so an item's posterior α β / Z is known when its cell is reached. What
is far below the threshold hands nothing down. A *joint* (two items that meet at a split point of a cell, whatever
they become) is noted on the same walk if its posterior passes a threshold; whether its two items do, shows later.

Cost: at most that of growing the chart, twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Floats, Ints32
from latentgram.compiling import REORDER, grown, njit
from latentgram.lpcfg.kernels.chart import Joints, PackedChart, Words, cell_of, pack_items
from latentgram.lpcfg.kernels.closing import close_cells, context_scores, filter_tags, sure_tags
from latentgram.lpcfg.kernels.cut import Numbers, grow_widths, grown_rows, start_cut

_SMALL_SHARE = 0.01
"""Items with less than this share of the least posterior of a joint hand nothing down."""


class FirstStage(NamedTuple):
    """The chart that a first pass leaves to the next grammar."""

    total: float
    """Z of the words divided by their scales; nothing else is filled in where it is not positive."""
    scale: Floats
    chart: PackedChart
    leaf: Ints32
    """Which of the leaves are the chart's items over words."""
    inside: Numbers
    outside: Numbers
    """∂Z/∂α"""


@njit(borrows=True)
def _unseen_above(symbol, outside, handing, live, to_left, to_right):
    """Σ_a left(a) right(a) β(a) over the items of a cell that may have unseen rules."""
    total = 0.0
    for number in range(live):
        a = symbol[handing[number]]
        total += to_left[a] * to_right[a] * outside[handing[number]]
    return total


@njit(fastmath=REORDER, borrows=True)
def _arrive(chart, rules, cell, outside, left_above, right_above, beta, handing, least):
    """Finish the outside numbers of a cell; the items that hand something down, those that may have unseen rules
    first: how many of these, and how many in all."""
    length, factors, symbol, inside = chart.exponent.shape[0], rules.left.shape[1], chart.symbol, chart.inside
    to_left, to_right, first, end = rules.left, rules.right, chart.first[cell], chart.end[cell]
    with_factors, live = 0, 0
    for item in range(chart.begin[cell], chart.begin[cell + 1]):
        child, above = symbol[item], outside[item]
        if end < length:
            for a in range(factors):
                above += to_left[child, a] * left_above[cell, a]
        if first > 0:
            for a in range(factors):
                above += to_right[child, a] * right_above[cell, a]
        outside[item] = above
        if end > first + 1 and above > 0.0 and above * inside[item] >= least:
            beta[child] = above
            handing[live] = item
            if child < factors:
                handing[live], handing[with_factors] = handing[with_factors], item
                with_factors += 1
            live += 1
    return with_factors, live


class HandedDown(NamedTuple):
    """How far the outside numbers of a chart are."""

    total: float
    """Z"""
    outside: Numbers
    """[items] ∂Z/∂α, finished in the cells that were reached."""
    left_above: Numbers
    """[cells, U] ∂Z/∂L"""
    right_above: Numbers
    noted: Joints
    """The joints of the cells that were reached."""
    joints: int
    """How many there are."""


@njit()
def start_outside(chart, root, space):
    """Z, and the outside numbers of the roots."""
    cells, top = chart.cells[0], chart.at[chart.exponent.shape[0], 0]
    items, symbol, factors = np.int64(chart.begin[cells]), chart.symbol, chart.left.shape[1]
    outside, left_above, right_above = space.outside, space.left_above, space.right_above
    if items > outside.shape[0]:
        outside = grown(outside, items)
    if cells > left_above.shape[0]:
        left_above, right_above = grown_rows(left_above, cells), grown_rows(right_above, cells)
    for cell in range(cells):
        for a in range(factors):
            left_above[cell, a] = 0.0
            right_above[cell, a] = 0.0
    for item in range(items):
        outside[item] = 0.0
    total = 0.0
    for item in range(chart.begin[top] if top >= 0 else items, items):
        outside[item] = root[symbol[item]]
        total += np.float64(outside[item]) * chart.inside[item]
    none = Joints(
        np.zeros(cells, np.int64), np.zeros(cells, np.int64), np.empty(4096, np.int32), np.empty(4096, np.int32)
    )
    return HandedDown(total, outside, left_above, right_above, none, 0)


@njit(borrows=True)
def _meeting_items(chart, cell):
    """How many pairs of items meet at the split points of a cell."""
    first, end, pairs = chart.first[cell], chart.end[cell], 0
    for place in range(chart.ends_count[first]):
        middle = chart.ends[first, place]
        if middle >= end:
            break
        left, right = chart.at[middle, first], chart.at[end, middle]
        if right >= 0:
            pairs += (chart.begin[left + 1] - chart.begin[left]) * (chart.begin[right + 1] - chart.begin[right])
    return pairs


@njit(borrows=True)
def _hand_down_cell(chart, rules, space, state, cell, with_factors, live, least, joints):
    """What the items of a cell hand down, `live` of them that are listed in `space`, the first of which may have
    unseen rules. Joints are noted behind those that there are; how many there are then.

    Unseen rules make a joint only where all of them at a split point, and all those with its left item, reach the
    threshold together.
    """
    item_begin, symbol, inside, ends, at = chart.begin, chart.symbol, chart.inside, chart.ends, chart.at
    pair_of, pair_begin, parent, probability = rules.pair_of, rules.pair_begin, rules.parent, rules.probability
    to_left, to_right, symbols = rules.left, rules.right, rules.name.shape[0]
    beta, above, known_in, handing = space.value, space.mass, space.met, space.reached
    outside, left_above, right_above = state.outside, state.left_above, state.right_above
    joint_left, joint_right = state.noted.left, state.noted.right
    first, end, nothing = chart.first[cell], chart.end[cell], inside.dtype.type(0)
    for place in range(chart.ends_count[first] if live > 0 else 0):
        middle = ends[first, place]
        if middle >= end:
            break
        left_cell, right_cell = at[middle, first], at[end, middle]
        if right_cell < 0:
            continue
        left_row, right_row, by_unseen = chart.left[left_cell], chart.right[right_cell], 0.0
        for number in range(with_factors):
            item = handing[number]
            a = symbol[item]
            left_above[left_cell, a] += outside[item] * right_row[a]
            right_above[right_cell, a] += outside[item] * left_row[a]
            by_unseen += outside[item] * left_row[a] * right_row[a]
        right_from, right_to = item_begin[right_cell], item_begin[right_cell + 1]
        for left in range(item_begin[left_cell], item_begin[left_cell + 1]):
            b, value, below = symbol[left], inside[left], nothing
            row, left_unseen = b * symbols, with_factors > 0 and by_unseen >= least
            if left_unseen:
                mass = _unseen_above(symbol, outside, handing, with_factors, to_left[b], right_row)
                left_unseen = value * mass >= least
            for right in range(right_from, right_to):
                c, share = symbol[right], nothing
                pair = pair_of[row + c]
                if pair >= 0:
                    if known_in[pair] != cell:
                        known_in[pair] = cell
                        for entry in range(pair_begin[pair], pair_begin[pair + 1]):
                            share += probability[entry] * beta[parent[entry]]
                        above[pair] = share
                    share = above[pair]
                    below += share * inside[right]
                    outside[right] += share * value
                if left_unseen:
                    share += _unseen_above(symbol, outside, handing, with_factors, to_left[b], to_right[c])
                if share > 0.0 and share * value * inside[right] >= least:
                    joint_left[joints], joint_right[joints] = left, right
                    joints += 1
            outside[left] += below
    return joints


@njit(borrows=True)
def _hand_down_cells(chart, rules, space, state, least, small, cell, last, joints):
    """Hand down from the cells before one, as far as `last`, as long as there is room for joints: which cell was
    reached, and how many joints there are."""
    beta, handing = space.value, space.reached
    while cell > last and joints + _meeting_items(chart, cell - 1) <= state.noted.left.shape[0]:
        cell -= 1
        with_factors, live = _arrive(
            chart, rules, cell, state.outside, state.left_above, state.right_above, beta, handing, small
        )
        state.noted.begin[cell] = joints
        joints = _hand_down_cell(chart, rules, space, state, cell, with_factors, live, least, joints)
        state.noted.end[cell] = joints
        for number in range(live):
            beta[chart.symbol[handing[number]]] = 0.0
    return cell, joints


@njit()
def hand_down(chart, rules, space, state, item_least, joint_least, first_cell, end_cell):
    """Go on with some cells, counted from the widest; `space` is clean before and after."""
    total, outside, left_above, right_above, noted, joints = state
    least, small = joint_least * total, _SMALL_SHARE * min(item_least, joint_least) * total
    cell, last = chart.cells[0] - first_cell, chart.cells[0] - (end_cell if total > 0.0 else first_cell)
    space.met[:] = -1
    while cell > last:
        state = HandedDown(total, outside, left_above, right_above, noted, joints)
        cell, joints = _hand_down_cells(chart, rules, space, state, least, small, cell, last, joints)
        if cell > last:
            most = joints + _meeting_items(chart, cell - 1)
            noted = Joints(noted.begin, noted.end, grown(noted.left, most), grown(noted.right, most))
    space.mass[:] = 0.0
    return HandedDown(total, outside, left_above, right_above, noted, joints)


@njit()
def _pack(chart, rules, index, joints, total, outside, item_least, space):
    """The chart of the items and joints that are probable enough, and the numbers of the items among all."""
    length, count = chart.exponent.shape[0], chart.cells[0]
    cells = length * (length + 1) // 2
    kept = np.full(chart.begin[count], -1, np.int32)
    source, symbol = np.empty(chart.begin[count], np.int32), np.empty(chart.begin[count], np.int32)
    cell_begin = np.zeros(cells + 1, np.int32)
    begin, end, items, joint = np.zeros(cells, np.int64), np.zeros(cells, np.int64), 0, 0
    left_item, right_item = np.empty(joints.left.shape[0], np.int32), np.empty(joints.left.shape[0], np.int32)
    for number in range(count):
        cell = cell_of(length, chart.first[number], chart.end[number] - chart.first[number])
        for item in range(chart.begin[number], chart.begin[number + 1]):
            mass = np.float64(outside[item]) * chart.inside[item]
            if mass > 0.0 and mass >= item_least * total:
                kept[item], source[items], symbol[items] = items, item, rules.name[chart.symbol[item]]
                items += 1
        cell_begin[cell + 1] = items
        begin[cell] = joint
        for place in range(joints.begin[number], joints.end[number]):
            left, right = kept[joints.left[place]], kept[joints.right[place]]
            if left >= 0 and right >= 0:
                left_item[joint], right_item[joint] = left, right
                joint += 1
        end[cell] = joint
    for cell in range(cells):
        cell_begin[cell + 1] = max(cell_begin[cell], cell_begin[cell + 1])
    kept_joints = Joints(begin, end, left_item[:joint], right_item[:joint])
    packed = pack_items(length, cell_begin, symbol[:items].copy(), kept_joints, index, space.group_of)
    return packed, source[:items]


@njit()
def scaled_words(leaf_begin, leaf_symbol, leaf_weight, rules):
    """The words' numbers, what stands beside them by the bigram model of tags, and the words' scales; and the tags
    of the leaves with their forward and backward numbers."""
    interminals, kind = rules.after.shape[1], rules.after.dtype
    tag = np.empty_like(leaf_symbol)
    for leaf in range(tag.shape[0]):
        tag[leaf] = leaf_symbol[leaf] - interminals
    forward, backward, scale = filter_tags(leaf_begin, tag, leaf_weight, rules.bigram)
    contexts = context_scores(leaf_begin, tag, leaf_weight, forward, backward, scale, rules.after, rules.before)
    inside = np.empty(leaf_weight.shape[0], kind)
    for word in range(scale.shape[0]):
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            inside[leaf] = leaf_weight[leaf] / scale[word]
    return Words(leaf_begin, leaf_symbol, inside), contexts, scale, tag, forward, backward


@njit()
def first_stage(leaves, closing, rules, index, root, limits, masks, least, space):
    """The first pass over a sentence, from its leaves to the chart of what is probable.

    `root` is [S] in the order of `rules`; `least` are the least posteriors of an item and of a joint.
    """
    chart, contexts, masks, scale = start_stage(leaves, closing, rules, masks, space)
    chart = grow_widths(chart, contexts, rules, limits, masks, space, 2, leaves.begin.shape[0])
    state = start_outside(chart, root, space)
    state = hand_down(chart, rules, space, state, least[0], least[1], 0, chart.cells[0])
    return finish_stage(chart, rules, index, state, scale, least, space)


@njit()
def start_stage(leaves, closing, rules, masks, space):
    """The words of a sentence as a chart, what stands beside them, the cells that are open, the words' scales."""
    words, contexts, scale, leaf_tag, forward, backward = scaled_words(
        leaves.begin, leaves.symbol, leaves.weight, rules
    )
    if closing.weight.shape[0] > 0:
        tag = sure_tags(leaves.begin, leaf_tag, forward, backward, closing.tag)
        masks = close_cells(tag, leaves.word, closing, masks)
    return start_cut(words, rules, space), contexts, masks, scale


@njit()
def finish_stage(grown_chart, rules, index, state, scale, least, space):
    """The chart of what is probable, when all outside numbers are there."""
    for word in range(scale.shape[0]):
        scale[word] *= 2.0 ** grown_chart.exponent[word]
    chart, source = _pack(grown_chart, rules, index, state.noted, state.total, state.outside, least[0], space)
    over_words = chart.cell_begin[chart.length]
    inside, outside = grown_chart.inside[source], state.outside[source]
    return FirstStage(state.total, scale, chart, source[:over_words], inside, outside)
