"""Moments of features and of hidden states, their back-off, and means of words (Cohen et al. 2013, §2.2–3.2).

Features: examples are rows of F numbers of the features that are 1, the others being 0 (features.py), and
Ω = E[φ ψᵀ] is the mean of their products. O(N·F·G) for N examples of F and G features.

Rules: for a rule a → b c with n instances, Z the outside view of the parent and Y, W the inside views of the
children (superscripts restored),

    E_ijk = mean Z_i Y_j W_k,  E_ij· = mean Z_i Y_j,  …,  E_i·· = mean Z_i,  …
    E²_ijk = (E_ij· E_··k + E_i·k E_·j· + E_·jk E_i··) / 3
    E³_ijk = E_i·· E_·j· E_··k
    E⁴_ijk = H^a_i F^b_j F^c_k,   H and F the means of Z and Y over all nodes of a symbol

    smoothed = λE + (1-λ)(λE² + (1-λ)(λE³ + (1-λ)E⁴)),   λ = √n / (C + √n).

The same formulas smooth expected counts of a grammar of probabilities, where E is the distribution of state
triples given the rule and the lower moments are its sums. Cost: m³ per node for the moments, m³ per rule after
that.

Words: means over groups of leaves, each pulled to a coarser mean,

    mean(r) = (Σ_{i in group r} x_i + K · mean(coarse(r))) / (n(r) + K),    or mean(coarse(r)) where n(r) + K = 0.

All kernels let go of the interpreter's lock; those that are given a range write to rows of their own, so that
threads can share the arrays.
"""

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Floats, Integers, Ints, Ints32
from latentgram.compiling import grown, njit

CHUNK = 256
"""Nodes taken into one matrix product: bounds the memory of the outer products."""


class Rules(NamedTuple):
    """Rules [R, 3], the states of the symbols [S], and where the numbers of each rule begin [R+1], flat."""

    symbols: Ints32
    states: Ints32
    offset: Ints


class RuleNodes(NamedTuple):
    """The inner nodes by rule, where each rule begins among them [R+1], and the children of all nodes."""

    order: Ints
    group: Ints
    left: Ints32
    right: Ints32


class Views(NamedTuple):
    """The outside and inside views [nodes, m], and the means of both over the nodes of each symbol [S, m]."""

    outside: Floats
    inside: Floats
    mean_outside: Floats
    mean_inside: Floats


class Level(NamedTuple):
    """Means that depend on coarser levels only: mean r is over `leaf[begin[r] : end[r]]`.

    `coarse[r]` is the row of the coarser mean in the table of all means (-1: none), `seen[r]` is n.
    """

    leaf: Ints
    begin: Ints
    end: Ints
    coarse: Ints
    seen: Floats


@njit()
def dense_cross(inside, outside, inside_weight, outside_weight):
    """Ω = mean of φ ψᵀ over examples `inside` [N, F] and `outside` [N, G], as an array."""
    cross = np.zeros((inside_weight.size, outside_weight.size))
    for n in range(inside.shape[0]):
        for f in range(inside.shape[1]):
            for g in range(outside.shape[1]):
                cross[inside[n, f], outside[n, g]] += 1.0
    for i in range(inside_weight.size):
        for j in range(outside_weight.size):
            cross[i, j] *= inside_weight[i] * outside_weight[j] / inside.shape[0]
    return cross


@njit()
def sparse_cross(inside, outside, inside_weight, outside_weight):
    """The same as a sparse matrix; the columns of a row stand as the examples bring them. O(N·F·G)."""
    rows, features = inside_weight.size, inside.shape[1]
    begin = np.zeros(rows + 2, np.int64)  # the examples of feature i, listed from begin[i]
    for n in range(inside.shape[0]):
        for f in range(features):
            begin[inside[n, f] + 2] += 1
    for i in range(rows):
        begin[i + 2] += begin[i + 1]
    example = np.empty(inside.size, np.int32)
    for n in range(inside.shape[0]):
        for f in range(features):
            example[begin[inside[n, f] + 1]] = n
            begin[inside[n, f] + 1] += 1
    pointers, cell = np.zeros(rows + 1, np.int64), np.full(outside_weight.size, -1, np.int64)
    columns, values = np.empty(4 * inside.size, np.int32), np.empty(4 * inside.size)
    filled = 0
    for i in range(rows):
        most = filled + min((begin[i + 1] - begin[i]) * outside.shape[1], outside_weight.size)
        if most > columns.shape[0]:
            columns, values = grown(columns, most), grown(values, most)
        for e in range(begin[i], begin[i + 1]):
            for g in range(outside.shape[1]):
                j = outside[example[e], g]
                if cell[j] < pointers[i]:  # where this column stood in another row, if anywhere
                    cell[j], columns[filled], values[filled] = filled, j, 0.0
                    filled += 1
                values[cell[j]] += 1.0
        for p in range(pointers[i], filled):
            values[p] *= inside_weight[i] * outside_weight[columns[p]] / inside.shape[0]
        pointers[i + 1] = filled
    return pointers, columns[:filled], values[:filled]


@njit()
def project_rows(features, nodes, image, result):
    """For each of the nodes, the sum of the images [features, r] of its features, into its row of `result`."""
    for v in nodes:
        for h in range(image.shape[1]):
            result[v, h] = image[features[v, 0], h]
        for f in range(1, features.shape[1]):
            for h in range(image.shape[1]):
                result[v, h] += image[features[v, f], h]


@njit()
def gather_rows(rows, nodes, width):
    """The first `width` columns of the rows of some nodes, contiguous."""
    gathered = np.empty((nodes.size, width))
    for n in range(nodes.size):
        for h in range(width):
            gathered[n, h] = rows[nodes[n], h]
    return gathered


@njit()
def row_products(first, second):
    """The outer product of every pair of rows, flattened."""
    products = np.empty((first.shape[0], first.shape[1] * second.shape[1]))
    write_products(first, second, products)
    return products


@njit()
def write_products(first, second, products):
    """The same, into `products`."""
    breadth = second.shape[1]
    for n in range(first.shape[0]):
        for j in range(first.shape[1]):
            for k in range(breadth):
                products[n, j * breadth + k] = first[n, j] * second[n, k]


@njit()
def sizes_of(rules, r):
    """The states of the parent, the left and the right child of a rule."""
    symbols, states = rules.symbols[r], rules.states
    return states[symbols[0]], states[symbols[1]], states[symbols[2]]


def back_off_weight(counts: Integers | Floats, constant: float) -> Floats:
    """λ of rules that have been seen so often; C = 0 means no smoothing."""
    root = np.sqrt(np.asarray(counts, np.float64))
    return root / (constant + root)


@njit()
def _back_off(third, pairs, singles, means, weight, factor, result):
    """Blend E, the three E_ij·, the three E_i·· and the three means of one rule, and write the blend times a
    factor into `result` [a, b, c], which may be E itself."""
    (zy, zw, yw), (z, y, w), (top, left, right) = pairs, singles, means
    rest = 1.0 - weight
    for i in range(z.size):
        for j in range(y.size):
            for k in range(w.size):
                by_pairs = (zy[i, j] * w[k] + zw[i, k] * y[j] + yw[j, k] * z[i]) / 3.0
                by_singles = z[i] * y[j] * w[k]
                prior = top[i] * left[j] * right[k]
                result[i, j, k] = factor * (
                    weight * third[i, j, k]
                    + rest * (weight * by_pairs + rest * (weight * by_singles + rest * prior))
                )


@njit()
def _mean(rows):
    total = np.zeros(rows.shape[1])
    for n in range(rows.shape[0]):
        total += rows[n]
    return total / rows.shape[0]


@njit()
def view_moments(first, last, rules, nodes, views, weight, factor, result):
    """Write the smoothed moments of the rules first to last, each times its factor, flat at their offsets;
    `weight` is λ of each rule."""
    room, most = 0, 0  # of what is fetched afresh for every rule, the system takes the memory back every time
    for r in range(first, last):
        a, b, c = sizes_of(rules, r)
        room = max(room, min(CHUNK, nodes.group[r + 1] - nodes.group[r]) * b * c)
        most = max(most, a * b * c)
    products_room, sum_room = np.empty(room), np.empty(most)
    for r in range(first, last):
        a, b, c = sizes_of(rules, r)
        number = nodes.group[r + 1] - nodes.group[r]
        third = result[rules.offset[r] : rules.offset[r + 1]].reshape(a, b * c)
        third[:] = 0.0
        pair_left, pair_right, pair_below = np.zeros((a, b)), np.zeros((a, c)), np.zeros((b, c))
        top, left, right = np.zeros(a), np.zeros(b), np.zeros(c)
        for begin in range(nodes.group[r], nodes.group[r + 1], CHUNK):
            chunk = nodes.order[begin : min(begin + CHUNK, nodes.group[r + 1])]
            z = gather_rows(views.outside, chunk, a)
            y = gather_rows(views.inside, nodes.left[chunk], b)
            w = gather_rows(views.inside, nodes.right[chunk], c)
            products = products_room[: chunk.size * b * c].reshape(chunk.size, b * c)
            write_products(y, w, products)
            of_chunk = np.dot(z.T, products, sum_room[: a * b * c].reshape(a, b * c))
            for i in range(a):
                for j in range(b * c):
                    third[i, j] += of_chunk[i, j] / number
            pair_left += np.dot(z.T, y) / number
            pair_right += np.dot(z.T, w) / number
            pair_below += np.dot(y.T, w) / number
            share = chunk.size / number
            top += _mean(z) * share
            left += _mean(y) * share
            right += _mean(w) * share
        symbols = rules.symbols[r]
        _back_off(
            third.reshape(a, b, c),
            (pair_left, pair_right, pair_below),
            (top, left, right),
            (views.mean_outside[symbols[0]], views.mean_inside[symbols[1]], views.mean_inside[symbols[2]]),
            weight[r],
            factor[r],
            third.reshape(a, b, c),
        )


@njit()
def smooth_counts(first, last, rules, counts, number, weight, distribution):
    """Blend, in place, expected counts of the states of the rules first to last with what their own sums foretell.

    `number` is n of each rule, `distribution` [symbols, m] that of each symbol's states.
    """
    for r in range(first, last):
        a, b, c = sizes_of(rules, r)
        flat = slice(rules.offset[r], rules.offset[r + 1])
        third = counts[flat].reshape(a, b, c) / number[r]
        pair_left, pair_right, pair_below = np.zeros((a, b)), np.zeros((a, c)), np.zeros((b, c))
        for i in range(a):
            for j in range(b):
                for k in range(c):
                    pair_left[i, j] += third[i, j, k]
                    pair_right[i, k] += third[i, j, k]
                    pair_below[j, k] += third[i, j, k]
        symbols = rules.symbols[r]
        _back_off(
            third,
            (pair_left, pair_right, pair_below),
            (pair_left.sum(1), pair_left.sum(0), pair_right.sum(0)),
            (distribution[symbols[0]], distribution[symbols[1]], distribution[symbols[2]]),
            weight[r],
            number[r],
            counts[flat].reshape(a, b, c),
        )


@njit()
def state_totals(rules, counts, symbols, roof):
    """The counts of the states of the parents [symbols, m]."""
    totals = np.zeros((symbols, roof))
    for r in range(rules.symbols.shape[0]):
        rows = _rows(rules, counts, r)
        for i in range(rows.shape[0]):
            totals[rules.symbols[r, 0], i] += rows[i].sum()
    return totals


@njit()
def divide_by_parent(rules, counts, totals):
    """Counts divided, in place, by the total of their parent's state; states never seen stay at zero."""
    for r in range(rules.symbols.shape[0]):
        rows = _rows(rules, counts, r)
        for i in range(rows.shape[0]):
            if totals[rules.symbols[r, 0], i] > 0.0:
                rows[i] /= totals[rules.symbols[r, 0], i]


@njit()
def _rows(rules, values, r):
    """The numbers of a rule, a row for each state of its parent."""
    begin, end = rules.offset[r], rules.offset[r + 1]
    a = rules.states[rules.symbols[r, 0]]
    return values[begin:end].reshape(a, (end - begin) // a)


@njit()
def pulled_means(first, last, level, pull, place, rows, table, above):
    """Write the means of a level numbered first to last into the rows of `table` that follow the first `above`.

    Leaf l has its row at `place[l]`. Coarser means come before finer ones in the table.
    """
    for r in range(first, last):
        mean = table[above + r]
        mean[:] = 0.0
        for i in range(level.begin[r], level.end[r]):
            row = place[level.leaf[i]]
            for h in range(rows.shape[1]):
                mean[h] += rows[row, h]
        coarse, seen = level.coarse[r], level.seen[r]
        if coarse < 0:
            for h in range(rows.shape[1]):
                mean[h] /= seen
        elif seen + pull > 0.0:
            for h in range(rows.shape[1]):
                mean[h] = (mean[h] + pull * table[coarse, h]) / (seen + pull)
        else:
            for h in range(rows.shape[1]):
                mean[h] = table[coarse, h]


@njit()
def scaled_rows(first, last, table, chosen, factor, result):
    """Write the chosen rows of a table, each multiplied by a factor."""
    for r in range(first, last):
        for h in range(table.shape[1]):
            result[r, h] = table[chosen[r], h] * factor[r]


@njit()
def leading_parts(rows, offset):
    """The leading offset[r + 1] - offset[r] numbers of each row, one after the other."""
    result = np.empty(offset[-1])
    for r in range(rows.shape[0]):
        for p in range(offset[r], offset[r + 1]):
            result[p] = rows[r, p - offset[r]]
    return result
