"""The weight of one binary tree under a latent-variable PCFG (003 Eq. 3): hidden states summed out bottom-up.

    v(a→b c) = T^{a→b c}( · , v(b), v(c)),   weight = π(root) · v(root)

Vectors are brought to size one on the way, so trees of any length do. O(n m³) for n words and m states.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def tree_weight(states, tensor, tensor_begin, symbols, sizes, rules, leaf_vector, leaf_begin, root):
    """log |weight| and its sign (−inf and 0 for nothing).

    The tree is in preorder. `rules` has the rule of each inner node in this order; the vectors of the words stand
    one after the other in `leaf_vector` from `leaf_begin` on; `root` is the vector of the root's symbol.
    """
    nodes = symbols.shape[0]
    largest = states.max()
    stack = np.empty((nodes + 1, largest))
    depth, log_weight = 0, 0.0
    inner, leaf = rules.shape[0], leaf_begin.shape[0] - 1
    result = np.empty(largest)
    for node in range(nodes - 1, -1, -1):
        size = states[symbols[node]]
        if sizes[node] == 1:
            leaf -= 1
            result[:size] = leaf_vector[leaf_begin[leaf] : leaf_begin[leaf + 1]]
        else:
            inner -= 1
            place = tensor_begin[rules[inner]]
            left, right = stack[depth - 1], stack[depth - 2]
            left_states = states[symbols[node + 1]]
            right_states = states[symbols[node + 1 + sizes[node + 1]]]
            for h in range(size):
                total = 0.0
                for b in range(left_states):
                    for c in range(right_states):
                        total += tensor[place] * left[b] * right[c]
                        place += 1
                result[h] = total
            depth -= 2
        greatest = np.abs(result[:size]).max()
        if greatest == 0.0:
            return -np.inf, 0.0
        log_weight += np.log(greatest)
        stack[depth, :size] = result[:size] / greatest
        depth += 1
    total = 0.0
    for h in range(states[symbols[0]]):
        total += root[h] * stack[0, h]
    if total == 0.0:
        return -np.inf, 0.0
    return log_weight + np.log(abs(total)), np.sign(total)
