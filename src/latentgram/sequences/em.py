"""EM of hidden Markov models: expected counts of hidden tags by forward–backward over text (kernels/chain.py).

The step from counts to parameters is that of all learners (`maximise` in parameters.py).

With a tag dictionary only the ambiguous words matter: where a word can have one tag, the text falls into
independent segments, and equal segments (with equal tags at both ends) are computed once and weighted (exact).
Without a dictionary, sentences of one length go through the lattice together (kernels/chain_dense.py). A round
costs O(tokens · K²), with segments O(distinct segments · K²).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import cast

import numpy as np

from latentgram.arrays import Ints32
from latentgram.data.sentence import Sentence, SentenceLike
from latentgram.data.tag_dictionary import TagDictionary, open_dictionary
from latentgram.data.text import BOUNDARY, Text
from latentgram.errors import DataError, SettingError, a_or_an
from latentgram.kinds.kind import Context
from latentgram.kinds.settings import AUTO
from latentgram.numeric.em import ascend
from latentgram.parallel import Kept, compiled, map_reduce
from latentgram.sequences.automaton import OperatorAutomaton
from latentgram.sequences.hmm import HMM
from latentgram.sequences.kernels.chain import Sequences, expect
from latentgram.sequences.kernels.chain_dense import DenseChain, expect_dense
from latentgram.sequences.known_tags import TiedText, dictionary_of_tags
from latentgram.sequences.parameters import Emissions, Expected, Parameters, Prior, as_hmm, maximise, uniform
from latentgram.sequences.settings import EMHMM, ClusteringAutomaton, EMAutomaton, HiddenTags
from latentgram.sequences.spectral import clustered_prefixes

Trace = tuple[dict[str, float], ...]

SHARD = 1 << 16
"""Least tokens in a shard: fixed, so that sums do not depend on the number of workers."""
TOKENS_PER_WORD = 4
"""Without a dictionary each shard has counts of every word; so many tokens for each word make them cheap."""
TENTHS = 10
"""One sentence of so many is held out to choose the number of states."""
MOST_TRIED = 128
"""The most states that `states="auto"` tries."""
START_COUNT = 0.5
"""Added to the counts of hard states, for EM cannot raise a zero."""
SINGLE = 1 << 17
"""From so many tokens on, text without dictionary is computed in single precision."""


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
                raise SettingError("segments between unambiguous words are independent only in an HMM of order 2")
            return cls(_segments(text.tokens, shape, certain), certain, shape)
        ends = np.zeros(len(text), np.int64)
        weight = np.ones(len(text))
        return cls(Sequences(text.tokens, text.start[:-1], text.start[1:] - 1, ends, ends, weight), certain, shape)

    def expect(self, parameters: Parameters, context: Context) -> Expected:
        """Expected counts and log-likelihood."""
        if self.shape.full and parameters.transition.shape[0] == len(self.shape.tags):
            expected = self._expect_dense(parameters, context)
        else:
            expected = self._sum(partial(_expect_shard, parameters, self.shape), SHARD, context)
        if not (self.certain.transition.any() or self.certain.emission.any()):
            return expected
        return expected + replace(self.certain, bound=_log_likelihood(self.certain, parameters))

    def _expect_dense(self, parameters: Parameters, context: Context) -> Expected:
        """The same where every tag may emit every word: in single precision if that does not run out of range."""
        size = max(SHARD, TOKENS_PER_WORD * len(self.shape.words))
        if int((self.sequences.end - self.sequences.begin).sum()) >= SINGLE:
            chain = _dense_chain(parameters, self.shape, np.float32)
            expected = self._sum(partial(_expect_dense_shard, chain), size, context)
            if all(np.isfinite(sums).all() for sums in (expected.bound, expected.transition, expected.emission)):
                return expected
        chain = _dense_chain(parameters, self.shape, np.float64)
        return self._sum(partial(_expect_dense_shard, chain), size, context)

    def _sum(self, expect_shard: Callable[[Sequences], Expected], size: int, context: Context) -> Expected:
        if size not in self._parts:
            self._parts[size] = Kept(_shards(self.sequences, size))
        return map_reduce(expect_shard, self._parts[size], compiled(context.engine))

    @cached_property
    def _parts(self) -> dict[int, Kept[Sequences]]:
        """The shards of each size, kept for the rounds that follow."""
        return {}


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


def _dense_chain(parameters: Parameters, shape: Emissions, precision: type[np.float32 | np.float64]) -> DenseChain:
    table = np.ones((len(shape.words), len(shape.tags) - 1), precision)
    table[1:] = parameters.emission[1:].reshape(-1, len(shape.tags) - 1)
    moves = parameters.transition
    start, inner, stop = (np.ascontiguousarray(x, precision) for x in (moves[0, 1:], moves[1:, 1:], moves[1:, 0]))
    return DenseChain(start, inner, stop, table)


def _expect_dense_shard(chain: DenseChain, part: Sequences) -> Expected:
    length = part.end - part.begin
    order = np.argsort(length, kind="stable")
    counts = DenseChain(*(np.zeros(numbers.shape) for numbers in chain))
    loglik = expect_dense(chain, part.tokens, part.begin[order], length[order], part.weight[order], counts)
    tags = len(chain.start) + 1
    whole = np.zeros((tags, tags))
    whole[0, 1:], whole[1:, 1:], whole[1:, 0] = counts.start, counts.inner, counts.stop
    counts.emission[0, -1] = 0.0
    return Expected(whole, counts.emission.ravel()[tags - 2 :], float(loglik))


def _segments(tokens: Ints32, shape: Emissions, certain: Expected) -> Sequences:
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


def dictionary_of(settings: HiddenTags, states: int) -> TagDictionary:
    """The dictionary of a learner, or one without words over a number of states."""
    if settings.dictionary is None:
        return open_dictionary(states)
    if not isinstance(settings.dictionary, TagDictionary):
        kind = type(settings.dictionary).__name__
        raise SettingError(f"dictionary must be a TagDictionary (see TagDictionary.read), not {a_or_an(kind)}")
    return settings.dictionary


def sentences_of(data: Text | Iterable[SentenceLike]) -> Text | list[Sentence]:
    """Text as it is; anything else as sentences: strings, lists of symbols, lists of (symbol, tag) pairs."""
    if isinstance(data, Text):
        return data.compact()
    if isinstance(data, str) or not isinstance(data, Iterable):
        raise DataError(f"an HMM is learned from text or sentences, not from {type(data).__name__}")
    items = list(data)
    for item in items:
        if not isinstance(item, Sentence | str | list | tuple):
            raise DataError(f"an HMM is learned from text or sentences, not from {type(item).__name__}")
    return [sentence for sentence in map(Sentence.of, items) if len(sentence)]


def em_hmm(data: Text | Iterable[SentenceLike], settings: EMHMM, context: Context) -> HMM:
    """The recipe: EM, or MAP-EM where pseudo-counts are given; tags of sentences count if `known_tags` says so."""
    given = sentences_of(data)
    text = given if isinstance(given, Text) else Text.of(given)
    if len(text) == 0:
        raise DataError("there are no sentences to learn from")
    sentences = [] if isinstance(given, Text) or not settings.known_tags else given
    if settings.known_tags and not sentences:
        raise DataError("known_tags needs sentences with tags, but a Text has none")
    if settings.states == AUTO and settings.dictionary is None and not sentences:
        settings = replace(settings, states=choose_states(text, settings, context))
    states = settings.states if isinstance(settings.states, int) else 1
    dictionary = dictionary_of(settings, states)
    if sentences and settings.dictionary is None:
        dictionary = dictionary_of_tags(sentences)
    shape = Emissions.of(text.words, dictionary)
    prior = Prior(settings.transition_prior, settings.emission_prior)
    tied = TiedText.of(sentences, text, shape) if sentences else None
    source, rows = (text, shape) if tied is None else (tied.text, tied.shape)
    corpus = Corpus.of(source, rows, settings.order, settings.segments)
    word_count = np.bincount(text.tokens, minlength=len(text.words))

    def counted(parameters: Parameters) -> Expected:
        if tied is None:
            return corpus.expect(parameters, context)
        return tied.fold(corpus.expect(tied.spread(parameters), context))

    def step(parameters: Parameters) -> tuple[Expected, float]:
        expected = counted(parameters)
        return expected, expected.bound + prior.log_density(parameters)

    # One M-step from tags that are equally probable is a better start than equal parameters.
    named = settings.dictionary is not None or tied is not None
    if settings.start == "spectral":
        if named or settings.order != 2:
            raise SettingError("a spectral start is only for HMMs of order 2 without a dictionary")
        first = spectral_start(text, shape, settings.seed)
    else:
        first = counted(uniform(shape, settings.order, None if named else settings.seed))

    def finished(parameters: Parameters, trace: Trace = ()) -> HMM:
        return as_hmm(parameters, shape, word_count, trace, settings.unknown)

    score = context.dev_score
    ascent = ascend(
        maximise(first, shape, prior), step, lambda counts: maximise(counts, shape, prior),
        iterations=settings.iterations, tolerance=settings.tolerance, progress=context.progress,
        score=None if score is None else lambda parameters: score(finished(parameters)),
    )  # fmt: skip
    return finished(ascent.model, ascent.trace)


def spectral_start(text: Text, shape: Emissions, seed: int) -> Expected:
    """Counts of hard states: the clusters that spectral vectors of the prefixes fall into (spectral.py)."""
    states = len(shape.tags) - 1
    prefixes, cluster = clustered_prefixes(text, ClusteringAutomaton(states=states, seed=seed))
    weight, tag, word = prefixes.passes[1:], cluster[1:] + 1, prefixes.symbol[1:].astype(np.int64) + 1
    before = np.where(prefixes.parent[1:] > 0, cluster[prefixes.parent[1:]] + 1, BOUNDARY)
    transition = np.zeros((states + 1, states + 1))
    np.add.at(transition, (before, tag), weight)
    transition[:, BOUNDARY] = np.bincount(tag, prefixes.stops[1:], minlength=states + 1)
    emission = np.zeros(len(shape.tag))
    np.add.at(emission, shape.start[word] + tag - 1, weight)
    return Expected(transition + START_COUNT, emission + START_COUNT / len(shape.words))


def choose_states(text: Text, settings: EMHMM, context: Context) -> int:
    """The number of states that makes every tenth sentence most likely when learned from the others.

    Powers of two are tried until the likelihood falls, then numbers between those on both sides of the best one.
    """
    if len(text) < TENTHS:
        raise DataError(f"states='auto' holds out every tenth sentence: {len(text)} sentences are too few")
    sentences = list(text)
    heldout = Text.of(sentences[::TENTHS])
    rest = Text.of(sentence for i, sentence in enumerate(sentences) if i % TENTHS)
    likelihood: dict[int, float] = {}

    def judged(states: int) -> float:
        if states not in likelihood:
            tried = replace(settings, states=states, unknown="class")
            likelihood[states] = em_hmm(rest, tried, replace(context, dev_score=None)).loglik(heldout)
        return likelihood[states]

    best = 1
    while best < MOST_TRIED and judged(2 * best) > judged(best):
        best *= 2
    for states in (best * 3 // 4, best * 3 // 2):
        judged(max(states, 1))
    return max(likelihood, key=lambda states: (likelihood[states], -states))


def em_automaton(
    data: Text | Iterable[SentenceLike], settings: EMAutomaton, context: Context
) -> OperatorAutomaton:
    """The recipe: an HMM learned by EM, as an operator automaton."""
    score = context.dev_score
    if score is not None:
        context = replace(context, dev_score=lambda hmm: score(cast(HMM, hmm).automaton()))
    hmm = em_hmm(data, settings, context)
    return replace(hmm.automaton(), provenance=hmm.provenance)
