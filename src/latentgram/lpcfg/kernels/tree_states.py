"""Inside–outside over observed binary trees with hidden states at the nodes (003 figs. 2 and 4).

The tree is known, only the states are not. With t(a→b c) as an m_a × (m_b·m_c) matrix, the inside vectors of all
nodes of one height that use one rule are one matrix product,

    I(v) = t · (I(left) ⊗ I(right)) / s(v),     s(v) such that I(v) sums to one,

the outside vectors of the children of all nodes of one depth and rule come from one more,

    G(v) = O(v)ᵀ t / s(v),   O(left) = G(v) · I(right),   O(right) = G(v)ᵀ · I(left),

and the expected counts of a rule from a third, t ∘ Σ_v O(v)/s(v) ⊗ I(left) ⊗ I(right). Cost: 6·m³ multiplications
a node at the speed of matrix products; 16·m bytes a node.

The kernels work on a range of trees or rules and write to rows of their own, so that threads can share the arrays.
"""

import numpy as np
from numba import njit

CHUNK = 256
"""Nodes taken into one matrix product: bounds the memory of the outer products."""


@njit(cache=True)
def links(is_inner):
    """Left child, right child and parent of every node of binary trees in preorder, -1 where there is none.

    The left child follows its parent, the right one the subtree of the left; so one pass from the last node back
    knows the sizes of both.
    """
    number = is_inner.size
    left, right, parent = (
        np.full(number, -1, np.int32),
        np.full(number, -1, np.int32),
        np.full(number, -1, np.int32),
    )
    size = np.ones(number, np.int32)
    for v in range(number - 1, -1, -1):
        if is_inner[v]:
            left[v], right[v] = v + 1, v + 1 + size[v + 1]
            parent[left[v]] = parent[right[v]] = v
            size[v] += size[left[v]] + size[right[v]]
    return left, right, parent


@njit(cache=True)
def heights(left, right):
    """The height of every node (leaves have 0), children standing after their parents."""
    height = np.zeros(left.size, np.int32)
    for v in range(left.size - 1, -1, -1):
        if left[v] >= 0:
            height[v] = 1 + max(height[left[v]], height[right[v]])
    return height


@njit(cache=True)
def depths(parent):
    """The depth of every node (roots have 0), parents standing before their children."""
    depth = np.zeros(parent.size, np.int32)
    for v in range(parent.size):
        if parent[v] >= 0:
            depth[v] = depth[parent[v]] + 1
    return depth


@njit(cache=True, nogil=True)
def gather_rows(rows, nodes, begin, end, width):
    """The first `width` columns of the rows of nodes[begin:end], contiguous."""
    found = np.empty((end - begin, width))
    for n in range(begin, end):
        for h in range(width):
            found[n - begin, h] = rows[nodes[n], h]
    return found


@njit(cache=True, nogil=True)
def row_products(first, second):
    """The outer product of every pair of rows, flattened."""
    number, width = first.shape
    breadth = second.shape[1]
    found = np.empty((number, width * breadth))
    for n in range(number):
        for j in range(width):
            for k in range(breadth):
                found[n, j * breadth + k] = first[n, j] * second[n, k]
    return found


@njit(cache=True, nogil=True)
def inside(
    first, last, order, group, rule, left, right, entry,
    rules, states, offset, tensor, entry_offset, vectors, vector, log_scale,
):  # fmt: skip
    """Write the inside vectors of the nodes first to last into `vector` [nodes, m], each summing to one.

    `log_scale` [nodes] gets the logarithms of their scales. `order` holds the inner ones of these nodes by
    (height, rule), `group` where each run of equal pairs begins.
    """
    for v in range(first, last):
        if left[v] < 0:
            begin = entry_offset[entry[v]]
            width = entry_offset[entry[v] + 1] - begin
            total = 0.0
            for h in range(width):
                total += vectors[begin + h]
            for h in range(width):
                vector[v, h] = vectors[begin + h] / total
            log_scale[v] = np.log(total)
    for g in range(group.size - 1):
        r = rule[order[group[g]]]
        a, b, c = states[rules[r, 0]], states[rules[r, 1]], states[rules[r, 2]]
        weights = tensor[offset[r] : offset[r + 1]].reshape(a, b * c)
        for begin in range(group[g], group[g + 1], CHUNK):
            end = min(begin + CHUNK, group[g + 1])
            lefts = gather_rows(vector, left[order[begin:end]], 0, end - begin, b)
            rights = gather_rows(vector, right[order[begin:end]], 0, end - begin, c)
            found = np.dot(row_products(lefts, rights), weights.T)
            for n in range(end - begin):
                v = order[begin + n]
                total = 0.0
                for i in range(a):
                    total += found[n, i]
                for i in range(a):
                    vector[v, i] = found[n, i] / total
                log_scale[v] = np.log(total)


@njit(cache=True, nogil=True)
def outside(
    first, last, order, group, rule, left, right, root, symbol,
    rules, states, offset, tensor, start, vector, log_scale, found,
):  # fmt: skip
    """Add the outside vectors, with O(v)·I(v) = 1, to `found` [nodes, m]; the log-probability of these trees.

    `order` and `group` as for `inside`, by (depth, rule); `root` are the roots among these nodes; `start` holds a
    root vector in each symbol's row.
    """
    bound = log_scale[first:last].sum()
    for v in root:
        total = 0.0
        for h in range(states[symbol[v]]):
            total += start[symbol[v], h] * vector[v, h]
        for h in range(states[symbol[v]]):
            found[v, h] = start[symbol[v], h] / total
        bound += np.log(total)
    for g in range(group.size - 1):
        r = rule[order[group[g]]]
        a, b, c = states[rules[r, 0]], states[rules[r, 1]], states[rules[r, 2]]
        weights = tensor[offset[r] : offset[r + 1]].reshape(a, b * c)
        for begin in range(group[g], group[g + 1], CHUNK):
            end = min(begin + CHUNK, group[g + 1])
            above = np.dot(gather_rows(found, order, begin, end, a), weights)
            for n in range(end - begin):
                v = order[begin + n]
                scale = np.exp(-log_scale[v])
                for j in range(b):
                    total = 0.0
                    for k in range(c):
                        part = above[n, j * c + k] * scale
                        total += part * vector[right[v], k]
                        found[right[v], k] += part * vector[left[v], j]
                    found[left[v], j] += total
    return bound


@njit(cache=True, nogil=True)
def rule_counts(
    first, last, order, group, left, right, rules, states, offset, tensor, vector, above, log_scale, counts
):
    """Write into `counts` how often the rules first to last are used with each triple of states.

    `order` is by rule.
    """
    for r in range(first, last):
        a, b, c = states[rules[r, 0]], states[rules[r, 1]], states[rules[r, 2]]
        total = np.zeros((a, b * c))
        for begin in range(group[r], group[r + 1], CHUNK):
            end = min(begin + CHUNK, group[r + 1])
            nodes = order[begin:end]
            tops = gather_rows(above, nodes, 0, end - begin, a)
            for n in range(end - begin):
                tops[n] *= np.exp(-log_scale[nodes[n]])
            lefts = gather_rows(vector, left[nodes], 0, end - begin, b)
            rights = gather_rows(vector, right[nodes], 0, end - begin, c)
            total += np.dot(tops.T, row_products(lefts, rights))
        counts[offset[r] : offset[r + 1]] = tensor[offset[r] : offset[r + 1]] * total.reshape(a * b * c)


@njit(cache=True)
def leaf_counts(left, entry, entry_offset, vector, above):
    """The expected number of times each lexical entry is used with each state."""
    counts = np.zeros(entry_offset[-1])
    for v in range(left.size):
        if left[v] < 0:
            begin = entry_offset[entry[v]]
            for h in range(entry_offset[entry[v] + 1] - begin):
                counts[begin + h] += vector[v, h] * above[v, h]
    return counts
