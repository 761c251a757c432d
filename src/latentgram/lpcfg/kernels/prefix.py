"""Prefix probabilities of a PCFG (Jelinek & Lafferty 1991): how probable are all sentences that begin so?

With Q[a,b] = Σₙ (Pⁿ)[a,b] the expected number of times that symbol b is a left corner of a, where
P[a,b] = Σ_c p(a→b c), and L the inside probabilities,

    R(a,k,k) = Σ_t Q[a,t] q(t→x_k)
    R(a,i,k) = Σ_b Q[a,b] Σ_{b→c d} p(b→c d) Σ_{i<j≤k} L(c,i,j) R(d,j,k)          (i < k)

is the probability that a makes a string that begins with the words x_i … x_k, and Σ_a π(a) R(a,0,k) the
probability of the prefix; Σ_a s(a) R(a,i,k) is that of something, drawn from s, that begins with them. Rules never
seen, p(a→b c) = left(b, a) · right(c, a), come as factors: their sums over b and c are taken apart. Unary rules do
not occur: binarisation made chains into symbols. One pass like CKY for each last word: O(rules · n³/6 + I² n²) for
n words.
"""

from __future__ import annotations

import numpy as np

from latentgram.compiling import njit
from latentgram.lpcfg.kernels.chart import cell_of
from latentgram.lpcfg.kernels.rows import at_first


@njit()
def prefix_values(chart, rules, weights, unseen, corners, tag_corners, root, anywhere):
    """[i, k] the probability of beginning with the words i to k, with the chart's scales of these words.

    `weights` of rules are less what they would have if they were unseen, where there are unseen ones.
    From the first word on it is a sentence that begins (`root`), later something else (`anywhere`). `corners`
    [I, I] and `tag_corners` [I, P] are the parts of Q. The chart is one that was not cut (first_pass.py).
    """
    n = chart.exponent.shape[0]
    interminals, preterminals = tag_corners.shape
    tags = np.zeros((n, preterminals))
    for word in range(n):
        for item in range(chart.cell_begin[word], chart.cell_begin[word + 1]):
            tags[word, chart.symbol[item] - interminals] = chart.inside[item]
    ahead = np.zeros((n, interminals + preterminals))
    smooth = unseen.weight > 0.0
    ahead_sum, direct = np.zeros((n, interminals)), np.empty(interminals)
    prefixes = np.zeros((n, n))
    for last in range(n):
        for i in range(last, -1, -1):
            direct[:] = 0.0
            for rule in range(rules.shape[0] if i < last else 0):
                a, c, d = rules[rule, 0], rules[rule, 1], rules[rule, 2]
                total = 0.0
                if c >= interminals:
                    total = tags[i, c - interminals] * ahead[i + 1, d]
                else:
                    row = at_first(interminals, n, c, i, 0)
                    for j in range(i + 2, last + 1):
                        total += chart.rows.by_first[row + j] * ahead[j, d]
                direct[a] += weights[rule] * total
            for j in range(i + 1, last + 1 if smooth else 0):
                cell = cell_of(n, i, j - i)
                if chart.cell_begin[cell] < chart.cell_begin[cell + 1]:
                    direct += unseen.weight * chart.left_sum[cell] * ahead_sum[j]
            ahead[i, :] = 0.0
            if i == last:
                ahead[i, interminals:] = tags[i]
                ahead[i, :interminals] = tag_corners @ tags[i]
            else:
                ahead[i, :interminals] = corners @ direct
            if smooth:
                ahead_sum[i] = unseen.right.T @ ahead[i]
            prefixes[i, last] = np.sum((root if i == 0 else anywhere) * ahead[i])
    return prefixes


@njit()
def whole_value(chart, first, root, anywhere):
    """The probability of being the words from `first` on and nothing more, with the chart's scales."""
    n, total = chart.exponent.shape[0], 0.0
    cell = cell_of(n, first, n - first)
    for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
        total += (root if first == 0 else anywhere)[chart.symbol[item]] * chart.inside[item]
    return total
