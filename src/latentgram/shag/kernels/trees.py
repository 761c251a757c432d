"""Single trees of head-automata grammars: the best ones, and draws.

**The best trees**, where a tree has one path through the states: from each state an operator leads to one state at
most. They are the best derivations of the recurrence of inside_outside.py in the `Max` semiring, found by the
search of numeric/kbest.py over the items

    closed (d,h,e),   trapezoid (d,h,m,q),   triangle (d,h,e,c,q):

O(N³Rn) for the chart of N words, R memory classes and n states, before the search. Logarithms are rounded to
multiples of 2⁻³², so that their sums are exact and trees made of the same numbers have the same score; ties go to
the root furthest left, then from the outermost modifier inwards to the lower class and state and to the nearer
modifier and split point.

**Draws.** `draw_tree` walks down the inside charts. It carries the functional that will be applied to the state
vector of the head it is at, so hidden states are summed out and trees are drawn exactly; O(N²n) per tree. Where
errors of estimation make a share negative, it counts as nothing. It cannot be the walk of numeric/sampling.py: an
item has a vector over hidden states in place of a value, and the shares depend on what was drawn before.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from latentgram.arrays import Floats, Ints
from latentgram.compiling import by_type, njit
from latentgram.numeric.hypergraph import NOTHING, list_edges
from latentgram.numeric.kbest import k_best
from latentgram.numeric.sampling import draw_place
from latentgram.shag.kernels.inside_outside import LEFT, RIGHT, sides

ROOT = -1
STEPS = 2.0**32
"""Steps of a logarithm in one unit."""


class PathScores(NamedTuple):
    """The logarithms of the weights of a grammar whose trees have one path each; the fields of `HeadWeights`."""

    start: Floats
    """[2, N] at the only state that has one,"""
    first: Ints
    """[2, N] which is this."""
    stop: Floats
    move: Floats
    """[N, N, n] the operator of an arc from each state,"""
    after: Ints
    """[N, N, n] to this one; −1 for none."""
    arc: Floats
    halt: Floats
    memory: Ints
    root: Floats


@register_jitable
def _log(value):
    """The logarithm, rounded so that sums of a few thousand are exact."""
    return np.rint(np.log(value) * STEPS) / STEPS


@njit()
def path_scores(weights):
    """The logarithms of a grammar's weights, and whether a tree has one path of weights that are not negative."""
    start, stop, operators, step, arc, halt, memory, root = weights
    n_words, n_states = len(root), start.shape[2]
    first, begin = np.zeros((2, n_words), np.int64), np.zeros((2, n_words))
    after, move = np.full((n_words, n_words, n_states), -1), np.zeros((n_words, n_words, n_states))
    single = min(stop.min(), arc.min(), halt.min(), root.min()) >= 0.0
    for head in range(n_words):
        for d in range(2):
            for q in range(n_states):
                if start[d, head, q] != 0.0:
                    single = single and begin[d, head] == 0.0 and start[d, head, q] > 0.0
                    first[d, head], begin[d, head] = q, start[d, head, q]
        for mod in range(n_words):
            number = step[head, mod]
            for p in range(n_states):
                for q in range(n_states):
                    if single and operators[number, q, p] != 0.0:
                        single = after[head, mod, p] < 0 and operators[number, q, p] > 0.0
                        after[head, mod, p], move[head, mod, p] = q, operators[number, q, p]
    scores = PathScores(
        _log(begin), first, _log(stop), _log(move), after, _log(arc), _log(halt), memory, _log(root)
    )
    return scores, single


class _Places(NamedTuple):
    """Where items stand: the closed triangles of one word, then all closed ones, trapezoids and triangles."""

    n_words: int
    n_classes: int
    n_states: int


class _Trees(NamedTuple):
    """The hypergraph of trees."""

    scores: PathScores
    places: _Places


@register_jitable
def _closed(places, d, head, end):
    n_words = places.n_words
    return d * n_words + head if head == end else 2 * n_words + (d * n_words + head) * n_words + end


@register_jitable
def _trapezoid(places, d, head, mod, q):
    n_words = places.n_words
    first = 2 * n_words * (1 + n_words)
    return first + ((d * n_words + head) * n_words + mod) * places.n_states + q


@register_jitable
def _triangle(places, d, head, end, c, q):
    n_words, n_classes, n_states = places
    first = 2 * n_words * (1 + n_words * (1 + n_states))
    return first + (((d * n_words + head) * n_words + end) * n_classes + c) * n_states + q


@njit()
def _best_values(scores):
    """The values of all items in `Max`: Eqs. 18–20 of Luque et al. 2012 with max for sum and sum for product."""
    start, first, stop, move, after, arc, halt, memory, root = scores
    n_words, n_classes, n_states = len(root), arc.shape[2] - 1, stop.shape[2]
    square = 2 * n_words * n_words
    values = np.full(2 * n_words + square * (1 + n_states * (1 + n_classes)), -np.inf)
    rest = values[2 * n_words :]
    closed = rest[:square].reshape((2, n_words, n_words))
    trapezoid = rest[square : square * (1 + n_states)].reshape((2, n_words, n_words, n_states))
    triangle = rest[square * (1 + n_states) :].reshape((2, n_words, n_words, n_classes, n_states))
    pre = np.empty(n_states)
    for d in range(2):
        for i in range(n_words):
            value = start[d, i] + stop[d, i, first[d, i]] + halt[d, i, 0]
            values[d * n_words + i] = closed[d, i, i] = value
    for length in range(1, n_words):
        for i in range(n_words - length):
            for d in range(2):
                head, mod, towards = sides(i, i + length, d)
                for q in range(n_states):
                    pre[q] = -np.inf
                pre[first[d, head]] = start[d, head] + arc[head, mod, 0] + closed[1 - d, mod, head + towards]
                for k in range(1, length):
                    end = head + k * towards
                    for c in range(n_classes):
                        weight = arc[head, mod, 1 + c] + closed[1 - d, mod, end + towards]
                        for q in range(n_states):
                            pre[q] = max(pre[q], weight + triangle[d, head, end, c, q])
                for p in range(n_states):
                    q = after[head, mod, p]
                    if q >= 0:
                        trapezoid[d, head, mod, q] = max(trapezoid[d, head, mod, q], pre[p] + move[head, mod, p])
        for i in range(n_words - length):
            for d in range(2):
                head, end, towards = sides(i, i + length, d)
                for k in range(1, length + 1):
                    last = head + k * towards
                    c = memory[last]
                    for q in range(n_states):
                        value = trapezoid[d, head, last, q] + closed[d, last, end]
                        triangle[d, head, end, c, q] = max(triangle[d, head, end, c, q], value)
                for c in range(n_classes):
                    for q in range(n_states):
                        value = triangle[d, head, end, c, q] + stop[d, head, q] + halt[d, head, 1 + c]
                        closed[d, head, end] = max(closed[d, head, end], value)
    return values


def _list_edges(trees, item, edges):
    start, first, stop, move, after, arc, halt, memory, root = trees.scores
    places = trees.places
    n_words, n_classes, n_states = places
    square = 2 * n_words * n_words
    at = item - 2 * n_words
    if at >= square * (1 + n_states * (1 + n_classes)):
        for r in range(n_words):
            edges.append((_closed(places, LEFT, r, 0), _closed(places, RIGHT, r, n_words - 1), root[r]))
    elif at < square:
        d, head, end = at // (n_words * n_words), at // n_words % n_words, at % n_words
        for c in range(n_classes):
            for q in range(n_states):
                weight = stop[d, head, q] + halt[d, head, 1 + c]
                edges.append((_triangle(places, d, head, end, c, q), NOTHING, weight))
    elif at < square * (1 + n_states):
        at -= square
        q, mod, head = at % n_states, at // n_states % n_words, at // (n_states * n_words) % n_words
        d, towards = (RIGHT, 1) if mod > head else (LEFT, -1)
        for p in range(n_states):
            if after[head, mod, p] != q:
                continue
            if first[d, head] == p:
                weight = start[d, head] + arc[head, mod, 0] + move[head, mod, p]
                edges.append((_closed(places, 1 - d, mod, head + towards), NOTHING, weight))
            for k in range(1, abs(mod - head)):
                end = head + k * towards
                for c in range(n_classes):
                    closed = _closed(places, 1 - d, mod, end + towards)
                    weight = arc[head, mod, 1 + c] + move[head, mod, p]
                    edges.append((_triangle(places, d, head, end, c, p), closed, weight))
    else:
        at -= square * (1 + n_states)
        q, c, at = at % n_states, at // n_states % n_classes, at // (n_states * n_classes)
        head, end = at // n_words % n_words, at % n_words
        d, towards = (RIGHT, 1) if end > head else (LEFT, -1)
        for k in range(1, abs(end - head) + 1):
            last = head + k * towards
            if memory[last] == c:
                edges.append((_trapezoid(places, d, head, last, q), _closed(places, d, last, end), 0.0))


by_type(list_edges, {_Trees: _list_edges})


@njit()
def best_paths(scores, count):
    """The heads [at most count, N] of the best trees (−1 for the root word), best first, and their scores."""
    n_words, n_states = len(scores.root), scores.stop.shape[2]
    places = _Places(n_words, scores.arc.shape[2] - 1, n_states)
    items, begin, values = k_best(_Trees(scores, places), _best_values(scores), 2 * n_words, count)
    first = 2 * n_words * (1 + n_words)
    heads = np.full((len(values), n_words), ROOT)
    for tree in range(len(values)):
        for item in items[begin[tree] : begin[tree + 1]]:
            arc = (item - first) // n_states
            if first <= item and arc < 2 * n_words * n_words:
                heads[tree, arc % n_words] = arc // n_words % n_words
    return heads, values


@njit()
def draw_tree(weights, charts, uniforms):
    """The heads of a tree drawn from the posterior, given inside charts and 2N uniform numbers."""
    start, stop, operators, step, arc, halt, memory, root = weights
    triangle, trapezoid, closed = charts
    n_words, n_classes = step.shape[0], arc.shape[2] - 1
    shares = np.empty(1 + n_words * n_classes)
    heads = np.full(n_words, ROOT)
    drawn = 0
    for r in range(n_words):
        shares[r] = root[r] * closed[LEFT, r, 0] * closed[RIGHT, r, n_words - 1]
    # Only quotients matter, and Z itself may be negative.
    if np.sum(shares[:n_words]) < 0.0:
        shares[:n_words] *= -1.0
    top = draw_place(shares[:n_words], uniforms[drawn])
    stack = [(LEFT, top, 0), (RIGHT, top, n_words - 1)]
    ahead = np.empty((n_classes, start.shape[2]))
    while len(stack) > 0:
        d, head, end = stack.pop()
        towards = 1 if d == RIGHT else -1
        sign = 1.0 if closed[d, head, end] >= 0.0 else -1.0
        for c in range(n_classes):
            ahead[c] = sign * halt[d, head, 1 + c] * stop[d, head]
        while end != head:
            length = abs(end - head)
            for k in range(length):
                last = head + (k + 1) * towards
                value = np.sum(ahead[memory[last]] * trapezoid[d, head, last])
                shares[k] = value * closed[d, last, end]
            drawn += 1
            last = head + (draw_place(shares[:length], uniforms[drawn]) + 1) * towards
            heads[last] = head
            stack.append((d, last, end))
            before = operators[step[head, last]].T @ ahead[memory[last]]
            length = abs(last - head)
            shares[0] = np.sum(before * start[d, head]) * arc[head, last, 0] * closed[1 - d, last, head + towards]
            for k in range(1, length):
                split = head + k * towards
                weight = closed[1 - d, last, split + towards]
                for c in range(n_classes):
                    value = np.sum(before * triangle[d, head, split, c]) * arc[head, last, 1 + c] * weight
                    shares[1 + (k - 1) * n_classes + c] = value
            drawn += 1
            place = draw_place(shares[: 1 + (length - 1) * n_classes], uniforms[drawn])
            end = head if place == 0 else head + ((place - 1) // n_classes + 1) * towards
            stack.append((1 - d, last, end + towards))
            ahead[:] = 0.0
            if place > 0:
                ahead[(place - 1) % n_classes] = before * arc[head, last, 1 + (place - 1) % n_classes]
    return heads
