"""A packed chart: the items (symbol, span) a parser still believes in, and the edges that join them.

Cells are the spans of a sentence of n words, numbered bottom-up: by width, then by first word. The items of a
cell stand together, sorted by symbol. The edges of a cell are grouped by their pair of child symbols (b, c): a
group has the *splits* (left item, right item) at which the pair meets and the *parents* (item a, rule a→b c) it
can become, and every split goes with every parent. So a latent grammar can sum the outer products of the
children over the splits once, at m² each, and then contract once a parent, at m³ (inside_outside.py). The edge
(parent p, split s) of group g has the number `edge_begin[g] + p · splits(g) + s`.

Every stage of coarse-to-fine parsing works on the same chart: `pack_chart` makes it from items and their joints,
`prune_chart` keeps what a coarser grammar found probable. With all symbols in all cells the chart is the complete
one, so the unpruned parser is the same code. Memory: 12 bytes per split and parent; building costs the sum over
(span, split point) of (items on the left) × (items on the right).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Flags, Floats, Integers, Ints, Ints32
from latentgram.compiling import REORDER, grown, jitable, njit


class Unseen(NamedTuple):
    """Rules that were never seen, in factors: p(a→b c) = weight · left(b, a) · right(c, a)."""

    weight: float
    """0 where there are no such rules."""
    left: Floats
    """[S, I]"""
    right: Floats
    """[S, I]"""


@jitable(borrows=True)
def unseen_rule(unseen, a, b, c):
    """p(a→b c) of a rule that was never seen."""
    return unseen.weight * unseen.left[b, a] * unseen.right[c, a]


NONE_UNSEEN = Unseen(0.0, np.zeros((0, 0)), np.zeros((0, 0)))
UNSEEN_RULE = -1
"""The number of every rule that was never seen."""


class RuleIndex(NamedTuple):
    """The binary rules of a grammar, found by their pair of children."""

    pair_of: Ints32
    """[S, S] the number of a pair of child symbols, -1 where no rule has it; pairs are sorted."""
    pair_begin: Ints32
    """[pairs + 1] where the rules of each pair begin in the next two."""
    parent: Ints32
    rule: Ints32
    interminals: int
    row_begin: Ints32
    """[S + 1] where the pairs of each left child begin; first those with an interminal on the right …"""
    tags_begin: Ints32
    """[S] … and from here on those with a preterminal."""
    right: NDArray[np.uint32]
    """[pairs] the right child."""
    unseen: Unseen = NONE_UNSEEN


class PackedChart(NamedTuple):
    """See the module's text."""

    length: int
    cell_begin: Ints32
    item_symbol: Ints32
    group_begin: Ints32
    split_begin: Ints32
    split_left: Ints32
    split_right: Ints32
    parent_begin: Ints32
    parent_item: Ints32
    parent_rule: Ints32
    edge_begin: Ints


class SpanMasks(NamedTuple):
    """Which symbols may stand over which spans: how constraints reach a chart.

    A node of a binary tree stands over the words i … j−1 just when no other node crosses this span (the smallest
    node that holds the span would else split it). So a required span closes all cells that cross it, and the chart
    shrinks; over the span itself only some symbols are let in. Cells go by width, then by first word.
    """

    allowed: Flags
    """[sets, interminals]; the first set is all of them."""
    of_cell: Ints32
    """[cells] the number of a set, or `CLOSED`."""


class Words(NamedTuple):
    """The items over words: word w has those from `begin[w]` to `begin[w + 1]`."""

    begin: Ints32
    symbol: Ints32
    inside: Floats
    """q(symbol → word), scaled."""


class Joints(NamedTuple):
    """Pairs of items that meet at a split point of a cell; the cell has those from `begin` to `end`."""

    begin: Ints
    end: Ints
    left: Ints32
    right: Ints32


CLOSED = -1
"""A cell in which nothing may stand."""
OPEN = 0
"""A cell about which nothing is known."""
_NEW, _DEAD = -1, -2
"""A pair of symbols not yet met in a cell, and one that has no parent there."""


def index_rules(rules: Ints32, interminals: int, symbols: int) -> RuleIndex:
    """Index rules [R, 3] (parent, left, right) by their children."""
    pair = rules[:, 1].astype(np.int64) * symbols + rules[:, 2]
    order = np.argsort(pair, kind="stable")
    distinct, first = np.unique(pair[order], return_index=True)
    pair_of = np.full(symbols * symbols, -1, np.int32)
    pair_of[distinct] = np.arange(len(distinct))
    return RuleIndex(
        pair_of.reshape(symbols, symbols),
        np.append(first, len(rules)).astype(np.int32),
        np.ascontiguousarray(rules[order, 0], np.int32),
        order.astype(np.int32),
        interminals,
        np.searchsorted(distinct, np.arange(symbols + 1) * symbols).astype(np.int32),
        np.searchsorted(distinct, np.arange(symbols) * symbols + interminals).astype(np.int32),
        (distinct % symbols).astype(np.uint32),
    )


@njit()
def everything(length, interminals):
    """Masks that allow all."""
    return SpanMasks(np.ones((1, interminals), np.bool_), np.zeros(length * (length + 1) // 2, np.int32))


def _number(length, first, width):
    return (width - 1) * length - (width - 1) * (width - 2) // 2 + first


cell_of = njit(inline="always")(_number)
"""The number of the cell over `width` words from `first` on."""


@jitable()
def note_drift(drift, first, end, power):
    """Note the power of two of the greatest inside number of a span, for `taken_out`; `drift` [n+1, 2] has, in
    differences from word to word, the sum over the spans that cover a word of their powers per word, and how many
    these are."""
    share = power / (end - first)
    drift[first, 0] += share
    drift[first, 1] += 1.0
    drift[end, 0] -= share
    drift[end, 1] -= 1.0


@jitable()
def taken_out(drift, exponent):
    """[n+1] how many powers of two are taken out of the words before each gap: out of each word the mean of what
    its spans have drifted, which is added to its `exponent`."""
    before, total, spans = np.zeros(drift.shape[0], np.int64), 0.0, 0.0
    for word in range(drift.shape[0] - 1):
        total += drift[word, 0]
        spans += drift[word, 1]
        power = round(total / spans) if spans > 0.5 else 0
        exponent[word] += power
        before[word + 1] = before[word] + power
    return before


def cells_of(length: int | Integers, first: Integers, width: Integers) -> Ints:
    """The numbers of many cells of a sentence, or of sentences of these lengths."""
    return np.asarray(_number(length, first, width))


@njit()
def pack_chart(length, cell_begin, item_symbol, joints, index):
    """The chart of the edges that the joints and the rules allow between some items."""
    return pack_items(length, cell_begin, item_symbol, joints, index, no_groups(index.pair_of.shape[0]))


@njit()
def no_groups(symbols):
    """What `pack_items` needs to find the group of a pair of symbols, for no cell."""
    return np.full(symbols * symbols, _NEW, np.int32)


@njit()
def pack_items(length, cell_begin, item_symbol, joints, index, group_of):
    """`pack_chart` with a table of groups that is used again and again: it is left as it was found."""
    cells = length * (length + 1) // 2
    symbols, most, smooth = index.pair_of.shape[0], joints.left.shape[0], index.unseen.weight > 0.0
    # Arrays are taken out of their tuples before the loops: each time costs two atomic operations.
    pair_of, pair_begin = index.pair_of.ravel(), index.pair_begin
    rule_parent, rule_number = index.parent, index.rule
    joint_begin, joint_end, joint_left, joint_right = joints
    item_of = np.full(symbols, -1, np.int32)
    parent_of_group = np.full(symbols, -1, np.int32)
    group_begin, cursor = np.zeros(cells + 1, np.int32), np.empty(most, np.int32)
    group_joint = np.empty(most, np.int32)
    split_begin, parent_begin = np.zeros(most + 1, np.int32), np.zeros(most + 1, np.int32)
    split_left, split_right = np.empty(most, np.int32), np.empty(most, np.int32)
    room = 2 * most + symbols  # in a short sentence a pair may have more parents than there are joints
    parent_item, parent_rule = np.empty(room, np.int32), np.empty(room, np.int32)
    groups, splits, parents = 0, 0, 0

    for cell in range(length, cells):
        first_group = groups
        for item in range(cell_begin[cell], cell_begin[cell + 1]):
            item_of[item_symbol[item]] = item
        for joint in range(joint_begin[cell], joint_end[cell]):
            key = item_symbol[joint_left[joint]] * symbols + item_symbol[joint_right[joint]]
            group = group_of[key]
            if group == _NEW:  # does the cell hold a parent of the pair?
                before, pair = parents, pair_of[key]
                if parents + symbols > parent_item.shape[0]:
                    parent_item, parent_rule = (
                        grown(parent_item, parents + symbols),
                        grown(parent_rule, parents + symbols),
                    )
                for entry in range(pair_begin[pair], pair_begin[pair + 1] if pair >= 0 else 0):
                    item = item_of[rule_parent[entry]]
                    if item >= 0:
                        parent_item[parents], parent_rule[parents] = item, rule_number[entry]
                        parent_of_group[rule_parent[entry]] = groups
                        parents += 1
                if smooth:
                    for item in range(cell_begin[cell], cell_begin[cell + 1]):
                        if parent_of_group[item_symbol[item]] != groups:
                            parent_item[parents], parent_rule[parents] = item, UNSEEN_RULE
                            parents += 1
                group = _DEAD
                if parents > before:
                    group = groups
                    groups += 1
                    parent_begin[groups] = parents
                group_of[key] = group
            group_joint[joint] = group
            if group >= 0:
                split_begin[group + 1] += 1
        # The splits were found in the order of split points; stand them in the order of groups.
        for group in range(first_group, groups):
            cursor[group - first_group] = splits
            splits += split_begin[group + 1]
            split_begin[group + 1] = splits
        for joint in range(joint_begin[cell], joint_end[cell]):
            group_of[item_symbol[joint_left[joint]] * symbols + item_symbol[joint_right[joint]]] = _NEW
            group = group_joint[joint]
            if group >= 0:
                place = cursor[group - first_group]
                cursor[group - first_group] += 1
                split_left[place], split_right[place] = joint_left[joint], joint_right[joint]
        for item in range(cell_begin[cell], cell_begin[cell + 1]):
            item_of[item_symbol[item]] = -1
        group_begin[cell + 1] = groups
    split_begin, parent_begin = split_begin[: groups + 1].copy(), parent_begin[: groups + 1].copy()
    return PackedChart(
        length,
        cell_begin,
        item_symbol,
        group_begin,
        split_begin,
        split_left[:splits].copy(),
        split_right[:splits].copy(),
        parent_begin,
        parent_item[:parents].copy(),
        parent_rule[:parents].copy(),
        number_edges(split_begin, parent_begin),
    )


@njit()
def number_edges(split_begin, parent_begin):
    """Where the edges of each group begin."""
    groups = split_begin.shape[0] - 1
    edge_begin = np.zeros(groups + 1, np.int64)
    for group in range(groups):
        splits = np.int64(split_begin[group + 1] - split_begin[group])
        edge_begin[group + 1] = edge_begin[group] + splits * (parent_begin[group + 1] - parent_begin[group])
    return edge_begin


@njit(borrows=True)
def _mark_probable(chart, item_marginal, edge_marginal, threshold, alive, keep_split, keep_parent):
    """Mark the items, the splits and the parents that stay; how many splits and parents these are."""
    for item in range(chart.cell_begin[chart.length]):
        alive[item] = abs(item_marginal[item]) >= threshold
    splits, parents = 0, 0
    for group in range(chart.split_begin.shape[0] - 1):
        edge = chart.edge_begin[group]
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            for split in range(chart.split_begin[group], chart.split_begin[group + 1]):
                children_alive = alive[chart.split_left[split]] and alive[chart.split_right[split]]
                if children_alive and abs(edge_marginal[edge]) >= threshold:
                    splits += not keep_split[split]
                    parents += not keep_parent[entry]
                    keep_split[split] = keep_parent[entry] = True
                edge += 1
            alive[chart.parent_item[entry]] |= keep_parent[entry]
    return splits, parents


@njit(borrows=True)
def _take_marked(chart, alive, keep_split, keep_parent, renumbered, source, edge_source, pruned):
    """Write what is marked into another chart; how many items, groups and edges it has."""
    items, groups, splits, parents, edges = 0, 0, 0, 0, 0
    for cell in range(chart.cell_begin.shape[0] - 1):
        for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
            if alive[item]:
                renumbered[item], source[items], pruned.item_symbol[items] = items, item, chart.item_symbol[item]
                items += 1
        pruned.cell_begin[cell + 1] = items
        for group in range(chart.group_begin[cell], chart.group_begin[cell + 1]):
            edge, before = chart.edge_begin[group], splits
            for split in range(chart.split_begin[group], chart.split_begin[group + 1]):
                if keep_split[split]:
                    pruned.split_left[splits] = renumbered[chart.split_left[split]]
                    pruned.split_right[splits] = renumbered[chart.split_right[split]]
                    splits += 1
            for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
                if keep_parent[entry]:
                    pruned.parent_item[parents] = renumbered[chart.parent_item[entry]]
                    pruned.parent_rule[parents] = chart.parent_rule[entry]
                    parents += 1
                for split in range(chart.split_begin[group], chart.split_begin[group + 1]):
                    if keep_parent[entry] and keep_split[split]:
                        edge_source[edges] = edge
                        edges += 1
                    edge += 1
            if splits > before:
                groups += 1
                pruned.split_begin[groups], pruned.parent_begin[groups] = splits, parents
                pruned.edge_begin[groups] = edges
        pruned.group_begin[cell + 1] = groups
    return items, groups, edges


@njit()
def prune_chart(chart, item_marginal, edge_marginal, threshold):
    """The chart of the edges whose marginal is at least `threshold` in size, and where its items and edges came
    from.

    A group keeps the splits that go well with some parent and the parents that go well with some split. An item
    above the words lives if it keeps an edge. Groups are numbered bottom-up, so one pass finds what lives.
    """
    most_groups, most_items = chart.split_begin.shape[0], chart.item_symbol.shape[0]
    cells = chart.cell_begin.shape[0] - 1
    alive, keep_split = np.zeros(most_items, np.bool_), np.zeros(chart.split_left.shape[0], np.bool_)
    keep_parent = np.zeros(chart.parent_item.shape[0], np.bool_)
    marked = alive, keep_split, keep_parent
    splits, parents = _mark_probable(chart, item_marginal, edge_marginal, threshold, *marked)
    pruned = PackedChart(
        chart.length,
        np.zeros(cells + 1, np.int32),
        np.empty(most_items, np.int32),
        np.zeros(cells + 1, np.int32),
        np.zeros(most_groups, np.int32),
        np.empty(splits, np.int32),
        np.empty(splits, np.int32),
        np.zeros(most_groups, np.int32),
        np.empty(parents, np.int32),
        np.empty(parents, np.int32),
        np.zeros(most_groups, np.int64),
    )
    renumbered, source = np.empty(most_items, np.int32), np.empty(most_items, np.int32)
    edge_source = np.empty(edge_marginal.shape[0], np.int32)
    items, groups, edges = _take_marked(chart, *marked, renumbered, source, edge_source, pruned)
    pruned = PackedChart(
        chart.length,
        pruned.cell_begin,
        pruned.item_symbol[:items],
        pruned.group_begin,
        pruned.split_begin[: groups + 1],
        pruned.split_left,
        pruned.split_right,
        pruned.parent_begin[: groups + 1],
        pruned.parent_item,
        pruned.parent_rule,
        pruned.edge_begin[: groups + 1],
    )
    return pruned, source[:items], edge_source[:edges]


@njit(fastmath=REORDER, borrows=True)
def dot(left, right):
    """Σₖ leftₖ rightₖ, written, as the next, so that vector instructions do it."""
    total = left.dtype.type(0)
    for k in range(left.shape[0]):
        total += left[k] * right[k]
    return total


@njit(fastmath=REORDER, borrows=True)
def add_scaled(target, value, vector):
    """target += value · vector."""
    for k in range(target.shape[0]):
        target[k] += value * vector[k]
