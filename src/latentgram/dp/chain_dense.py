"""Forward–backward for bigram hidden Markov models in which every tag may emit every word.

Without a tag dictionary the lattice is full, and sentences of one length can go through it side by side: a column
of B sentences is a matrix [B, T], and a step is one matrix product and a product by the rows of the emissions,

    α_{i+1} = (α_i P) ∘ E[w_{i+1}] / c_i,   X_{i+1} = E[w_{i+1}] ∘ β_{i+1} / c_i,   β_i = X_{i+1} Pᵀ,
    expected transitions = P ∘ Σ_i α_iᵀ X_{i+1},   c_i the sums of the rows of α_i.

O(N T²) as in `chain`, but at the speed of matrix products. The boundary is not one of the T tags here.
"""

import numpy as np
from numba import njit

CELLS = 1 << 15
"""How many numbers the forward columns of one batch may have: they should stay in the second-level cache."""


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def expect_dense(
    start, transition, stop, emission, tokens, begin, length, weight,
    start_count, transition_count, stop_count, emission_count,
):  # fmt: skip
    """Add the expected counts of all sentences to the count arrays; return Σ weight · log Z.

    Sentences are `tokens[begin[s] : begin[s] + length[s]]`, sorted by length; `emission[w]` are the probabilities
    of word w for each tag. A sentence of probability 0 makes the result -inf.
    """
    tags = start.size
    pairs = np.zeros((tags, tags))
    backward = np.ascontiguousarray(transition.T)
    total = 0.0
    first = 0
    while first < begin.size:
        size = length[first]
        most = max(8, CELLS // (tags * size))
        last = first + 1
        while last < begin.size and last - first < most and length[last] == size:
            last += 1
        lanes = last - first
        alpha = np.empty((size, lanes, tags))
        scale = np.empty((size, lanes))
        product = np.ones(lanes)
        logs = np.zeros(lanes)
        for i in range(size):
            if i > 0:
                np.dot(alpha[i - 1], transition, alpha[i])
            for b in range(lanes):
                row = alpha[i, b]
                emit = emission[tokens[begin[first + b] + i]]
                mass = 0.0
                if i == 0:
                    for t in range(tags):
                        row[t] = start[t] * emit[t]
                        mass += row[t]
                else:
                    inverse = scale[i - 1, b]
                    for t in range(tags):
                        row[t] *= emit[t] * inverse
                        mass += row[t]
                if not mass > 0.0:
                    return -np.inf
                scale[i, b] = 1.0 / mass
                if i + 1 < size:
                    product[b] *= mass
                    if product[b] < 1e-200:
                        logs[b] += np.log(product[b])
                        product[b] = 1.0
        beta = np.empty((lanes, tags))
        ahead = np.empty((size, lanes, tags))
        for b in range(lanes):
            mass = 0.0
            for t in range(tags):
                mass += alpha[size - 1, b, t] * stop[t]
            if not mass > 0.0:
                return -np.inf
            total += weight[first + b] * (logs[b] + np.log(product[b]) + np.log(mass))
            inverse = weight[first + b] / mass
            for t in range(tags):
                beta[b, t] = stop[t] * inverse
                stop_count[t] += alpha[size - 1, b, t] * beta[b, t]
        for i in range(size - 1, -1, -1):
            for b in range(lanes):
                word = tokens[begin[first + b] + i]
                emit = emission[word]
                count = emission_count[word]
                inverse = scale[i - 1, b] if i > 0 else 1.0
                inside, outside, onward = alpha[i, b], beta[b], ahead[i, b]
                for t in range(tags):
                    onward[t] = emit[t] * outside[t] * inverse
                for t in range(tags):
                    count[t] += inside[t] * outside[t]
            if i > 0:
                np.dot(ahead[i], backward, beta)
        for b in range(lanes):
            for t in range(tags):
                start_count[t] += start[t] * ahead[0, b, t]
        if size > 1:
            rows = (size - 1) * lanes
            pairs += np.dot(alpha[:-1].reshape(rows, tags).T, ahead[1:].reshape(rows, tags))
        first = last
    transition_count += pairs * transition
    return total
