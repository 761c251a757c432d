"""Derivations of a hypergraph drawn from the top down.

An item's edge is taken with the probability of its share in the item's value (hypergraph.py): in `Real` and `Log`
that draws derivations from their posterior, in `Max` it follows the best one. A derivation costs the edges of the
items that it is made of, and those of an item are looked at once for all draws.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from latentgram.compiling import njit
from latentgram.numeric.hypergraph import NOTHING, list_edges, worth
from latentgram.numeric.semiring import shares

_LEAST = 2.0**-53
"""Edges of a smaller share lie between two neighbouring numbers of [0, 1): they are not remembered."""


@njit()
def draw_place(shares, uniform):
    """The place that a number in [0, 1) falls on; shares that are not positive are never drawn. O(places)."""
    total = 0.0
    for share in shares:
        total += max(share, 0.0)
    left = uniform * total
    chosen = 0
    for place in range(len(shares)):
        if shares[place] > 0.0:
            chosen = place
            left -= shares[place]
            if left < 0.0:
                break
    return chosen


@register_jitable
def draw(semiring, structure, values, leaves, uniforms, left_first):
    """Derivations, one for each row of `uniforms` [draws, …]: their items, and where each begins; none if the goal
    is worth nothing, and no more where an item is (its weights are then no numbers, or have overflowed).

    For each item that is not a leaf the next number of the row is used. Items stand in the order in which they are
    reached, the goal left out: in preorder, on the left first or on the right.
    """
    goal = len(values)
    slot_of = np.full(goal + 1, -1, np.int32)
    children = [np.empty((0, 2), np.int32) for _ in range(0)]
    weights = [np.empty(0) for _ in range(0)]
    items, begin = [0 for _ in range(0)], [0]
    walk = [0 for _ in range(0)]
    for row in range(len(uniforms)):
        walk.append(goal)
        drawn = 0
        while len(walk) > 0:
            item = walk.pop()
            if item < goal:
                items.append(item)
            if item < leaves:
                continue
            slot = slot_of[item]
            if slot < 0:
                listed = [(0, 0, 0.0) for _ in range(0)]
                list_edges(structure, item, listed)
                terms = np.empty(len(listed))
                for number in range(len(listed)):
                    terms[number] = worth(semiring, values, listed[number])
                slot = len(children)
                slot_of[item] = slot
                of_edge = np.maximum(shares(semiring, terms), 0.0)
                possible = np.flatnonzero(of_edge > _LEAST * of_edge.sum())
                if len(possible) == 0:
                    return np.array(items[: begin[-1]]), np.array(begin)
                pairs = np.empty((len(possible), 2), np.int32)
                for number in range(len(possible)):
                    pairs[number, 0], pairs[number, 1], _ = listed[possible[number]]
                children.append(pairs)
                weights.append(of_edge[possible])
            left, right = children[slot][draw_place(weights[slot], uniforms[row, drawn])]
            drawn += 1
            first, second = (left, right) if left_first else (right, left)
            if second != NOTHING:
                walk.append(second)
            if first != NOTHING:
                walk.append(first)
        begin.append(len(items))
    return np.array(items), np.array(begin)
