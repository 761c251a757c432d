"""The k best derivations of a hypergraph, found lazily (Huang & Chiang 2005, algorithm 3).

The values of all items in the `Max` semiring are known. An item is opened when a derivation of it is first needed:
its edges become candidates ⟨edge, derivation of the left item, derivation of the right item⟩, with the best
derivations of both, in a heap, and the best candidate is the best derivation. Before the next one is taken out,
the candidates that follow the last one come in: those with one of its two derivations replaced by the next of the
same item. The left one is replaced only while the right one is the best, so that no candidate is met twice. An
item is asked for its next derivation only when a candidate needs it.

Ties go to the edge listed first, then to the better left and the better right derivation. By these rules no
candidate comes before the one that it follows, so the list is that of all derivations, sorted.

Cost beyond the chart: the edges of opened items, and O(log) per derivation of an item; memory likewise.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from latentgram.numeric.hypergraph import NOTHING, list_edges, worth
from latentgram.numeric.semiring import Max

_BEST, _NONE, _UNKNOWN = -1, -2, -3
"""In place of the number of a derivation: the best of its item, none, one that was not yet looked for."""


class _Search(NamedTuple):
    """What has been found so far."""

    edges: Any
    derivations: Any
    """⟨−score, edge, left derivation, right derivation⟩"""
    following: Any
    """[derivations] the next one of the same item."""
    slot_of: Any
    """[items] where an opened item stands in the lists below, −1 if it is not opened."""
    heap: Any
    """[opened] the candidates, in the form of derivations."""
    best: Any
    """[opened] the first derivation."""
    last: Any
    """[opened] the last derivation so far."""
    followed: Any
    """[opened] how many of the two candidates that follow the last derivation were looked for."""


@register_jitable
def _open(structure, values, item, search):
    """List the edges of an item and find its best derivation; its slot."""
    begin = len(search.edges)
    list_edges(structure, item, search.edges)
    heap = [(0.0, 0, 0, 0) for _ in range(0)]
    for edge in range(begin, len(search.edges)):
        score = worth(Max(), values, search.edges[edge])
        if score > -np.inf:
            heap.append((-score, edge, _BEST, _BEST))
    heapq.heapify(heap)
    slot = len(search.heap)
    search.slot_of[item] = slot
    search.best.append(len(search.derivations))
    search.last.append(len(search.derivations))
    search.followed.append(0)
    if len(heap) > 0:
        search.derivations.append(heapq.heappop(heap))
        search.following.append(_UNKNOWN)
    search.heap.append(heap)
    return slot


@register_jitable
def k_best(structure, values, leaves, count):
    """The best derivations, at most `count`: their items, where each begins, and their scores, best first.

    The items of a derivation stand in preorder, left before right, the goal left out.
    """
    goal = len(values)
    search = _Search(
        [(0, 0, 0.0) for _ in range(0)],
        [(0.0, 0, 0, 0) for _ in range(0)],
        [0 for _ in range(0)],
        np.full(goal + 1, -1, np.int32),
        [[(0.0, 0, 0, 0)] for _ in range(0)],
        [0 for _ in range(0)],
        [0 for _ in range(0)],
        [0 for _ in range(0)],
    )
    edges, derivations, following, slot_of, heaps, best, last, followed = search
    items, begin, scores = [0 for _ in range(0)], [0], [0.0 for _ in range(0)]
    asked, walk = [goal for _ in range(0)], [(goal, 0) for _ in range(0)]
    _open(structure, values, goal, search)
    top = 0 if len(derivations) > 0 else _NONE
    while top != _NONE and len(scores) < count:
        scores.append(-derivations[top][0])
        walk.append((goal, top))
        while len(walk) > 0:
            item, number = walk.pop()
            if item < goal:
                items.append(item)
            if item < leaves:
                continue
            slot = slot_of[item]
            if slot < 0:
                slot = _open(structure, values, item, search)
            _, edge, at_left, at_right = derivations[best[slot] if number == _BEST else number]
            left, right, _ = edges[edge]
            if right != NOTHING:
                walk.append((right, at_right))
            if left != NOTHING:
                walk.append((left, at_left))
        begin.append(len(items))
        # Compiled functions that call themselves cannot be kept on disk: a stack of those asked for one more.
        asked.append(goal)
        while len(asked) > 0 and len(scores) < count:
            item = asked[-1]
            slot = slot_of[item]
            if slot < 0:
                slot = _open(structure, values, item, search)
            heap, ending, phase = heaps[slot], last[slot], followed[slot]
            _, edge, at_left, at_right = derivations[ending]
            left, right, weight = edges[edge]
            while phase < 2:
                child, number = (right, at_right) if phase == 0 else (left, at_left)
                if child >= leaves and (phase == 0 or at_right == _BEST):
                    child_slot, after = slot_of[child], _UNKNOWN
                    if child_slot >= 0:
                        after = following[best[child_slot] if number == _BEST else number]
                    if after == _UNKNOWN:
                        asked.append(child)
                        break
                    if after != _NONE:
                        raised = -derivations[after][0]
                        if phase == 0:
                            score = weight
                            if left != NOTHING:
                                score += values[left] if at_left == _BEST else -derivations[at_left][0]
                            heapq.heappush(heap, (-(score + raised), edge, at_left, after))
                        else:
                            score = weight + raised
                            if right != NOTHING:
                                score += values[right]
                            heapq.heappush(heap, (-score, edge, after, _BEST))
                phase += 1
            followed[slot] = phase
            if phase < 2:
                continue
            asked.pop()
            if len(heap) == 0:
                following[ending] = _NONE
            else:
                following[ending] = last[slot] = len(derivations)
                followed[slot] = 0
                derivations.append(heapq.heappop(heap))
                following.append(_UNKNOWN)
        top = following[top]
    return np.array(items), np.array(begin), np.array(scores)
