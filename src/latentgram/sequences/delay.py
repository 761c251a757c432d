"""Lag 2: an n-gram automaton in which a word waits for its tag until the two words after it are seen.

Smith and Eisner 2012, footnote 4: the window of words that a tag is chosen by is centred on its word if choosing
is delayed; for 5-grams by two words. A history h keeps its last min(2, |h|) words waiting. Going from a history
to another one, be it by an arc or by backing off, chooses the tags of as many of them, the oldest first, as the
other cannot keep:

    |h| ≥ 2 → |g| ≥ 2   one, of the last but one word of h     |h| = 1 → |g| = 1   one, of the word of h
    |h| ≥ 2 → |g| = 1   two, by way of a state of its own      |h| = 1 → |g| = 2   none: it *rises*
    backing off from |h| ≥ 2 to |g| = 1   one, of the last but one word of h

The result is an automaton again, each of whose arcs chooses one tag, that of its word; backing off chooses none.
What rises is a list of its own. O(arcs).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from latentgram.arrays import Floats, Ints32
from latentgram.errors import SettingError
from latentgram.sequences.ngram import BackoffNGram


class Rise(NamedTuple):
    """Arcs that choose no tag: from, to, probability."""

    source: Ints32
    target: Ints32
    share: Floats

    @classmethod
    def none(cls) -> Rise:
        """No such arcs."""
        return cls(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))


def delayed(model: BackoffNGram) -> tuple[BackoffNGram, Rise]:
    """The automaton whose arcs have the words that they tag, and what rises in it."""
    if model.reading == "failure" or model.order < 3:
        raise SettingError(
            "lag 2 needs n-grams of order 3 or more in the exclusive or epsilon reading: use lag 1 or 0"
        )
    length, source = (model.history >= 0).sum(1), model.source
    before_last, last = model.history[:, -2], model.history[:, -1]
    keeps_two = length >= 2
    taken = length[source] > 0
    far = keeps_two[model.arc_target]
    rises = taken & ~keeps_two[source] & far
    single = np.flatnonzero(taken & ~rises & (keeps_two[source] == far))
    double = np.flatnonzero(taken & keeps_two[source] & ~far)
    falls = np.flatnonzero(keeps_two & (model.failure > 0) & ~keeps_two[model.backoff])
    # States between the two tags of an arc: a word that waits, and the word just read.
    pairs, which = np.unique(
        last[source[double]].astype(np.int64) * len(model.words) + model.arc_word[double], return_inverse=True
    )
    between = model.states + np.arange(len(pairs))
    onward = np.zeros(len(pairs), np.int32)
    onward[which] = model.arc_target[double]
    states = model.states + len(pairs)

    start = np.concatenate([source[single], source[double], between, falls])
    tagged = np.concatenate([
        np.where(keeps_two[source[single]], before_last[source[single]], last[source[single]]),
        before_last[source[double]], pairs // len(model.words), before_last[falls],
    ])  # fmt: skip
    target = np.concatenate([model.arc_target[single], between[which], onward, model.backoff[falls]])
    prob = np.concatenate([
        model.arc_prob[single], model.arc_prob[double], np.ones(len(pairs)), model.failure[falls]
    ])  # fmt: skip
    order = np.argsort(start, kind="stable")
    history = np.full((states, model.order - 1), -1, np.int32)
    history[: model.states] = model.history
    history[model.states :, -2], history[model.states :, -1] = np.divmod(pairs, len(model.words))
    failure = np.concatenate([model.failure, np.zeros(len(pairs))])
    failure[falls] = 0.0
    visits = np.concatenate([
        model.expected_visits, np.bincount(which, model.flow[double], minlength=len(pairs))
    ])  # fmt: skip
    automaton = replace(
        model,
        history=history,
        backoff=np.concatenate([model.backoff, onward]).astype(np.int32),
        failure=failure,
        arc_start=np.concatenate([[0], np.cumsum(np.bincount(start, minlength=states))]).astype(np.int64),
        arc_word=tagged[order].astype(np.int32),
        arc_prob=prob[order],
        arc_target=target[order].astype(np.int32),
        arc_lower=np.full(len(order), -1, np.int32),
        visits=visits,
    )
    return automaton, Rise(source[rises], model.arc_target[rises], model.arc_prob[rises])
