"""Projective dependency trees scored arc by arc (Eisner 2000), generic in the semiring, and the k best of them.

Words are 0 … N−1, arc[h, m] is the weight of h → m and root[r] that of r as the root word. Triangles C[d,h,e]
hold a head h with all its words up to e in direction d (0 left, 1 right), trapezoids I[d,h,m] an arc with all
that is below it:

    inner[i,j] = ⊕_{i≤k<j} C[R,i,k] ⊗ C[L,j,k+1]
    I[R,i,j] = inner[i,j] ⊗ arc[i,j],                I[L,j,i] = inner[i,j] ⊗ arc[j,i]
    C[R,i,j] = ⊕_{i<k≤j} I[R,i,k] ⊗ C[R,k,j],        C[L,j,i] = ⊕_{i≤k<j} I[L,j,k] ⊗ C[L,k,i]
    total = ⊕_r root[r] ⊗ C[L,r,0] ⊗ C[R,r,N−1].

O(N³) time and O(N²) memory; the k best O(N² (N + k log N)) and O(k N²). Outside is the adjoint of inside by the
semiring's `pull`; with `Max` it walks down the best tree alone. Use `Log` for sums: `Real` is not scaled here.
"""

import heapq

import numpy as np
from numba import njit
from numba.extending import register_jitable

from latentgram.numeric.semiring import Max, one, plus, posterior, pull, rest, times, zero

LEFT, RIGHT = 0, 1
ROOT = -1
"""The head of the root word."""


@njit(cache=True)
def inside(semiring, arc, root):
    """Fill the charts: triangles and trapezoids [2, N, N] (direction, head, other end), inner [N, N], total."""
    n_words = len(root)
    triangle = np.full((2, n_words, n_words), one(semiring))
    trapezoid = np.full((2, n_words, n_words), zero(semiring))
    inner = np.full((n_words, n_words), zero(semiring))
    for length in range(1, n_words):
        for i in range(n_words - length):
            j = i + length
            value = zero(semiring)
            for k in range(i, j):
                value = plus(semiring, value, times(semiring, triangle[RIGHT, i, k], triangle[LEFT, j, k + 1]))
            inner[i, j] = value
            trapezoid[RIGHT, i, j] = times(semiring, value, arc[i, j])
            trapezoid[LEFT, j, i] = times(semiring, value, arc[j, i])
            value = zero(semiring)
            for k in range(i + 1, j + 1):
                value = plus(semiring, value, times(semiring, trapezoid[RIGHT, i, k], triangle[RIGHT, k, j]))
            triangle[RIGHT, i, j] = value
            value = zero(semiring)
            for k in range(i, j):
                value = plus(semiring, value, times(semiring, trapezoid[LEFT, j, k], triangle[LEFT, k, i]))
            triangle[LEFT, j, i] = value
    total = zero(semiring)
    for r in range(n_words):
        below = times(semiring, triangle[LEFT, r, 0], triangle[RIGHT, r, n_words - 1])
        total = plus(semiring, total, times(semiring, root[r], below))
    return triangle, trapezoid, inner, total


@register_jitable
def hand_to_roots(semiring, root, total, triangle, to_triangle):
    """The adjoint of total = ⊕_r root[r] ⊗ C[L,r,0] ⊗ C[R,r,N−1]; gives the posteriors of the roots."""
    n_words = len(root)
    root_marginal = np.zeros(n_words)
    left = 1.0
    for r in range(n_words):
        x, y = triangle[LEFT, r, 0], triangle[RIGHT, r, n_words - 1]
        below = times(semiring, x, y)
        term = times(semiring, root[r], below)
        to_root = pull(semiring, left, below, term, total)
        to_triangle[LEFT, r, 0] += pull(semiring, left, times(semiring, root[r], y), term, total)
        to_triangle[RIGHT, r, n_words - 1] += pull(semiring, left, times(semiring, root[r], x), term, total)
        root_marginal[r] = posterior(semiring, root[r], to_root, total)
        left = rest(semiring, left, to_root)
    return root_marginal


@register_jitable
def hand_to_halves(semiring, left, i, j, inner, triangle, to_triangle):
    """The adjoint `left` of inner[i, j] = ⊕_k C[R,i,k] ⊗ C[L,j,k+1]."""
    for k in range(i, j):
        if left == 0.0:
            break
        x, y = triangle[RIGHT, i, k], triangle[LEFT, j, k + 1]
        term = times(semiring, x, y)
        share = pull(semiring, left, y, term, inner[i, j])
        to_triangle[RIGHT, i, k] += share
        to_triangle[LEFT, j, k + 1] += pull(semiring, left, x, term, inner[i, j])
        left = rest(semiring, left, share)


@njit(cache=True)
def marginals(semiring, arc, root):
    """Posterior of every arc [N, N] (head, modifier) and root word [N], and the value of the sentence."""
    n_words = len(root)
    triangle, trapezoid, inner, total = inside(semiring, arc, root)
    to_triangle = np.zeros_like(triangle)
    to_trapezoid = np.zeros_like(trapezoid)
    marginal = np.zeros(arc.shape)
    root_marginal = hand_to_roots(semiring, root, total, triangle, to_triangle)
    for length in range(n_words - 1, 0, -1):
        for i in range(n_words - length):
            j = i + length
            for d in range(2):
                head, end = (i, j) if d == RIGHT else (j, i)
                towards = 1 if d == RIGHT else -1
                left = to_triangle[d, head, end]
                for step in range(1, length + 1):
                    if left == 0.0:
                        break
                    k = head + step * towards
                    x, y = trapezoid[d, head, k], triangle[d, k, end]
                    term = times(semiring, x, y)
                    share = pull(semiring, left, y, term, triangle[d, head, end])
                    to_trapezoid[d, head, k] += share
                    to_triangle[d, k, end] += pull(semiring, left, x, term, triangle[d, head, end])
                    left = rest(semiring, left, share)
        for i in range(n_words - length):
            j = i + length
            right_adjoint, left_adjoint = to_trapezoid[RIGHT, i, j], to_trapezoid[LEFT, j, i]
            value, weight = trapezoid[RIGHT, i, j], arc[i, j]
            marginal[i, j] = posterior(
                semiring, weight, pull(semiring, right_adjoint, inner[i, j], value, value), total
            )
            to_inner = pull(semiring, right_adjoint, weight, value, value)
            value, weight = trapezoid[LEFT, j, i], arc[j, i]
            marginal[j, i] = posterior(
                semiring, weight, pull(semiring, left_adjoint, inner[i, j], value, value), total
            )
            left = to_inner + pull(semiring, left_adjoint, weight, value, value)
            hand_to_halves(semiring, left, i, j, inner, triangle, to_triangle)
    return marginal, root_marginal, total


@njit(cache=True)
def best_heads(arc, root):
    """The heads of the best tree (−1 for the root word) and its score; ties go to the nearest split point."""
    marginal, root_marginal, total = marginals(Max(), arc, root)
    heads = np.empty(len(root), np.int64)
    for word in range(len(root)):
        heads[word] = ROOT if root_marginal[word] > 0.5 else np.argmax(marginal[:, word])
    return heads, total


@njit(cache=True)
def _merge(first, second, bonus, scores, choice):
    """The best sums first[s, p] + second[s, q] + bonus over splits s and ranks p, q, best first.

    Ranks of one split form a grid; each cell is reached once: (p, q) offers (p, q+1), and (p+1, 0) if q = 0.
    """
    n_splits, n_best = first.shape
    heap = [(0.0, 0, 0, 0) for _ in range(0)]
    for s in range(n_splits):
        if first[s, 0] > -np.inf and second[s, 0] > -np.inf:
            heap.append((-first[s, 0] - second[s, 0], s, 0, 0))
    heapq.heapify(heap)
    rank = 0
    while rank < n_best and len(heap) > 0:
        negative, s, p, q = heapq.heappop(heap)
        scores[rank] = bonus - negative
        choice[rank, 0], choice[rank, 1], choice[rank, 2] = s, p, q
        rank += 1
        if q + 1 < n_best and second[s, q + 1] > -np.inf:
            heapq.heappush(heap, (-first[s, p] - second[s, q + 1], s, p, q + 1))
        if q == 0 and p + 1 < n_best and first[s, p + 1] > -np.inf:
            heapq.heappush(heap, (-first[s, p + 1] - second[s, 0], s, p + 1, 0))


@njit(cache=True)
def k_best_heads(arc, root, k):
    """The heads [at most k, N] of the best trees, best first, and their scores; arcs of −∞ are not used."""
    n_words = len(root)
    triangle = np.full((2, n_words, n_words, k), -np.inf)
    trapezoid = np.full((2, n_words, n_words, k), -np.inf)
    to_triangle = np.zeros((2, n_words, n_words, k, 3), np.int32)
    to_inner = np.zeros((n_words, n_words, k, 3), np.int32)
    inner = np.empty(k)
    for i in range(n_words):
        triangle[:, i, i, 0] = 0.0
    for length in range(1, n_words):
        for i in range(n_words - length):
            j = i + length
            inner[:] = -np.inf
            _merge(triangle[RIGHT, i, i:j], triangle[LEFT, j, i + 1 : j + 1], 0.0, inner, to_inner[i, j])
            trapezoid[RIGHT, i, j] = inner + arc[i, j]
            trapezoid[LEFT, j, i] = inner + arc[j, i]
            _merge(
                trapezoid[RIGHT, i, i + 1 : j + 1],
                triangle[RIGHT, i + 1 : j + 1, j],
                0.0,
                triangle[RIGHT, i, j],
                to_triangle[RIGHT, i, j],
            )
            _merge(
                trapezoid[LEFT, j, i:j], triangle[LEFT, i:j, i], 0.0, triangle[LEFT, j, i], to_triangle[LEFT, j, i]
            )
    whole = np.full((n_words, k), -np.inf)
    to_whole = np.zeros((n_words, k, 3), np.int32)
    for r in range(n_words):
        _merge(triangle[LEFT, r, 0:1], triangle[RIGHT, r, n_words - 1 : n_words], root[r], whole[r], to_whole[r])
    scores = np.full(k, -np.inf)
    choice = np.zeros((k, 3), np.int32)
    nothing = np.full((n_words, k), -np.inf)
    nothing[:, 0] = 0.0
    _merge(whole, nothing, 0.0, scores, choice)
    found = int(np.sum(scores > -np.inf))
    heads = np.empty((found, n_words), np.int64)
    for rank in range(found):
        r, p = choice[rank, 0], choice[rank, 1]
        heads[rank, r] = ROOT
        ranks = to_whole[r, p]
        stack = [(LEFT, r, 0, ranks[1]), (RIGHT, r, n_words - 1, ranks[2])]
        while len(stack) > 0:
            d, head, end, p = stack.pop()
            if head == end:
                continue
            split, above, below = to_triangle[d, head, end, p]
            word = head + 1 + split if d == RIGHT else end + split
            heads[rank, word] = head
            stack.append((d, word, end, below))
            i, j = min(head, word), max(head, word)
            split, first, second = to_inner[i, j, above]
            stack.append((RIGHT, i, i + split, first))
            stack.append((LEFT, j, i + split + 1, second))
    return heads, scores[:found]
