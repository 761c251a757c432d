"""An n-gram automaton that never forgets all words before the next one (Smith and Eisner 2012, footnote 2).

Where the empty history may be backed off to, words come without regard to the one before, and a tag cannot wait
for the next word (lag 1). If all bigrams are kept that never happens. Else the empty history is removed, and with
it, again and again, every arc that leads to a removed history and every history that nothing is left of; what
remains is made to sum to one, history by history. With A'(h) what remains of the arcs of h, and b(h) its lower
history where that remains,

    c'(w | h) = c(w | h) / z(h),   f'(h) = f(h) / z(h),   z(h) = Σ_{A'(h)} c(w | h) + f(h) l(h),

l(h) = 1, or for exact failure arcs 1 − Σ_{A'(h)} c'(w | b(h)), short histories first. O(arcs) a round of removals.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from latentgram.arrays import Flags
from latentgram.errors import DataError
from latentgram.sequences.ngram import EMPTY, BackoffNGram


def without_empty_history(model: BackoffNGram) -> BackoffNGram:
    """The automaton without its empty history; the same one if no sentence ever passes that.

    >>> import latentgram as lg
    >>> text = lg.Text.of(["a rose is a rose", "a rose is red"])
    >>> model = lg.fit(lg.BackoffNGram, lg.NGramCounts.of(text, order=2), by=lg.Counting(smoothing="witten-bell"))
    >>> bare = without_empty_history(model)
    >>> round(float(np.exp(bare.logprob("a rose is red"))), 3), bare.logprob("red is a rose")
    (0.288, -inf)
    """
    if not model.flow[: model.arc_start[1]].sum() > 0:
        return model
    arcs, states = _remaining(model)
    if not states[model.initial]:
        raise DataError(
            "nothing is left of the n-grams without the empty history: bigrams must lead to the end of a sentence"
        )
    kept = np.flatnonzero(arcs)
    number = np.full(model.arcs, -1, np.int32)
    number[kept] = np.arange(len(kept))
    lower = model.arc_lower[kept]
    counts = np.bincount(model.source[kept], minlength=model.states)
    bare = replace(
        model,
        reading="failure" if model.reading == "failure" else "epsilon",
        failure=np.where(states & (model.backoff > EMPTY) & states[model.backoff], model.failure, 0.0),
        arc_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        arc_word=model.arc_word[kept],
        arc_prob=model.arc_prob[kept],
        arc_target=model.arc_target[kept],
        arc_lower=np.where(lower >= 0, number[lower], -1).astype(np.int32),
        visits=np.zeros(0),
    )
    return _summing_to_one(bare)


def _remaining(model: BackoffNGram) -> tuple[Flags, Flags]:
    """The arcs and the histories that remain."""
    states = np.ones(model.states, np.bool_)
    states[EMPTY] = False
    while True:
        arcs = states[model.source] & states[model.arc_target] & (model.arc_prob > 0)
        left = np.bincount(model.source[arcs], minlength=model.states) > 0
        left |= (model.failure > 0) & (model.backoff > EMPTY) & states[model.backoff]
        if (left & states).sum() == states.sum():
            return arcs, states
        states &= left


def _summing_to_one(model: BackoffNGram) -> BackoffNGram:
    """Divide by z(h), short histories first."""
    prob, failure = model.arc_prob.copy(), model.failure.copy()
    length = (model.history >= 0).sum(1)
    for size in range(1, model.order):
        here = np.flatnonzero(length[model.source] == size)
        rest = np.ones(model.states)
        if model.reading == "failure":
            upper = here[model.arc_lower[here] >= 0]
            taken = np.bincount(model.source[upper], prob[model.arc_lower[upper]], minlength=model.states)
            rest = np.maximum(1.0 - taken, 0.0)
        total = np.bincount(model.source[here], prob[here], minlength=model.states) + failure * rest
        total = np.where((length == size) & (total > 0), total, 1.0)
        prob[here] /= total[model.source[here]]
        failure /= total
    return replace(model, arc_prob=prob, failure=failure)
