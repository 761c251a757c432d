"""The probability of a treebank tree under a latent-variable PCFG: all its binary derivations together.

A node of a treebank tree has a *name*: its chain of labels, over a phrase or over a word. A grammar may have
several symbols for one name (`NP^S`, `NP^VP`), and it may derive a node with more than two children in several
ways: split them anywhere, with any of the intermediate symbols of its label over the parts. With v(b; i, j) the
inside vector of symbol b over the children i … j−1 of a node,

    v(a; i, j) = Σ_k Σ_{b,c} T^{a→b c}( · , v(b; i, k), v(c; k, j)),      p(tree, words) = Σ_a π(a) · v(a; root),

where the symbols over one child are those of its name, those over some children are intermediate, and those over
all of them have the name of the node. It is Eq. 3 of Cohen et al. (2012), summed over derivations.

Numbers are those of the grammar as it is kept, and sums are in the precision of its roots. Vectors are brought to
size one on the way, so trees of any length do. For a node of n children, with s symbols for
a part of them: n³ s² m³ where intermediate symbols may be left and right children, n s² m³ where they are only one
of these; rules never seen take m in place of m³.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Flags, Ints32, Reals
from latentgram.compiling import REORDER, njit
from latentgram.lpcfg.kernels.chart import add_scaled, dot
from latentgram.lpcfg.kernels.inside_outside import mean_of, unseen_weight


class NodeNames(NamedTuple):
    """The names of treebank nodes, and the symbols that a grammar has for them; symbols are in ascending order."""

    of_symbol: Ints32
    """[symbols] the name that a symbol stands for, −1 if it is intermediate."""
    begin: Ints32
    """[names + 1] where the symbols of each name begin in the next."""
    symbol: Ints32
    part_begin: Ints32
    """[names + 1] where the intermediate symbols over some children of such a node begin in the next."""
    part: Ints32
    left: Flags
    """[names] whether some of these may be left children …"""
    right: Flags
    """[names] … and right ones."""


class _Scratch(NamedTuple):
    """Room for the product of two vectors, and for a number per symbol."""

    outer: Reals
    unseen: Reals


@njit()
def treebank_nodes(names, symbol, size):
    """The names of the treebank nodes of a derivation in preorder, and the sizes of their subtrees."""
    kept = np.zeros(symbol.shape[0] + 1, np.int32)
    for node in range(symbol.shape[0]):
        kept[node + 1] = kept[node] + (node == 0 or names.of_symbol[symbol[node]] >= 0)
    name, nodes = np.empty(kept[-1], np.int32), np.empty(kept[-1], np.int32)
    for node in range(symbol.shape[0]):
        if kept[node + 1] > kept[node]:
            name[kept[node]] = names.of_symbol[symbol[node]]
            nodes[kept[node]] = kept[node + size[node]] - kept[node]
    return name, nodes


@njit()
def tree_weight(tensors, index, names, leaves, name, size):
    """log |weight| of a treebank tree in preorder and its sign (−inf and 0 for nothing).

    `leaves` are those that may stand over the words.
    """
    begin = np.zeros(name.shape[0] + 1, np.int64)
    for node in range(name.shape[0]):
        if name[node] < 0:
            return -np.inf, 0.0
        begin[node + 1] = begin[node] + _width(tensors, _symbols(names, name[node]))
    vectors = np.zeros(begin[-1], tensors.root.dtype)
    largest = tensors.states.max()
    scratch = _Scratch(
        np.empty(largest * largest, vectors.dtype), np.empty(tensors.states.shape[0], vectors.dtype)
    )
    log_weight, word = 0.0, leaves.begin.shape[0] - 1
    for node in range(name.shape[0] - 1, -1, -1):
        own = vectors[begin[node] : begin[node + 1]]
        if size[node] == 1:
            word -= 1
            _fill_leaf(tensors, _symbols(names, name[node]), leaves, word, own)
            log_weight += _normalise(own)
        else:
            log_weight += _join_children(tensors, index, names, name, size, node, begin, vectors, scratch)
        if log_weight == -np.inf:
            return -np.inf, 0.0
    total, place = 0.0, 0
    for a in _symbols(names, name[0]):
        root = tensors.root[tensors.symbol_begin[a] : tensors.symbol_begin[a + 1]]
        total += np.float64(dot(root, vectors[place : place + root.shape[0]]))
        place += root.shape[0]
    if total == 0.0:
        return -np.inf, 0.0
    return log_weight + np.log(abs(total)), np.sign(total)


@njit(inline="always")
def _symbols(names, name):
    """The symbols that have a name."""
    return names.symbol[names.begin[name] : names.begin[name + 1]]


@njit(borrows=True)
def _width(tensors, symbols):
    """How many numbers the vectors of some symbols have together."""
    total = 0
    for a in symbols:
        total += tensors.states[a]
    return total


@njit(borrows=True)
def _normalise(vector):
    """Bring a vector to size one; the logarithm of its size before."""
    greatest = 0.0
    for h in range(vector.shape[0]):
        greatest = max(greatest, abs(np.float64(vector[h])))
    if greatest == 0.0:
        return -np.inf
    for h in range(vector.shape[0]):
        vector[h] /= greatest
    return np.log(greatest)


@njit(borrows=True)
def _fill_leaf(tensors, symbols, leaves, word, own):
    """The vectors of the symbols that have the name of a node over a word."""
    place = 0
    for a in symbols:
        mean = tensors.mean_inside[tensors.symbol_begin[a] : tensors.symbol_begin[a + 1]]
        for leaf in range(leaves.begin[word], leaves.begin[word + 1]):
            if leaves.symbol[leaf] == a:
                entry = leaves.entry[leaf]
                for h in range(mean.shape[0]):
                    if entry >= 0:
                        own[place + h] = tensors.lexicon[tensors.lexicon_begin[entry] + h]
                    else:
                        own[place + h] = leaves.weight[leaf] * mean[h]
        place += mean.shape[0]


@njit(borrows=True)
def _row(i, j, children, left, right):
    """Where the vectors over the children i … j−1 are kept, −1 where no symbol can stand over them."""
    if left and right:
        return i * (children + 1) + j
    if left and i == 0:
        return j
    return i if right and j == children else -1


@njit()
def _join_children(tensors, index, names, name, size, node, begin, vectors, scratch):
    """Fill the vectors of a node from those of its children; the logarithm of what they were divided by."""
    child, last = np.empty(size[node], np.int64), node + 1
    children = 0
    while last < node + size[node]:
        child[children] = last
        last += size[last]
        children += 1
    whole, left, right = name[node], names.left[name[node]], names.right[name[node]]
    parts = names.part[names.part_begin[whole] : names.part_begin[whole + 1]]
    rows = 0 if children == 2 else (children + 1) ** (int(left) + int(right))
    over_parts = np.zeros((rows, _width(tensors, parts)), vectors.dtype)
    logs = np.full(rows, -np.inf)
    for wide in range(2, children + 1):
        for i in range(children - wide + 1):
            j = i + wide
            row = -1 if wide == children else _row(i, j, children, left, right)
            if wide < children and row < 0:
                continue
            top = -np.inf
            for k in range(i + 1, j):
                top = max(top, _log_of(logs, i, k, j, children, left, right))
            if top == -np.inf:
                continue
            symbols = _symbols(names, whole) if wide == children else parts
            target = vectors[begin[node] : begin[node + 1]] if wide == children else over_parts[row]
            for k in range(i + 1, j):
                log = _log_of(logs, i, k, j, children, left, right)
                if log == -np.inf:
                    continue
                first, second = child[i], child[k]
                before, after = parts, parts
                if k == i + 1:
                    before, left_vectors = _symbols(names, name[first]), vectors[begin[first] : begin[first + 1]]
                else:
                    left_vectors = over_parts[_row(i, k, children, left, right)]
                if j == k + 1:
                    after, right_vectors = (
                        _symbols(names, name[second]),
                        vectors[begin[second] : begin[second + 1]],
                    )
                else:
                    right_vectors = over_parts[_row(k, j, children, left, right)]
                scale = vectors.dtype.type(np.exp(log - top))
                _join(tensors, index, before, left_vectors, after, right_vectors, symbols, target, scale, scratch)
            log = top + _normalise(target)
            if wide == children:
                return log
            logs[row] = log
    return -np.inf


@njit(borrows=True)
def _log_of(logs, i, k, j, children, left, right):
    """What the vectors over the children i … k−1 and k … j−1 were divided by, in logarithms; −∞ where there are
    none."""
    total = 0.0
    if k > i + 1:
        row = _row(i, k, children, left, right)
        total += logs[row] if row >= 0 else -np.inf
    if j > k + 1:
        row = _row(k, j, children, left, right)
        total += logs[row] if row >= 0 else -np.inf
    return total


@njit(borrows=True)
def _join(tensors, index, before, left_vectors, after, right_vectors, symbols, target, scale, scratch):
    """Add to the vectors of some symbols what the rules make of two parts, times `scale`.

    T^{a→b c} of rules never seen is p(a→b c) H^a ⊗ F^b ⊗ F^c: what multiplies H^a is summed first.
    """
    unseen, left_place = scratch.unseen, 0
    for place in range(symbols.shape[0]):
        unseen[place] = 0.0
    for b in before:
        left = left_vectors[left_place : left_place + tensors.states[b]]
        left_place += left.shape[0]
        share, right_place = dot(mean_of(tensors, b), left) * scale, 0
        for c in after:
            right = right_vectors[right_place : right_place + tensors.states[c]]
            right_place += right.shape[0]
            shared = share * dot(mean_of(tensors, c), right)
            pair, is_filled, place = index.pair_of[b, c], False, 0
            entry = index.pair_begin[pair] if pair >= 0 else 0
            end = index.pair_begin[pair + 1] if pair >= 0 else 0
            for number in range(symbols.shape[0]):
                a = symbols[number]
                while entry < end and index.parent[entry] < a:
                    entry += 1
                if entry < end and index.parent[entry] == a:
                    if not is_filled:
                        _multiply(left, right, scale, scratch.outer)
                        is_filled = True
                    _contract(tensors, index.rule[entry], scratch.outer, target[place : place + tensors.states[a]])
                elif tensors.unseen.weight > 0.0:
                    unseen[number] += unseen_weight(tensors, a, b, c) * shared
                place += tensors.states[a]
    place = 0
    for number in range(symbols.shape[0]):
        a = symbols[number]
        mean = tensors.mean_inside[tensors.symbol_begin[a] : tensors.symbol_begin[a + 1]]
        if unseen[number] != 0.0:
            add_scaled(target[place : place + mean.shape[0]], unseen[number], mean)
        place += mean.shape[0]


@njit(fastmath=REORDER, borrows=True)
def _multiply(left, right, scale, outer):
    """scale · left ⊗ right."""
    for h in range(left.shape[0]):
        for g in range(right.shape[0]):
            outer[h * right.shape[0] + g] = left[h] * right[g] * scale


@njit(borrows=True)
def _contract(tensors, rule, outer, target):
    """Add T( · , left, right) of a rule to a vector."""
    begin = tensors.rule_begin[rule]
    pairs = (tensors.rule_begin[rule + 1] - begin) // target.shape[0]
    for h in range(target.shape[0]):
        target[h] += dot(outer[:pairs], tensors.rule[begin : begin + pairs])
        begin += pairs
