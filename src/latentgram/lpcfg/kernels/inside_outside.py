"""Inside and outside of a latent-variable PCFG over a packed chart (Cohen et al. 2012 fig. 5), in ℝ.

Item (a, i, j) has an inside vector α and an outside vector β of m_a numbers. With T the tensors of the rules,

    α(a,i,j) = Σ_{b,c} Σ_{a→b c} T^{a→b c} ( · , Σ_k α(b,i,k) ⊗ α(c,k,j) )
    μ(a,i,j) = α(a,i,j) · β(a,i,j),      Z = Σ_a π(a) · α(a,0,n)

The sum over split points k comes first, at m² each; then one contraction, at m³, a rule. Outside is the adjoint of
inside: with G = Σ_a β(a)ᵀ T^{a→b c} for a pair (b, c) of a span, every split adds G α(c,k,j) to β(b,i,k) and
Gᵀ α(b,i,k) to β(c,k,j), and α(b)ᵀ (β(a)ᵀ T^{a→b c}) α(c) is the marginal of the edge.

A rule that was never seen has the most backed-off tensor of Cohen et al. 2013 §3.2, E⁴:
T = p(a→b c) · H^a ⊗ F^b ⊗ F^c, with H the mean inside and F the mean outside vectors of symbols, at m² in place of
m³.

Numbers are signed, so there are no logs: the caller divides the vector of each word by its share of the sentence's
probability (`scale` below), so that the numbers of all spans stay near one in size. Cost: groups' splits × m² +
parents × m³ for inside, twice that for outside; memory: two vectors an item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from latentgram.arrays import Ints, Ints32, Reals
from latentgram.compiling import REORDER, jitable, njit
from latentgram.lpcfg.kernels.chart import NONE_UNSEEN, Unseen, add_scaled, dot, prune_chart, unseen_rule

if TYPE_CHECKING:
    from latentgram.lpcfg.model import LPCFG


class Tensors(NamedTuple):
    """The numbers of a latent grammar, in the precision of the chart. Symbol s has `states[s]` hidden states."""

    states: Ints32
    rule: Reals
    rule_begin: Ints
    """[R+1] where the m_a × m_b × m_c numbers of each rule begin."""
    lexicon: Reals
    lexicon_begin: Ints
    root: Reals
    mean_inside: Reals
    """The inside vectors of words that are not in the lexicon, but for their weight; laid out as `root`."""
    mean_outside: Reals
    symbol_begin: Ints
    unseen: Unseen = NONE_UNSEEN

    @classmethod
    def of(cls, grammar: LPCFG, precision: str, unseen: Unseen = NONE_UNSEEN, *, as_kept: bool = False) -> Tensors:
        """Those of a grammar; the numbers of rules `as_kept` by it, if that is wanted."""
        kind = np.dtype(precision)
        return cls(
            grammar.states,
            grammar.rule_tensor if as_kept else grammar.rule_tensor.astype(kind, copy=False),
            grammar.rule_offset,
            grammar.lexicon_vector.astype(kind, copy=False),
            grammar.lexicon_offset,
            grammar.root_vector.astype(kind, copy=False),
            grammar.mean_inside.astype(kind, copy=False),
            grammar.mean_outside.astype(kind, copy=False),
            grammar.root_offset,
            unseen,
        )


@njit()
def vector_places(item_symbol, states):
    """Where the vector of each item begins."""
    begin = np.zeros(item_symbol.shape[0] + 1, np.int64)
    for item in range(item_symbol.shape[0]):
        begin[item + 1] = begin[item] + states[item_symbol[item]]
    return begin


@njit(inline="always")
def mean_of(tensors, symbol):
    """The mean outside vector of a symbol."""
    return tensors.mean_outside[tensors.symbol_begin[symbol] : tensors.symbol_begin[symbol + 1]]


@jitable(borrows=True)
def unseen_weight(tensors, a, b, c):
    """p(a→b c) of a rule that was never seen, in the precision of sums; rules may be kept in a lower one."""
    return tensors.root.dtype.type(unseen_rule(tensors.unseen, a, b, c))


@njit()
def inside(chart, begin, tensors, alpha):
    """Fill the inside vectors of all items above the words; those of the words are given in `alpha`."""
    largest = tensors.states.max()
    _fill_inside(chart, begin, tensors, alpha, np.empty(largest * largest, tensors.rule.dtype))


@njit(fastmath=REORDER, borrows=True)
def _fill_inside(chart, begin, tensors, alpha, scratch):
    """The same, with room for the product of two vectors.

    Σ_k (F^b · α(b,i,k)) (F^c · α(c,k,j)), what all unseen rules of a group share, is summed once.
    """
    states, tensor, tensor_begin = tensors.states, tensors.rule, tensors.rule_begin
    for group in range(chart.split_begin.shape[0] - 1):
        some_split = chart.split_begin[group]
        b, c = chart.item_symbol[chart.split_left[some_split]], chart.item_symbol[chart.split_right[some_split]]
        left_states, right_states = states[b], states[c]
        size = left_states * right_states
        outer = scratch[:size]
        for place in range(size):
            outer[place] = 0
        for split in range(some_split, chart.split_begin[group + 1]):
            left, right = begin[chart.split_left[split]], begin[chart.split_right[split]]
            for h in range(left_states):
                row = h * right_states
                add_scaled(outer[row : row + right_states], alpha[left + h], alpha[right : right + right_states])
        shared, is_shared = tensor.dtype.type(0), False
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            parent, rule = chart.parent_item[entry], chart.parent_rule[entry]
            if rule < 0:
                if not is_shared:
                    before, after, is_shared = mean_of(tensors, b), mean_of(tensors, c), True
                    for h in range(left_states):
                        shared += before[h] * dot(outer[h * right_states : (h + 1) * right_states], after)
                a = chart.item_symbol[parent]
                mean = tensors.mean_inside[tensors.symbol_begin[a] : tensors.symbol_begin[a + 1]]
                weight = unseen_weight(tensors, a, b, c) * shared
                add_scaled(alpha[begin[parent] : begin[parent + 1]], weight, mean)
                continue
            place = tensor_begin[rule]
            for h in range(begin[parent], begin[parent + 1]):
                alpha[h] += dot(tensor[place : place + size], outer)
                place += size


@njit()
def outside(chart, begin, tensors, alpha, beta, edge_marginal):
    """Fill the outside vectors of all items below the roots, whose own are given in `beta`, and the marginals
    (not yet divided by Z) of all edges."""
    kind, largest = tensors.rule.dtype, tensors.states.max()
    one, every = np.empty(largest * largest, kind), np.empty(largest * largest, kind)
    shared = np.empty(chart.split_left.shape[0], kind)
    _fill_outside(chart, begin, tensors, alpha, beta, edge_marginal, one, every, shared)


@njit(fastmath=REORDER, borrows=True)
def _fill_outside(chart, begin, tensors, alpha, beta, edge_marginal, one_scratch, all_scratch, shared):
    """The same, with room for two products of vectors and for a number per split.

    Unseen rules are products: with w = Σ_a p(a→b c) H^a · β(a) over all of a group, they add w F^b ⊗ F^c to G.
    """
    states, tensor, tensor_begin = tensors.states, tensors.rule, tensors.rule_begin
    for group in range(chart.split_begin.shape[0] - 2, -1, -1):
        first_split, end_split = chart.split_begin[group], chart.split_begin[group + 1]
        b, c = chart.item_symbol[chart.split_left[first_split]], chart.item_symbol[chart.split_right[first_split]]
        left_states, right_states = states[b], states[c]
        size = left_states * right_states
        one_parent, all_parents = one_scratch[:size], all_scratch[:size]
        for place in range(size):
            all_parents[place] = 0
        before, after = mean_of(tensors, b), mean_of(tensors, c)
        by_unseen, is_shared = tensor.dtype.type(0), False
        edge = chart.edge_begin[group]
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            parent, rule = chart.parent_item[entry], chart.parent_rule[entry]
            if rule < 0:
                if not is_shared:
                    is_shared = True
                    for split in range(first_split, end_split):
                        left, right = begin[chart.split_left[split]], begin[chart.split_right[split]]
                        shared[split] = dot(before, alpha[left : left + left_states])
                        shared[split] *= dot(after, alpha[right : right + right_states])
                a = chart.item_symbol[parent]
                mean = tensors.mean_inside[tensors.symbol_begin[a] : tensors.symbol_begin[a + 1]]
                weight = unseen_weight(tensors, a, b, c) * dot(beta[begin[parent] : begin[parent + 1]], mean)
                by_unseen += weight
                for split in range(first_split, end_split):
                    edge_marginal[edge] = weight * shared[split]
                    edge += 1
                continue
            for place in range(size):
                one_parent[place] = 0
            place = tensor_begin[rule]
            for h in range(begin[parent], begin[parent + 1]):
                add_scaled(one_parent, beta[h], tensor[place : place + size])
                place += size
            add_scaled(all_parents, tensor.dtype.type(1), one_parent)
            for split in range(first_split, end_split):
                left, right = begin[chart.split_left[split]], begin[chart.split_right[split]]
                marginal = tensor.dtype.type(0)
                for h in range(left_states):
                    row = h * right_states
                    below = dot(one_parent[row : row + right_states], alpha[right : right + right_states])
                    marginal += alpha[left + h] * below
                edge_marginal[edge] = marginal
                edge += 1
        if is_shared:
            for h in range(left_states):
                add_scaled(all_parents[h * right_states : (h + 1) * right_states], by_unseen * before[h], after)
        for split in range(first_split, end_split):
            left, right = begin[chart.split_left[split]], begin[chart.split_right[split]]
            for h in range(left_states):
                above = all_parents[h * right_states : (h + 1) * right_states]
                beta[left + h] += dot(above, alpha[right : right + right_states])
                add_scaled(beta[right : right + right_states], alpha[left + h], above)


@njit(error_model="numpy")
def item_marginals(begin, alpha, beta, total):
    """α · β / Z of every item."""
    marginal = np.empty(begin.shape[0] - 1, np.float64)
    for item in range(begin.shape[0] - 1):
        product = 0.0
        for h in range(begin[item], begin[item + 1]):
            product += np.float64(alpha[h]) * np.float64(beta[h])
        marginal[item] = product / total
    return marginal


@njit(borrows=True)
def start_vectors(chart, begin, tensors, leaf_entry, leaf_weight, scale, alpha, beta):
    """Give the words their inside vectors, divided by the words' scales, and the roots their outside vectors."""
    for word in range(chart.length):
        for item in range(chart.cell_begin[word], chart.cell_begin[word + 1]):
            entry, weight = leaf_entry[item], 1.0 / scale[word]
            if entry >= 0:
                place, source = tensors.lexicon_begin[entry], tensors.lexicon
            else:
                place, source = tensors.symbol_begin[chart.item_symbol[item]], tensors.mean_inside
                weight *= leaf_weight[item]
            for h in range(begin[item + 1] - begin[item]):
                alpha[begin[item] + h] = source[place + h] * weight
    for item in range(chart.cell_begin[-2], chart.cell_begin[-1]):
        place = tensors.symbol_begin[chart.item_symbol[item]]
        for h in range(begin[item + 1] - begin[item]):
            beta[begin[item] + h] = tensors.root[place + h]


@njit(error_model="numpy")
def posteriors(chart, tensors, leaf_entry, leaf_weight, scale):
    """Z (of the words divided by their scales), and the marginals of all items and edges divided by Z.

    `leaf_entry` and `leaf_weight` tell the vector of each item over a word: a row of the lexicon, or -1 for the
    symbol's mean vector times the weight. Z may be negative for a grammar of signed numbers; where it is zero the
    marginals are infinite or not numbers.
    """
    begin = vector_places(chart.item_symbol, tensors.states)
    size = begin[begin.shape[0] - 1]
    alpha, beta = np.zeros(size, tensors.rule.dtype), np.zeros(size, tensors.rule.dtype)
    edge_marginal = np.empty(chart.edge_begin[chart.edge_begin.shape[0] - 1], tensors.rule.dtype)
    start_vectors(chart, begin, tensors, leaf_entry, leaf_weight, scale, alpha, beta)
    inside(chart, begin, tensors, alpha)
    total = 0.0
    for h in range(begin[chart.cell_begin[-2]], size):
        total += np.float64(alpha[h]) * np.float64(beta[h])
    outside(chart, begin, tensors, alpha, beta, edge_marginal)
    for edge in range(edge_marginal.shape[0]):
        edge_marginal[edge] /= total
    return total, item_marginals(begin, alpha, beta, total), edge_marginal


@njit(error_model="numpy")
def refine_chart(chart, tensors, leaf_entry, leaf_weight, scale, threshold):
    """Z, and what a small grammar leaves of a chart: the chart of the edges of at least a posterior, the entries
    and the weights of its leaves, and the words' scales times their share of Z; and the posteriors it went by.

    Where Z is zero or not a number all stays as it was.
    """
    total, item, edge = posteriors(chart, tensors, leaf_entry, leaf_weight, scale)
    if total == 0.0 or not np.isfinite(total):
        return total, chart, leaf_entry, leaf_weight, scale, item, edge
    pruned, kept, _ = prune_chart(chart, item, edge, threshold)
    leaves = pruned.cell_begin[chart.length]
    entry, weight = np.empty(leaves, leaf_entry.dtype), np.empty(leaves, leaf_weight.dtype)
    scales = np.empty_like(scale)
    for leaf in range(leaves):
        entry[leaf], weight[leaf] = leaf_entry[kept[leaf]], leaf_weight[kept[leaf]]
    for word in range(scale.shape[0]):
        scales[word] = scale[word] * abs(total) ** (1.0 / chart.length)
    return total, pruned, entry, weight, scales, item, edge


@njit()
def parts_of_tree(index, leaves, symbols, sizes):
    """Of each node of a tree in preorder the number of its rule, or of its leaf among those of the sentence; −1
    for a rule never seen, and for a symbol that cannot stand over its word."""
    part, word = np.full(symbols.shape[0], -1, np.int32), 0
    for node in range(symbols.shape[0]):
        if sizes[node] == 1:
            for leaf in range(leaves.begin[word], leaves.begin[word + 1]):
                if leaves.symbol[leaf] == symbols[node]:
                    part[node] = leaf
            word += 1
            continue
        pair = index.pair_of[symbols[node + 1], symbols[node + 1 + sizes[node + 1]]]
        for entry in range(index.pair_begin[pair], index.pair_begin[pair + 1] if pair >= 0 else 0):
            if index.parent[entry] == symbols[node]:
                part[node] = index.rule[entry]
    return part
