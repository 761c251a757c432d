"""Projective dependency trees scored by arcs (Eisner 2000), or by arcs and pairs of adjacent siblings (McDonald &
Pereira 2006): one recurrence, generic in the semiring.

Words are 0 … N−1, arc[h, m] is the weight of h → m and root[r] that of r as the root word. A chart [4, N, N] has
triangles C[d,h,e], a head h with all its words up to e in direction d (0 left, 1 right); what lies between two
neighbours, S[i,j]; and trapezoids I[h,m], an arc with all that is below it. C[d,h,h] = 1, and

    S[i,j] = ⊕_{i≤k<j} C[R,i,k] ⊗ C[L,j,k+1]
    I[h,m] = arc[h,m] ⊗ S[h,m]                                                                in the first order,
    I[h,m] = arc[h,m] ⊗ none[h,m] ⊗ C[d̄,m,h±1]  ⊕  ⊕_s I[h,s] ⊗ S[s,m] ⊗ sibling[h,s,m] ⊗ arc[h,m]  in the second,
    C[d,h,e] = ⊕_m I[h,m] ⊗ C[d,m,e]
    total = ⊕_r root[r] ⊗ C[L,r,0] ⊗ C[R,r,N−1].

Only the arcs of a list are used, so that pruning makes everything sparse. O(N³ + pairs of siblings) time, O(N² +
pairs) memory. Outside is the adjoint of inside by the semiring's `pull`; with `Max` it walks down the best tree
alone. The k best trees and draws are those of kbest.py and sampling.py over the chart. Use `Log` for sums: `Real`
is not scaled here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from latentgram.arrays import Floats, Ints
from latentgram.compiling import by_type, njit
from latentgram.numeric.hypergraph import NOTHING, list_edges
from latentgram.numeric.kbest import k_best
from latentgram.numeric.sampling import draw
from latentgram.numeric.semiring import Log, Max, one, plus, posterior, pull, rest, times, zero

LEFT, RIGHT, INNER, ARC = 0, 1, 2, 3
"""The parts of a chart; the first two are also the directions."""
ROOT = -1
"""The head of the root word."""


class TreeScores(NamedTuple):
    """The weights of all trees over N words; in the first order the last four are empty."""

    arc: Floats
    """[N, N] (head, modifier)"""
    root: Floats
    """[N]"""
    offset: Ints
    """[2N + 1] the listed arcs of head h in direction d begin at offset[d·N + h], the nearest modifier first."""
    modifier: Ints
    """[arcs]"""
    sibling_begin: Ints
    """[N, N] where the weights of an arc's siblings begin: first that of having none, then one for each arc before
    it in its list; −1 for an arc that is not listed."""
    sibling: Floats
    """[pairs]"""


NO_LISTS = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, 0), np.int64), np.empty(0))
"""The last four of `TreeScores` in the first order."""


@njit()
def first_order(arc, root):
    """Weights of arcs alone, all of which may be used."""
    none = np.empty(0, np.int64)
    return TreeScores(arc, root, none, none, np.empty((0, 0), np.int64), np.empty(0))


@njit()
def second_order(kept):
    """Weights of the arcs marked in kept [N, N] (head, modifier) and of their siblings, all 0 for now."""
    n_words = kept.shape[0]
    offset = np.zeros(2 * n_words + 1, np.int64)
    modifier = np.empty(int(kept.sum()), np.int64)
    sibling_begin = np.full((n_words, n_words), -1, np.int64)
    arcs, pairs = 0, 0
    for d in range(2):
        for head in range(n_words):
            begin = arcs
            for step in range(1, n_words):
                word = head + step if d == RIGHT else head - step
                if word < 0 or word >= n_words:
                    break
                if kept[head, word]:
                    modifier[arcs] = word
                    sibling_begin[head, word] = pairs
                    pairs += arcs - begin + 1
                    arcs += 1
            offset[d * n_words + head + 1] = arcs
    arc, root = np.zeros((n_words, n_words)), np.zeros(n_words)
    return TreeScores(arc, root, offset, modifier, sibling_begin, np.zeros(pairs))


@njit()
def inside(semiring, scores):
    """The chart [4, N, N], and the total."""
    arc, root, offset, modifier, sibling_begin, sibling = scores
    n_words, all_arcs = len(root), len(offset) == 0
    chart = np.full((4, n_words, n_words), zero(semiring))
    for i in range(n_words):
        chart[LEFT, i, i] = chart[RIGHT, i, i] = one(semiring)
    for length in range(1, n_words):
        for i in range(n_words - length):
            j = i + length
            value = zero(semiring)
            for k in range(i, j):
                value = plus(semiring, value, times(semiring, chart[RIGHT, i, k], chart[LEFT, j, k + 1]))
            chart[INNER, i, j] = value
            if all_arcs:
                chart[ARC, i, j] = times(semiring, value, arc[i, j])
                chart[ARC, j, i] = times(semiring, value, arc[j, i])
                value = zero(semiring)
                for m in range(i + 1, j + 1):
                    value = plus(semiring, value, times(semiring, chart[ARC, i, m], chart[RIGHT, m, j]))
                chart[RIGHT, i, j] = value
                value = zero(semiring)
                for m in range(i, j):
                    value = plus(semiring, value, times(semiring, chart[ARC, j, m], chart[LEFT, m, i]))
                chart[LEFT, j, i] = value
                continue
            for d in range(2):
                head, word, near = (i, j, i + 1) if d == RIGHT else (j, i, j - 1)
                source, place = d * n_words + head, sibling_begin[head, word]
                begin, end = offset[source], offset[source + 1]
                if place >= 0:
                    weight = times(semiring, sibling[place], arc[head, word])
                    value = times(semiring, weight, chart[1 - d, word, near])
                    for number in range(begin, end):
                        s = modifier[number]
                        if s == word:
                            break
                        place += 1
                        both = times(semiring, chart[ARC, head, s], chart[INNER, min(s, word), max(s, word)])
                        weight = times(semiring, sibling[place], arc[head, word])
                        value = plus(semiring, value, times(semiring, both, weight))
                    chart[ARC, head, word] = value
                value = zero(semiring)
                for number in range(begin, end):
                    m = modifier[number]
                    if abs(m - head) > length:
                        break
                    value = plus(semiring, value, times(semiring, chart[ARC, head, m], chart[d, m, word]))
                chart[d, head, word] = value
    total = zero(semiring)
    for r in range(n_words):
        below = times(semiring, chart[LEFT, r, 0], chart[RIGHT, r, n_words - 1])
        total = plus(semiring, total, times(semiring, root[r], below))
    return chart, total


@register_jitable
def _hand_to_roots(semiring, root, total, chart, to_chart):
    """The adjoint of total = ⊕_r root[r] ⊗ C[L,r,0] ⊗ C[R,r,N−1]; gives the posteriors of the roots."""
    last = len(root) - 1
    root_marginal = np.zeros(len(root))
    left = 1.0
    for r in range(len(root)):
        x, y = chart[LEFT, r, 0], chart[RIGHT, r, last]
        below = times(semiring, x, y)
        term = times(semiring, root[r], below)
        to_root = pull(semiring, left, below, term, total)
        to_chart[LEFT, r, 0] += pull(semiring, left, times(semiring, root[r], y), term, total)
        to_chart[RIGHT, r, last] += pull(semiring, left, times(semiring, root[r], x), term, total)
        root_marginal[r] = posterior(semiring, root[r], to_root, total)
        left = rest(semiring, left, to_root)
    return root_marginal


@njit()
def marginals(semiring, scores):
    """Posterior of every arc [N, N] (head, modifier) and root word [N], and the value of the sentence."""
    arc, root, offset, modifier, sibling_begin, sibling = scores
    n_words, all_arcs = len(root), len(offset) == 0
    chart, total = inside(semiring, scores)
    to_chart = np.zeros(chart.shape)
    marginal = np.zeros((n_words, n_words))
    if total == zero(semiring):
        return marginal, np.zeros(n_words), total
    root_marginal = _hand_to_roots(semiring, root, total, chart, to_chart)
    for length in range(n_words - 1, 0, -1):
        for i in range(n_words - length):
            for d in range(2):
                head, word, towards = (i, i + length, 1) if d == RIGHT else (i + length, i, -1)
                left = to_chart[d, head, word]
                if left == 0.0:
                    continue
                source = d * n_words + head
                begin, end = (0, length) if all_arcs else (offset[source], offset[source + 1])
                for number in range(begin, end):
                    m = head + (number + 1) * towards if all_arcs else modifier[number]
                    if left == 0.0 or abs(m - head) > length:
                        break
                    x, y = chart[ARC, head, m], chart[d, m, word]
                    term = times(semiring, x, y)
                    share = pull(semiring, left, y, term, chart[d, head, word])
                    to_chart[ARC, head, m] += share
                    to_chart[d, m, word] += pull(semiring, left, x, term, chart[d, head, word])
                    left = rest(semiring, left, share)
        for i in range(n_words - length):
            j = i + length
            for d in range(2):
                head, word, near = (i, j, i + 1) if d == RIGHT else (j, i, j - 1)
                left, value, weight = to_chart[ARC, head, word], chart[ARC, head, word], arc[head, word]
                if left == 0.0:
                    continue
                if all_arcs:
                    to_arc = pull(semiring, left, chart[INNER, i, j], value, value)
                    to_chart[INNER, i, j] += pull(semiring, left, weight, value, value)
                    marginal[head, word] = posterior(semiring, weight, to_arc, total)
                    continue
                # Terms are multiplied in the order of `inside`: `Max` knows the best one by its very bits.
                place = sibling_begin[head, word]
                x = chart[1 - d, word, near]
                others = times(semiring, sibling[place], weight)
                term = times(semiring, others, x)
                share = pull(semiring, left, others, term, value)
                to_chart[1 - d, word, near] += share
                to_arc = pull(semiring, left, times(semiring, sibling[place], x), term, value)
                left = rest(semiring, left, share)
                for number in range(offset[d * n_words + head], offset[d * n_words + head + 1]):
                    s = modifier[number]
                    if left == 0.0 or s == word:
                        break
                    place += 1
                    low, high = min(s, word), max(s, word)
                    others = times(semiring, sibling[place], weight)
                    x, y = chart[ARC, head, s], chart[INNER, low, high]
                    both = times(semiring, x, y)
                    term = times(semiring, both, others)
                    share = pull(semiring, left, times(semiring, others, y), term, value)
                    to_chart[ARC, head, s] += share
                    to_chart[INNER, low, high] += pull(semiring, left, times(semiring, others, x), term, value)
                    to_arc += pull(semiring, left, times(semiring, both, sibling[place]), term, value)
                    left = rest(semiring, left, share)
                marginal[head, word] = posterior(semiring, weight, to_arc, total)
            left = to_chart[INNER, i, j]
            for k in range(i, j):
                if left == 0.0:
                    break
                x, y = chart[RIGHT, i, k], chart[LEFT, j, k + 1]
                term = times(semiring, x, y)
                share = pull(semiring, left, y, term, chart[INNER, i, j])
                to_chart[RIGHT, i, k] += share
                to_chart[LEFT, j, k + 1] += pull(semiring, left, x, term, chart[INNER, i, j])
                left = rest(semiring, left, share)
    return marginal, root_marginal, total


@njit()
def best_heads(scores):
    """The heads of the best tree (−1 for the root word) and its score; all −1 and −∞ if there is no tree.

    Ties go to the nearest split point.
    """
    marginal, _, total = marginals(Max(), scores)
    heads = np.full(len(scores.root), ROOT, np.int64)
    for head in range(len(heads)):
        for word in range(len(heads)):
            if marginal[head, word] > 0.5:
                heads[word] = head
    return heads, total


@njit()
def score_heads(scores, heads):
    """The score of a tree (−1 for the head of the root word); −∞ if an arc of it is not listed."""
    arc, root, offset, modifier, sibling_begin, sibling = scores
    n_words = len(root)
    total = 0.0
    for word in range(n_words):
        if heads[word] == ROOT:
            total += root[word]
        elif len(offset) > 0 and sibling_begin[heads[word], word] < 0:
            return -np.inf
        else:
            total += arc[heads[word], word]
    for source in range(len(offset) - 1):
        before = 0
        for number in range(offset[source], offset[source + 1]):
            word = modifier[number]
            if heads[word] == source % n_words:
                total += sibling[sibling_begin[heads[word], word] + before]
                before = number - offset[source] + 1
    return total


class _Trees(NamedTuple):
    """The hypergraph of trees: its items are the places of the chart.

    Scores are logarithms, so an edge without one has the weight 0.
    """

    scores: TreeScores


def _list_edges(trees, item, edges):
    arc, root, offset, modifier, sibling_begin, sibling = trees.scores
    n_words, all_arcs = len(root), len(offset) == 0
    square = n_words * n_words
    part, row, column = item // square, item // n_words % n_words, item % n_words
    if part > ARC:
        for r in range(n_words):
            edges.append((_item(LEFT, r, 0, n_words), _item(RIGHT, r, n_words - 1, n_words), root[r]))
    elif part == INNER:
        for k in range(row, column):
            edges.append((_item(RIGHT, row, k, n_words), _item(LEFT, column, k + 1, n_words), 0.0))
    elif part == ARC and all_arcs:
        edges.append((_item(INNER, min(row, column), max(row, column), n_words), NOTHING, arc[row, column]))
    elif part == ARC:
        d = RIGHT if column > row else LEFT
        near, place, weight = row + 2 * d - 1, sibling_begin[row, column], arc[row, column]
        edges.append((_item(1 - d, column, near, n_words), NOTHING, weight + sibling[place]))
        for number in range(offset[d * n_words + row], offset[d * n_words + row + 1]):
            s = modifier[number]
            if s == column:
                break
            place += 1
            inner = _item(INNER, min(s, column), max(s, column), n_words)
            edges.append((_item(ARC, row, s, n_words), inner, weight + sibling[place]))
    elif all_arcs:
        for m in range(min(row, column) + part, max(row, column) + part):
            edges.append((_item(ARC, row, m, n_words), _item(part, m, column, n_words), 0.0))
    else:
        for number in range(offset[part * n_words + row], offset[part * n_words + row + 1]):
            m = modifier[number]
            if abs(m - row) > abs(column - row):
                break
            edges.append((_item(ARC, row, m, n_words), _item(part, m, column, n_words), 0.0))


by_type(list_edges, {_Trees: _list_edges})


@register_jitable
def _item(part, row, column, n_words):
    """The item at a place of the chart; nothing for a triangle of one word."""
    return NOTHING if row == column else (part * n_words + row) * n_words + column


@register_jitable
def _heads_of(items, begin, n_words):
    """The heads of the trees that are made of these items (−1 for the root word)."""
    heads = np.full((len(begin) - 1, n_words), ROOT, np.int64)
    for tree in range(len(heads)):
        for item in items[begin[tree] : begin[tree + 1]]:
            if item >= ARC * n_words * n_words:
                heads[tree, item % n_words] = item // n_words % n_words
    return heads


@njit()
def k_best_heads(scores, k):
    """The heads [at most k, N] of the best trees (−1 for the root word), best first, and their scores."""
    chart, _ = inside(Max(), scores)
    items, begin, values = k_best(_Trees(scores), chart.ravel(), 0, k)
    return _heads_of(items, begin, len(scores.root)), values


@njit()
def draw_heads(scores, uniforms):
    """The heads [trees, N] of trees drawn from the posterior, each by a row of 4N numbers in [0, 1).

    The scores are logarithms, and there must be a tree.
    """
    chart, _ = inside(Log(), scores)
    items, begin = draw(Log(), _Trees(scores), chart.ravel(), 0, uniforms, False)
    return _heads_of(items, begin, len(scores.root))
