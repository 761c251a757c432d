"""Forward–backward for bigram hidden Markov models in which every tag may emit every word.

Without a tag dictionary the lattice is full, and sentences of one length can go through it side by side: a column
of B sentences is a matrix [B, T], and a step is one matrix product and a product by the rows of the emissions,

    α_{i+1} = (α_i P) ∘ E[w_{i+1}] / c_i,   X_{i+1} = E[w_{i+1}] ∘ β_{i+1} / c_i,   β_i = X_{i+1} Pᵀ,
    expected transitions = P ∘ Σ_i α_iᵀ X_{i+1},   c_i the sums of the rows of α_i.

O(N T²) as in `chain`, but at the speed of matrix products. The boundary is not one of the T tags here.

The lattice has the precision of the emissions; counts are summed in double precision. Every term is positive, so
single precision loses about 1e-6 of a count and takes little more than half of the time, but numbers beyond its
range become 0 or infinite: the caller looks whether the result is finite, and repeats in double precision.
"""

import numpy as np
from numba import njit

CELLS = 1 << 14
"""How many numbers the forward columns of one batch may have: they should stay near the processor."""


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def expect_dense(
    start, transition, stop, emission, tokens, begin, length, weight,
    start_count, transition_count, stop_count, emission_count,
):  # fmt: skip
    """Add the expected counts of all sentences to the count arrays; return Σ weight · log Z.

    Sentences are `tokens[begin[s] : begin[s] + length[s]]`, sorted by length; `emission[w]` are the probabilities
    of word w for each tag. A sentence of probability 0 makes the result -inf.
    """
    tags = start.size
    one = emission.dtype.type(1.0)
    pairs = np.zeros((tags, tags))
    backward = np.ascontiguousarray(transition.T)
    total = 0.0
    first = 0
    # Rows are (position, lane) pairs; the same storage serves every batch.
    most_rows = max(CELLS // tags, 8 * length[-1]) if begin.size else 0
    alphas = np.empty((most_rows, tags), emission.dtype)
    aheads = np.empty((most_rows, tags), emission.dtype)
    betas = np.empty((most_rows, tags), emission.dtype)
    scale = np.empty(most_rows, emission.dtype)
    words = np.empty(most_rows, np.int64)
    product = np.empty(most_rows)
    logs = np.empty(most_rows)
    while first < begin.size:
        size = length[first]
        most = max(8, CELLS // (tags * size))
        last = first + 1
        while last < begin.size and last - first < most and length[last] == size:
            last += 1
        lanes = last - first
        rows = size * lanes
        alpha, ahead, beta = alphas[:rows], aheads[:rows], betas[:lanes]
        for b in range(lanes):
            product[b] = 1.0
            logs[b] = 0.0
            for i in range(size):
                words[i * lanes + b] = tokens[begin[first + b] + i]
        for i in range(size):
            if i > 0:
                np.dot(alpha[(i - 1) * lanes : i * lanes], transition, alpha[i * lanes : (i + 1) * lanes])
            for b in range(lanes):
                row = i * lanes + b
                word = words[row]
                mass = one * 0
                if i == 0:
                    for t in range(tags):
                        here = start[t] * emission[word, t]
                        alpha[row, t] = here
                        mass += here
                else:
                    inverse = scale[row - lanes]
                    for t in range(tags):
                        here = alpha[row, t] * (emission[word, t] * inverse)
                        alpha[row, t] = here
                        mass += here
                if not mass > 0.0:
                    return -np.inf
                scale[row] = one / mass
                if i + 1 < size:
                    product[b] *= mass
                    if product[b] < 1e-200:
                        logs[b] += np.log(product[b])
                        product[b] = 1.0
        for b in range(lanes):
            row = rows - lanes + b
            mass = one * 0
            for t in range(tags):
                mass += alpha[row, t] * stop[t]
            if not mass > 0.0:
                return -np.inf
            total += weight[first + b] * (logs[b] + np.log(product[b]) + np.log(np.float64(mass)))
            final = emission.dtype.type(weight[first + b] / mass)
            for t in range(tags):
                beta[b, t] = stop[t] * final
                stop_count[t] += alpha[row, t] * beta[b, t]
        for i in range(size - 1, -1, -1):
            for b in range(lanes):
                row = i * lanes + b
                word = words[row]
                inverse = scale[row - lanes] if i > 0 else one
                for t in range(tags):
                    outside = beta[b, t]
                    ahead[row, t] = emission[word, t] * (outside * inverse)
                    emission_count[word, t] += alpha[row, t] * outside
            if i > 0:
                np.dot(ahead[i * lanes : (i + 1) * lanes], backward, beta)
        for b in range(lanes):
            for t in range(tags):
                start_count[t] += start[t] * ahead[b, t]
        if size > 1:
            pairs += np.dot(alpha[: rows - lanes].T, ahead[lanes:])
        first = last
    transition_count += pairs * transition
    return total
