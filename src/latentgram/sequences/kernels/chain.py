"""Forward–backward for hidden Markov models of any order, with exact scaling, over sparse emissions.

Tags are numbered with the boundary as 0; a state is the tags of the last m = order - 1 positions written in base
T, so tag u leads from state p to (p·T + u) mod T^m. `transition[p, u]` is p(u | p).

A lattice has a column for each token. Its nodes are the tags k of the token (m = 1), or pairs j·K + k of a tag of
the token before and a tag of the token (m = 2): only what the emissions allow is ever visited. With c_i the sum of
column i, taken out again in the next, and e the emissions,

    α_{i+1}(k') = e_{i+1}(k') Σ_k α_i(k) p(k' | k) / c_i,      log Z = Σ_{i < n} log c_i + log Σ_k α_n(k) p(0 | k)
    β_i(k) = Σ_{k'} p(k' | k) e_{i+1}(k') β_{i+1}(k') / c_i,   ξ_i(k, k') = α_i(k) p(k' | k) e β_{i+1}(k') / c_i

O(Σ K_i K_{i+1}) for m = 1 and O(Σ K_{i-1} K_i K_{i+1}) for m = 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentgram.compiling import REORDER, njit


class Chain(NamedTuple):
    """An HMM, or expected counts of its numbers."""

    transition: np.ndarray
    """[T^m, T]"""
    start: np.ndarray
    tag: np.ndarray
    prob: np.ndarray
    """The tags that can emit word w are `tag[start[w] : start[w + 1]]`, with these probabilities."""


class Sequences(NamedTuple):
    """Pieces of text: `tokens[begin[s] : end[s]]` between the tags `left[s]` and `right[s]`, `weight[s]` times.

    A sentence has the tag 0 on both sides.
    """

    tokens: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    left: np.ndarray
    right: np.ndarray
    weight: np.ndarray


@njit()
def column_starts(tokens, begin, end, emit_start, memory):
    """Where the nodes of each column begin, and their number at the end."""
    length = end - begin
    starts = np.empty(length + 1, np.int64)
    starts[0] = 0
    before = 1
    for i in range(length):
        tags = emit_start[tokens[begin + i] + 1] - emit_start[tokens[begin + i]]
        starts[i + 1] = starts[i] + before * tags
        if memory == 2:
            before = tags
    return starts


@njit()
def tag_before(tokens, first, i, j, emit_start, emit_tag, left):
    """The j-th tag of the token before position i; before the first token stands the tag on the left."""
    if i == 0:
        return np.int64(left)
    return np.int64(emit_tag[emit_start[tokens[first + i - 1]] + j])


@njit(fastmath=REORDER)
def forward(chain, tokens, first, last, left, starts, alpha, scale):
    """Fill `alpha` of one sequence; return the logarithm of the sum of its last column, or -inf if that is 0.

    Column i of `alpha` is divided by the sums of the columns before it, and `scale[i]` is the inverse of its own.
    """
    transition, emit_start, emit_tag, emit_prob = chain
    tags = transition.shape[1]
    memory = 1 if transition.shape[0] == tags else 2
    length = last - first
    # `product` gathers the scales so that a logarithm is taken once in many tokens.
    product = 1.0
    logs = 0.0
    low, high = emit_start[tokens[first]], emit_start[tokens[first] + 1]
    mass = 0.0
    for k in range(high - low):
        alpha[k] = transition[left, emit_tag[low + k]] * emit_prob[low + k]
        mass += alpha[k]
    for i in range(length):
        if not mass > 0.0:
            return -np.inf
        product *= mass
        if product < 1e-200 or product > 1e200:
            logs += np.log(product)
            product = 1.0
        inverse = 1.0 / mass
        scale[i] = inverse
        if i + 1 == length:
            break
        low, high = emit_start[tokens[first + i]], emit_start[tokens[first + i] + 1]
        next_low, next_high = emit_start[tokens[first + i + 1]], emit_start[tokens[first + i + 1] + 1]
        here, next_width = high - low, next_high - next_low
        at, to = starts[i], starts[i + 1]
        mass = 0.0
        if memory == 1:
            for u in range(next_width):
                tag = emit_tag[next_low + u]
                total = 0.0
                for k in range(here):
                    total += alpha[at + k] * transition[emit_tag[low + k], tag]
                total *= emit_prob[next_low + u] * inverse
                alpha[to + u] = total
                mass += total
            continue
        before = (to - at) // here
        for k in range(here):
            for u in range(next_width):
                tag = emit_tag[next_low + u]
                total = 0.0
                for j in range(before):
                    state = tags * tag_before(tokens, first, i, j, emit_start, emit_tag, left) + emit_tag[low + k]
                    total += alpha[at + j * here + k] * transition[state, tag]
                total *= emit_prob[next_low + u] * inverse
                alpha[to + k * next_width + u] = total
                mass += total
    return logs + np.log(product)


@njit(fastmath=REORDER)
def _ending(chain, tokens, first, last, left, right, starts, alpha):
    """Σ α p(right | state) over the nodes of the last column."""
    tags = chain.transition.shape[1]
    memory = 1 if chain.transition.shape[0] == tags else 2
    low, high = chain.start[tokens[last - 1]], chain.start[tokens[last - 1] + 1]
    at, total = starts[last - first - 1], 0.0
    for j in range((starts[last - first] - at) // (high - low)):
        past = (memory - 1) * tags * tag_before(tokens, first, last - first - 1, j, chain.start, chain.tag, left)
        for entry in range(low, high):
            total += alpha[at] * chain.transition[past + chain.tag[entry], right]
            at += 1
    return total


@njit()
def _grown(room, size):
    """An array with room for so many numbers."""
    return room if room.size >= size else np.empty(2 * size)


@njit(fastmath=REORDER)
def _pull(row, counts, tags, beta, mass):
    """Σ_u p(u) β(u) over the tags of the next column; count the moves, `mass` being the α of this node."""
    onward = 0.0
    for u in range(tags.size):
        value = row[tags[u]] * beta[u]
        onward += value
        counts[tags[u]] += mass * value
    return onward


@njit(fastmath=REORDER)
def expect(chain, sequences, counts):
    """Add the expected counts of all sequences to the transitions and emissions of `counts`; return log Z of each.

    A sequence of probability 0 has log Z = -inf and adds nothing.
    """
    transition, emit_start, emit_tag, emit_prob = chain
    tokens, tags = sequences.tokens, transition.shape[1]
    memory = 1 if transition.shape[0] == tags else 2
    alpha, beta, fresh, scale = np.empty(1024), np.empty(256), np.empty(256), np.empty(256)
    behind = np.empty(1, emit_tag.dtype)
    logs = np.full(sequences.begin.size, -np.inf)
    for s in range(sequences.begin.size):
        first, last, base, right = sequences.begin[s], sequences.end[s], sequences.left[s], sequences.right[s]
        length = last - first
        starts = column_starts(tokens, first, last, emit_start, memory)
        alpha, scale = _grown(alpha, starts[length]), _grown(scale, length)
        inside = forward(chain, tokens, first, last, base, starts, alpha, scale)
        mass = _ending(chain, tokens, first, last, base, right, starts, alpha) if inside > -np.inf else 0.0
        if not mass > 0.0:
            continue
        logs[s] = inside + np.log(mass * scale[length - 1])
        for i in range(length - 1, -1, -1):
            low, high = emit_start[tokens[first + i]], emit_start[tokens[first + i] + 1]
            here, at, width = high - low, starts[i], starts[i + 1] - starts[i]
            lanes = here if memory == 2 else 1
            if i + 1 == length:
                # Behind the sequence stands one tag.
                behind[0] = right
                following = behind
                beta = _grown(beta, lanes)
                beta[:lanes] = sequences.weight[s] / mass
            else:
                next_low = emit_start[tokens[first + i + 1]]
                following = emit_tag[next_low : emit_start[tokens[first + i + 1] + 1]]
                # α of a column lacks its own scale, so β takes it.
                for k in range(lanes):
                    for u in range(following.size):
                        beta[k * following.size + u] *= emit_prob[next_low + u] * scale[i]
            fresh = _grown(fresh, width)
            for j in range(width // here):
                past = (memory - 1) * tags * tag_before(tokens, first, i, j, emit_start, emit_tag, base)
                for k in range(here):
                    node = j * here + k
                    state, source = past + emit_tag[low + k], (memory - 1) * k * following.size
                    onward = _pull(
                        transition[state], counts.transition[state], following, beta[source:], alpha[at + node]
                    )
                    fresh[node] = onward
                    counts.prob[low + k] += alpha[at + node] * onward
            beta, fresh = fresh, beta
        # The first column is entered from the left.
        low, high = emit_start[tokens[first]], emit_start[tokens[first] + 1]
        for k in range(high - low):
            counts.transition[base, emit_tag[low + k]] += alpha[k] * beta[k]
    return logs
