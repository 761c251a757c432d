"""Inside–outside over observed binary trees with hidden states at the nodes (Cohen et al. 2012, figs. 2 and 4).

The tree is known, only the states are not. With t(a→b c) as an m_a × (m_b·m_c) matrix, the inside vectors of all
nodes of one height that use one rule are one matrix product,

    I(v) = t · (I(left) ⊗ I(right)) / s(v),     s(v) such that I(v) sums to one,

the outside vectors of the children of all nodes of one depth and rule come from one more,

    G(v) = O(v)ᵀ t / s(v),   O(left) = G(v) · I(right),   O(right) = G(v)ᵀ · I(left),

and the expected counts of a rule from a third, t ∘ Σ_v O(v)/s(v) ⊗ I(left) ⊗ I(right). Cost: 6·m³ multiplications
per node at the speed of matrix products; 16·m bytes per node.

The kernels work on a range of trees or rules and write to rows of their own, so that threads can share the arrays.
"""

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.compiling import njit
from latentgram.lpcfg.kernels.moments import (
    CHUNK,
    Rules,
    gather_rows,
    row_products,
    sizes_of,
)


class StateGrammar(NamedTuple):
    """Probabilities: of rules, flat; of entries, flat, with the place where each begins; of roots [S, m]."""

    rules: Rules
    rule: Floats
    entry_offset: Ints
    entry: Floats
    root: Floats


class TreeNodes(NamedTuple):
    """Of all nodes: symbol, rule (-1 at leaves), entry (-1 elsewhere), left and right child (-1 at leaves)."""

    symbol: Ints32
    rule: Ints32
    entry: Ints32
    left: Ints32
    right: Ints32


class Runs(NamedTuple):
    """Inner nodes in an order, and where the runs begin that one matrix product serves: one level, one rule."""

    order: Ints
    begin: Ints


class Part(NamedTuple):
    """Consecutive trees: their nodes first to last, their roots, and their inner nodes by height and by depth."""

    first: int
    last: int
    root: Ints
    by_height: Runs
    by_depth: Runs


class Vectors(NamedTuple):
    """Inside vectors, each summing to one, the logarithms of their scales, and outside ones with O(v)·I(v) = 1."""

    inside: Floats
    log_scale: Floats
    outside: Floats


@njit()
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


@njit()
def heights(left, right):
    """The height of every node (leaves have 0), children standing after their parents."""
    height = np.zeros(left.size, np.int32)
    for v in range(left.size - 1, -1, -1):
        if left[v] >= 0:
            height[v] = 1 + max(height[left[v]], height[right[v]])
    return height


@njit()
def inside(part, nodes, grammar, vectors):
    """Write the inside vectors of the nodes of a part of the trees, and the logarithms of their scales."""
    vector, log_scale = vectors.inside, vectors.log_scale
    for v in range(part.first, part.last):
        if nodes.left[v] < 0:
            begin, end = grammar.entry_offset[nodes.entry[v]], grammar.entry_offset[nodes.entry[v] + 1]
            total = 0.0
            for h in range(begin, end):
                total += grammar.entry[h]
            for h in range(begin, end):
                vector[v, h - begin] = grammar.entry[h] / total
            log_scale[v] = np.log(total)
    order, begin = part.by_height
    for run in range(begin.size - 1):
        chunk = order[begin[run] : begin[run + 1]]
        a, b, c, weights = _matrix(grammar, nodes.rule[chunk[0]])
        lefts, rights = gather_rows(vector, nodes.left[chunk], b), gather_rows(vector, nodes.right[chunk], c)
        unscaled = np.dot(row_products(lefts, rights), weights.T)
        for n in range(chunk.size):
            total = 0.0
            for i in range(a):
                total += unscaled[n, i]
            for i in range(a):
                vector[chunk[n], i] = unscaled[n, i] / total
            log_scale[chunk[n]] = np.log(total)


@njit()
def _matrix(grammar, r):
    """The states of the symbols of a rule, and t as a matrix [m_a, m_b·m_c]."""
    a, b, c = sizes_of(grammar.rules, r)
    begin, end = grammar.rules.offset[r], grammar.rules.offset[r + 1]
    return a, b, c, grammar.rule[begin:end].reshape(a, b * c)


@njit()
def outside(part, nodes, grammar, vectors):
    """Add to the outside vectors of the nodes of a part of the trees, whose inside vectors are there.

    Returns the log-probability of these trees.
    """
    states, start = grammar.rules.states, grammar.root
    below, above = vectors.inside, vectors.outside
    bound = vectors.log_scale[part.first : part.last].sum()
    for v in part.root:
        total = 0.0
        for h in range(states[nodes.symbol[v]]):
            total += start[nodes.symbol[v], h] * below[v, h]
        for h in range(states[nodes.symbol[v]]):
            above[v, h] = start[nodes.symbol[v], h] / total
        bound += np.log(total)
    order, begin = part.by_depth
    for run in range(begin.size - 1):
        chunk = order[begin[run] : begin[run + 1]]
        a, b, c, weights = _matrix(grammar, nodes.rule[chunk[0]])
        joint = np.dot(gather_rows(above, chunk, a), weights)
        for n in range(chunk.size):
            v = chunk[n]
            left, right = nodes.left[v], nodes.right[v]
            scale = np.exp(-vectors.log_scale[v])
            for j in range(b):
                total = 0.0
                for k in range(c):
                    share = joint[n, j * c + k] * scale
                    total += share * below[right, k]
                    above[right, k] += share * below[left, j]
                above[left, j] += total
    return bound


@njit()
def add_rule_counts(first, last, nodes, grammar, vectors, counts):
    """Add to `counts` how often the rules first to last are used with each triple of states.

    `nodes` are the nodes by rule.
    """
    rules = grammar.rules
    for r in range(first, last):
        a, b, c = sizes_of(rules, r)
        total = np.zeros((a, b * c))
        for begin in range(nodes.group[r], nodes.group[r + 1], CHUNK):
            chunk = nodes.order[begin : min(begin + CHUNK, nodes.group[r + 1])]
            tops = gather_rows(vectors.outside, chunk, a)
            for n in range(chunk.size):
                tops[n] *= np.exp(-vectors.log_scale[chunk[n]])
            lefts = gather_rows(vectors.inside, nodes.left[chunk], b)
            rights = gather_rows(vectors.inside, nodes.right[chunk], c)
            total += np.dot(tops.T, row_products(lefts, rights))
        flat = slice(rules.offset[r], rules.offset[r + 1])
        counts[flat] += grammar.rule[flat] * total.reshape(a * b * c)


@njit()
def leaf_counts(nodes, entry_offset, vectors):
    """The expected number of times each lexical entry is used with each state."""
    counts = np.zeros(entry_offset[-1])
    for v in range(nodes.left.size):
        if nodes.left[v] < 0:
            begin = entry_offset[nodes.entry[v]]
            for h in range(entry_offset[nodes.entry[v] + 1] - begin):
                counts[begin + h] += vectors.inside[v, h] * vectors.outside[v, h]
    return counts
