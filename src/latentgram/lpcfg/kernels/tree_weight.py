"""The weight of one binary tree under a latent-variable PCFG (Cohen et al. 2012 Eq. 3): hidden states summed
out bottom-up.

    v(a→b c) = T^{a→b c}( · , v(b), v(c)),   weight = π(root) · v(root)

Vectors are brought to size one on the way, so trees of any length do. O(n m³) for n words and m states.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from latentgram.lpcfg.kernels.inside_outside import mean_of


@njit(cache=True)
def tree_weight(tensors, symbols, sizes, rules, leaf_entry, leaf_weight):
    """log |weight| and its sign (−inf and 0 for nothing).

    The tree is in preorder. `rules` has the rule of each inner node in this order, −1 for one never seen; words
    have a row of the lexicon, or −1 and a weight.
    """
    states = tensors.states
    stack = np.empty((symbols.shape[0] + 1, states.max()))
    result = np.empty(states.max())
    depth, log_weight, inner, leaf = 0, 0.0, rules.shape[0], leaf_entry.shape[0]
    for node in range(symbols.shape[0] - 1, -1, -1):
        a = symbols[node]
        size = states[a]
        mean = tensors.mean_inside[tensors.symbol_begin[a] : tensors.symbol_begin[a + 1]]
        if sizes[node] == 1:
            leaf -= 1
            place = tensors.lexicon_begin[max(leaf_entry[leaf], 0)]
            for h in range(size):
                result[h] = tensors.lexicon[place + h] if leaf_entry[leaf] >= 0 else leaf_weight[leaf] * mean[h]
        else:
            inner -= 1
            b, c = symbols[node + 1], symbols[node + 1 + sizes[node + 1]]
            left, right = stack[depth - 1], stack[depth - 2]
            depth -= 2
            if rules[inner] < 0:
                if tensors.unseen.weight == 0.0:
                    return -np.inf, 0.0
                weight = tensors.unseen.weight * tensors.unseen.left[b, a] * tensors.unseen.right[c, a]
                weight *= np.sum(mean_of(tensors, b) * left[: states[b]])
                weight *= np.sum(mean_of(tensors, c) * right[: states[c]])
                result[:size] = weight * mean
            else:
                place = tensors.rule_begin[rules[inner]]
                for h in range(size):
                    total = 0.0
                    for l in range(states[b]):
                        for r in range(states[c]):
                            total += tensors.rule[place] * left[l] * right[r]
                            place += 1
                    result[h] = total
        greatest = np.abs(result[:size]).max()
        if greatest == 0.0:
            return -np.inf, 0.0
        log_weight += np.log(greatest)
        stack[depth, :size] = result[:size] / greatest
        depth += 1
    place = tensors.symbol_begin[symbols[0]]
    total = np.sum(tensors.root[place : place + states[symbols[0]]] * stack[0, : states[symbols[0]]])
    if total == 0.0:
        return -np.inf, 0.0
    return log_weight + np.log(abs(total)), np.sign(total)
