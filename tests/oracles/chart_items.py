"""Charts that nothing has pruned: every item that there could be over some words, and every edge between items."""

from __future__ import annotations

from typing import Any

import numpy as np

from latentgram.lpcfg.kernels.chart import Joints, PackedChart, RuleIndex, cell_of, pack_chart


def complete_items(length: int, leaf_begin: Any, leaf_symbol: Any, interminals: int) -> tuple[Any, Any]:
    """All interminals in every cell of two words and more, the given preterminals over the words.

    Cells go by width, then by first word; `cell_begin` says where the items of each begin.
    """
    wider = length * (length - 1) // 2
    cell_begin = np.append(leaf_begin, leaf_begin[-1] + interminals * np.arange(1, wider + 1))
    item_symbol = np.append(leaf_symbol, np.tile(np.arange(interminals), wider))
    return cell_begin.astype(np.int32), item_symbol.astype(np.int32)


def complete_chart(length: int, cell_begin: Any, item_symbol: Any, index: RuleIndex) -> PackedChart:
    """The chart of all edges between the given items."""
    begin, end = np.zeros((2, length * (length + 1) // 2), np.int64)
    joints: list[tuple[int, int]] = []
    for width in range(2, length + 1):
        for first in range(length - width + 1):
            cell = cell_of(length, first, width)
            begin[cell] = len(joints)
            for left_width in range(1, width):
                left_cell = cell_of(length, first, left_width)
                right_cell = cell_of(length, first + left_width, width - left_width)
                joints += [
                    (left, right)
                    for left in range(cell_begin[left_cell], cell_begin[left_cell + 1])
                    for right in range(cell_begin[right_cell], cell_begin[right_cell + 1])
                ]
            end[cell] = len(joints)
    left, right = np.array(joints, np.int32).reshape(-1, 2).T.copy()
    return pack_chart(length, cell_begin, item_symbol, Joints(begin, end, left, right), index)


def spans_of(length: int) -> list[tuple[int, int]]:
    """The span of each cell: first word, and one past the last."""
    return [(first, first + width) for width in range(1, length + 1) for first in range(length - width + 1)]


def places_of(chart: Any) -> list[tuple[int, int, int]]:
    """Symbol, first word and end of each item of a packed chart."""
    cell = np.repeat(np.arange(len(chart.cell_begin) - 1), np.diff(chart.cell_begin))
    spans = spans_of(chart.length)
    return [(int(symbol), *spans[c]) for symbol, c in zip(chart.item_symbol, cell, strict=True)]


def edges_of(chart: PackedChart) -> list[tuple[int, int, int, int]]:
    """(parent item, rule, left item, right item) of every edge, in the order of their numbers."""
    return [
        (
            int(chart.parent_item[entry]),
            int(chart.parent_rule[entry]),
            int(chart.split_left[split]),
            int(chart.split_right[split]),
        )
        for group in range(len(chart.split_begin) - 1)
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1])
        for split in range(chart.split_begin[group], chart.split_begin[group + 1])
    ]
