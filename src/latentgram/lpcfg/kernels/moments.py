"""Moments of hidden states around rules, and their back-off (004 §2.3 and §3.2, superscripts restored).

For a rule a → b c with n instances, Z the outside view of the parent and Y, W the inside views of the children,

    E_ijk = mean Z_i Y_j W_k,  E_ij· = mean Z_i Y_j,  …,  E_i·· = mean Z_i,  …
    E²_ijk = (E_ij· E_··k + E_i·k E_·j· + E_·jk E_i··) / 3
    E³_ijk = E_i·· E_·j· E_··k
    E⁴_ijk = H^a_i F^b_j F^c_k,   H and F the means of Z and Y over all nodes of a symbol

    smoothed = λE + (1-λ)(λE² + (1-λ)(λE³ + (1-λ)E⁴)),   λ = √n / (C + √n).

The same formulas smooth expected counts of a grammar of probabilities, where E is the distribution of state
triples given the rule and the lower moments are its sums. Cost: m³ a node for the moments, m³ a rule after that.
"""

import numpy as np
from numba import njit

from latentgram.lpcfg.kernels.tree_states import CHUNK, gather_rows, row_products


@njit(cache=True, nogil=True)
def _back_off(third, first_second, first_third, second_third, one, two, three, top, left, right, weight, result):
    """Blend the moments of one rule into `result` [a, b, c]."""
    rest = 1.0 - weight
    for i in range(one.size):
        for j in range(two.size):
            for k in range(three.size):
                pairs = (
                    first_second[i, j] * three[k] + first_third[i, k] * two[j] + second_third[j, k] * one[i]
                ) / 3.0
                singles = one[i] * two[j] * three[k]
                prior = top[i] * left[j] * right[k]
                result[i, j, k] = weight * third[i, j, k] + rest * (
                    weight * pairs + rest * (weight * singles + rest * prior)
                )


@njit(cache=True, nogil=True)
def _mean(rows):
    total = np.zeros(rows.shape[1])
    for n in range(rows.shape[0]):
        total += rows[n]
    return total / rows.shape[0]


@njit(cache=True, nogil=True)
def view_moments(
    first, last, order, group, left, right, rules, states, offset, weight,
    outside_view, inside_view, top, bottom, result,
):  # fmt: skip
    """Write the smoothed moments of the rules first to last, flat at `offset`, from the views [nodes, m].

    `order` holds the inner nodes by rule, `group` where each rule begins; `top` [symbols, m] are the means of the
    outside view, `bottom` those of the inside view; `weight` is λ of each rule.
    """
    for r in range(first, last):
        a, b, c = states[rules[r, 0]], states[rules[r, 1]], states[rules[r, 2]]
        number = group[r + 1] - group[r]
        third = np.zeros((a, b * c))
        pair_left, pair_right, pair_below = np.zeros((a, b)), np.zeros((a, c)), np.zeros((b, c))
        one, two, three = np.zeros(a), np.zeros(b), np.zeros(c)
        for begin in range(group[r], group[r + 1], CHUNK):
            nodes = order[begin : min(begin + CHUNK, group[r + 1])]
            z = gather_rows(outside_view, nodes, 0, nodes.size, a)
            y = gather_rows(inside_view, left[nodes], 0, nodes.size, b)
            w = gather_rows(inside_view, right[nodes], 0, nodes.size, c)
            third += np.dot(z.T, row_products(y, w)) / number
            pair_left += np.dot(z.T, y) / number
            pair_right += np.dot(z.T, w) / number
            pair_below += np.dot(y.T, w) / number
            share = nodes.size / number
            one += _mean(z) * share
            two += _mean(y) * share
            three += _mean(w) * share
        _back_off(
            third.reshape(a, b, c),
            pair_left,
            pair_right,
            pair_below,
            one,
            two,
            three,
            top[rules[r, 0]],
            bottom[rules[r, 1]],
            bottom[rules[r, 2]],
            weight[r],
            result[offset[r] : offset[r + 1]].reshape(a, b, c),
        )


@njit(cache=True, nogil=True)
def smooth_counts(first, last, counts, number, rules, states, offset, weight, distribution, result):
    """Expected counts of the states of the rules first to last, blended with what their own sums foretell.

    `number` is n of each rule, `distribution` [symbols, m] that of each symbol's states; written into `result`.
    """
    for r in range(first, last):
        a, b, c = states[rules[r, 0]], states[rules[r, 1]], states[rules[r, 2]]
        third = counts[offset[r] : offset[r + 1]].reshape(a, b, c) / number[r]
        pair_left, pair_right, pair_below = np.zeros((a, b)), np.zeros((a, c)), np.zeros((b, c))
        for i in range(a):
            for j in range(b):
                for k in range(c):
                    pair_left[i, j] += third[i, j, k]
                    pair_right[i, k] += third[i, j, k]
                    pair_below[j, k] += third[i, j, k]
        blended = result[offset[r] : offset[r + 1]].reshape(a, b, c)
        _back_off(
            third,
            pair_left,
            pair_right,
            pair_below,
            pair_left.sum(1),
            pair_left.sum(0),
            pair_right.sum(0),
            distribution[rules[r, 0]],
            distribution[rules[r, 1]],
            distribution[rules[r, 2]],
            weight[r],
            blended,
        )
        blended *= number[r]


@njit(cache=True)
def state_totals(counts, rules, states, offset, symbols, roof):
    """The counts of the states of the parents [symbols, m]."""
    totals = np.zeros((symbols, roof))
    for r in range(rules.shape[0]):
        a = states[rules[r, 0]]
        rows = counts[offset[r] : offset[r + 1]].reshape(a, (offset[r + 1] - offset[r]) // a)
        for i in range(a):
            totals[rules[r, 0], i] += rows[i].sum()
    return totals


@njit(cache=True)
def divide_by_parent(counts, rules, states, offset, totals):
    """Counts divided, in place, by the total of their parent's state; states never seen stay at zero."""
    for r in range(rules.shape[0]):
        a = states[rules[r, 0]]
        rows = counts[offset[r] : offset[r + 1]].reshape(a, (offset[r + 1] - offset[r]) // a)
        for i in range(a):
            if totals[rules[r, 0], i] > 0.0:
                rows[i] /= totals[rules[r, 0], i]
