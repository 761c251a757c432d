"""Forward–backward for hidden Markov models of any order, with exact scaling, over sparse emissions.

Tags are numbered with the boundary as 0; a state is the tags of the last m = order - 1 positions written in base
T, so tag u leads from state p to (p·T + u) mod T^m. `transition[p, u]` is p(u | p). The tags that can emit word w
are `emit_tag[emit_start[w] : emit_start[w + 1]]` with probabilities `emit_prob`.

A lattice has a column for each token. Its nodes are the tags k of the token (m = 1), or pairs j·K + k of a tag of
the token before and a tag of the token (m = 2): only what the emissions allow is ever visited. With c_i the sum of
column i, taken out again in the next, and e the emissions,

    α_{i+1}(k') = e_{i+1}(k') Σ_k α_i(k) p(k' | k) / c_i,      log Z = Σ_{i < n} log c_i + log Σ_k α_n(k) p(0 | k)
    β_i(k) = Σ_{k'} p(k' | k) e_{i+1}(k') β_{i+1}(k') / c_i,   ξ_i(k, k') = α_i(k) p(k' | k) e β_{i+1}(k') / c_i

O(Σ K_i K_{i+1}) for m = 1 and O(Σ K_{i-1} K_i K_{i+1}) for m = 2.
"""

import numpy as np
from numba import njit

from latentgram.numeric.compiling import REORDER


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def tag_before(tokens, first, i, j, emit_start, emit_tag, left):
    """The j-th tag of the token before position i; before the first token stands the tag on the left."""
    if i == 0:
        return np.int64(left)
    return np.int64(emit_tag[emit_start[tokens[first + i - 1]] + j])


@njit(cache=True, nogil=True, fastmath=REORDER)
def forward(transition, emit_start, emit_tag, emit_prob, tokens, first, last, left, starts, alpha, scale):
    """Fill `alpha` of one sequence; return the logarithm of the sum of its last column, or -inf if that is 0.

    Column i of `alpha` is divided by the sums of the columns before it, and `scale[i]` is the inverse of its own.
    """
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


@njit(cache=True, nogil=True, fastmath=REORDER)
def expect(
    transition, emit_start, emit_tag, emit_prob, tokens, begin, end, left, right, weight,
    transition_count, emit_count,
):  # fmt: skip
    """Add the expected counts of all sequences to the count arrays; return log Z of each.

    Sequence s is `tokens[begin[s] : end[s]]` between the tags `left[s]` and `right[s]` (0 for a whole sentence),
    counted `weight[s]` times. A sequence of probability 0 has log Z = -inf and adds nothing.
    """
    tags = transition.shape[1]
    memory = 1 if transition.shape[0] == tags else 2
    alpha = np.empty(1024)
    beta = np.empty(256)
    fresh = np.empty(256)
    scale = np.empty(256)
    logs = np.full(begin.size, -np.inf)
    for s in range(begin.size):
        first, last, base = begin[s], end[s], left[s]
        length = last - first
        starts = column_starts(tokens, first, last, emit_start, memory)
        if starts[length] > alpha.size:
            alpha = np.empty(2 * starts[length])
        if length > scale.size:
            scale = np.empty(2 * length)
        inside = forward(
            transition, emit_start, emit_tag, emit_prob, tokens, first, last, base, starts, alpha, scale
        )
        if inside == -np.inf:
            continue
        low, high = emit_start[tokens[last - 1]], emit_start[tokens[last - 1] + 1]
        here = high - low
        at = starts[length - 1]
        width = starts[length] - at
        if width > beta.size:
            beta, fresh = np.empty(2 * width), np.empty(2 * width)
        mass = 0.0
        for n in range(width):
            state = np.int64(emit_tag[low + n % here])
            if memory == 2:
                state += tags * tag_before(tokens, first, length - 1, n // here, emit_start, emit_tag, base)
            beta[n] = transition[state, right[s]]
            mass += alpha[at + n] * beta[n]
        if not mass > 0.0:
            continue
        logs[s] = inside + np.log(mass * scale[length - 1])
        inverse = weight[s] / mass
        for n in range(width):
            state = np.int64(emit_tag[low + n % here])
            if memory == 2:
                state += tags * tag_before(tokens, first, length - 1, n // here, emit_start, emit_tag, base)
            beta[n] *= inverse
            share = alpha[at + n] * beta[n]
            transition_count[state, right[s]] += share
            emit_count[low + n % here] += share
        for i in range(length - 2, -1, -1):
            low, high = emit_start[tokens[first + i]], emit_start[tokens[first + i] + 1]
            next_low, next_high = emit_start[tokens[first + i + 1]], emit_start[tokens[first + i + 1] + 1]
            here, next_width = high - low, next_high - next_low
            at = starts[i]
            width = starts[i + 1] - at
            # α of a column lacks its own scale, so β takes it.
            inverse = scale[i]
            for k in range(here if memory == 2 else 1):
                for u in range(next_width):
                    beta[k * next_width + u] *= emit_prob[next_low + u] * inverse
            if width > fresh.size:
                fresh = np.empty(2 * width)
            for j in range(width // here):
                for k in range(here):
                    mass = alpha[at + j * here + k]
                    state = np.int64(emit_tag[low + k])
                    if memory == 2:
                        state += tags * tag_before(tokens, first, i, j, emit_start, emit_tag, base)
                    source = k * next_width if memory == 2 else 0
                    row = transition[state]
                    counts = transition_count[state]
                    onward = 0.0
                    for u in range(next_width):
                        tag = emit_tag[next_low + u]
                        value = row[tag] * beta[source + u]
                        onward += value
                        counts[tag] += mass * value
                    fresh[j * here + k] = onward
                    emit_count[low + k] += mass * onward
            if fresh.size > beta.size:
                beta = np.empty(fresh.size)
            beta, fresh = fresh, beta
        # The first column is entered from the left.
        low, high = emit_start[tokens[first]], emit_start[tokens[first] + 1]
        for k in range(high - low):
            transition_count[base, emit_tag[low + k]] += alpha[k] * beta[k]
    return logs
