"""Trees out of CKY charts, top-down: the edges of one item, the best tree, samples from the posterior.

A binary tree over n words has 2n−1 nodes. It is given by the symbols of its nodes and the numbers of words they
cover, in preorder; the subtree of a node over w words is the 2w−1 nodes from it on.

Once the inside chart is there, looking at the edges of an item costs (rules of its symbol) × (split points), and a
tree has n−1 such items: far less than the chart did. So nothing is remembered in the chart for the way back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable
from numpy.typing import NDArray

from latentgram.lpcfg.kernels.cky import at_start
from latentgram.numeric.semiring import choose, times, zero


class RuleTable(NamedTuple):
    """Rules by parent: `rules` [R, 3] are sorted, those of parent a are `begin[a]` to `begin[a + 1]`."""

    interminals: int
    rules: NDArray[np.int32]
    begin: NDArray[np.int32]


def rule_table(rules: NDArray[np.int32], interminals: int) -> RuleTable:
    """Find sorted rules by their parent."""
    begin = np.searchsorted(rules[:, 0], np.arange(interminals + 1))
    return RuleTable(interminals, np.ascontiguousarray(rules), begin.astype(np.int32))


@register_jitable
def value_of(semiring, interminals, chart, symbol, i, j):
    """The inside value of a symbol over the words i … j−1."""
    if symbol >= interminals:
        return chart.tags[i, symbol - interminals] if j == i + 1 else zero(semiring)
    if j < i + 2:
        return zero(semiring)
    return chart.by_start[at_start(interminals, chart.tags.shape[0], symbol, i, j)]


@register_jitable
def split_range(interminals, b, c, i, j):
    """The split points that are possible for children b and c: a preterminal covers one word, others more."""
    low = i + 1 if b >= interminals else i + 2
    high = j - 1 if c >= interminals else j - 2
    if b >= interminals:
        high = min(high, i + 1)
    if c >= interminals:
        low = max(low, j - 1)
    return low, high + 1


@njit(cache=True)
def edges_of(semiring, table, weights, chart, a, i, j):
    """All edges of an item, by rule and then split point: rule, split point, w ⊗ left ⊗ right."""
    interminals, rules = table.interminals, table.rules
    first, last = table.begin[a], table.begin[a + 1]
    size = (last - first) * (j - i - 1)
    rule = np.empty(size, np.int32)
    split = np.empty(size, np.int32)
    value = np.empty(size, weights.dtype)
    count = 0
    for r in range(first, last):
        b, c = rules[r, 1], rules[r, 2]
        low, high = split_range(interminals, b, c, i, j)
        for k in range(low, high):
            term = times(
                semiring,
                value_of(semiring, interminals, chart, b, i, k),
                value_of(semiring, interminals, chart, c, k, j),
            )
            if term != zero(semiring):
                rule[count], split[count] = r, k
                value[count] = times(semiring, weights[r], term)
                count += 1
    return rule[:count], split[:count], value[:count]


@njit(cache=True)
def descend(semiring, table, weights, chart, a, i, j, uniforms, symbols, widths):
    """Follow edges from an item down to the words, and write the nodes in preorder.

    In Max it is the best tree below the item. In Real it is a draw: an edge is followed with probability
    w(a→b c) L(b,i,k) L(c,k,j) / L(a,i,j), so a tree is drawn with the product of these, its posterior. `uniforms`
    has a number in [0, 1) for each word but one.
    """
    interminals, rules = table.interminals, table.rules
    stack = np.empty((j - i + 1, 3), np.int32)
    stack[0, 0], stack[0, 1], stack[0, 2] = a, i, j
    height, node, inner = 1, 0, 0
    while height:
        height -= 1
        symbol, first, last = stack[height, 0], stack[height, 1], stack[height, 2]
        symbols[node], widths[node] = symbol, last - first
        node += 1
        if symbol >= interminals:
            continue
        rule, split, value = edges_of(semiring, table, weights, chart, symbol, first, last)
        chosen = choose(semiring, value, uniforms[inner])
        inner += 1
        k = split[chosen]
        stack[height, 0], stack[height, 1], stack[height, 2] = rules[rule[chosen], 2], k, last
        height += 1
        stack[height, 0], stack[height, 1], stack[height, 2] = rules[rule[chosen], 1], first, k
        height += 1


@njit(cache=True)
def trees_below_root(semiring, table, weights, chart, root, uniforms):
    """One tree of the sentence a row of `uniforms` [trees, n]: the best one in Max, exact draws in Real.

    The chart must hold a tree.
    """
    trees, n = uniforms.shape
    symbols = np.empty((trees, 2 * n - 1), np.int32)
    widths = np.empty((trees, 2 * n - 1), np.int32)
    at_root = np.empty(root.shape[0])
    for symbol in range(root.shape[0]):
        value = value_of(semiring, table.interminals, chart, symbol, 0, n)
        at_root[symbol] = times(semiring, root[symbol], value)
    for t in range(trees):
        symbol = choose(semiring, at_root, uniforms[t, n - 1])
        descend(semiring, table, weights, chart, symbol, 0, n, uniforms[t], symbols[t], widths[t])
    return symbols, widths
