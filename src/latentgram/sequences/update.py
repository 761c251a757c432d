"""An HMM after some more sentences, without those it was learned from.

The model stands for the counts that it would see in the N sentences it was learned from: with W(p) the expected
visits of state p in a sentence,

    W = e₀ + Σ_p W(p) p(· | p),   C(p, u) = N W(p) p(u | p),   C(t, w) = N V(t) p(w | t)

where V(t) sums the visits of the states whose last tag is t.

Expected counts of the new sentences are added, and the parameters are their ratios; where tags are hidden, this is
repeated a few times (incremental EM: the old counts stay). For tagged text it is the same as counting all of it
together. New words get an entry for every tag that emits unknown words, and words one for every tag that they are
given. So that nothing new is impossible, hidden tags are summed over with a share `LEAST` of equal transitions.
Cost: a few passes over the new sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from latentgram.arrays import Floats, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.sentence import Sentence, SentenceLike
from latentgram.data.text import BOUNDARY, END, Text
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context
from latentgram.parallel import engine_for
from latentgram.progress import Progress, Silent
from latentgram.sequences.em import Corpus, sentences_of
from latentgram.sequences.hmm import HMM
from latentgram.sequences.known_tags import TiedText
from latentgram.sequences.parameters import Emissions, Expected, Parameters, Prior, as_hmm, maximise

ROUNDS = 3
"""Passes over the new sentences where tags are hidden."""
MOST_WEIGHT = 1e12
"""The largest weight of the old model, in sentences."""
LEAST = 1e-9
STEPS = 10_000
"""Most steps of the sum over the length of a sentence that gives the expected visits."""


def update_hmm(
    model: HMM,
    sentences: Sequence[SentenceLike],
    weight: float | None = None,
    *,
    rounds: int = ROUNDS,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> HMM:
    """Update a model with more sentences, with tags (`_` for an unknown tag) or without.

    `weight` is the weight of the old model, in sentences: by default as many as it was learned from; with a
    smaller one it adapts faster.

    >>> import latentgram as lg
    >>> hmm = lg.fit(lg.HMM, [[("the", "D"), ("dog", "N")]], by=lg.Counting(transition_prior=0.0))
    >>> hmm = update_hmm(hmm, [[("a", "D"), ("dog", "N")]])
    >>> round(float(np.exp(hmm.logprob("a dog"))), 3), hmm.provenance.data_size
    (0.5, 2)
    """
    if weight is None:
        if not updates_hmm(model):
            raise SettingError(
                "give the number of sentences that the model represents as weight: it was not learned from text"
            )
        weight = float(model.provenance.data_size)
    check_weight(weight)
    if rounds < 1:
        raise SettingError(f"an update needs at least 1 round, got {rounds}")
    items = [getattr(item, "sentence", item) for item in sentences]
    given = sentences_of(items)
    if isinstance(given, Text) or not given:
        raise DataError("there are no sentences to learn from")
    parameters, shape, old, apart = _grown(model, given, weight)
    tied = TiedText.of(given, Text(shape.words, _tokens(given, shape.words)), shape)
    corpus = Corpus.of(tied.text, tied.shape, model.order, segments=False)
    context = Context(engine_for(n_jobs), progress or Silent())
    for number in range(1, rounds + 1):
        possible = (1.0 - LEAST) * parameters.transition + LEAST / len(shape.tags)
        least = np.maximum(parameters.emission, LEAST / len(shape.words))
        fresh = tied.fold(corpus.expect(tied.spread(Parameters(possible, least)), context))
        parameters = maximise(
            Expected(old.transition + fresh.transition, old.emission + fresh.emission), shape, Prior()
        )
        context.progress.step("rounds", number, rounds)
    entries = old.emission + fresh.emission
    count = np.bincount(np.repeat(np.arange(len(shape.words)), np.diff(shape.start)), entries)
    seen = np.maximum(np.round(count), 1).astype(np.int64)
    hmm = as_hmm(parameters, shape, seen, unknown_words="class" if apart else "rarest")
    size = round(weight) + len(given)
    return replace(hmm, provenance=replace(model.provenance, data_size=size))


def check_weight(weight: float) -> None:
    """Refuse a weight of the old model that is none, or with which counts would not be numbers any more."""
    if not 0 < weight <= MOST_WEIGHT:
        raise SettingError(f"the weight of a model must be above 0 and at most {MOST_WEIGHT:g}, got {weight}")


def updates_hmm(model: HMM) -> bool:
    """Whether the model says how many sentences it was learned from; one learned from n-grams does not."""
    return model.provenance.learner in ("EM", "Counting") and model.provenance.data_size > 0


def expected_visits(transition: Floats, tags: int) -> Floats:
    """[T^m] how often a sentence visits each state, the first among them."""
    total = np.zeros(len(transition))
    state = np.zeros(len(transition))
    state[0] = 1.0
    inner = transition.copy()
    inner[:, BOUNDARY] = 0.0
    for _ in range(STEPS):
        total += state
        state = (state[:, None] * inner).reshape(tags, -1).sum(0)
        if state.sum() < 1e-13:
            break
    return total


def _grown(
    model: HMM, sentences: Iterable[Sentence], weight: float
) -> tuple[Parameters, Emissions, Expected, bool]:
    """Parameters and counts of a model with entries for new words, and whether its unknown words are a class."""
    tags = len(model.tags)
    fresh = sorted({word for sentence in sentences for word in sentence.words} - set(model.words.symbols))
    words = Alphabet((END, *sorted((*model.words.symbols[1:], *fresh))))
    open_tags = np.flatnonzero(model.unknown > 0)
    given = [
        (word, tag)
        for sentence in sentences
        if sentence.tags is not None
        for word, tag in zip(words.encode(sentence.words), model.tags.encode(sentence.tags), strict=True)
        if tag > BOUNDARY
    ]
    # Entries are keys word · tags + tag: those of the model, of new words, and of what the sentences say.
    place = words.encode(model.words.symbols).astype(np.int64)
    place[BOUNDARY] = BOUNDARY
    known = np.repeat(place, np.diff(model.emit_start)) * tags + model.emit_tag
    new_words = (words.encode(fresh).astype(np.int64)[:, None] * tags + open_tags).ravel()
    said = np.array(given, np.int64).reshape(-1, 2) @ np.array([tags, 1])
    keys = np.unique(np.concatenate([known, new_words, said]))
    tag = (keys % tags).astype(np.int32)
    start = np.searchsorted(keys, np.arange(len(words) + 1) * tags)
    was_known = np.isin(keys, known)
    emission = model.unknown[tag]
    emission[np.searchsorted(keys, known)] = model.emit_prob
    mass = np.bincount(model.emit_tag, model.emit_prob, minlength=tags)[1:]
    apart = bool(np.allclose(mass + model.unknown[1:], 1.0) and not np.allclose(mass, 1.0))
    visits = expected_visits(model.transition, tags) * weight
    by_tag = visits.reshape(-1, tags).sum(0)
    counts = np.where(was_known, by_tag[tag] * emission, 0.0)
    if apart:
        counts /= np.where(tag == BOUNDARY, 1.0, np.maximum(1.0 - model.unknown[tag], 1e-300))
    counts[BOUNDARY] = 0.0
    shape = Emissions(model.tags, words, start.astype(np.int64), tag)
    return (
        Parameters(model.transition, emission),
        shape,
        Expected(visits[:, None] * model.transition, counts),
        apart,
    )


def _tokens(sentences: Iterable[Sentence], words: Alphabet) -> Ints32:
    return np.concatenate([[BOUNDARY], *((*words.encode(s.words).tolist(), BOUNDARY) for s in sentences)]).astype(
        np.int32
    )
