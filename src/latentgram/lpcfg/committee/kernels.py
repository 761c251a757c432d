"""A chart of treebank nodes, which parsers with different symbols share.

Its items are chains of labels over spans, and the *rest* `@`: the first children, two at least, of a node that
goes on behind them. A treebank tree is just one binary tree of it,

    chain(i,j) → (chain or @)(i,k) chain(k,j),        @(i,j) → (chain or @)(i,k) chain(k,j),

so lists have no tree twice. Nothing is asked of the labels of parents and children: which of them go together is
said by the posteriors. A rest is there only where some chain begins at i and ends behind j.

A cell has one group of edges. Cost in time and memory: the sum over the chains (k,j) of the items that end at k.
"""

from __future__ import annotations

import numpy as np

from latentgram.compiling import njit
from latentgram.lpcfg.kernels.chart import PackedChart, cell_of, number_edges

REST = 0
"""The symbol of rests: the first one, so that items are sorted."""


@njit(inline="always")
def _splits(length, first, width, begin, rest):
    """How many pairs of items join to a span."""
    count = 0
    for size in range(1, width):
        left, right = cell_of(length, first, size), cell_of(length, first + size, width - size)
        count += (begin[left + 1] - begin[left] + rest[left]) * (begin[right + 1] - begin[right])
    return count


@njit()
def _rests(length, begin, may_rest):
    """[cells] whether there is a rest; and how many groups, splits and parents the chart has."""
    cells = begin.shape[0] - 1
    rest, furthest = np.zeros(cells, np.bool_), np.zeros(length, np.int64)
    for width in range(2, length + 1):
        for first in range(length - width + 1):
            cell = cell_of(length, first, width)
            if begin[cell + 1] > begin[cell]:
                furthest[first] = first + width
    groups, splits, parents = 0, 0, 0
    for width in range(2, length + 1):
        for first in range(length - width + 1):
            cell = cell_of(length, first, width)
            chains = begin[cell + 1] - begin[cell]
            wanted = may_rest[cell] and first + width < furthest[first]
            if chains == 0 and not wanted:
                continue
            count = _splits(length, first, width, begin, rest)
            if count > 0:
                rest[cell] = wanted
                groups, splits, parents = groups + 1, splits + count, parents + chains + wanted
    return rest, groups, splits, parents


@njit()
def span_chart(length, begin, symbol, may_rest):
    """The chart over chains, `symbol` in the cells that start at `begin`; and [items] the number of each among
    them, −1 for rests. `may_rest` says in which cells rests are allowed."""
    cells = begin.shape[0] - 1
    rest, groups, splits, parents = _rests(length, begin, may_rest)
    cell_begin, group_begin = np.zeros(cells + 1, np.int32), np.zeros(cells + 1, np.int32)
    for cell in range(cells):
        cell_begin[cell + 1] = cell_begin[cell] + begin[cell + 1] - begin[cell] + rest[cell]
    item_symbol, source = np.full(cell_begin[cells], REST, np.int32), np.full(cell_begin[cells], -1, np.int64)
    for cell in range(cells):
        for number in range(begin[cell], begin[cell + 1]):
            place = cell_begin[cell] + rest[cell] + number - begin[cell]
            item_symbol[place], source[place] = symbol[number], number
    split_begin, parent_begin = np.zeros(groups + 1, np.int32), np.zeros(groups + 1, np.int32)
    split_left, split_right = np.empty(splits, np.int32), np.empty(splits, np.int32)
    parent_item, parent_rule = np.empty(parents, np.int32), np.full(parents, -1, np.int32)
    group, split, parent = 0, 0, 0
    for width in range(2, length + 1):
        for start in range(length - width + 1):
            cell = cell_of(length, start, width)
            before = split
            if cell_begin[cell + 1] > cell_begin[cell]:
                for size in range(1, width):
                    left, right = cell_of(length, start, size), cell_of(length, start + size, width - size)
                    for one in range(cell_begin[left], cell_begin[left + 1]):
                        for other in range(cell_begin[right] + rest[right], cell_begin[right + 1]):
                            split_left[split], split_right[split] = one, other
                            split += 1
            if split > before:
                for item in range(cell_begin[cell], cell_begin[cell + 1]):
                    parent_item[parent] = item
                    parent += 1
                group += 1
                split_begin[group], parent_begin[group] = split, parent
            group_begin[cell + 1] = group
    chart = PackedChart(
        length,
        cell_begin,
        item_symbol,
        group_begin,
        split_begin,
        split_left,
        split_right,
        parent_begin,
        parent_item,
        parent_rule,
        number_edges(split_begin, parent_begin),
    )
    return chart, source
