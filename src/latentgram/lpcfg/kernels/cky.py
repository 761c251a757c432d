"""CKY: all binary trees over a sentence, inside and outside, generic in the semiring.

A binarised grammar has interminals a, b, c (numbered 0 … I−1), which cover two words or more, and preterminals
(numbered I … I+P−1), which cover one. With L(b,i,k) the inside value of symbol b over the words i … k−1,

    L(a,i,j) = ⊕_{a→b c} w(a→b c) ⊗ ⊕_{i<k<j} L(b,i,k) ⊗ L(c,k,j)        (003 fig. 3, one state a symbol)

The sum over the split points k stands inside: it is the same for all rules with the children (b, c), so it is
computed once a *pair*, as a dot product of two contiguous vectors, and then spread over the pair's parents. Pairs
fall into four blocks. Two interminals meet at any split point; where one child is a preterminal there is a
single split point. `outside` walks the same pairs from the widest span to the narrowest and hands the adjoints
down with the semiring's `pull`.

Cost for n words and Q pairs: O(Q n³/6) in time, where a pair skips the split points outside of the extents of its
two symbols; 16·I·n²/2 bytes for the inside chart (it is kept by first word and by last word, so that both vectors
of a dot product are contiguous) and as much for the outside chart.

Values in `Real` and `Expectation` would leave the range of floating point in long sentences. Each word carries a
power of two, so a span carries the product of those of its words whichever way it is split: scaling is exact and
costs nothing in the inner loop. The powers are chosen as the chart grows (`_rebalance`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable
from numpy.typing import NDArray

from latentgram.lpcfg.kernels.span_masks import CLOSED, everything
from latentgram.numeric.semiring import (
    needs_scaling,
    needs_total,
    plus,
    posterior,
    pull,
    rest,
    times,
    zero,
)

_FLUSH = 2.0**-900
"""Scaled values below this are nothing: their adjoints might overflow."""
_DRIFT = 32.0
"""Powers of two by which the values of a width may leave 1 before the chart is scaled again."""


class PairIndex(NamedTuple):
    """The rules of a grammar, grouped by their pair of children.

    Pairs stand in four blocks: two interminals, sorted by the left child (`middle` gives the range of each);
    preterminal and interminal, by the left (`first`); interminal and preterminal, by the right (`last`); two
    preterminals, by the left (`both`). Ranges of `first`, `last` and `both` are indexed by preterminal − I.
    """

    interminals: int
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    rules: NDArray[np.int32]
    """[Q+1] the range of rules of each pair, in the order of `parent` and `rule`."""
    parent: NDArray[np.int32]
    rule: NDArray[np.int32]
    """The number of the rule in the grammar: weights are given as weights[rule]."""
    middle: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    both: NDArray[np.int32]


class Chart(NamedTuple):
    """Inside values. Those of interminal a over the words i … j−1 stand twice, see `at_start` and `at_end`."""

    by_start: NDArray[np.float64]
    by_end: NDArray[np.float64]
    tags: NDArray[np.float64]
    """[n, P] the values of the preterminals over each word."""
    exponents: NDArray[np.int64]
    """[n] the true value of a span is its value times two to the sum of its words' exponents."""
    starts: NDArray[np.int32]
    """[n, I, 2] the least and the greatest end of a span that begins here and can be the interminal."""
    ends: NDArray[np.int32]
    """[n+1, I, 2] the same for the beginnings of the spans that end here."""


class Adjoints(NamedTuple):
    """∂(root)/∂(value) of all chart entries, in the same places."""

    by_start: NDArray[np.float64]
    tags: NDArray[np.float64]


def pair_index(rules: NDArray[np.int32], interminals: int, preterminals: int) -> PairIndex:
    """Group rules [R, 3] of parent, left and right child by their children."""
    left, right = rules[:, 1].astype(np.int64), rules[:, 2].astype(np.int64)
    block = 2 * (left >= interminals) + (right >= interminals)  # 0 middle, 1 last, 2 first, 3 both
    key = np.where(block == 1, right, left)
    order = np.lexsort((rules[:, 0], left, right, key, block))
    pairs, begin = np.unique(np.stack([block, key, right, left], axis=1)[order], axis=0, return_index=True)
    symbols = interminals + preterminals

    def ranges(of: int, low: int, high: int) -> NDArray[np.int32]:
        coded = pairs[:, 0] * symbols + pairs[:, 1]
        wanted = of * symbols + np.arange(low, high + 1)
        return np.searchsorted(coded, wanted).astype(np.int32)

    return PairIndex(
        interminals,
        pairs[:, 3].astype(np.int32),
        pairs[:, 2].astype(np.int32),
        np.append(begin, len(rules)).astype(np.int32),
        rules[order, 0].astype(np.int32),
        order.astype(np.int32),
        ranges(0, 0, interminals),
        ranges(2, interminals, symbols),
        ranges(1, interminals, symbols),
        ranges(3, interminals, symbols),
    )


@register_jitable
def at_start(interminals, n, a, i, j):
    """Where the entry of a over i … j−1 stands in `by_start`: entries of one i and a are contiguous in j."""
    return interminals * (i * n - i * (i - 1) // 2) + a * (n - i) + j - i - 1


@register_jitable
def at_end(interminals, a, i, j):
    """Where the entry of a over i … j−1 stands in `by_end`: entries of one j and a are contiguous in i."""
    return interminals * (j * (j - 1) // 2) + a * j + i


@register_jitable
def _dot(semiring, left, right):
    """⊕ₖ leftₖ ⊗ rightₖ."""
    total = zero(semiring)
    for k in range(left.shape[0]):
        total = plus(semiring, total, times(semiring, left[k], right[k]))
    return total


@register_jitable
def _spread(semiring, index, weights, pair, value, cell):
    """cell(a) ⊕= w(a→b c) ⊗ value, for all parents a of a pair."""
    for r in range(index.rules[pair], index.rules[pair + 1]):
        a = index.parent[r]
        cell[a] = plus(semiring, cell[a], times(semiring, weights[index.rule[r]], value))


@register_jitable
def _gather(semiring, index, weights, pair, value, cell, handed):
    """The adjoint of a pair's value: what its parents hand down (`handed` is what they have left)."""
    adjoint = handed[0] * 0
    for r in range(index.rules[pair], index.rules[pair + 1]):
        a = index.parent[r]
        if handed[a] != 0:
            weight = weights[index.rule[r]]
            pulled = pull(semiring, handed[a], weight, times(semiring, weight, value), cell[a])
            handed[a] = rest(semiring, handed[a], pulled)
            adjoint += pulled
    return adjoint


@register_jitable
def _splits(chart, b, c, i, j):
    """The range of split points at which b may end and c begin."""
    low = max(chart.starts[i, b, 0], chart.ends[j, c, 0])
    high = min(chart.starts[i, b, 1], chart.ends[j, c, 1])
    return low, min(high, j - 2) + 1


@njit(cache=True)
def inside(semiring, index, weights, lexical):
    """The inside chart of a sentence.

    `lexical` [n, P] holds the value of each preterminal over each word, `weights` that of each rule.
    """
    return inside_within(semiring, index, weights, lexical, everything(lexical.shape[0], index.interminals))


@njit(cache=True)
def inside_within(semiring, index, weights, lexical, masks):
    """The inside chart of the trees that masks of spans (span_masks.py) allow."""
    n, preterminals = lexical.shape
    interminals = index.interminals
    nothing = zero(semiring)
    size = interminals * n * (n + 1) // 2
    chart = Chart(
        np.full(size, nothing, weights.dtype),
        np.full(size, nothing, weights.dtype),
        lexical.copy(),
        np.zeros(n, np.int64),
        np.empty((n, interminals, 2), np.int32),
        np.empty((n + 1, interminals, 2), np.int32),
    )
    chart.starts[:, :, 0] = chart.ends[:, :, 0] = n + 1
    chart.starts[:, :, 1] = chart.ends[:, :, 1] = -1
    if needs_scaling(semiring):
        _balance_words(chart)
    by_start, by_end, tags = chart.by_start, chart.by_end, chart.tags
    cell = np.empty(interminals, weights.dtype)
    number = n - 1
    for width in range(2, n + 1):
        pair = width == 2
        after_tag = index.both if pair else index.first
        for i in range(n - width + 1):
            j = i + width
            number += 1
            if masks.of_cell[number] == CLOSED:
                continue
            allowed = masks.allowed[masks.of_cell[number]]
            cell[:] = nothing
            for t in range(preterminals):
                value = tags[i, t]
                if value == nothing:
                    continue
                for q in range(after_tag[t], after_tag[t + 1]):
                    c = index.right[q]
                    other = tags[i + 1, c - interminals] if pair else by_end[at_end(interminals, c, i + 1, j)]
                    if other != nothing:
                        _spread(semiring, index, weights, q, times(semiring, value, other), cell)
            for t in range(0 if pair else preterminals):
                value = tags[j - 1, t]
                if value == nothing:
                    continue
                for q in range(index.last[t], index.last[t + 1]):
                    other = by_start[at_start(interminals, n, index.left[q], i, j - 1)]
                    if other != nothing:
                        _spread(semiring, index, weights, q, times(semiring, other, value), cell)
            for b in range(interminals if width > 3 else 0):
                if chart.starts[i, b, 1] < 0:
                    continue
                row = at_start(interminals, n, b, i, 0)
                for q in range(index.middle[b], index.middle[b + 1]):
                    c = index.right[q]
                    low, high = _splits(chart, b, c, i, j)
                    if low < high:
                        column = at_end(interminals, c, 0, j)
                        value = _dot(
                            semiring, by_start[row + low : row + high], by_end[column + low : column + high]
                        )
                        if value != nothing:
                            _spread(semiring, index, weights, q, value, cell)
            for a in range(interminals):
                value = cell[a]
                if value == nothing or not allowed[a] or (needs_scaling(semiring) and abs(value) < _FLUSH):
                    continue
                by_start[at_start(interminals, n, a, i, j)] = value
                by_end[at_end(interminals, a, i, j)] = value
                chart.starts[i, a, 0] = min(chart.starts[i, a, 0], j)
                chart.starts[i, a, 1] = j
                chart.ends[j, a, 0] = i
                chart.ends[j, a, 1] = max(chart.ends[j, a, 1], i)
        if needs_scaling(semiring) and width >= 4 and width & (width - 1) == 0:
            _rebalance(chart, interminals, width)
    return chart


@register_jitable
def _scale(chart, interminals, shifts, width):
    """Take two to the power of shifts[w] out of every word w, in the spans of up to `width` words."""
    n = shifts.shape[0]
    for w in range(n):
        chart.exponents[w] += shifts[w]
        chart.tags[w] *= 2.0 ** -shifts[w]
    for i in range(n):
        shift = shifts[i]
        for j in range(i + 2, min(i + width, n) + 1):
            shift += shifts[j - 1]
            factor = math.ldexp(1.0, -shift)
            for a in range(interminals):
                chart.by_start[at_start(interminals, n, a, i, j)] *= factor
                chart.by_end[at_end(interminals, a, i, j)] *= factor


@register_jitable
def _balance_words(chart):
    """Bring the greatest value over each word near to 1."""
    for w in range(chart.tags.shape[0]):
        greatest = np.abs(chart.tags[w]).max()
        if greatest > 0:
            exponent = math.frexp(greatest)[1]
            chart.exponents[w] = exponent
            chart.tags[w] *= math.ldexp(1.0, -exponent)


@register_jitable
def _rebalance(chart, interminals, width):
    """Bring the values of a width near to 1 again, when they have drifted.

    A word's share of the drift is the mean, over the spans of this width that cover it, of the logarithm of the
    greatest value, a word.
    """
    n = chart.tags.shape[0]
    drift = np.zeros(n + 1)
    covering = np.zeros(n + 1)
    drifted = False
    for i in range(n - width + 1):
        greatest = 0.0
        for a in range(interminals):
            greatest = max(greatest, abs(chart.by_start[at_start(interminals, n, a, i, i + width)]))
        if greatest > 0:
            power = math.log2(greatest)
            drifted |= abs(power) > _DRIFT
            drift[i] += power / width
            covering[i] += 1
            drift[i + width] -= power / width
            covering[i + width] -= 1
    if not drifted:
        return
    drift, covering = np.cumsum(drift), np.cumsum(covering)
    shifts = np.zeros(n, np.int64)
    for w in range(n):
        if covering[w] > 0.5:
            shifts[w] = round(drift[w] / covering[w])
    _scale(chart, interminals, shifts, width)


@njit(cache=True)
def root_value(semiring, interminals, chart, root):
    """⊕ₐ root(a) ⊗ L(a,0,n): the sum over all trees of the sentence."""
    n = chart.tags.shape[0]
    total = zero(semiring)
    if n == 1:
        for t in range(chart.tags.shape[1]):
            total = plus(semiring, total, times(semiring, root[interminals + t], chart.tags[0, t]))
    else:
        for a in range(interminals):
            value = chart.by_start[at_start(interminals, n, a, 0, n)]
            total = plus(semiring, total, times(semiring, root[a], value))
    return total


@njit(cache=True)
def outside(semiring, index, weights, chart, root, floor):
    """The adjoints of all chart entries, in one walk from the widest span to the narrowest.

    Entries whose posterior is at most `floor` hand nothing down: 0 is exact; a small floor saves most of the work
    and takes no more than its own mass from each entry below.
    """
    n, preterminals = chart.tags.shape
    interminals = index.interminals
    nothing = zero(semiring)
    total = root_value(semiring, interminals, chart, root)
    by_start, by_end, tags = chart.by_start, chart.by_end, chart.tags
    out_start = np.zeros_like(by_start)
    out_end = np.zeros_like(by_end)
    out_tags = np.zeros_like(tags)
    cell = np.empty(interminals, weights.dtype)
    handed = np.empty(interminals, weights.dtype)
    if total == nothing:
        return Adjoints(out_start, out_tags)
    unit = out_start[0] * 0 + 1
    if n == 1:
        for t in range(preterminals):
            term = times(semiring, root[interminals + t], tags[0, t])
            pulled = pull(semiring, unit, root[interminals + t], term, total)
            unit = rest(semiring, unit, pulled)
            out_tags[0, t] = pulled
        return Adjoints(out_start, out_tags)
    for a in range(interminals):
        place = at_start(interminals, n, a, 0, n)
        term = times(semiring, root[a], by_start[place])
        pulled = pull(semiring, unit, root[a], term, total)
        unit = rest(semiring, unit, pulled)
        out_start[place] = pulled
    for width in range(n, 1, -1):
        pair = width == 2
        after_tag = index.both if pair else index.first
        for i in range(n - width + 1):
            j = i + width
            open_cell = False
            for a in range(interminals):
                handed[a] = 0
                place = at_start(interminals, n, a, i, j)
                cell[a] = by_start[place]
                if cell[a] == nothing:
                    out_start[place] = 0
                    continue
                adjoint = out_start[place] + out_end[at_end(interminals, a, i, j)]
                out_start[place] = adjoint
                if abs(posterior(semiring, cell[a], adjoint, total)) > floor:
                    handed[a] = adjoint
                    open_cell = True
            if not open_cell:
                continue
            for t in range(preterminals):
                value = tags[i, t]
                if value == nothing:
                    continue
                for q in range(after_tag[t], after_tag[t + 1]):
                    c = index.right[q]
                    place = at_end(interminals, c, i + 1, j)
                    other = tags[i + 1, c - interminals] if pair else by_end[place]
                    if other != nothing:
                        term = times(semiring, value, other)
                        adjoint = _gather(semiring, index, weights, q, term, cell, handed)
                        out_tags[i, t] += pull(semiring, adjoint, other, term, term)
                        to_right = pull(semiring, adjoint, value, term, term)
                        if pair:
                            out_tags[i + 1, c - interminals] += to_right
                        else:
                            out_end[place] += to_right
            for t in range(0 if pair else preterminals):
                value = tags[j - 1, t]
                if value == nothing:
                    continue
                for q in range(index.last[t], index.last[t + 1]):
                    place = at_start(interminals, n, index.left[q], i, j - 1)
                    other = by_start[place]
                    if other != nothing:
                        term = times(semiring, other, value)
                        adjoint = _gather(semiring, index, weights, q, term, cell, handed)
                        out_start[place] += pull(semiring, adjoint, value, term, term)
                        out_tags[j - 1, t] += pull(semiring, adjoint, other, term, term)
            for b in range(interminals if width > 3 else 0):
                if chart.starts[i, b, 1] < 0:
                    continue
                row = at_start(interminals, n, b, i, 0)
                for q in range(index.middle[b], index.middle[b + 1]):
                    c = index.right[q]
                    low, high = _splits(chart, b, c, i, j)
                    if low >= high:
                        continue
                    column = at_end(interminals, c, 0, j)
                    left, right = by_start[row + low : row + high], by_end[column + low : column + high]
                    value = nothing
                    if needs_total(semiring):
                        value = _dot(semiring, left, right)
                        if value == nothing:
                            continue
                    adjoint = _gather(semiring, index, weights, q, value, cell, handed)
                    if adjoint != 0:
                        _hand_down(
                            semiring,
                            adjoint,
                            value,
                            left,
                            right,
                            out_start[row + low : row + high],
                            out_end[column + low : column + high],
                        )
    return Adjoints(out_start, out_tags)


@register_jitable
def _hand_down(semiring, adjoint, total, left, right, out_left, out_right):
    """The adjoint of `_dot`."""
    for k in range(left.shape[0]):
        term = times(semiring, left[k], right[k])
        to_left = pull(semiring, adjoint, right[k], term, total)
        out_left[k] += to_left
        out_right[k] += pull(semiring, adjoint, left[k], term, total)
        adjoint = rest(semiring, adjoint, to_left)
