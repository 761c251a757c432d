"""Which arcs are worth a closer look: those that a first-order model finds likely.

An arc is kept if its posterior under exp(scale · score) is at least `floor` times that of its modifier's likeliest
head, or if it is in the best projective tree, so that there always is one, or in the best of all trees where arcs
may be crossing. O(N³) per sentence.
"""

import numpy as np

from latentgram.arcs.kernels.features import score_arcs, sentence_at
from latentgram.compiling import grown, njit
from latentgram.numeric.projective import best_heads, first_order
from latentgram.numeric.projective_posteriors import posteriors
from latentgram.numeric.spanning import best_spanning, spanning_marginals


@njit()
def likely_arcs(symbols, weights, scale, floor, crossing):
    """Which arcs [N + 1, N] (head by its place, 0 the root; modifier) are kept."""
    n_words = symbols.shape[1] - 2
    arc, root = np.full((n_words, n_words), -np.inf), np.empty(n_words)
    score_arcs(symbols, weights, arc, root)
    if crossing:
        marginal, root_marginal, _ = spanning_marginals(arc * scale, root * scale)
    else:
        marginal, root_marginal, _ = posteriors(first_order(arc, root), scale)
    heads, _ = best_heads(first_order(arc, root))
    kept = np.zeros((n_words + 1, n_words), np.bool_)
    for word in range(n_words):
        least = floor * max(root_marginal[word], marginal[:, word].max())
        kept[0, word] = root_marginal[word] >= least
        for head in range(n_words):
            kept[head + 1, word] = head != word and marginal[head, word] >= least
        kept[heads[word] + 1, word] = True
    if crossing:
        heads, _ = best_spanning(arc, root)
        for word in range(n_words):
            kept[heads[word] + 1, word] = True
    return kept


@njit()
def list_likely_heads(trees, weights, scale, floor, crossing):
    """For every word of many sentences the places of the heads that are kept, its right head among them.

    Returns lists: where those of each word begin [words + 1], and the heads.
    """
    offsets = trees.offsets
    start = np.zeros(offsets[-1] + 1, np.int64)
    listed = np.empty(16 * offsets[-1] + 64, np.int32)
    used = 0
    for s in range(len(offsets) - 1):
        symbols, heads = sentence_at(trees, s)
        n_words = len(heads) - 2
        kept = likely_arcs(symbols, weights, scale, floor, crossing)
        for word in range(n_words):
            kept[heads[word + 1], word] = True
        listed = grown(listed, used + kept.sum())
        for word in range(n_words):
            for head in range(n_words + 1):
                if kept[head, word]:
                    listed[used] = head
                    used += 1
            start[offsets[s] + word + 1] = used
    return start, listed[:used].copy()
