"""Learning an `HMM` from text: by counting where tags are given, by EM where they are hidden.

EM with a tag dictionary needs only the ambiguous words: where a word can have one tag, the text falls into
independent segments, and equal segments (with equal tags at both ends) are worked out once and weighted (exact).
Without a dictionary, sentences of one length go through the lattice together (see `dp.chain_dense`).
A round costs O(tokens · K²), with segments O(distinct segments · K²).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from latentgram.data.sentence import Sentence
from latentgram.data.tag_dictionary import TagDictionary, open_dictionary
from latentgram.data.text import BOUNDARY, Text
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context
from latentgram.numeric.em import ascend
from latentgram.parallel import compiled
from latentgram.sequences.automaton import OperatorAutomaton
from latentgram.sequences.hmm import HMM
from latentgram.sequences.hmm_parameters import Emissions, Expected, Parameters, Prior, as_hmm, maximise, uniform
from latentgram.sequences.kernels.chain import expect
from latentgram.sequences.kernels.chain_dense import expect_dense
from latentgram.sequences.settings import EMHMM, CountingHMM, EMAutomaton, HiddenTags

SHARD = 1 << 16
"""Least tokens in a shard: fixed, so that sums do not depend on the number of workers."""
TOKENS_PER_WORD = 4
"""Without a dictionary each shard has counts of every word; so many tokens for each word make them cheap."""
SINGLE = 1 << 17
"""From so many tokens on, text without dictionary is worked out in single precision."""


@dataclass(frozen=True)
class Sequences:
    """Pieces of text between known tags, each counted `weight` times (see `dp.chain.expect`)."""

    tokens: NDArray[np.int32]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, text: Text) -> Sequences:
        """Whole sentences."""
        zeros = np.zeros(len(text), np.int64)
        return cls(text.tokens, text.start[:-1], text.start[1:] - 1, zeros, zeros, np.ones(len(text)))

    def shards(self, size: int = SHARD) -> Iterator[Sequences]:
        """The same in pieces of about `size` tokens."""
        ends = np.cumsum(self.end - self.begin)
        cuts = np.searchsorted(ends, np.arange(size, ends[-1] if len(ends) else 0, size))
        bounds = [0, *dict.fromkeys(cuts.tolist()), len(self.begin)]
        for first, last in pairwise(bounds):
            part = slice(first, last)
            low, high = int(self.begin[part].min(initial=len(self.tokens))), int(self.end[part].max(initial=0))
            yield Sequences(
                self.tokens[low:high],
                self.begin[part] - low,
                self.end[part] - low,
                self.left[part],
                self.right[part],
                self.weight[part],
            )


@dataclass(frozen=True)
class Corpus:
    """What EM works on: sequences to be summed over, and counts that are certain beforehand."""

    sequences: Sequences
    certain: Expected
    shape: Emissions

    @classmethod
    def of(cls, text: Text, shape: Emissions, order: int, segments: bool) -> Corpus:
        """A text as sentences, or as distinct segments between words of one tag."""
        tags = len(shape.tags)
        certain = Expected(np.zeros((tags ** (order - 1), tags)), np.zeros(len(shape.tag)))
        if not segments:
            return cls(Sequences.of(text), certain, shape)
        if order != 2:
            raise SettingError("segments between words of one tag are independent only in an HMM of order 2")
        return _segmented(text.tokens, shape, certain)

    def expect(self, parameters: Parameters, context: Context) -> tuple[Expected, float]:
        """Expected counts and log-likelihood."""
        kernel, shards = partial(_shard, parameters, self.shape), self.sequences.shards()
        if self.shape.full and parameters.transition.shape[0] == len(self.shape.tags):
            tokens = int((self.sequences.end - self.sequences.begin).sum())
            kernel = partial(_dense_shard, parameters, self.shape, tokens >= SINGLE)
            shards = self.sequences.shards(max(SHARD, TOKENS_PER_WORD * len(self.shape.words)))
        parts = compiled(context.engine).map(kernel, shards)
        counts, loglik = reduce(lambda one, other: (one[0] + other[0], one[1] + other[1]), parts)
        certain = self.certain
        if not (certain.transition.any() or certain.emission.any()):
            return counts, loglik
        with np.errstate(divide="ignore", invalid="ignore"):
            for known, values in (
                (certain.transition, parameters.transition),
                (certain.emission, parameters.emission),
            ):
                loglik += float(np.where(known > 0, known * np.log(values), 0.0).sum())
        return counts + certain, loglik


def _shard(parameters: Parameters, shape: Emissions, part: Sequences) -> tuple[Expected, float]:
    counts = Expected(np.zeros_like(parameters.transition), np.zeros_like(parameters.emission))
    logs = expect(
        parameters.transition, shape.start, shape.tag, parameters.emission, part.tokens, part.begin, part.end,
        part.left, part.right, part.weight, counts.transition, counts.emission,
    )  # fmt: skip
    return counts, float(logs @ part.weight)


def _dense_shard(
    parameters: Parameters, shape: Emissions, single: bool, part: Sequences
) -> tuple[Expected, float]:
    """In single precision where that is wanted and does not run out of range."""
    if single:
        found = _dense_sums(parameters, shape, part, np.float32)
        if (
            np.isfinite(found[1])
            and np.isfinite(found[0].transition).all()
            and np.isfinite(found[0].emission).all()
        ):
            return found
    return _dense_sums(parameters, shape, part, np.float64)


def _dense_sums(
    parameters: Parameters, shape: Emissions, part: Sequences, precision: type[np.floating[Any]]
) -> tuple[Expected, float]:
    tags = len(shape.tags)
    length = part.end - part.begin
    order = np.argsort(length, kind="stable")
    table = np.ones((len(shape.words), tags - 1), precision)
    table[1:] = parameters.emission[1:].reshape(-1, tags - 1)
    transition = parameters.transition
    start, inner, stop = (
        np.ascontiguousarray(x, precision) for x in (transition[0, 1:], transition[1:, 1:], transition[1:, 0])
    )
    counts = [np.zeros(tags - 1), np.zeros((tags - 1, tags - 1)), np.zeros(tags - 1), np.zeros(table.shape)]
    loglik = expect_dense(
        start, inner, stop, table, part.tokens, part.begin[order], length[order], part.weight[order], *counts
    )
    whole = np.zeros_like(transition)
    whole[0, 1:], whole[1:, 1:], whole[1:, 0] = counts[0], counts[1], counts[2]
    counts[3][0, -1] = 0.0
    return Expected(whole, counts[3].ravel()[tags - 2 :]), float(loglik)


def _segmented(tokens: NDArray[np.int32], shape: Emissions, certain: Expected) -> Corpus:
    """Distinct segments of ambiguous words with the tags on both sides; the boundary is a word of one tag too."""
    fixed = np.diff(shape.start)[tokens] == 1
    anchors = np.flatnonzero(fixed)
    tag = shape.tag[shape.start[tokens[anchors]]].astype(np.int64)
    np.add.at(certain.emission, shape.start[tokens[anchors]], 1.0)
    certain.emission[BOUNDARY] = 0.0
    begin, end, left, right = anchors[:-1] + 1, anchors[1:], tag[:-1], tag[1:]
    empty = begin == end
    np.add.at(certain.transition, (left[empty], right[empty]), 1.0)
    begin, end, left, right = begin[~empty], end[~empty], left[~empty], right[~empty]
    first, weight = _distinct(tokens, begin, end, left, right, len(shape.words))
    sequences = Sequences(tokens, begin[first], end[first], left[first], right[first], weight)
    return Corpus(sequences, certain, shape)


def _distinct(
    tokens: NDArray[np.int32],
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    words: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """One of each group of equal segments, in the order of the text, and the sizes of the groups.

    Segments of one length are numbered word by word: number of (number so far, next word).
    """
    chosen, weights = [], []
    length = end - begin
    tags = int(max(left.max(initial=0), right.max(initial=0))) + 1
    for size in np.unique(length):
        group = np.flatnonzero(length == size)
        number = left[group] * tags + right[group]
        for i in range(size):
            _, number = np.unique(number * words + tokens[begin[group] + i], return_inverse=True)
        _, first, count = np.unique(number, return_index=True, return_counts=True)
        chosen.append(group[first])
        weights.append(count.astype(np.float64))
    if not chosen:
        return np.zeros(0, np.int64), np.zeros(0)
    found, weight = np.concatenate(chosen), np.concatenate(weights)
    order = np.argsort(found)
    return found[order], weight[order]


def dictionary_of(learner: HiddenTags) -> TagDictionary:
    """The dictionary of a learner, or one without words over its number of states."""
    if learner.dictionary is None:
        return open_dictionary(learner.states)
    if not isinstance(learner.dictionary, TagDictionary):
        kind = type(learner.dictionary).__name__
        raise SettingError(f"dictionary must be a TagDictionary, as TagDictionary.read gives it, not a {kind}")
    return learner.dictionary


def as_text(data: Any) -> Text:
    """Text, or sentences whose tags, if any, are not looked at."""
    if isinstance(data, Text):
        return data
    if all(isinstance(item, Sentence) for item in data):
        return Text.of(data)
    raise DataError(f"an HMM is learned from text or sentences, not from {type(data).__name__}")


def em_hmm(data: Any, learner: EMHMM, context: Context) -> HMM:
    """EM, or MAP-EM where pseudo-counts are given."""
    text = as_text(data)
    if len(text) == 0:
        raise DataError("there is no sentence to learn from")
    dictionary = dictionary_of(learner)
    shape = Emissions.of(text.words, dictionary)
    prior = Prior(learner.transition_prior, learner.emission_prior)
    corpus = Corpus.of(text, shape, learner.order, learner.segments)
    word_count = np.bincount(text.tokens, minlength=len(text.words))

    def step(parameters: Parameters) -> tuple[Expected, float]:
        counts, loglik = corpus.expect(parameters, context)
        return counts, loglik + prior.log_density(parameters)

    def finish(parameters: Parameters) -> HMM:
        return as_hmm(parameters, shape, word_count)

    # One M-step from tags that are equally probable is a better start than equal parameters.
    seed = None if learner.dictionary is not None else learner.seed
    first, _ = corpus.expect(uniform(shape, learner.order, seed), context)
    score = context.dev_score
    found = ascend(
        maximise(first, shape, prior), step, lambda counts: maximise(counts, shape, prior),
        iterations=learner.iterations, tolerance=learner.tolerance, progress=context.progress,
        score=None if score is None else lambda parameters: score(finish(parameters)),
    )  # fmt: skip
    return as_hmm(found.model, shape, word_count, found.trace)


def em_automaton(data: Any, learner: EMAutomaton, context: Context) -> OperatorAutomaton:
    """An HMM learned by EM, as an operator automaton."""
    score = context.dev_score
    if score is not None:
        context = replace(context, dev_score=lambda hmm: score(cast(HMM, hmm).automaton()))
    hmm = em_hmm(data, learner, context)
    return replace(hmm.automaton(), provenance=hmm.provenance)


def count_automaton(data: Any, learner: CountingHMM, context: Context) -> OperatorAutomaton:
    """An HMM counted from tagged sentences, as an operator automaton."""
    return count_hmm(data, learner, context).automaton()


def count_hmm(data: Any, learner: CountingHMM, context: Context) -> HMM:
    """Relative frequencies of tagged sentences."""
    del context
    sentences = list(data)
    if any(not isinstance(item, Sentence) or item.tags is None for item in sentences) or not sentences:
        raise DataError("an HMM is counted from tagged sentences; to learn from plain text use EM")
    text = Text.of(sentences)
    dictionary = TagDictionary.of(sentences, at_least=1)
    shape = Emissions.of(text.words, dictionary)
    tag = np.zeros(len(text.tokens), np.int64)
    tag[text.tokens != BOUNDARY] = dictionary.tags.encode(t for s in sentences for t in (s.tags or ()))
    tags = len(dictionary.tags)
    state, follower = tag[:-1], tag[1:]
    if learner.order == 3:
        before = np.concatenate([[0], np.where(state[1:] == BOUNDARY, 0, state[:-1])])
        state = before * tags + state
    transition = np.zeros((tags ** (learner.order - 1), tags))
    np.add.at(transition, (state, follower), 1.0)
    row = np.repeat(np.arange(len(text.words)), np.diff(shape.start))
    keys = row * tags + shape.tag
    emission = np.zeros(len(shape.tag))
    np.add.at(emission, np.searchsorted(keys, text.tokens * np.int64(tags) + tag), 1.0)
    prior = Prior(learner.transition_prior, learner.emission_prior)
    parameters = maximise(Expected(transition, emission), shape, prior)
    return as_hmm(parameters, shape, np.bincount(text.tokens, minlength=len(text.words)))
