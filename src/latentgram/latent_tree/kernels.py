"""Hidden Markov trees: upward and downward passes over many dependency trees at once (001 §3.3).

Node i of a forest hangs on node `above[i]` (−1 for roots), as a left child (d = 0) if it stands before it, else
as a right one (d = 1). With ∘ a product of k-vectors, `word[x]` the vector of a symbol and T_d = `child[d]`,

    r_i = word[x_i] ∘ ∏_{children j} T_dᵀ r_j,          p(symbols | tree) = rootᵀ r_root                    (3–5)

In a model with real states ∘ is elementwise and word[x][h] = o(x | h). In a spectral model it is the bilinear map
a ∘ b = aᵀ D(b) with the tensor `product`; an empty tensor means elementwise. Children come in the order of the
sentence. Every r is scaled to a largest entry of 1, its logarithm being kept.

Downward, elementwise models only, with a_i the vector of what lies outside the subtree of i:

    a_root = root,   e_j = a_i ∘ word[x_i] ∘ ∏_{j' ≠ j} T_d'ᵀ r_j',   a_j = T_d e_j,
    p(h_i | x) ∝ a_i ∘ r_i,   p(h_j, h_i | x) ∝ T_d(h_j | h_i) r_j(h_j) e_j(h_i).

O(W k²) for W nodes, elementwise; O(W k³) with a tensor.
"""

import numpy as np
from numba import njit

from latentgram.numeric.compiling import REORDER
from latentgram.numeric.sampling import draw_place


@njit(cache=True, nogil=True)
def family(above):
    """Nodes with parents before children; and the children of node i, `children[begin[i] : begin[i + 1]]`."""
    nodes = len(above)
    begin = np.zeros(nodes + 1, np.int64)
    for i in range(nodes):
        if above[i] >= 0:
            begin[above[i] + 1] += 1
    for i in range(nodes):
        begin[i + 1] += begin[i]
    children = np.empty(begin[nodes], np.int64)
    filled = begin[:-1].copy()
    order = np.empty(nodes, np.int64)
    known = 0
    for i in range(nodes):
        if above[i] < 0:
            order[known] = i
            known += 1
        else:
            children[filled[above[i]]] = i
            filled[above[i]] += 1
    for done in range(nodes):
        i = order[done]
        for place in range(begin[i], begin[i + 1]):
            order[known] = children[place]
            known += 1
    return order, begin, children


@njit(cache=True, nogil=True, fastmath=REORDER)
def _message(child, i, j, inside, out):
    """T_dᵀ r_j, what child j tells its parent i."""
    side = 1 if j > i else 0
    states = len(out)
    for h in range(states):
        out[h] = 0.0
    for below in range(states):
        value = inside[j, below]
        if value != 0.0:
            row = child[side, below]
            for h in range(states):
                out[h] += value * row[h]


@njit(cache=True, nogil=True, fastmath=REORDER)
def _merge(vector, other, product, spare):
    """vector ← vector ∘ other."""
    states = len(vector)
    if product.shape[0] == 0:
        for h in range(states):
            vector[h] *= other[h]
        return
    for h in range(states):
        spare[h] = 0.0
    for a in range(states):
        for b in range(states):
            value = vector[a] * other[b]
            row = product[a, b]
            for h in range(states):
                spare[h] += value * row[h]
    for h in range(states):
        vector[h] = spare[h]


@njit(cache=True, nogil=True, fastmath=REORDER)
def upward(root, child, word, product, symbol, above, tree, n_trees, order, begin, children):
    """The scaled inside vectors [W, k], and the logarithm and sign of each tree's probability."""
    states = len(root)
    nodes = len(above)
    inside = np.empty((nodes, states))
    logs = np.zeros(n_trees)
    signs = np.zeros(n_trees)
    message, spare = np.empty(states), np.empty(states)
    for done in range(nodes - 1, -1, -1):
        i = order[done]
        here = inside[i]
        for h in range(states):
            here[h] = word[symbol[i], h]
        # A node may have hundreds of children: it is scaled after each of them.
        for place in range(begin[i] - 1, begin[i + 1]):
            if place >= begin[i]:
                _message(child, i, children[place], inside, message)
                _merge(here, message, product, spare)
            largest = 0.0
            for h in range(states):
                largest = max(largest, abs(here[h]))
            if largest > 0.0:
                logs[tree[i]] += np.log(largest)
                for h in range(states):
                    here[h] /= largest
            else:
                logs[tree[i]] = -np.inf
        if above[i] < 0:
            total = 0.0
            for h in range(states):
                total += root[h] * here[h]
            signs[tree[i]] = np.sign(total)
            logs[tree[i]] += np.log(abs(total)) if total != 0.0 else -np.inf
    return inside, logs, signs


@njit(cache=True, nogil=True, fastmath=REORDER)
def expect(root, child, word, symbol, above, order, begin, children, inside, to_root, to_child, to_word):
    """Add the expected counts of elementwise models; return the posterior of every node's states [W, k]."""
    states = len(root)
    nodes = len(above)
    outside = np.empty((nodes, states))
    posterior = np.empty((nodes, states))
    most = 0
    for i in range(nodes):
        most = max(most, begin[i + 1] - begin[i])
    messages = np.empty((most + 1, states))
    after = np.empty((most + 1, states))
    before = np.empty(states)
    for done in range(nodes):
        i = order[done]
        if above[i] < 0:
            outside[i] = root
        mass = 0.0
        for h in range(states):
            posterior[i, h] = outside[i, h] * inside[i, h]
            mass += posterior[i, h]
        for h in range(states):
            posterior[i, h] = posterior[i, h] / mass if mass > 0.0 else 0.0
            to_word[symbol[i], h] += posterior[i, h]
            if above[i] < 0:
                to_root[h] += posterior[i, h]
        count = begin[i + 1] - begin[i]
        for h in range(states):
            after[count, h] = 1.0
            before[h] = outside[i, h] * word[symbol[i], h]
        for place in range(count - 1, -1, -1):
            _message(child, i, children[begin[i] + place], inside, messages[place])
            largest = 0.0
            for h in range(states):
                after[place, h] = after[place + 1, h] * messages[place, h]
                largest = max(largest, after[place, h])
            if largest > 0.0:
                for h in range(states):
                    after[place, h] /= largest
        for place in range(count):
            j = children[begin[i] + place]
            side = 1 if j > i else 0
            # e_j, in the place of the messages that are no longer needed behind it
            rest = after[place]
            mass = 0.0
            for h in range(states):
                rest[h] = before[h] * after[place + 1, h]
                mass += rest[h] * messages[place, h]
            scale = 1.0 / mass if mass > 0.0 else 0.0
            for below in range(states):
                total = 0.0
                row = child[side, below]
                count_row = to_child[side, below]
                weight = inside[j, below] * scale
                for h in range(states):
                    value = row[h] * rest[h]
                    total += value
                    count_row[h] += weight * value
                outside[j, below] = total * scale
            largest = 0.0
            for h in range(states):
                before[h] *= messages[place, h]
                largest = max(largest, before[h])
            if largest > 0.0:
                for h in range(states):
                    before[h] /= largest
    return posterior


@njit(cache=True, nogil=True)
def draw(root, child, emission, symbol, above, order, inside, uniforms):
    """Draw states downward and then symbols: node i takes one of the rows of `emission[symbol[i]]` [m, k].

    `inside` are the vectors of `upward` over the sums of these rows.
    """
    nodes = len(above)
    states = len(root)
    state = np.empty(nodes, np.int64)
    drawn = np.empty(nodes, np.int64)
    weights = np.empty(states)
    for done in range(nodes):
        i = order[done]
        for h in range(states):
            prior = root[h] if above[i] < 0 else child[1 if i > above[i] else 0, h, state[above[i]]]
            weights[h] = prior * inside[i, h]
        state[i] = draw_place(weights, uniforms[i, 0])
        drawn[i] = draw_place(emission[symbol[i], :, state[i]], uniforms[i, 1])
    return state, drawn
