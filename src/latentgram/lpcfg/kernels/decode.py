"""One tree out of posteriors: the tree of the greatest expected F1, and what is said about any tree.

With μ(Xʳ,i,j) the posteriors of treebank nodes (parse/labels.py), summed cell by cell over the items whose chains
have them, decoders.py gives the equations: the gain of an item is 2μ − F of its brackets, the best tree

    best(a) = g(a) + max_{edges a→b c} best(b) + best(c),

and F that of the best tree before. An item's gain does not depend on how it came about, so a group of edges looks
for its best split once, whatever its parents are: O(items + splits + parents) a round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.compiling import njit
from latentgram.lpcfg.kernels.chart import cell_of

_ROUNDS = 20


class Chains(NamedTuple):
    """The treebank nodes that symbols stand for; see `LabelTable`."""

    begin: Ints
    """[S + 1]"""
    flat: Ints
    columns: int
    interminals: int
    """Symbols from here on stand over words: the last node of each is a tag."""


class Told(NamedTuple):
    """What is said about a tree."""

    nodes: Floats
    """The posteriors of its treebank nodes, in preorder."""
    expected: float
    """2 Σ μ / (|T| + E)"""
    entropy: float


@njit(inline="always")
def _phrases(chains, symbol):
    """How many treebank nodes of a symbol are not tags."""
    return chains.begin[symbol + 1] - chains.begin[symbol] - (symbol >= chains.interminals)


@njit()
def expected_brackets(chart, item, chains):
    """Of each item: its brackets, how many of them are right in expectation, and the posterior of its tag; and
    E."""
    brackets, right, tags = np.zeros(item.shape[0]), np.zeros(item.shape[0]), np.zeros(item.shape[0])
    sums, expected = np.zeros(chains.columns), 0.0
    for cell in range(chart.cell_begin.shape[0] - 1):
        for member in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
            symbol, size = chart.item_symbol[member], abs(item[member])
            brackets[member] = _phrases(chains, symbol)
            expected += size * brackets[member]
            for place in range(chains.begin[symbol], chains.begin[symbol + 1]):
                sums[chains.flat[place]] += size
        for member in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
            symbol = chart.item_symbol[member]
            last = chains.begin[symbol] + _phrases(chains, symbol)
            for place in range(chains.begin[symbol], last):
                right[member] += min(sums[chains.flat[place]], 1.0)
            for place in range(last, chains.begin[symbol + 1]):
                tags[member] += min(sums[chains.flat[place]], 1.0)
        for member in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
            symbol = chart.item_symbol[member]
            for place in range(chains.begin[symbol], chains.begin[symbol + 1]):
                sums[chains.flat[place]] = 0.0
    return brackets, right, tags, expected


@njit()
def follow_children(chart, root, left_child, right_child):
    """The tree below an item, as its items in preorder and the size of the subtree at each; no tree below none."""
    if root < 0:
        return np.empty(0, np.int32), np.empty(0, np.int32)
    nodes = 2 * chart.length - 1
    order, stack = np.empty(nodes, np.int32), np.empty(chart.length + 1, np.int32)
    stack[0], depth, count = root, 1, 0
    while depth > 0:
        depth -= 1
        item = stack[depth]
        order[count] = item
        count += 1
        if left_child[item] >= 0:
            stack[depth], stack[depth + 1] = right_child[item], left_child[item]
            depth += 2
    return order, sizes_of(order, chart.cell_begin[chart.length])


@register_jitable
def sizes_of(order, leaves):
    """The sizes of the subtrees of a binary tree whose items are given in preorder; those below `leaves` are
    leaves."""
    size = np.ones(order.shape[0], np.int32)
    pending, depth = np.empty(order.shape[0] // 2 + 2, np.int32), 0
    for number in range(order.shape[0] - 1, -1, -1):
        if order[number] >= leaves:
            size[number] += pending[depth - 1] + pending[depth - 2]
            depth -= 2
        pending[depth] = size[number]
        depth += 1
    return size


@njit()
def best_by_items(chart, gain):
    """`best_tree` where edges have no gains of their own."""
    items, leaves = chart.item_symbol.shape[0], chart.cell_begin[chart.length]
    best = np.empty(items)
    left_child, right_child = np.full(items, -1, np.int32), np.full(items, -1, np.int32)
    for item in range(items):
        best[item] = gain[item] if item < leaves else -np.inf
    for group in range(chart.split_begin.shape[0] - 1):
        below, chosen = -np.inf, -1
        for split in range(chart.split_begin[group], chart.split_begin[group + 1]):
            both = best[chart.split_left[split]] + best[chart.split_right[split]]
            if both > below:
                below, chosen = both, split
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            parent = chart.parent_item[entry]
            if chosen >= 0 and gain[parent] + below > best[parent]:
                best[parent] = gain[parent] + below
                left_child[parent], right_child[parent] = chart.split_left[chosen], chart.split_right[chosen]
    root = -1
    for item in range(chart.cell_begin[chart.cell_begin.shape[0] - 2], items):
        if best[item] > -np.inf and (root < 0 or best[item] > best[root]):
            root = item
    return follow_children(chart, root, left_child, right_child)


@njit()
def most_expected_f1(chart, brackets, right, tags, expected):
    """The gains of items at the F of the best tree, and this tree: its items in preorder, and the sizes of its
    subtrees."""
    gain, score = np.empty(right.shape[0]), 0.0
    order, size = np.empty(0, np.int32), np.empty(0, np.int32)
    for _ in range(_ROUNDS):
        for member in range(right.shape[0]):
            gain[member] = 2 * right[member] - score * brackets[member] + tags[member]
        order, size = best_by_items(chart, gain)
        correct, total = 0.0, expected
        for member in order:
            correct += right[member]
            total += brackets[member]
        reached = 2 * correct / max(total, 1.0)
        if reached <= score + 1e-12:
            break
        score = reached
    return gain, order, size


@njit()
def tell(chart, item, edge, symbol, size, chains):
    """What the posteriors of a chart say about a binary tree in preorder, whether it is in the chart or not.

    The entropy is that of the distribution over trees that chooses each edge by itself with these posteriors,

        H = − Σ_root μ log μ − Σ_edges μ(edge) log μ(edge)/μ(parent).

    It is the entropy of the posterior over trees for grammars with one state per symbol, and an upper bound of it
    for grammars with hidden states: no distribution with the same posteriors has a greater one.
    """
    count, brackets, total = 0, 0, 0.0
    for node in range(symbol.shape[0]):
        count += chains.begin[symbol[node] + 1] - chains.begin[symbol[node]]
    nodes, word, place_of = np.zeros(count), 0, 0
    for node in range(symbol.shape[0]):
        cell = cell_of(chart.length, word, (size[node] + 1) // 2)
        last = chains.begin[symbol[node]] + _phrases(chains, symbol[node])
        word += size[node] == 1
        for place in range(chains.begin[symbol[node]], chains.begin[symbol[node] + 1]):
            for member in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
                other = chart.item_symbol[member]
                for own in range(chains.begin[other], chains.begin[other + 1]):
                    if chains.flat[own] == chains.flat[place]:
                        nodes[place_of] += abs(item[member])
            nodes[place_of] = min(nodes[place_of], 1.0)
            if place < last:
                brackets += 1
                total += nodes[place_of]
            place_of += 1
    expected, entropy = float(brackets), 0.0
    for member in range(item.shape[0]):
        expected += abs(item[member]) * _phrases(chains, chart.item_symbol[member])
    for root in range(chart.cell_begin[chart.cell_begin.shape[0] - 2], item.shape[0]):
        if abs(item[root]) > 0.0:
            entropy -= abs(item[root]) * np.log(abs(item[root]))
    number = 0
    for group in range(chart.split_begin.shape[0] - 1):
        splits = chart.split_begin[group + 1] - chart.split_begin[group]
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            above = abs(item[chart.parent_item[entry]])
            for _ in range(splits):
                if edge[number] != 0.0 and above > 0.0:
                    entropy -= abs(edge[number]) * np.log(abs(edge[number]) / above)
                number += 1
    return Told(nodes, min(2.0 * total / expected, 1.0) if expected > 0.0 else 1.0, max(entropy, 0.0))


class Restored(NamedTuple):
    """Treebank trees, tree after tree, in preorder."""

    start: Ints
    label: Ints32
    arity: Ints32
    word: Ints32
    """The number of the word under each node, −1 under phrases."""
    confidence: Floats


@njit()
def restore_nodes(start, symbol, size, confidence, chain_begin, chain, intermediate, root):
    """Undo binarisation: symbols become chains of labels, and what is intermediate goes, but on a root.

    `confidence` has a number for each label of each symbol that stays. Trees get the label `root` on top, unless
    they have it or there is none (−1). It, and a root that was intermediate, have the confidence one.
    """
    most = 0
    for node in range(symbol.shape[0]):
        most += chain_begin[symbol[node] + 1] - chain_begin[symbol[node]]
    most += start.shape[0]
    label, arity = np.empty(most, np.int32), np.zeros(most, np.int32)
    word, sure = np.full(most, -1, np.int32), np.ones(most)
    begin = np.zeros(start.shape[0], np.int64)
    parents, ends = np.empty(most + 1, np.int64), np.empty(most + 1, np.int64)
    count, words, place = 0, 0, 0
    for tree in range(start.shape[0] - 1):
        depth = 0
        for node in range(start[tree], start[tree + 1]):
            while depth > 0 and ends[depth - 1] <= node:
                depth -= 1
            here, is_root = symbol[node], node == start[tree]
            if intermediate[here] and not is_root:
                continue
            if is_root and root >= 0 and chain[chain_begin[here]] != root:
                label[count], parents[depth], ends[depth] = root, count, start[tree + 1]
                depth += 1
                count += 1
            for step in range(chain_begin[here], chain_begin[here + 1]):
                if depth > 0:
                    arity[parents[depth - 1]] += 1
                label[count] = chain[step]
                if not intermediate[here]:
                    sure[count] = confidence[place]
                    place += 1
                parents[depth], ends[depth] = count, node + size[node]
                depth += 1
                count += 1
            if size[node] == 1:
                word[count - 1] = words
                words += 1
        begin[tree + 1] = count
    return Restored(begin, label[:count], arity[:count], word[:count], sure[:count])
