"""The k best trees, found lazily (Huang & Chiang 2005, algorithm 3).

Over a Max chart the best derivation of every item is known. The next best ones of an item come from a list of
candidates ⟨edge, rank of the left, rank of the right derivation⟩: at first the best `count` edges with ranks 0, 0;
when a candidate is taken, those with one rank raised by one are put in. The rank of the left is raised only while
that of the right is 0, so that no candidate is met twice. A child is asked for its r-th best derivation only when
a candidate needs it, so few items are ever opened.

Cost beyond the chart: the edges of opened items, and `count` comparisons a derivation. Ties go to the candidate
that was put in first, and among edges to the lower rule and split point.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable
from numpy.typing import NDArray

from latentgram.lpcfg.kernels.cky import at_start
from latentgram.lpcfg.kernels.sampling import edges_of, value_of

_UNARY = -1
"""The split point of the root's edges, whose only child is the tree."""


class _Lists(NamedTuple):
    """What is known of the opened items; item 0 is the root above all trees."""

    item_of: NDArray[np.int32]
    """The opened item of each chart entry, 0 where it is not opened."""
    span: NDArray[np.int32]
    edge: NDArray[np.int32]
    """[items, candidates, 4] rule (a symbol below the root), split point, ranks of the left and right child."""
    score: NDArray[np.float64]
    waiting: NDArray[np.float64]
    """[items, candidates] the score, or −∞ once a candidate is taken."""
    candidates: NDArray[np.int32]
    best: NDArray[np.int32]
    """[items, count] the candidates taken, in order."""
    found: NDArray[np.int32]
    exhausted: NDArray[np.bool_]
    """[items] whether there are no more."""
    used: NDArray[np.int32]
    """[2] the number of opened items, and whether more were needed than there is room for."""


@register_jitable
def _fill(row, first, second, third, fourth):
    """row = first, second, third, fourth (numba wants tuples of one type)."""
    row[0], row[1], row[2], row[3] = first, second, third, fourth


@njit(cache=True)
def _put(lists, item, rule, split, left, right, score):
    """Add a candidate."""
    number = lists.candidates[item]
    _fill(lists.edge[item, number], rule, split, left, right)
    lists.score[item, number] = lists.waiting[item, number] = score
    lists.candidates[item] = number + 1


@njit(cache=True)
def _open(semiring, table, weights, chart, lists, a, i, j):
    """The number of an item, which is opened if it was not; 0 if there is no room."""
    place = at_start(table.interminals, chart.tags.shape[0], a, i, j)
    item = lists.item_of[place]
    if item > 0:
        return item
    item = lists.used[0]
    if item == lists.span.shape[0]:
        lists.used[1] = 1
        return np.int32(0)
    lists.used[0] += 1
    lists.item_of[place] = item
    lists.span[item, 0], lists.span[item, 1] = i, j
    rule, split, value = edges_of(semiring, table, weights, chart, a, i, j)
    for number in np.argsort(-value, kind="mergesort")[: lists.best.shape[1]]:
        _put(lists, item, rule[number], split[number], 0, 0, value[number])
    return item


@njit(cache=True)
def _reach(semiring, table, weights, chart, lists, item, rank):
    """Find derivations of an item until there is one of this rank; whether there is.

    The stack holds (item, rank wanted of it, how many of the two candidates after its last derivation were put
    in): compiled functions that call themselves cannot be kept on disk.
    """
    stack = np.empty((chart.tags.shape[0] + 2, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = item, rank, 0
    height = 1
    while height:
        frame = stack[height - 1]
        here = frame[0]
        if lists.found[here] > frame[1] or lists.exhausted[here]:
            height -= 1
        elif lists.found[here] > 0 and frame[2] < 2:
            last = lists.best[here, lists.found[here] - 1]
            edge, i, j = lists.edge[here, last], lists.span[here, 0], lists.span[here, 1]
            rule, k, left, right = edge[0], edge[1], edge[2], edge[3]
            if k == _UNARY:
                symbol, start, end, old = rule, i, j, left
            elif frame[2] == 0:
                symbol, start, end, old = table.rules[rule, 1], i, k, left
            else:
                symbol, start, end, old = table.rules[rule, 2], k, j, right
            met_before = right > 0 if frame[2] == 0 else k == _UNARY
            if met_before or symbol >= table.interminals:
                frame[2] += 1
                continue
            child = _open(semiring, table, weights, chart, lists, symbol, start, end)
            if child > 0 and lists.found[child] <= old + 1 and not lists.exhausted[child]:
                stack[height, 0], stack[height, 1], stack[height, 2] = child, old + 1, 0
                height += 1
                continue
            if child > 0 and lists.found[child] > old + 1:
                # Only this child's derivation is another, so the scores differ as its two do.
                scores, best = lists.score[child], lists.best[child]
                score = lists.score[here, last] - (scores[best[old]] - scores[best[old + 1]])
                _put(lists, here, rule, k, left + (frame[2] == 0), right + (frame[2] == 1), score)
            frame[2] += 1
        else:
            waiting = lists.waiting[here, : lists.candidates[here]]
            best_candidate = waiting.argmax() if waiting.shape[0] else 0
            if waiting.shape[0] == 0 or waiting[best_candidate] == -np.inf:
                lists.exhausted[here] = True
            else:
                waiting[best_candidate] = -np.inf
                lists.best[here, lists.found[here]] = best_candidate
                lists.found[here] += 1
                frame[2] = 0
    return lists.found[item] > rank


@njit(cache=True)
def _best_trees(semiring, table, weights, chart, root, count, room):
    """`best_trees` with room for a number of opened items; the last value says whether it was enough."""
    n = chart.tags.shape[0]
    width = 3 * count
    lists = _Lists(
        np.zeros(chart.by_start.shape[0], np.int32),
        np.zeros((room, 2), np.int32),
        np.zeros((room, width, 4), np.int32),
        np.zeros((room, width)),
        np.zeros((room, width)),
        np.zeros(room, np.int32),
        np.zeros((room, count), np.int32),
        np.zeros(room, np.int32),
        np.zeros(room, np.bool_),
        np.array([1, 0], np.int32),
    )
    lists.span[0, 1] = n
    at_root = np.empty(root.shape[0])
    for symbol in range(root.shape[0]):
        at_root[symbol] = root[symbol] + value_of(semiring, table.interminals, chart, symbol, 0, n)
    for symbol in np.argsort(-at_root, kind="mergesort")[:count]:
        if at_root[symbol] > -np.inf:
            _put(lists, 0, symbol, _UNARY, 0, 0, at_root[symbol])
    symbols = np.empty((count, 2 * n - 1), np.int32)
    widths = np.empty((count, 2 * n - 1), np.int32)
    scores = np.empty(count)
    stack = np.empty((n + 1, 4), np.int32)
    trees = 0
    while trees < count and _reach(semiring, table, weights, chart, lists, 0, trees):
        chosen = lists.best[0, trees]
        scores[trees] = lists.score[0, chosen]
        _fill(stack[0], lists.edge[0, chosen, 0], 0, n, lists.edge[0, chosen, 2])
        height, node = 1, 0
        while height:
            height -= 1
            a, i, j, rank = stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3]
            symbols[trees, node], widths[trees, node] = a, j - i
            node += 1
            if a >= table.interminals:
                continue
            item = _open(semiring, table, weights, chart, lists, a, i, j)
            if item == 0 or not _reach(semiring, table, weights, chart, lists, item, rank):
                break
            edge = lists.edge[item, lists.best[item, rank]]
            rule, k, left, right = edge[0], edge[1], edge[2], edge[3]
            _fill(stack[height], table.rules[rule, 2], k, j, right)
            _fill(stack[height + 1], table.rules[rule, 1], i, k, left)
            height += 2
        if lists.used[1]:
            break
        trees += 1
    return symbols[:trees], widths[:trees], scores[:trees], lists.used[1] == 0


def best_trees(semiring: Any, table: Any, weights: Any, chart: Any, root: Any, count: int) -> Any:
    """The `count` best trees of a Max chart, best first: symbols and widths of their nodes in preorder, scores."""
    room = 256
    while True:
        symbols, widths, scores, enough = _best_trees(semiring, table, weights, chart, root, count, room)
        if enough:
            return symbols, widths, scores
        room *= 2
