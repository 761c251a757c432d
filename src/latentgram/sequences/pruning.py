"""Entropy pruning of back-off models (Stolcke 1998): leave out n-grams that backing off replaces nearly as well.

Without hw the history h backs off for w too, and its back-off weight changes from γ to γ′:

    γ  = (1 − Σ_v p(v | h)) / (1 − Σ_v p(v | h′)),    γ′ = (left + p(w | h)) / (below + p(w | h′))

with `left` and `below` the numerator and the denominator of γ. The divergence of the smaller model is

    D = −p(h) · { p(w | h) · [log p(w | h′) + log γ′ − log p(w | h)] + left · [log γ′ − log γ] }.

n-grams with e^D − 1, the relative growth of the perplexity, below a threshold are left out, the highest order
first; parts of n-grams that stay, stay. Probabilities of what stays are not changed, the weights are made to fit.
One pass over whole arrays per order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from latentgram.arrays import Floats
from latentgram.data.ngrams.arpa import Arpa, logs
from latentgram.data.ngrams.trie import NGramTrie
from latentgram.sequences.smoothing import failure_weights, sums


def pruned(model: Arpa, threshold: float) -> Arpa:
    """The model without the n-grams whose loss lets the perplexity grow by less than a share `threshold`."""
    trie = model.trie
    prob = 10.0**model.logprob
    kept = np.ones(len(trie), np.bool_)
    needed = np.zeros(len(trie), np.bool_)
    needed[: trie.words] = True
    loss = divergences(trie, prob)
    for order in range(trie.order, 1, -1):
        level = np.arange(trie.level[order - 1], trie.level[order])
        kept[level] = needed[level] | (np.expm1(loss[level]) >= threshold)
        stay = level[kept[level]]
        needed[trie.prefix[stay]] = True
        needed[trie.suffix[stay]] = True
    rows = np.flatnonzero(kept)
    smaller = trie.restricted(rows)
    weights = logs(failure_weights(smaller, prob[rows]))
    return replace(model, trie=smaller, logprob=model.logprob[rows], backoff=weights)


def divergences(trie: NGramTrie, prob: Floats) -> Floats:
    """[rows] D for each n-gram left out by itself; 0 for unigrams."""
    marginal = prob.copy()
    for order in range(2, trie.order + 1):
        level = slice(trie.level[order - 1], trie.level[order])
        marginal[level] *= marginal[trie.prefix[level]]
    inner = np.arange(trie.words, len(trie))
    history, own, lower = trie.prefix[inner], prob[inner], prob[trie.suffix[inner]]
    left = np.maximum(1.0 - sums(trie, prob)[1:], 0.0)[history]
    below = np.maximum(1.0 - np.bincount(history, lower, minlength=len(trie)), 1e-300)[history]
    with np.errstate(divide="ignore", invalid="ignore"):
        fresh = np.log((left + own) / (below + lower))
        change = np.where(left > 0, left * (fresh - np.log(left / below)), 0.0)
        loss = -marginal[history] * (own * (np.log(lower) + fresh - np.log(own)) + change)
    return np.concatenate([np.zeros(trie.words), np.maximum(loss, 0.0)])
