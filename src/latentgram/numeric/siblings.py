"""Projective trees scored by arcs and by pairs of adjacent siblings (McDonald & Pereira 2006), over listed arcs.

Only the arcs of a list may be used, so that pruning makes everything sparse. The arcs of head h in direction d are
offset[d·N + h] … offset[d·N + h + 1], nearest modifier first. Arc a = (h, m) has the scores of its siblings at
sibling_offset[a]: first that of having none, then one for each arc before it in the list of (d, h).

    S[i,j] = ⊕_{i≤k<j} C[R,i,k] ⊗ C[L,j,k+1]
    I[h,m] = none[h,m] ⊗ arc[h,m] ⊗ C[d̄,m,h±1]  ⊕  ⊕_s I[h,s] ⊗ S[s,m] ⊗ sibling[h,s,m] ⊗ arc[h,m]
    C[d,h,e] = ⊕_m I[h,m] ⊗ C[d,m,e]
    total = ⊕_r root[r] ⊗ C[L,r,0] ⊗ C[R,r,N−1]

Triangles C and directions are those of eisner.py. O(N³ + pairs) time, O(N² + pairs) memory. Outside is the adjoint
of inside by the semiring's `pull`; with `Max` it walks down the best tree alone.
"""

import numpy as np
from numba import njit

from latentgram.numeric.eisner import LEFT, RIGHT, ROOT, hand_to_halves, hand_to_roots
from latentgram.numeric.semiring import Max, one, plus, posterior, pull, rest, times, zero


@njit(cache=True)
def list_arcs(kept):
    """The lists of the arcs that are marked in kept [N, N] (head, modifier): offset, modifier, sibling offset."""
    n_words = kept.shape[0]
    offset = np.zeros(2 * n_words + 1, np.int64)
    modifier = np.empty(int(kept.sum()), np.int64)
    sibling_offset = np.zeros(len(modifier) + 1, np.int64)
    arcs = 0
    for d in range(2):
        for head in range(n_words):
            begin = arcs
            for step in range(1, n_words):
                word = head + step if d == RIGHT else head - step
                if word < 0 or word >= n_words:
                    break
                if kept[head, word]:
                    modifier[arcs] = word
                    sibling_offset[arcs + 1] = sibling_offset[arcs] + arcs - begin + 1
                    arcs += 1
            offset[d * n_words + head + 1] = arcs
    return offset, modifier, sibling_offset


@njit(cache=True)
def _place_of(offset, modifier):
    """[N, N] the number of the arc (head, modifier), −1 if it is not listed."""
    n_words = len(offset) // 2
    place = np.full((n_words, n_words), -1, np.int64)
    for source in range(2 * n_words):
        for a in range(offset[source], offset[source + 1]):
            place[source % n_words, modifier[a]] = a
    return place


@njit(cache=True)
def inside(semiring, offset, modifier, arc, sibling_offset, sibling, root):
    """Fill the charts: triangles [2, N, N], inner [N, N], trapezoids [arcs]; and the total."""
    n_words = len(root)
    place = _place_of(offset, modifier)
    triangle = np.full((2, n_words, n_words), zero(semiring))
    trapezoid = np.full(len(arc), zero(semiring))
    inner = np.full((n_words, n_words), zero(semiring))
    for i in range(n_words):
        triangle[LEFT, i, i] = triangle[RIGHT, i, i] = one(semiring)
    for length in range(1, n_words):
        for i in range(n_words - length):
            j = i + length
            value = zero(semiring)
            for k in range(i, j):
                value = plus(semiring, value, times(semiring, triangle[RIGHT, i, k], triangle[LEFT, j, k + 1]))
            inner[i, j] = value
            for d in range(2):
                head, word = (i, j) if d == RIGHT else (j, i)
                a = place[head, word]
                begin = offset[d * n_words + head]
                if a >= 0:
                    scores = sibling[sibling_offset[a] : sibling_offset[a + 1]]
                    near = head + 1 if d == RIGHT else head - 1
                    value = times(semiring, times(semiring, scores[0], arc[a]), triangle[1 - d, word, near])
                    for b in range(begin, a):
                        both = times(semiring, trapezoid[b], inner[min(modifier[b], word), max(modifier[b], word)])
                        others = times(semiring, scores[1 + b - begin], arc[a])
                        value = plus(semiring, value, times(semiring, both, others))
                    trapezoid[a] = value
                value = zero(semiring)
                for b in range(begin, offset[d * n_words + head + 1]):
                    if abs(modifier[b] - head) > length:
                        break
                    value = plus(semiring, value, times(semiring, trapezoid[b], triangle[d, modifier[b], word]))
                triangle[d, head, word] = value
    total = zero(semiring)
    for r in range(n_words):
        below = times(semiring, triangle[LEFT, r, 0], triangle[RIGHT, r, n_words - 1])
        total = plus(semiring, total, times(semiring, root[r], below))
    return triangle, inner, trapezoid, total


@njit(cache=True)
def marginals(semiring, offset, modifier, arc, sibling_offset, sibling, root):
    """Posterior of every listed arc and of every root word, and the value of the sentence."""
    n_words = len(root)
    triangle, inner, trapezoid, total = inside(semiring, offset, modifier, arc, sibling_offset, sibling, root)
    place = _place_of(offset, modifier)
    to_triangle = np.zeros_like(triangle)
    to_inner = np.zeros_like(inner)
    to_trapezoid = np.zeros_like(trapezoid)
    marginal = np.zeros(len(arc))
    if total == zero(semiring):
        return marginal, np.zeros(n_words), total
    root_marginal = hand_to_roots(semiring, root, total, triangle, to_triangle)
    for length in range(n_words - 1, 0, -1):
        for i in range(n_words - length):
            j = i + length
            for d in range(2):
                head, word = (i, j) if d == RIGHT else (j, i)
                a = place[head, word]
                begin = offset[d * n_words + head]
                left = to_triangle[d, head, word]
                for b in range(begin, offset[d * n_words + head + 1]):
                    if left == 0.0 or abs(modifier[b] - head) > length:
                        break
                    x, y = trapezoid[b], triangle[d, modifier[b], word]
                    term = times(semiring, x, y)
                    share = pull(semiring, left, y, term, triangle[d, head, word])
                    to_trapezoid[b] += share
                    to_triangle[d, modifier[b], word] += pull(semiring, left, x, term, triangle[d, head, word])
                    left = rest(semiring, left, share)
        for i in range(n_words - length):
            j = i + length
            for d in range(2):
                head, word = (i, j) if d == RIGHT else (j, i)
                a = place[head, word]
                if a < 0 or to_trapezoid[a] == 0.0:
                    continue
                begin = offset[d * n_words + head]
                scores = sibling[sibling_offset[a] : sibling_offset[a + 1]]
                near = head + 1 if d == RIGHT else head - 1
                left = to_trapezoid[a]
                # Terms are multiplied in the order of `inside`: `Max` knows the best one by its very bits.
                x = triangle[1 - d, word, near]
                others = times(semiring, scores[0], arc[a])
                term = times(semiring, others, x)
                share = pull(semiring, left, others, term, trapezoid[a])
                to_triangle[1 - d, word, near] += share
                to_arc = pull(semiring, left, times(semiring, scores[0], x), term, trapezoid[a])
                left = rest(semiring, left, share)
                for b in range(begin, a):
                    if left == 0.0:
                        break
                    low, high = min(modifier[b], word), max(modifier[b], word)
                    others = times(semiring, scores[1 + b - begin], arc[a])
                    x, y = trapezoid[b], inner[low, high]
                    both = times(semiring, x, y)
                    term = times(semiring, both, others)
                    share = pull(semiring, left, times(semiring, others, y), term, trapezoid[a])
                    to_trapezoid[b] += share
                    to_inner[low, high] += pull(semiring, left, times(semiring, others, x), term, trapezoid[a])
                    to_arc += pull(
                        semiring, left, times(semiring, both, scores[1 + b - begin]), term, trapezoid[a]
                    )
                    left = rest(semiring, left, share)
                marginal[a] = posterior(semiring, arc[a], to_arc, total)
            hand_to_halves(semiring, to_inner[i, j], i, j, inner, triangle, to_triangle)
    return marginal, root_marginal, total


@njit(cache=True)
def best_heads(offset, modifier, arc, sibling_offset, sibling, root):
    """The heads of the best tree (−1 for the root word) and its score; all −1 and −∞ if there is no tree."""
    n_words = len(root)
    marginal, _, total = marginals(Max(), offset, modifier, arc, sibling_offset, sibling, root)
    heads = np.full(n_words, ROOT, np.int64)
    for source in range(2 * n_words):
        for a in range(offset[source], offset[source + 1]):
            if marginal[a] > 0.5:
                heads[modifier[a]] = source % n_words
    return heads, total


@njit(cache=True)
def score_heads(offset, modifier, arc, sibling_offset, sibling, root, heads):
    """The score of a tree (−1 for the head of the root word); −∞ if an arc of it is not listed."""
    n_words = len(root)
    total = 0.0
    arcs = 0
    for word in range(n_words):
        if heads[word] == ROOT:
            total += root[word]
            arcs += 1
    for source in range(2 * n_words):
        before = 0
        for a in range(offset[source], offset[source + 1]):
            if heads[modifier[a]] == source % n_words:
                total += arc[a] + sibling[sibling_offset[a] + before]
                before = a - offset[source] + 1
                arcs += 1
    return total if arcs == n_words else -np.inf
