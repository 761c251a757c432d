"""Inside and outside over a packed chart with rules that are sums of products (lpcfg/low_rank.py), in ℝ.

With T^{a→b c} = Σ_l U_l ⊗ V_l ⊗ W_l and x_l = V_l · α(b,i,k), y_l = W_l · α(c,k,j), an edge adds

    Σ_l x_l y_l U_l  to α(a,i,j);      with g_l = U_l · β(a,i,j),
    Σ_l g_l y_l V_l  to β(b,i,k)  and  Σ_l g_l x_l W_l  to β(c,k,j),

and Σ_l g_l x_l y_l is its marginal, not yet divided by Z. A rule that was never seen is one product,
p(a→b c) · H^a ⊗ F^b ⊗ F^c (kernels/inside_outside.py). Cost: 4rm per edge and pass, for r products and m states,
where whole tensors cost m² per split and m³ per parent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from latentgram.arrays import Ints, Ints32, Reals
from latentgram.compiling import REORDER, njit
from latentgram.lpcfg.kernels.chart import unseen_rule
from latentgram.lpcfg.kernels.inside_outside import item_marginals, start_vectors, vector_places

if TYPE_CHECKING:
    from latentgram.lpcfg.model import LPCFG


class Factors(NamedTuple):
    """The products of rules: U [r, m_a], V [r, m_b] and W [r, m_c] of each rule, one after the other."""

    value: Reals
    begin: Ints
    """[R+1] where those of each rule begin."""
    rank: Ints32
    """[R] r of each rule."""

    @classmethod
    def of(cls, grammar: LPCFG, precision: str) -> Factors:
        """Those of a grammar whose rules are sums of products."""
        return cls(grammar.rule_factor.astype(precision), grammar.factor_offset, grammar.rule_rank)


@njit(fastmath=REORDER)
def _dot(first, first_begin, second, second_begin, size):
    total = first.dtype.type(0)
    for h in range(size):
        total += first[first_begin + h] * second[second_begin + h]
    return total


@njit(fastmath=REORDER)
def _add(target, target_begin, weight, source, source_begin, size):
    for h in range(size):
        target[target_begin + h] += weight * source[source_begin + h]


@njit()
def _products(tensors, factors, rule, a, b, c):
    """The weight of the products of a rule, their number, the arrays of U, V and W, and where they begin there."""
    if rule >= 0:
        rank, place, states = factors.rank[rule], factors.begin[rule], tensors.states
        after = place + rank * states[a]
        ones, values = factors.value.dtype.type(1), factors.value
        return ones, rank, values, place, values, after, values, after + rank * states[b]
    begin, weight = tensors.symbol_begin, factors.value.dtype.type(unseen_rule(tensors.unseen, a, b, c))
    mean = tensors.mean_outside
    return weight, 1, tensors.mean_inside, begin[a], mean, begin[b], mean, begin[c]


@njit(fastmath=REORDER)
def inside(chart, begin, tensors, factors, alpha):
    """Fill the inside vectors of all items above the words; those of the words are given in `alpha`."""
    states = tensors.states
    for group in range(chart.split_begin.shape[0] - 1):
        first_split, end_split = chart.split_begin[group], chart.split_begin[group + 1]
        b = chart.item_symbol[chart.split_left[first_split]]
        c = chart.item_symbol[chart.split_right[first_split]]
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            parent = chart.parent_item[entry]
            a = chart.item_symbol[parent]
            weight, rank, above, u, before, v, after, w = _products(
                tensors, factors, chart.parent_rule[entry], a, b, c
            )
            for _ in range(rank):
                total = alpha.dtype.type(0)
                for split in range(first_split, end_split):
                    left, right = begin[chart.split_left[split]], begin[chart.split_right[split]]
                    total += _dot(before, v, alpha, left, states[b]) * _dot(after, w, alpha, right, states[c])
                _add(alpha, begin[parent], weight * total, above, u, states[a])
                u, v, w = u + states[a], v + states[b], w + states[c]


@njit(fastmath=REORDER)
def outside(chart, begin, tensors, factors, alpha, beta, edge_marginal):
    """Fill the outside vectors of all items below the roots, whose own are given in `beta`, and the marginals
    (not yet divided by Z) of all edges, which are zero before."""
    states = tensors.states
    for group in range(chart.split_begin.shape[0] - 2, -1, -1):
        first_split, end_split = chart.split_begin[group], chart.split_begin[group + 1]
        b = chart.item_symbol[chart.split_left[first_split]]
        c = chart.item_symbol[chart.split_right[first_split]]
        edge = chart.edge_begin[group] - first_split
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            parent = chart.parent_item[entry]
            a = chart.item_symbol[parent]
            weight, rank, above, u, before, v, after, w = _products(
                tensors, factors, chart.parent_rule[entry], a, b, c
            )
            for _ in range(rank):
                reached = weight * _dot(above, u, beta, begin[parent], states[a])
                for split in range(first_split, end_split):
                    left, right = begin[chart.split_left[split]], begin[chart.split_right[split]]
                    x = _dot(before, v, alpha, left, states[b])
                    y = _dot(after, w, alpha, right, states[c])
                    edge_marginal[edge + split] += reached * x * y
                    _add(beta, left, reached * y, before, v, states[b])
                    _add(beta, right, reached * x, after, w, states[c])
                u, v, w = u + states[a], v + states[b], w + states[c]
            edge += end_split - first_split


@njit(error_model="numpy")
def posteriors(chart, tensors, factors, leaf_entry, leaf_weight, scale):
    """Z (of the words divided by their scales), and the marginals of all items and edges divided by Z, as
    `inside_outside.posteriors` gives them."""
    begin = vector_places(chart.item_symbol, tensors.states)
    size = begin[begin.shape[0] - 1]
    alpha, beta = np.zeros(size, factors.value.dtype), np.zeros(size, factors.value.dtype)
    edge_marginal = np.zeros(chart.edge_begin[chart.edge_begin.shape[0] - 1], factors.value.dtype)
    start_vectors(chart, begin, tensors, leaf_entry, leaf_weight, scale, alpha, beta)
    inside(chart, begin, tensors, factors, alpha)
    total = 0.0
    for h in range(begin[chart.cell_begin[-2]], size):
        total += np.float64(alpha[h]) * np.float64(beta[h])
    outside(chart, begin, tensors, factors, alpha, beta, edge_marginal)
    for edge in range(edge_marginal.shape[0]):
        edge_marginal[edge] /= total
    return total, item_marginals(begin, alpha, beta, total), edge_marginal
