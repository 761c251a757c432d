"""EM of hidden Markov models: expected counts of hidden tags, and the step from counts to parameters.

With expected counts C and Dirichlet pseudo-counts κ,

    p(t | s) ∝ C(s, t) + κ,    p(w | t) ∝ C(t, w) + κ':

the maximum of the posterior. All learners of HMMs share this step (`maximise`); they differ in where the counts
come from: here from forward–backward over text (kernels/chain.py).

With a tag dictionary only the ambiguous words matter: where a word can have one tag, the text falls into
independent segments, and equal segments (with equal tags at both ends) are computed once and weighted (exact).
Without a dictionary, sentences of one length go through the lattice together (kernels/chain_dense.py). A round
costs O(tokens · K²), with segments O(distinct segments · K²).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.provenance import Provenance
from latentgram.data.sentence import Sentence
from latentgram.data.tag_dictionary import TagDictionary, open_dictionary
from latentgram.data.text import BOUNDARY, Text
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context
from latentgram.numeric.em import ascend
from latentgram.parallel import compiled, map_reduce
from latentgram.sequences.automaton import OperatorAutomaton
from latentgram.sequences.hmm import HMM
from latentgram.sequences.kernels.chain import Chain, Sequences, expect
from latentgram.sequences.kernels.chain_dense import DenseChain, expect_dense
from latentgram.sequences.settings import EMHMM, EMAutomaton, HiddenTags

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHARD = 1 << 16
"""Least tokens in a shard: fixed, so that sums do not depend on the number of workers."""
TOKENS_PER_WORD = 4
"""Without a dictionary each shard has counts of every word; so many tokens for each word make them cheap."""
SINGLE = 1 << 17
"""From so many tokens on, text without dictionary is computed in single precision."""


@dataclass(frozen=True)
class Emissions:
    """Which tags may emit which words: the shape that learning fills."""

    tags: Alphabet
    words: Alphabet
    start: NDArray[np.int64]
    tag: NDArray[np.int32]

    @classmethod
    def of(cls, words: Alphabet, dictionary: TagDictionary) -> Emissions:
        """All that the dictionary allows; words that it lacks may have any tag."""
        return cls(dictionary.tags, words, *dictionary.rows(words))

    def chain(self, numbers: Parameters | Expected) -> Chain:
        """Parameters, or counts, as the kernels take them."""
        return Chain(numbers.transition, self.start, self.tag, numbers.emission)

    @property
    def full(self) -> bool:
        """Whether every tag may emit every word."""
        return len(self.tag) == 1 + (len(self.words) - 1) * (len(self.tags) - 1)


@dataclass(frozen=True)
class Expected:
    """Expected counts of transitions [T^m, T] and of the entries of the emissions; they add."""

    transition: Floats
    emission: Floats
    bound: float = 0.0
    """log p of what was counted under the parameters that were used, or a bound on it."""

    def __add__(self, other: Expected) -> Expected:
        bound = self.bound + other.bound
        return Expected(self.transition + other.transition, self.emission + other.emission, bound)

    def times(self, count: float) -> Expected:
        """The counts of so many copies of what was counted."""
        return Expected(self.transition * count, self.emission * count, self.bound * count)


@dataclass(frozen=True)
class Parameters:
    """p(next tag | last m tags) and p(word | tag) of each entry of the emissions."""

    transition: Floats
    emission: Floats


@dataclass(frozen=True)
class Prior:
    """Pseudo-counts added to expected counts."""

    transition: float = 0.0
    emission: float = 0.0

    def log_density(self, parameters: Parameters) -> float:
        """log of the prior up to a constant, Σ κ log θ over what may be positive."""
        total = 0.0
        if self.transition > 0:
            used = parameters.transition[parameters.transition > 0]
            total += self.transition * float(np.log(used).sum())
        if self.emission > 0:
            total += self.emission * float(np.log(np.maximum(parameters.emission[1:], 1e-300)).sum())
        return total


def uniform(shape: Emissions, order: int, seed: int | None = None) -> Parameters:
    """Constant weights: under them all tags a word may have are equally probable.

    With a seed the emissions are jittered, which an HMM without dictionary needs since its tags begin alike.
    """
    tags = len(shape.tags)
    emission = np.ones(len(shape.tag))
    if seed is not None:
        emission[1:] = np.exp(0.1 * np.random.default_rng(seed).standard_normal(len(emission) - 1))
    return Parameters(np.full((tags ** (order - 1), tags), 1.0 / tags), emission)


def maximise(expected: Expected, shape: Emissions, prior: Prior) -> Parameters:
    """Parameters from expected counts; a history never seen gets equal probabilities."""
    tags = len(shape.tags)
    transition = np.maximum(expected.transition, 0.0) + prior.transition
    last = np.arange(len(transition)) % tags
    if tags < len(transition):
        transition[(last == BOUNDARY) & (np.arange(len(transition)) > 0)] = 0.0
    # No sentence is empty.
    transition[0, BOUNDARY] = 0.0
    total = transition.sum(1, keepdims=True)
    equal = np.where(last == BOUNDARY, 0.0, 1.0 / tags)[:, None]
    if total[0] == 0:
        transition[0, 1:], total[0] = 1.0, tags - 1
    transition = np.where(total > 0, transition / np.where(total > 0, total, 1.0), equal)
    emission = np.maximum(expected.emission, 0.0)
    emission += prior.emission
    if shape.full:
        table = emission[1:].reshape(-1, tags - 1)
        mass = table.sum(0)
        table /= np.where(mass > 0, mass, 1.0)
    else:
        mass = np.bincount(shape.tag, emission, minlength=tags)
        emission /= np.where(mass > 0, mass, 1.0)[shape.tag]
    emission[BOUNDARY] = 1.0
    return Parameters(transition, emission)


def as_hmm(
    parameters: Parameters,
    shape: Emissions,
    word_count: NDArray[np.int64],
    trace: tuple[dict[str, float], ...] = (),
) -> HMM:
    """The finished model. A tag emits unknown words with the weight of the rarest words it may emit."""
    seen = word_count[1:][word_count[1:] > 0]
    rarest = int(seen.min()) if len(seen) else 1
    rare = np.zeros(len(shape.words), np.bool_)
    rare[1:] = word_count[1:] <= rarest
    entries = np.repeat(rare, np.diff(shape.start))
    mass = np.bincount(shape.tag[entries], parameters.emission[entries], minlength=len(shape.tags))
    unknown = np.asarray(mass / max(int(rare.sum()), 1), np.float64)
    if not unknown.any():
        unknown[1:] = 1.0 / len(shape.words)
    return HMM(
        shape.tags, shape.words, parameters.transition, shape.start, shape.tag, parameters.emission, unknown,
        Provenance(trace=trace),
    )  # fmt: skip


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
        if segments:
            if order != 2:
                raise SettingError("segments between words of one tag are independent only in an HMM of order 2")
            return cls(_segments(text.tokens, shape, certain), certain, shape)
        ends = np.zeros(len(text), np.int64)
        weight = np.ones(len(text))
        return cls(Sequences(text.tokens, text.start[:-1], text.start[1:] - 1, ends, ends, weight), certain, shape)

    def expect(self, parameters: Parameters, context: Context) -> Expected:
        """Expected counts and log-likelihood."""
        expect_shard, size = partial(_expect_shard, parameters, self.shape), SHARD
        if self.shape.full and parameters.transition.shape[0] == len(self.shape.tags):
            tokens = int((self.sequences.end - self.sequences.begin).sum())
            expect_shard = partial(_expect_dense_shard, parameters, self.shape, tokens >= SINGLE)
            size = max(SHARD, TOKENS_PER_WORD * len(self.shape.words))
        expected = map_reduce(expect_shard, _shards(self.sequences, size), compiled(context.engine))
        if not (self.certain.transition.any() or self.certain.emission.any()):
            return expected
        return expected + replace(self.certain, bound=_log_likelihood(self.certain, parameters))


def _log_likelihood(counts: Expected, parameters: Parameters) -> float:
    """Σ count · log parameter."""
    total = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        for known, values in (
            (counts.transition, parameters.transition),
            (counts.emission, parameters.emission),
        ):
            total += float(np.where(known > 0, known * np.log(values), 0.0).sum())
    return total


def _shards(sequences: Sequences, size: int) -> Iterator[Sequences]:
    """The same in pieces of about `size` tokens."""
    ends = np.cumsum(sequences.end - sequences.begin)
    cuts = np.searchsorted(ends, np.arange(size, ends[-1] if len(ends) else 0, size))
    for first, last in pairwise([0, *dict.fromkeys(cuts.tolist()), len(ends)]):
        tokens, begin, end, *rest = sequences.tokens, *(column[first:last] for column in sequences[1:])
        low, high = int(begin.min(initial=len(tokens))), int(end.max(initial=0))
        yield Sequences(tokens[low:high], begin - low, end - low, *rest)


def _expect_shard(parameters: Parameters, shape: Emissions, part: Sequences) -> Expected:
    counts = Expected(np.zeros_like(parameters.transition), np.zeros_like(parameters.emission))
    logs = expect(shape.chain(parameters), part, shape.chain(counts))
    return replace(counts, bound=float(logs @ part.weight))


def _expect_dense_shard(parameters: Parameters, shape: Emissions, single: bool, part: Sequences) -> Expected:
    """In single precision where that is wanted and does not run out of range."""
    if single:
        counts = _expect_dense(parameters, shape, part, np.float32)
        if all(np.isfinite(numbers).all() for numbers in (counts.bound, counts.transition, counts.emission)):
            return counts
    return _expect_dense(parameters, shape, part, np.float64)


def _expect_dense(
    parameters: Parameters, shape: Emissions, part: Sequences, precision: type[np.float32 | np.float64]
) -> Expected:
    tags = len(shape.tags)
    length = part.end - part.begin
    order = np.argsort(length, kind="stable")
    table = np.ones((len(shape.words), tags - 1), precision)
    table[1:] = parameters.emission[1:].reshape(-1, tags - 1)
    moves = parameters.transition
    start, inner, stop = (np.ascontiguousarray(x, precision) for x in (moves[0, 1:], moves[1:, 1:], moves[1:, 0]))
    chain = DenseChain(start, inner, stop, table)
    counts = DenseChain(*(np.zeros(numbers.shape) for numbers in chain))
    loglik = expect_dense(chain, part.tokens, part.begin[order], length[order], part.weight[order], counts)
    whole = np.zeros_like(moves)
    whole[0, 1:], whole[1:, 1:], whole[1:, 0] = counts.start, counts.inner, counts.stop
    counts.emission[0, -1] = 0.0
    return Expected(whole, counts.emission.ravel()[tags - 2 :], float(loglik))


def _segments(tokens: NDArray[np.int32], shape: Emissions, certain: Expected) -> Sequences:
    """Distinct segments of ambiguous words with the tags on both sides; the boundary is a word of one tag too.

    What lies between is counted in `certain`.
    """
    fixed = np.diff(shape.start)[tokens] == 1
    anchors = np.flatnonzero(fixed)
    tag = shape.tag[shape.start[tokens[anchors]]].astype(np.int64)
    np.add.at(certain.emission, shape.start[tokens[anchors]], 1.0)
    certain.emission[BOUNDARY] = 0.0
    begin, end, left, right = anchors[:-1] + 1, anchors[1:], tag[:-1], tag[1:]
    empty = begin == end
    np.add.at(certain.transition, (left[empty], right[empty]), 1.0)
    begin, end, left, right = begin[~empty], end[~empty], left[~empty], right[~empty]
    # Segments of one length are numbered word by word: number of (number so far, next word).
    chosen, weights = [np.zeros(0, np.int64)], [np.zeros(0)]
    for size in np.unique(end - begin):
        group = np.flatnonzero(end - begin == size)
        number = left[group] * len(shape.tags) + right[group]
        for i in range(size):
            _, number = np.unique(number * len(shape.words) + tokens[begin[group] + i], return_inverse=True)
        _, first, count = np.unique(number, return_index=True, return_counts=True)
        chosen.append(group[first])
        weights.append(count.astype(np.float64))
    distinct = np.concatenate(chosen)
    order = np.argsort(distinct)
    kept = distinct[order]
    return Sequences(tokens, begin[kept], end[kept], left[kept], right[kept], np.concatenate(weights)[order])


def dictionary_of(settings: HiddenTags) -> TagDictionary:
    """The dictionary of a learner, or one without words over its number of states."""
    if settings.dictionary is None:
        return open_dictionary(settings.states)
    if not isinstance(settings.dictionary, TagDictionary):
        kind = type(settings.dictionary).__name__
        raise SettingError(f"dictionary must be a TagDictionary, as TagDictionary.read gives it, not a {kind}")
    return settings.dictionary


def em_hmm(data: Text | Sequence[Sentence], settings: EMHMM, context: Context) -> HMM:
    """The recipe: EM, or MAP-EM where pseudo-counts are given; tags of sentences, if any, are not looked at."""
    if not isinstance(data, Text) and not all(isinstance(item, Sentence) for item in data):
        raise DataError(f"an HMM is learned from text or sentences, not from {type(data).__name__}")
    text = data if isinstance(data, Text) else Text.of(data)
    if len(text) == 0:
        raise DataError("there is no sentence to learn from")
    shape = Emissions.of(text.words, dictionary_of(settings))
    prior = Prior(settings.transition_prior, settings.emission_prior)
    corpus = Corpus.of(text, shape, settings.order, settings.segments)
    word_count = np.bincount(text.tokens, minlength=len(text.words))

    def step(parameters: Parameters) -> tuple[Expected, float]:
        expected = corpus.expect(parameters, context)
        return expected, expected.bound + prior.log_density(parameters)

    # One M-step from tags that are equally probable is a better start than equal parameters.
    seed = None if settings.dictionary is not None else settings.seed
    first = corpus.expect(uniform(shape, settings.order, seed), context)
    score = context.dev_score
    ascent = ascend(
        maximise(first, shape, prior), step, lambda counts: maximise(counts, shape, prior),
        iterations=settings.iterations, tolerance=settings.tolerance, progress=context.progress,
        score=None if score is None else lambda parameters: score(as_hmm(parameters, shape, word_count)),
    )  # fmt: skip
    return as_hmm(ascent.model, shape, word_count, ascent.trace)


def em_automaton(data: Text | Sequence[Sentence], settings: EMAutomaton, context: Context) -> OperatorAutomaton:
    """The recipe: an HMM learned by EM, as an operator automaton."""
    score = context.dev_score
    if score is not None:
        context = replace(context, dev_score=lambda hmm: score(cast(HMM, hmm).automaton()))
    hmm = em_hmm(data, settings, context)
    return replace(hmm.automaton(), provenance=hmm.provenance)
