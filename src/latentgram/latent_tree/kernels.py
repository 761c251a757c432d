"""Hidden Markov trees: upward and downward passes over many dependency trees at once (Dhillon et al. 2012, §3.3).

The parent of node i of a forest is node `above[i]` (−1 for roots); i is a left child (d = 0) if it stands before
its parent, else a right one (d = 1). With ∘ a product of k-vectors, `word[x]` the vector of a symbol and
T_d = `child[d]`,

    r_i = word[x_i] ∘ ∏_{children j} T_dᵀ r_j,          p(symbols | tree) = rootᵀ r_root                    (3–5)

In a model with real states ∘ is elementwise and word[x][h] = o(x | h). In a spectral model it is the bilinear map
a ∘ b = aᵀ D(b) with the tensor `product`; an empty tensor means elementwise. Children come in the order of the
sentence. Every r is scaled to a largest entry of 1, its logarithm being kept.

Estimated D's do not commute, so the order matters. A model with a vector `start` = c∞ takes that of Algorithm 1 of
the paper, the children first and then the word,

    r_iᵀ = c∞ᵀ ∏_{children j} D(T_dᵀ r_j) · D(word[x_i]).

Downward, elementwise models only, with a_i the vector of what lies outside the subtree of i:

    a_root = root,   e_j = a_i ∘ word[x_i] ∘ ∏_{j' ≠ j} T_d'ᵀ r_j',   a_j = T_d e_j,
    p(h_i | x) ∝ a_i ∘ r_i,   p(h_j, h_i | x) ∝ T_d(h_j | h_i) r_j(h_j) e_j(h_i).

O(W k²) for W nodes, elementwise; O(W k³) with a tensor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentgram.compiling import REORDER, njit
from latentgram.data.text import BOUNDARY
from latentgram.numeric.sampling import draw_place


class Operators(NamedTuple):
    """The numbers of a model, see `latentgram.latent_tree.model.LatentTree`; or expected counts of these."""

    root: np.ndarray
    child: np.ndarray
    word: np.ndarray
    product: np.ndarray
    start: np.ndarray = np.zeros(0)


class Forest(NamedTuple):
    """Trees, their nodes end to end."""

    above: np.ndarray
    tree: np.ndarray
    """The number of the tree of every node."""
    order: np.ndarray
    """The nodes with parents before children."""
    begin: np.ndarray
    """The children of node i are `children[begin[i] : begin[i + 1]]`."""
    children: np.ndarray

    @classmethod
    def of(cls, above: np.ndarray, tree: np.ndarray) -> Forest:
        """Find the children of every node."""
        return cls(above, tree, *_family(above))


@njit()
def _family(above):
    """`order`, `begin` and `children` of a `Forest`."""
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


@njit(fastmath=REORDER)
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


@njit(fastmath=REORDER)
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


@njit(fastmath=REORDER)
def _scale(vector):
    """Divide a vector by the largest of its absolute entries, which is returned."""
    largest = 0.0
    for h in range(len(vector)):
        largest = max(largest, abs(vector[h]))
    if largest > 0.0:
        for h in range(len(vector)):
            vector[h] /= largest
    return largest


@njit(fastmath=REORDER)
def upward(model, symbol, forest, n_trees):
    """The scaled inside vectors [W, k], and the logarithm and sign of each tree's probability."""
    states = len(model.root)
    nodes = len(forest.above)
    inside = np.empty((nodes, states))
    logs = np.zeros(n_trees)
    signs = np.zeros(n_trees)
    message, spare = np.empty(states), np.empty(states)
    children_first = len(model.start) > 0
    for done in range(nodes - 1, -1, -1):
        i = forest.order[done]
        tree = forest.tree[i]
        here = inside[i]
        for h in range(states):
            here[h] = model.start[h] if children_first else model.word[symbol[i], h]
        # A node may have hundreds of children: it is scaled after each of them.
        for place in range(forest.begin[i] - 1, forest.begin[i + 1] + (1 if children_first else 0)):
            if place == forest.begin[i + 1]:
                _merge(here, model.word[symbol[i]], model.product, spare)
            elif place >= forest.begin[i]:
                _message(model.child, i, forest.children[place], inside, message)
                _merge(here, message, model.product, spare)
            largest = _scale(here)
            logs[tree] = logs[tree] + np.log(largest) if largest > 0.0 else -np.inf
        if forest.above[i] < 0:
            total = 0.0
            for h in range(states):
                total += model.root[h] * here[h]
            signs[tree] = np.sign(total)
            logs[tree] += np.log(abs(total)) if total != 0.0 else -np.inf
    return inside, logs, signs


@njit(fastmath=REORDER)
def _state_posterior(outside, inside, posterior, counts):
    """Fill p(h_i | x) ∝ a_i ∘ r_i, and add it to the counts of the symbol."""
    mass = 0.0
    for h in range(len(outside)):
        posterior[h] = outside[h] * inside[h]
        mass += posterior[h]
    for h in range(len(outside)):
        posterior[h] = posterior[h] / mass if mass > 0.0 else 0.0
        counts[h] += posterior[h]


@njit(fastmath=REORDER)
def _descend(child, inside, rest, scale, outside, counts):
    """Fill a_j = T_d e_j of a child, and count T_d(h_j | h_i) r_j(h_j) e_j(h_i); e_j = `rest` · `scale`."""
    states = len(rest)
    for below in range(states):
        total = 0.0
        row, count_row = child[below], counts[below]
        weight = inside[below] * scale
        for h in range(states):
            value = row[h] * rest[h]
            total += value
            count_row[h] += weight * value
        outside[below] = total * scale


@njit(fastmath=REORDER)
def expect(model, symbol, forest, inside, counts):
    """Add to the expected counts of an elementwise model; return the posterior of every node's states [W, k]."""
    states = len(model.root)
    nodes = len(forest.above)
    outside = np.empty((nodes, states))
    posterior = np.empty((nodes, states))
    most = 0
    for i in range(nodes):
        most = max(most, forest.begin[i + 1] - forest.begin[i])
    messages = np.empty((most + 1, states))
    after = np.empty((most + 1, states))
    before = np.empty(states)
    for done in range(nodes):
        i = forest.order[done]
        if forest.above[i] < 0:
            outside[i] = model.root
        _state_posterior(outside[i], inside[i], posterior[i], counts.word[symbol[i]])
        if forest.above[i] < 0:
            counts.root[:] += posterior[i]
        children = forest.children[forest.begin[i] : forest.begin[i + 1]]
        count = len(children)
        for h in range(states):
            after[count, h] = 1.0
            before[h] = outside[i, h] * model.word[symbol[i], h]
        for place in range(count - 1, -1, -1):
            _message(model.child, i, children[place], inside, messages[place])
            for h in range(states):
                after[place, h] = after[place + 1, h] * messages[place, h]
            _scale(after[place])
        for place in range(count):
            j = children[place]
            side = 1 if j > i else 0
            # e_j, in the place of the messages that are no longer needed behind it
            rest = after[place]
            mass = 0.0
            for h in range(states):
                rest[h] = before[h] * after[place + 1, h]
                mass += rest[h] * messages[place, h]
            scale = 1.0 / mass if mass > 0.0 else 0.0
            _descend(model.child[side], inside[j], rest, scale, outside[j], counts.child[side])
            for h in range(states):
                before[h] *= messages[place, h]
            _scale(before)
    return posterior


@njit()
def draw(model, emission, symbol, forest, inside, uniforms):
    """Draw states downward and then symbols: node i takes one of the rows of `emission[symbol[i]]` [m, k].

    `inside` are the vectors of `upward` over the sums of these rows.
    """
    nodes = len(forest.above)
    states = len(model.root)
    state = np.empty(nodes, np.int64)
    drawn = np.empty(nodes, np.int64)
    weights = np.empty(states)
    for done in range(nodes):
        i = forest.order[done]
        above = forest.above[i]
        for h in range(states):
            prior = model.root[h] if above < 0 else model.child[1 if i > above else 0, h, state[above]]
            weights[h] = prior * inside[i, h]
        state[i] = draw_place(weights, uniforms[i, 0])
        drawn[i] = draw_place(emission[symbol[i], :, state[i]], uniforms[i, 1])
    return state, drawn


@njit()
def smooth_views(tokens, vectors, rates, reverse, views):
    """Fill the views [n, J·k] of tokens of text from the left, or from the right (multi_view.py)."""
    count, size = len(tokens), vectors.shape[1]
    for done in range(1, count):
        here = count - 1 - done if reverse else done
        beside = here + 1 if reverse else here - 1
        word = vectors[tokens[beside]]
        for j in range(len(rates)):
            # Behind a boundary nothing is seen but the boundary.
            rate = 1.0 if tokens[beside] == BOUNDARY else rates[j]
            for i in range(size):
                views[here, j * size + i] = (1.0 - rate) * views[beside, j * size + i] + rate * word[i]
