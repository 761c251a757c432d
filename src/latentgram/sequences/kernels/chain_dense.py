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

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentgram.compiling import REORDER, njit

CELLS = 1 << 14
"""How many numbers the forward columns of one batch may have: they should stay near the processor."""


class DenseChain(NamedTuple):
    """An HMM over T tags, or expected counts of its numbers."""

    start: np.ndarray
    """[T]"""
    inner: np.ndarray
    """[T, T] from tag to tag."""
    stop: np.ndarray
    """[T]"""
    emission: np.ndarray
    """[words, T]"""


@njit(fastmath=REORDER)
def _forward(chain, words, lanes, alpha, scale, logs):
    """Fill the columns of a batch and the sums of their logs, but for the last one's; False if one is impossible.

    Rows are (position, lane) pairs: row i · lanes + b is position i of sentence b.
    """
    start, inner, _, emission = chain
    tags, size = start.size, alpha.shape[0] // lanes
    one = emission.dtype.type(1.0)
    product = np.ones(lanes)
    for b in range(lanes):
        logs[b] = 0.0
    for i in range(size):
        if i > 0:
            np.dot(alpha[(i - 1) * lanes : i * lanes], inner, alpha[i * lanes : (i + 1) * lanes])
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
                return False
            scale[row] = one / mass
            if i + 1 < size:
                product[b] *= mass
                if product[b] < 1e-200:
                    logs[b] += np.log(product[b])
                    product[b] = 1.0
    for b in range(lanes):
        logs[b] += np.log(product[b])
    return True


@njit(fastmath=REORDER)
def _finish(chain, weight, last, logs, beta, stop_count):
    """Fill β of the last column of α; return Σ weight · log Z, -inf if one of the sentences is impossible."""
    stop, dtype = chain.stop, chain.emission.dtype
    total = 0.0
    for b in range(last.shape[0]):
        mass = dtype.type(0.0)
        for t in range(stop.size):
            mass += last[b, t] * stop[t]
        if not mass > 0.0:
            return -np.inf
        total += weight[b] * (logs[b] + np.log(np.float64(mass)))
        final = dtype.type(weight[b] / mass)
        for t in range(stop.size):
            beta[b, t] = stop[t] * final
            stop_count[t] += last[b, t] * beta[b, t]
    return total


@njit(fastmath=REORDER)
def _backward(chain, turned, words, alpha, scale, beta, ahead, counts):
    """Fill the rows X of `ahead` from β of the last column, and count; `turned` is Pᵀ."""
    emission = chain.emission
    lanes, tags = beta.shape
    one = emission.dtype.type(1.0)
    for i in range(alpha.shape[0] // lanes - 1, -1, -1):
        for b in range(lanes):
            row = i * lanes + b
            word = words[row]
            inverse = scale[row - lanes] if i > 0 else one
            for t in range(tags):
                outside = beta[b, t]
                ahead[row, t] = emission[word, t] * (outside * inverse)
                counts.emission[word, t] += alpha[row, t] * outside
        if i > 0:
            np.dot(ahead[i * lanes : (i + 1) * lanes], turned, beta)
    for b in range(lanes):
        for t in range(tags):
            counts.start[t] += chain.start[t] * ahead[b, t]


@njit(fastmath=REORDER)
def expect_dense(chain, tokens, begin, length, weight, counts):
    """Add the expected counts of all sentences to `counts`; return Σ weight · log Z.

    Sentences are `tokens[begin[s] : begin[s] + length[s]]`, sorted by length. A sentence of probability 0 makes
    the result -inf.
    """
    tags, dtype = chain.start.size, chain.emission.dtype
    pairs = np.zeros((tags, tags))
    turned = np.ascontiguousarray(chain.inner.T)
    total = 0.0
    first = 0
    # The same storage serves every batch.
    most_rows = max(CELLS // tags, 8 * length[-1]) if begin.size else 0
    alphas, aheads, betas = (
        np.empty((most_rows, tags), dtype), np.empty((most_rows, tags), dtype), np.empty((most_rows, tags), dtype),
    )  # fmt: skip
    scale, words, logs = np.empty(most_rows, dtype), np.empty(most_rows, np.int64), np.empty(most_rows)
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
            for i in range(size):
                words[i * lanes + b] = tokens[begin[first + b] + i]
        if not _forward(chain, words, lanes, alpha, scale, logs):
            return -np.inf
        total += _finish(chain, weight[first:last], alpha[rows - lanes :], logs, beta, counts.stop)
        if total == -np.inf:
            return total
        _backward(chain, turned, words, alpha, scale, beta, ahead, counts)
        if size > 1:
            pairs += np.dot(alpha[: rows - lanes].T, ahead[lanes:])
        first = last
    counts.inner[:] += pairs * chain.inner
    return total
