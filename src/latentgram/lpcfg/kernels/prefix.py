"""Prefix probabilities of a PCFG, word by word from the left: how probable are all sentences that begin so?

Let Q[a,b] = Σₙ (Cⁿ)[a,b] be the expected number of times that symbol b is a left corner of a, where
C[a,b] = Σ_c p(a→b c) (Jelinek & Lafferty 1991), and L the inside probabilities. What the words before place j say
of the node that begins there as a right child, or as the root, and of all nodes that begin there (Stolcke 1995:
forward probabilities), is

    F(d,0) = π(d),     F(d,j) = Σ_{i<j} Σ_{b→c d} G(b,i) p(b→c d) L(c,i,j),     G(b,j) = Σ_d F(d,j) Q[d,b],

each with the probability of the words before it in it, so that the prefix that ends with word j has the
probability P(j+1) = Σ_t G(t,j) q(t→x_j). What is on the right edge, with nothing left to come after it, follows
the same recursion without corners, and ends the sentence:

    E(d,0) = π(d),     E(d,j) = Σ_{i<j} Σ_{b→c d} E(b,i) p(b→c d) L(c,i,j),
    p(sentence) = Σ_t E(t,n−1) q(t→x_{n−1}).

Spans grow with their end, so nothing here looks at later words. All numbers are divided by the probability of the
words they speak of, word by word: L(c,i,j) by P(j)/P(i), F, G and E by P(j). Then G(c,i) L(c,i,j) is the
probability that c stands over these words *given the words up to j*; a symbol over words is kept where this is at
least `beam` and not zero. With a beam of zero all is exact: G(c,i) = 0 means that no sentence has c there.

Rules never seen, p(a→b c) = left(b, a) · right(c, a), come as factors: their sums over b and c are taken apart. A
sentence may break off before each word but the first (lpcfg/surprisal.py), with the probability ε; then something
begins that is drawn from `anywhere`: rules, each of which begins a right child at another word, count 1 − ε, and
F(d,j) and E(d,j) have ε · anywhere(d) more. Unary rules do not occur: binarisation made chains into symbols.

Numbers are real, or complex with slopes of logarithms as imaginary parts (lpcfg/prefixes.py). O(rules · n³/6) at
most for the inside numbers, O(rules · n²/2 + I² n) for the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.compiling import REORDER, jitable, njit

Numbers = NDArray[np.inexact]


class WordWeights(NamedTuple):
    """q(symbol → word): word w has the leaves from `begin[w]` to `begin[w + 1]`."""

    begin: Ints32
    symbol: Ints32
    inside: Numbers


class OneState(NamedTuple):
    """The numbers of a PCFG."""

    rule: Numbers
    """p(a→b c) in the order of a `RuleIndex`, less what the rule would have if it were unseen."""
    left: Numbers
    """[S, I] the factors of unseen rules; [0, I] where there are none."""
    right: Numbers
    closure: Numbers
    """[I, S] Q."""
    root: Numbers
    """[S]"""
    anywhere: Numbers
    """[S]"""


class Prefixes(NamedTuple):
    """A chart that grew with the ends of its spans; cells go by end, then by first word, the last one first."""

    cell_begin: Ints
    symbol: Ints32
    inside: Numbers
    """L, scaled."""
    starts: Numbers
    """[n, S] G, scaled."""
    ends: Numbers
    """[n, S] E, scaled."""
    scale: Floats
    """[n] p(word | words before it); zeros from the word on that cannot follow."""
    forward: Numbers
    """[n, S] F, scaled."""
    look: Floats
    """[n, S] Σ_t Q[d,t] q(t→x_j), scaled: how well d begins with the word. F(d,j) times it is the share of d in
    the next prefix."""
    left_sum: Numbers
    """[cells, I] Σ_b left(b, a) L(b), for unseen rules; [0, I] where there are none."""
    slope: Floats
    """[n] the imaginary part of P(j+1), over P(j+1)."""
    whole: float
    """p(sentence) over the probability of all words but the last."""


@jitable()
def cell_at(first, end):
    """The number of the cell over the words first … end−1."""
    return end * (end - 1) // 2 + end - 1 - first


class _Cell(NamedTuple):
    """What is known while the cells of one end are filled."""

    place: Ints
    """[n, S] the item of a symbol that begins at a word and ends here, −1 where there is none."""
    right_sum: Numbers
    """[n, I] Σ_c right(c, a) L(c) of what begins at a word and ends here."""
    mass: Numbers
    """[pairs] Σ_k L(b,i,k) L(c,k,j)."""
    met: Ints
    met_in: Ints
    inside: Numbers
    """[I]"""


@jitable(fastmath=REORDER)
def _meet(chart, index, first, end, here):
    """Σ_k L(b,i,k) L(c,k,j) of all pairs that have a rule; how many pairs were met."""
    met, cell = 0, cell_at(first, end)
    for middle in range(first + 1, end):
        beside, place = cell_at(first, middle), here.place[middle]
        for left in range(chart.cell_begin[beside], chart.cell_begin[beside + 1]):
            b, value = chart.symbol[left], chart.inside[left]
            low, high = index.row_begin[b], index.tags_begin[b]
            if middle == end - 1:
                low, high = high, index.row_begin[b + 1]
            for pair in range(low, high):
                right = place[index.right[pair]]
                if right >= 0:
                    if here.met_in[pair] != cell:
                        here.met_in[pair] = cell
                        here.met[met] = pair
                        met += 1
                    here.mass[pair] += value * chart.inside[right]
    return met


@jitable(fastmath=REORDER)
def _fill(chart, index, grammar, first, end, going, beam, here, items):
    """Put the symbols over some words into the chart; where the items end."""
    starts = chart.starts[first]
    met = _meet(chart, index, first, end, here)
    for number in range(met):
        pair = here.met[number]
        value = here.mass[pair]
        here.mass[pair] = 0.0
        for entry in range(index.pair_begin[pair], index.pair_begin[pair + 1]):
            here.inside[index.parent[entry]] += grammar.rule[entry] * value
    if grammar.left.shape[0]:
        for middle in range(first + 1, end):
            beside, after = cell_at(first, middle), cell_at(middle, end)
            if (
                chart.cell_begin[beside] < chart.cell_begin[beside + 1]
                and chart.cell_begin[after] < chart.cell_begin[after + 1]
            ):
                for a in range(here.inside.shape[0]):
                    here.inside[a] += chart.left_sum[beside, a] * here.right_sum[middle, a]
    for a in range(here.inside.shape[0]):
        value = going * here.inside[a]
        here.inside[a] = 0.0
        merit = starts[a].real * value.real
        if merit > 0.0 and merit >= beam:
            chart.symbol[items], chart.inside[items] = a, value
            items += 1
    return items


@jitable(fastmath=REORDER)
def _sum_factors(chart, grammar, cell, first, here):
    """Σ_b left(b, a) L(b) and Σ_c right(c, a) L(c) of a cell, and where its items are."""
    for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
        here.place[first, chart.symbol[item]] = item
    if not grammar.left.shape[0] or chart.cell_begin[cell] == chart.cell_begin[cell + 1]:
        return
    left_sum, right_sum = chart.left_sum[cell], here.right_sum[first]
    for a in range(left_sum.shape[0]):
        left_sum[a] = 0.0
        right_sum[a] = 0.0
    for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
        value, left, right = (
            chart.inside[item],
            grammar.left[chart.symbol[item]],
            grammar.right[chart.symbol[item]],
        )
        for a in range(left_sum.shape[0]):
            left_sum[a] += left[a] * value
            right_sum[a] += right[a] * value


@jitable(fastmath=REORDER)
def _predict(chart, index, grammar, end, forward, unseen):
    """F and E of the symbols that may begin where the cells of this end have ended, but for breaking off."""
    smooth, interminals = grammar.left.shape[0] > 0, unseen.shape[1]
    edge = chart.ends[end]
    for b in range(interminals):
        unseen[0, b] = 0.0
        unseen[1, b] = 0.0
    for first in range(end):
        cell, starts, ends = cell_at(first, end), chart.starts[first], chart.ends[first]
        for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
            c, value = chart.symbol[item], chart.inside[item]
            for pair in range(index.row_begin[c], index.row_begin[c + 1]):
                going, last = value * 0.0, value * 0.0
                for entry in range(index.pair_begin[pair], index.pair_begin[pair + 1]):
                    going += starts[index.parent[entry]] * grammar.rule[entry]
                    last += ends[index.parent[entry]] * grammar.rule[entry]
                forward[index.right[pair]] += going * value
                edge[index.right[pair]] += last * value
        if smooth and chart.cell_begin[cell] < chart.cell_begin[cell + 1]:
            for b in range(interminals):
                unseen[0, b] += starts[b] * chart.left_sum[cell, b]
                unseen[1, b] += ends[b] * chart.left_sum[cell, b]
    for d in range(edge.shape[0] if smooth else 0):
        right, going, last = grammar.right[d], forward[d], edge[d]
        for b in range(interminals):
            going += right[b] * unseen[0, b]
            last += right[b] * unseen[1, b]
        forward[d], edge[d] = going, last


@njit(fastmath=REORDER)
def sweep(words, index, grammar, break_off, beam):
    """The chart over all words but the last, and the probabilities of the prefixes."""
    length, (interminals, symbols) = words.begin.shape[0] - 1, grammar.closure.shape
    kind, smooth = grammar.root.dtype, grammar.left.shape[0] > 0
    cells = length * (length - 1) // 2
    most = words.symbol.shape[0] + max(cells - length + 1, 0) * interminals
    chart = Prefixes(
        np.zeros(cells + 1, np.int64),
        np.empty(most, np.int32),
        np.empty(most, kind),
        np.zeros((length, symbols), kind),
        np.zeros((length, symbols), kind),
        np.zeros(length),
        np.zeros((length, symbols), kind),
        np.zeros((length, symbols)),
        np.empty((cells * smooth, interminals), kind),
        np.zeros(length),
        0.0,
    )
    pairs = index.right.shape[0]
    here = _Cell(
        np.full((length, symbols), -1, np.int64),
        np.zeros((length * smooth, interminals), kind),
        np.zeros(pairs, kind),
        np.empty(pairs, np.int64),
        np.full(pairs, -1, np.int64),
        np.zeros(interminals, kind),
    )
    unseen = np.empty((2, interminals), kind)
    going, whole, items = 1.0 - break_off, 0.0, 0
    for end in range(length):
        forward = chart.forward[end]
        # Cells are numbered as they are filled: by the last word first, which is word end − 1 alone.
        for first in range(end - 1, -1, -1):
            cell = cell_at(first, end)
            if first == end - 1:
                for leaf in range(words.begin[first], words.begin[first + 1]):
                    symbol, value = words.symbol[leaf], words.inside[leaf] / chart.scale[first]
                    merit = chart.starts[first, symbol].real * value.real
                    if merit > 0.0 and merit >= beam:
                        chart.symbol[items], chart.inside[items] = symbol, value
                        items += 1
            else:
                items = _fill(chart, index, grammar, first, end, going, beam, here, items)
            chart.cell_begin[cell + 1] = items
            _sum_factors(chart, grammar, cell, first, here)
        if end > 0:
            _predict(chart, index, grammar, end, forward, unseen)
        for first in range(end):
            cell = cell_at(first, end)
            for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
                here.place[first, chart.symbol[item]] = -1
        starts, edge = chart.starts[end], chart.ends[end]
        for d in range(symbols):
            if end == 0:
                forward[d], edge[d] = grammar.root[d], grammar.root[d]
            else:
                forward[d] = going * forward[d] + break_off * grammar.anywhere[d]
                edge[d] = going * edge[d] + break_off * grammar.anywhere[d]
        for d in range(interminals):
            value, row = forward[d], grammar.closure[d]
            for b in range(symbols):
                starts[b] += value * row[b]
        for t in range(interminals, symbols):
            starts[t] += forward[t]
        total, last = forward[0] * 0.0, 0.0
        for leaf in range(words.begin[end], words.begin[end + 1]):
            total += starts[words.symbol[leaf]] * words.inside[leaf]
            last += (edge[words.symbol[leaf]] * words.inside[leaf]).real
        if not total.real > 0.0:
            break
        chart.scale[end], chart.slope[end] = total.real, total.imag / total.real
        for leaf in range(words.begin[end], words.begin[end + 1]):
            t, value = words.symbol[leaf], words.inside[leaf].real / total.real
            chart.look[end, t] += value
            for d in range(interminals):
                chart.look[end, d] += grammar.closure[d, t].real * value
        if end == length - 1:
            whole = last
    return Prefixes(
        chart.cell_begin,
        chart.symbol[:items],
        chart.inside[:items],
        chart.starts,
        chart.ends,
        chart.scale,
        chart.forward,
        chart.look,
        chart.left_sum,
        chart.slope,
        whole,
    )
