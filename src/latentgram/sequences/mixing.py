"""Several n-gram models as one: linear interpolation, with weights from held-out text.

    p(w | h) = Σ_i λ_i p_i(w | h),    Σ_i λ_i = 1

The mixture has the n-grams of all of its parts, each with this probability, and back-off weights that make every
history sum to one; for n-grams that no part has it backs off (as SRILM's static interpolation does). A word that a
model lacks has no probability in it: only `<unk>` has that of its unknown words. The weights make held-out text
most likely, by EM on the probabilities of its tokens:

    r_i(t) = λ_i p_i(t) / Σ_j λ_j p_j(t),    λ_i = mean over tokens of r_i(t).

Cost: every model scores the held-out text once and each n-gram of the union once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from latentgram.arrays import Floats, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.ngrams.arpa import Arpa, logs
from latentgram.data.ngrams.counts import UNKNOWN
from latentgram.data.ngrams.trie import NGramTrie
from latentgram.data.text import BOUNDARY, END, Text
from latentgram.errors import DataError, SettingError
from latentgram.parallel import engine_for, within
from latentgram.progress import Progress, Silent
from latentgram.sequences.counting import from_arpa
from latentgram.sequences.ngram import BackoffNGram
from latentgram.sequences.smoothing import failure_weights

ROUNDS = 1000
"""EM on a few weights is cheap: it ends when no weight moves by more than `STILL`."""
STILL = 1e-9
MOST_WEIGHT = 1e30
"""The largest weight that may be given: beyond, the sum would not be a number."""


def mix(
    models: Sequence[BackoffNGram],
    weights: Sequence[float],
    *,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> BackoffNGram:
    """Interpolate models with the failure reading (smoothed models and ARPA files) with given weights.

    >>> import latentgram as lg
    >>> by = lg.Counting(smoothing="witten-bell")
    >>> texts = [lg.Text.of(["a rose is a rose"]), lg.Text.of(["a pen is a pen"])]
    >>> models = [lg.fit(lg.BackoffNGram, lg.NGramCounts.of(text, order=2), by=by) for text in texts]
    >>> mixture = mix(models, [0.5, 0.5])
    >>> mixture.perplexity(["a pen is a rose"]) < min(model.perplexity(["a pen is a rose"]) for model in models)
    True
    """
    shares = _checked(models, weights)
    words, threads = _vocabulary(models), within(engine_for(n_jobs))
    grams = [_union([model for model in models if model.order >= k], k, words) for k in _orders(models)]
    trie, rows = NGramTrie.of(grams, len(words))
    prob = np.zeros(len(trie))
    for order, (row, gram) in enumerate(zip(rows, grams, strict=True), 1):
        logprobs = threads.map(partial(_logprobs, gram, words), models)
        parts = [share * np.exp(logprob) for share, logprob in zip(shares, logprobs, strict=True)]
        prob[row] = np.sum(parts, axis=0)
        (progress or Silent()).step("mixing orders", order, len(grams))
    return from_arpa(Arpa(words, trie, logs(prob), logs(failure_weights(trie, prob))))


def mixing_weights(models: Sequence[BackoffNGram], heldout: Text, *, n_jobs: int = 1) -> Floats:
    """The weights that maximise the likelihood of held-out text; tokens impossible in all models are ignored.

    >>> import latentgram as lg
    >>> by = lg.Counting(smoothing="witten-bell")
    >>> texts = [lg.Text.of(["a rose is a rose"]), lg.Text.of(["a pen is a pen"])]
    >>> models = [lg.fit(lg.BackoffNGram, lg.NGramCounts.of(text, order=2), by=by) for text in texts]
    >>> mixing_weights(models, lg.Text.of(["a pen is a pen", "a pen is a rose"])).round(1)
    array([0.2, 0.8])
    """
    weights = _checked(models, [1.0] * len(models))
    words = _vocabulary(models)
    tokens = heldout.encoded_by(words, unknown=words.index(UNKNOWN))[1:]
    known = [_renumbered(words, model)[tokens] >= 0 for model in models]
    logprobs = within(engine_for(n_jobs)).map(lambda model: model.word_logprobs(heldout)[1:], models)
    scores = [np.where(there, logprob, -np.inf) for there, logprob in zip(known, logprobs, strict=True)]
    prob = np.exp(np.array(scores))
    prob = prob[:, prob.sum(0) > 0]
    if not prob.size:
        raise DataError("no token of the held-out text has a probability under any of the models")
    for _ in range(ROUNDS):
        part = weights[:, None] * prob
        moved = (part / part.sum(0)).mean(1)
        done = bool(np.abs(moved - weights).max() < STILL)
        weights = moved
        if done:
            break
    return np.asarray(weights / weights.sum())


def _checked(models: Sequence[BackoffNGram], weights: Sequence[float]) -> Floats:
    shares = np.asarray(weights, np.float64)
    if len(models) < 2 or shares.shape != (len(models),):
        raise SettingError(
            f"a mixture needs two or more models and a weight for each, got {len(models)} and {shares.size}"
        )
    if not ((shares >= 0) & (shares <= MOST_WEIGHT)).all() or not shares.any():
        raise SettingError(
            f"the weights of a mixture must be at least 0 and at most {MOST_WEIGHT:g}, and not all 0, "
            f"got {list(weights)}"
        )
    for number, model in enumerate(models, 1):
        if model.reading != "failure":
            raise SettingError(
                f"model {number} has the reading {model.reading}, but a mixture needs p(word | history): "
                "estimate it with smoothing, or build it with the failure reading"
            )
    return np.asarray(shares / shares.sum())


def _orders(models: Sequence[BackoffNGram]) -> range:
    return range(1, max(model.order for model in models) + 1)


def _vocabulary(models: Sequence[BackoffNGram]) -> Alphabet:
    names = {word for model in models for word in model.words.symbols[1:]}
    return Alphabet((END, *sorted(names | {UNKNOWN})))


def _renumbered(words: Alphabet, model: BackoffNGram) -> Ints32:
    """The number that every word of the mixture has in a model, -1 if it has none."""
    place = model.words.encode(words.symbols)
    place[BOUNDARY] = BOUNDARY
    return place


def _union(models: Sequence[BackoffNGram], order: int, words: Alphabet) -> Ints32:
    """The n-grams of an order that some model has, those of several as often; all words for order 1."""
    if order == 1:
        return np.arange(len(words), dtype=np.int32)[:, None]
    tables = []
    for model in models:
        place = words.encode(model.words.symbols)
        place[BOUNDARY] = BOUNDARY
        tables.append(place[model.grams(order)])
    return np.concatenate(tables)


def _logprobs(grams: Ints32, words: Alphabet, model: BackoffNGram) -> Floats:
    """log p(last word | words before it) under one model: -inf for words that it does not have."""
    place = _renumbered(words, model)
    unknown = model.words.index(UNKNOWN)
    last = place[grams[:, -1:]]
    before = place[grams[:, :-1]]
    return model.gram_logprobs(np.hstack([np.where(before < 0, unknown, before), last]))
