"""Exact draws of trees from a latent-variable PCFG of non-negative numbers: hidden states are summed out.

Going down from the root, an item a has a functional f, the outside vector of what has been drawn so far. An edge
a→b c with the children's inside vectors α(b), α(c) is taken in proportion to

    α(b)ᵀ G α(c),   G = fᵀ T^{a→b c}.

Then b is drawn with the functional G α(c); when its subtree stands, with its own vector v(b), c is drawn with
v(b)ᵀ G. So a tree comes with probability weight(tree) / Z. O(n · edges of an item · m²) per tree, once the inside
vectors are there. It cannot be the walk of numeric/sampling.py: an item has a vector in place of a value, and the
shares of its edges depend, by the functional, on all that was drawn before.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from latentgram.compiling import njit
from latentgram.lpcfg.kernels.chart import unseen_rule
from latentgram.lpcfg.kernels.decode import sizes_of
from latentgram.lpcfg.kernels.inside_outside import inside, mean_of, start_vectors, vector_places
from latentgram.numeric.sampling import draw_place


@register_jitable
def _matrix(tensors, a, b, c, rule, functional, matrix):
    """G = fᵀ T^{a→b c}, written row by row; rules never seen are products of means (projection.py)."""
    left, right = tensors.states[b], tensors.states[c]
    size = left * right
    matrix[:size] = 0
    if rule < 0:
        place = tensors.symbol_begin[a]
        weight = unseen_rule(tensors.unseen, a, b, c)
        total = 0.0
        for h in range(tensors.states[a]):
            total += functional[h] * tensors.mean_inside[place + h]
        before, after = mean_of(tensors, b), mean_of(tensors, c)
        for l in range(left):
            for r in range(right):
                matrix[l * right + r] = weight * total * before[l] * after[r]
        return
    place = tensors.rule_begin[rule]
    for h in range(tensors.states[a]):
        for k in range(size):
            matrix[k] += functional[h] * tensors.rule[place + k]
        place += size


@register_jitable
def _form(matrix, left, right):
    """leftᵀ G right."""
    total = 0.0
    for l in range(left.shape[0]):
        for r in range(right.shape[0]):
            total += left[l] * matrix[l * right.shape[0] + r] * right[r]
    return total


@register_jitable
def _choose(chart, tensors, begin, alpha, cell, item, functional, matrix, uniform):
    """Draw an edge of an item: its left and right child and its rule."""
    edges, shares = [(0, 0, 0) for _ in range(0)], [0.0 for _ in range(0)]
    for group in range(chart.group_begin[cell], chart.group_begin[cell + 1]):
        first = chart.split_begin[group]
        b, c = chart.item_symbol[chart.split_left[first]], chart.item_symbol[chart.split_right[first]]
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            if chart.parent_item[entry] != item:
                continue
            rule = chart.parent_rule[entry]
            _matrix(tensors, chart.item_symbol[item], b, c, rule, functional, matrix)
            for split in range(first, chart.split_begin[group + 1]):
                left, right = chart.split_left[split], chart.split_right[split]
                edges.append((left, right, rule))
                shares.append(
                    _form(matrix, alpha[begin[left] : begin[left + 1]], alpha[begin[right] : begin[right + 1]])
                )
    return edges[draw_place(shares, uniform)]


@register_jitable
def _brought_to_one(vector):
    """Only quotients matter."""
    greatest = vector.max()
    if greatest > 0.0:
        vector /= greatest


@njit()
def draw_exactly(chart, tensors, leaf_entry, leaf_weight, scale, uniforms):
    """Draws, one a row of `uniforms` [trees, n]: the items in preorder and the sizes of the subtrees."""
    begin = vector_places(chart.item_symbol, tensors.states)
    alpha = np.zeros(begin[-1], tensors.rule.dtype)
    beta = np.zeros(begin[-1], tensors.rule.dtype)
    start_vectors(chart, begin, tensors, leaf_entry, leaf_weight, scale, alpha, beta)
    inside(chart, begin, tensors, alpha)
    items, cells, length = chart.item_symbol.shape[0], chart.cell_begin.shape[0] - 1, chart.length
    nodes, largest, trees = 2 * length - 1, tensors.states.max(), uniforms.shape[0]
    order, size = np.empty((trees, nodes), np.int32), np.empty((trees, nodes), np.int32)
    cell_of_item = np.empty(items, np.int32)
    for cell in range(cells):
        cell_of_item[chart.cell_begin[cell] : chart.cell_begin[cell + 1]] = cell
    at_root = np.zeros(items - chart.cell_begin[cells - 1])
    for place in range(at_root.shape[0]):
        item = chart.cell_begin[cells - 1] + place
        for h in range(begin[item], begin[item + 1]):
            at_root[place] += alpha[h] * beta[h]
    # A frame of the stack: item, how much of it is drawn, left and right child, rule; its functional and v(left).
    frame = np.empty((length + 1, 5), np.int32)
    functional, of_left = np.empty((length + 1, largest)), np.empty((length + 1, largest))
    matrix, result = np.empty(largest * largest), np.empty(largest)
    for tree in range(trees):
        item = chart.cell_begin[cells - 1] + draw_place(at_root, uniforms[tree, 0])
        frame[0, 0], frame[0, 1] = item, 0
        functional[0, : begin[item + 1] - begin[item]] = beta[begin[item] : begin[item + 1]]
        depth, count, drawn = 1, 0, 1
        while depth > 0:
            top = frame[depth - 1]
            item = top[0]
            a, states = chart.item_symbol[item], begin[item + 1] - begin[item]
            if top[1] == 0:
                order[tree, count] = item
                count += 1
                if item < chart.cell_begin[length]:
                    for state in range(states):
                        result[state] = alpha[begin[item] + state]
                    depth -= 1
                    continue
                top[2], top[3], top[4] = _choose(
                    chart, tensors, begin, alpha, cell_of_item[item], item, functional[depth - 1], matrix,
                    uniforms[tree, drawn],
                )  # fmt: skip
                drawn += 1
            left, right = top[2], top[3]
            b, c = chart.item_symbol[left], chart.item_symbol[right]
            left_states, right_states = tensors.states[b], tensors.states[c]
            if top[1] == 2:
                # v(a) = T(·, v(b), v(c)): one unit functional a state.
                of_right = result[:right_states].copy()
                unit = np.zeros(states)
                for h in range(states):
                    unit[:] = 0.0
                    unit[h] = 1.0
                    _matrix(tensors, a, b, c, top[4], unit, matrix)
                    result[h] = _form(matrix, of_left[depth - 1, :left_states], of_right)
                _brought_to_one(result[:states])
                depth -= 1
                continue
            _matrix(tensors, a, b, c, top[4], functional[depth - 1], matrix)
            if top[1] == 0:
                child, child_states = left, left_states
                for l in range(left_states):
                    functional[depth, l] = 0.0
                    for r in range(right_states):
                        functional[depth, l] += matrix[l * right_states + r] * alpha[begin[right] + r]
            else:
                child, child_states = right, right_states
                for l in range(left_states):
                    of_left[depth - 1, l] = result[l]
                functional[depth, :right_states] = 0.0
                for l in range(left_states):
                    for r in range(right_states):
                        functional[depth, r] += result[l] * matrix[l * right_states + r]
            _brought_to_one(functional[depth, :child_states])
            top[1] += 1
            frame[depth, 0], frame[depth, 1] = child, 0
            depth += 1
        size[tree] = sizes_of(order[tree], chart.cell_begin[length])
    return order, size
