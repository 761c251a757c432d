"""Single trees over listed arcs and adjacent siblings: the k best, found lazily, and exact draws.

Items and recurrences are those of siblings.py, each item a number: triangles d·N² + h·N + e, inner parts
2N² + i·N + j, trapezoids 3N² + a, and the goal last.

`k_best_heads` is algorithm 3 of Huang & Chiang (2005). An item is opened when its derivations are first asked for:
its edges ⟨left item, right item, bonus⟩ go into a heap with ranks 0, 0 by their Max values. When a candidate is
taken, the ones with one rank raised by one are put in; the left rank is raised only while the right one is 0, so
no candidate is met twice, and a child finds its next derivation only when a candidate needs it.

Cost beyond the Max charts: the edges of opened items, and O(log) a derivation. Ties go to the edge listed first.

`draw_heads` walks down the Log charts and takes each edge with its share of its item: a tree costs the edges of
the items, fewer than 4N, that it is made of.
"""

import heapq
import math

import numpy as np
from numba import njit

from latentgram.numeric.eisner import LEFT, RIGHT, ROOT
from latentgram.numeric.semiring import Max
from latentgram.numeric.siblings import inside

_NOTHING = -1
"""The right item of an edge with one child."""


@njit(cache=True)
def _value(item, triangle, inner, trapezoid):
    """The value of an item."""
    n_words = inner.shape[0]
    square = n_words * n_words
    if item == _NOTHING:
        return 0.0
    if item < 2 * square:
        return triangle[item // square, item % square // n_words, item % n_words]
    if item < 3 * square:
        return inner[item % square // n_words, item % n_words]
    return trapezoid[item - 3 * square]


@njit(cache=True)
def _offer(heap, left, right, bonus, triangle, inner, trapezoid):
    """Put an edge with ranks 0, 0 into the heap of its item."""
    score = bonus + _value(left, triangle, inner, trapezoid) + _value(right, triangle, inner, trapezoid)
    if score > -np.inf:
        heap.append((-score, len(heap), left, right, 0, 0))


@njit(cache=True)
def _edges(item, heap, triangle, inner, trapezoid, offset, modifier, arc, sibling_offset, sibling, root):
    """Put all edges of an item into its heap; a triangle of one word has none."""
    n_words = len(root)
    square = n_words * n_words
    goal = 3 * square + len(arc)
    if item == goal:
        for r in range(n_words):
            left, right = LEFT * square + r * n_words, RIGHT * square + r * n_words + n_words - 1
            _offer(heap, left, right, root[r], triangle, inner, trapezoid)
    elif item >= 3 * square:
        a = item - 3 * square
        source = np.searchsorted(offset, a, side="right") - 1
        d, head, word = source // n_words, source % n_words, modifier[a]
        scores = sibling[sibling_offset[a] : sibling_offset[a + 1]]
        near = head + 1 if d == RIGHT else head - 1
        first = (1 - d) * square + word * n_words + near
        _offer(heap, first, _NOTHING, arc[a] + scores[0], triangle, inner, trapezoid)
        for b in range(offset[source], a):
            between = 2 * square + min(modifier[b], word) * n_words + max(modifier[b], word)
            bonus = arc[a] + scores[1 + b - offset[source]]
            _offer(heap, 3 * square + b, between, bonus, triangle, inner, trapezoid)
    elif item >= 2 * square:
        i, j = item % square // n_words, item % n_words
        for k in range(i, j):
            left, right = RIGHT * square + i * n_words + k, LEFT * square + j * n_words + k + 1
            _offer(heap, left, right, 0.0, triangle, inner, trapezoid)
    else:
        d, head, end = item // square, item % square // n_words, item % n_words
        for b in range(offset[d * n_words + head], offset[d * n_words + head + 1]):
            if abs(modifier[b] - head) > abs(end - head):
                break
            below = d * square + modifier[b] * n_words + end
            _offer(heap, 3 * square + b, below, 0.0, triangle, inner, trapezoid)


@njit(cache=True)
def _is_leaf(item, n_words):
    """Whether an item is nothing or a triangle of one word: it has one derivation and its value is 0."""
    square = n_words * n_words
    return item == _NOTHING or (item < 2 * square and item % square // n_words == item % n_words)


@njit(cache=True)
def k_best_heads(offset, modifier, arc, sibling_offset, sibling, root, k):
    """The heads [at most k, N] of the best trees (−1 for the root word), best first, and their scores."""
    n_words = len(root)
    square = n_words * n_words
    goal = 3 * square + len(arc)
    triangle, inner, trapezoid, total = inside(Max(), offset, modifier, arc, sibling_offset, sibling, root)
    slot_of = np.full(goal + 1, -1, np.int64)
    heaps = [[(0.0, 0, 0, 0, 0, 0)]]
    found = [[(0.0, 0, 0, 0, 0, 0)]]
    heads = np.full((k, n_words), ROOT, np.int64)
    scores = np.empty(k)
    # A frame: an item, the rank wanted of it, and how many successors of its last derivation were put in.
    frames = [(goal, 0, 0)]
    walk = [(goal, 0)]
    trees = 0
    while trees < k and total > -np.inf:
        walk.append((goal, trees))
        complete = True
        while len(walk) > 0:
            item, rank = walk.pop()
            if _is_leaf(item, n_words):
                continue
            frames.clear()
            frames.append((item, rank, 0))
            while len(frames) > 0:
                here, wanted, phase = frames.pop()
                if slot_of[here] < 0:
                    heap = [(0.0, 0, 0, 0, 0, 0) for _ in range(0)]
                    _edges(
                        here,
                        heap,
                        triangle,
                        inner,
                        trapezoid,
                        offset,
                        modifier,
                        arc,
                        sibling_offset,
                        sibling,
                        root,
                    )
                    heapq.heapify(heap)
                    slot_of[here] = len(heaps)
                    heaps.append(heap)
                    found.append([(0.0, 0, 0, 0, 0, 0) for _ in range(0)])
                heap, known = heaps[slot_of[here]], found[slot_of[here]]
                if len(known) > wanted:
                    continue
                if len(known) > 0 and phase < 2:
                    negative, edge, left, right, p, q = known[-1]
                    child, next_rank = (left, p + 1) if phase == 0 else (right, q + 1)
                    if _is_leaf(child, n_words) or (phase == 0 and q > 0):
                        frames.append((here, wanted, phase + 1))
                        continue
                    slot = slot_of[child]
                    if slot < 0 or len(found[slot]) <= next_rank:
                        # Come back here when the child has tried; an exhausted child is known by its heap.
                        if slot < 0 or len(found[slot]) == 0 or found[slot][-1][1] >= 0:
                            frames.append((here, wanted, phase))
                            frames.append((child, next_rank, 0))
                            continue
                    elif found[slot][next_rank][1] >= 0:
                        worse = negative - found[slot][next_rank - 1][0] + found[slot][next_rank][0]
                        ranks = (next_rank, q) if phase == 0 else (p, next_rank)
                        heapq.heappush(heap, (worse, edge, left, right, ranks[0], ranks[1]))
                    frames.append((here, wanted, phase + 1))
                    continue
                if len(heap) == 0:
                    # Nothing is left: an entry with edge −1 says so.
                    if len(known) == 0 or known[-1][1] >= 0:
                        known.append((np.inf, -1, 0, 0, 0, 0))
                    continue
                known.append(heapq.heappop(heap))
                frames.append((here, wanted, 0))
            negative, edge, left, right, p, q = found[slot_of[item]][rank]
            if edge < 0:
                complete = False
                break
            if item == goal:
                scores[trees] = -negative
            if 3 * square <= item < goal:
                a = item - 3 * square
                heads[trees, modifier[a]] = (np.searchsorted(offset, a, side="right") - 1) % n_words
            walk.append((left, p))
            walk.append((right, q))
        if not complete:
            break
        trees += 1
    return heads[:trees], scores[:trees]


@njit(cache=True)
def draw_heads(triangle, inner, trapezoid, offset, modifier, arc, sibling_offset, sibling, root, uniforms):
    """The heads of a tree drawn from the posterior, given Log charts and 4N numbers in [0, 1)."""
    n_words = len(root)
    square = n_words * n_words
    goal = 3 * square + len(arc)
    heads = np.full(n_words, ROOT, np.int64)
    walk = [goal]
    drawn = 0
    while len(walk) > 0:
        item = walk.pop()
        if _is_leaf(item, n_words):
            continue
        edges = [(0.0, 0, 0, 0, 0, 0) for _ in range(0)]
        _edges(item, edges, triangle, inner, trapezoid, offset, modifier, arc, sibling_offset, sibling, root)
        least = min([edge[0] for edge in edges])
        left = uniforms[drawn] * sum([math.exp(least - edge[0]) for edge in edges])
        drawn += 1
        chosen = 0
        while chosen < len(edges) - 1:
            left -= math.exp(least - edges[chosen][0])
            if left < 0.0:
                break
            chosen += 1
        if 3 * square <= item < goal:
            a = item - 3 * square
            heads[modifier[a]] = (np.searchsorted(offset, a, side="right") - 1) % n_words
        walk.append(edges[chosen][2])
        walk.append(edges[chosen][3])
    return heads
