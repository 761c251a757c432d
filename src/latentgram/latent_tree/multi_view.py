"""Vectors of words by LR-MVL (Dhillon, Foster & Ungar 2011), the dictionary U of Dhillon et al. 2012, §4.2.

Each token t has two views: what stands to its left and what stands to its right, as far as a sentence goes. With A
a vector for every word, z_t the one of token t, and a few smoothing rates α,

    L_t = (1 − α) L_{t−1} + α z_{t−1},        R_t = (1 − α) R_{t+1} + α z_{t+1},

one after the other for all α. A round is: the canonical correlates Φ_L, Φ_R of L and R, which estimate the hidden
state of a token from either side; then the canonical correlates of the tokens' words and S = [L Φ_L, R Φ_R], of
which those of the words are the new A. The covariance of words being diagonal, that is one decomposition of
words × 2k numbers. A starts at random. The vectors do not depend on the place of a word ("context oblivious").

Ours, where the paper leaves it open: the rates, the number of rounds, views that end with the sentence, and κ
observations more for every word, which tame rare ones. O(N (Jk)²) a round for N tokens and J rates.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from latentgram.arrays import Floats, Ints
from latentgram.data.text import Text
from latentgram.latent_tree.kernels import smooth_views
from latentgram.numeric.svd import truncated_svd
from latentgram.parallel import one_thread

RATES = np.array([0.5, 0.9])
ROUNDS = 5
CHUNK = 1 << 15
"""Tokens whose views are in memory at a time, but for the rest of a sentence."""
RIDGE = 1e-9
"""Of the largest eigenvalue of a covariance, so that it can be inverted."""


def multi_view_vectors(text: Text, rank: int, smoothing: float) -> tuple[Floats, Floats]:
    """[words, k] vectors and the canonical correlations of the words with their surroundings."""
    tokens, size = text.tokens.astype(np.int64), len(text.words)
    count = np.bincount(tokens, minlength=size).astype(np.float64)
    scale = 1.0 / np.sqrt(count + max(smoothing, RIDGE))
    vectors = np.random.default_rng(0).standard_normal((size, min(rank, size)))
    values = np.zeros(0)
    with one_thread():
        for _ in range(ROUNDS):
            left, right, across, words_left, words_right = _covariances(tokens, text.start, vectors, size)
            from_left, from_right = _inverse_root(left), _inverse_root(right)
            svd = truncated_svd(from_left @ across @ from_right, rank)
            map_left, map_right = from_left @ svd.left, from_right @ svd.right
            shared = np.diag(svd.values)
            both = np.block([[np.eye(len(shared)), shared], [shared, np.eye(len(shared))]])
            seen = np.hstack([words_left @ map_left, words_right @ map_right]) @ _inverse_root(both)
            common = truncated_svd(scale[:, None] * seen, rank)
            vectors, values = scale[:, None] * common.left * np.sqrt(count.sum()), common.values
    return vectors, values


def _covariances(tokens: Ints, start: Ints, vectors: Floats, size: int) -> tuple[Floats, ...]:
    """Means of L Lᵀ, R Rᵀ and L Rᵀ, and the sums of L and R over the tokens of each word."""
    width = len(RATES) * vectors.shape[1]
    square = [np.zeros((width, width)) for _ in range(3)]
    words = [np.zeros((size, width)) for _ in range(2)]
    bounds = np.unique(start[np.searchsorted(start, np.arange(0, len(tokens), CHUNK)).clip(max=len(start) - 1)])
    for begin, end in zip((1, *bounds), (*bounds, len(tokens)), strict=True):
        if begin >= end:
            continue
        piece = tokens[begin - 1 : end]
        views = []
        for reverse in (False, True):
            views.append(np.zeros((len(piece), width)))
            smooth_views(piece, vectors, RATES, reverse, views[-1])
        # The boundary before the piece was the last token of the piece before it.
        left, right = (view[1:] for view in views)
        square[0] += left.T @ left
        square[1] += right.T @ right
        square[2] += left.T @ right
        chosen = csr_array((np.ones(len(left)), (piece[1:], np.arange(len(left)))), (size, len(left)))
        words[0] += chosen @ left
        words[1] += chosen @ right
    total = len(tokens) - 1.0
    return (*(each / total for each in square), *(each / np.sqrt(total) for each in words))


def _inverse_root(covariance: Floats) -> Floats:
    """C^(−1/2), directions without variance being left out."""
    values, vectors = np.linalg.eigh(covariance)
    used = values > RIDGE * max(float(values[-1]), np.finfo(float).tiny)
    return np.asarray((vectors[:, used] / np.sqrt(values[used])) @ vectors[:, used].T)
