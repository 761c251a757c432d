"""Learning HMMs from text: exact relations between the ways, and recovery of a known model."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from tests.sequences.test_hmm import random_hmm

import latentgram as lg
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.sentence import Sentence
from latentgram.data.tag_dictionary import TagDictionary, open_dictionary
from latentgram.data.text import Text
from latentgram.errors import DataError, SettingError, UnsupportedPair
from latentgram.kinds.kind import Context
from latentgram.kinds.learners import EM, Clustering, Counting, Variational
from latentgram.sequences.counting import from_counts
from latentgram.sequences.em import Corpus
from latentgram.sequences.parameters import Emissions, Prior, maximise, uniform
from latentgram.sequences.variational import ApproximateCorpus
from latentgram.sequences.variational_gradient import BOUNDS

ML = {"transition_prior": 0.0, "emission_prior": 0.0}
"""Maximum likelihood: no pseudo-counts."""


@pytest.fixture(scope="module")
def tagged() -> list[Sentence]:
    """Sentences drawn from a known HMM in which a and b have one tag each."""
    return [s for s in random_hmm(2, seed=4).sample(400, seed=2) if len(s) < 40]


@pytest.fixture(scope="module")
def dictionary(tagged: list[Sentence]) -> TagDictionary:
    return TagDictionary.of(tagged, 1)


@pytest.fixture(scope="module")
def text(tagged: list[Sentence]) -> Text:
    return Text.of([s.words for s in tagged])


def bounds(model: lg.HMM) -> np.ndarray:
    return np.array([record["bound"] for record in model.provenance.trace])


@pytest.mark.parametrize("order", [2, 3])
def test_em_climbs_to_its_own_likelihood(text: Text, dictionary: TagDictionary, order: int) -> None:
    learner = EM(dictionary=dictionary, iterations=8, order=order, **ML)
    model = lg.fit(lg.HMM, text, by=learner)
    assert np.all(np.diff(bounds(model)) > -1e-9)
    longer = lg.fit(lg.HMM, text, by=EM(dictionary=dictionary, iterations=9, order=order, **ML))
    assert bounds(longer)[-1] == pytest.approx(model.loglik(text), rel=1e-12)


def test_em_learns_the_distribution_that_drew_the_text() -> None:
    truth = random_hmm(2, seed=4)
    mass = np.bincount(truth.emit_tag, truth.emit_prob)
    truth = replace(truth, emit_prob=truth.emit_prob / mass[truth.emit_tag])
    drawn, fresh = list(truth.sample(4000, seed=1)), Text.of(s.words for s in truth.sample(2000, seed=7))
    text = Text.of([s.words for s in drawn])
    model = lg.fit(lg.HMM, text, by=EM(dictionary=TagDictionary.of(drawn, 1), iterations=300, **ML))
    assert model.loglik(text) > truth.loglik(text)
    gap = (truth.loglik(fresh) - model.loglik(fresh)) / (fresh.size + len(fresh))
    assert -5e-4 < gap < 2e-3


def test_segments_are_exact(text: Text, dictionary: TagDictionary) -> None:
    whole = lg.fit(lg.HMM, text, by=EM(dictionary=dictionary, iterations=5))
    parts = lg.fit(lg.HMM, text, by=EM(dictionary=dictionary, iterations=5, segments=True))
    np.testing.assert_allclose(bounds(parts), bounds(whole), rtol=1e-12)
    np.testing.assert_allclose(parts.transition, whole.transition, atol=1e-10)
    np.testing.assert_allclose(parts.emit_prob, whole.emit_prob, atol=1e-10)
    with pytest.raises(SettingError, match="order 2"):
        lg.fit(lg.HMM, text, by=EM(dictionary=dictionary, order=3, segments=True))


def test_without_dictionary_the_dense_kernel_climbs(text: Text) -> None:
    model = lg.fit(lg.HMM, text, by=EM(states=3, iterations=15, seed=1))
    assert np.all(np.diff(bounds(model)) > -1e-9)
    assert model.tags.symbols[1:] == ("1", "2", "3")
    again = lg.fit(lg.HMM, text, by=EM(states=3, iterations=15, seed=1))
    np.testing.assert_array_equal(model.emit_prob, again.emit_prob)


@pytest.mark.parametrize("smallest", [1e-3, 1e-60])
def test_single_precision_is_close_and_never_out_of_range(
    text: Text, monkeypatch: pytest.MonkeyPatch, smallest: float
) -> None:
    """A word too improbable for single precision makes the shard be done in double precision: equal, not close."""
    shape = Emissions.of(text.words, open_dictionary(3))
    corpus = Corpus.of(text, shape, 2, segments=False)
    start = maximise(corpus.expect(uniform(shape, 2, seed=5), Context()), shape, Prior())
    start.emission[-3:] *= smallest
    double = corpus.expect(start, Context())
    monkeypatch.setattr("latentgram.sequences.em.SINGLE", 1)
    single = corpus.expect(start, Context())
    if smallest < 1e-40:
        assert single.bound == double.bound
        np.testing.assert_array_equal(single.emission, double.emission)
        return
    assert single.bound != double.bound
    assert single.bound == pytest.approx(double.bound, rel=1e-7)
    np.testing.assert_allclose(single.transition, double.transition, rtol=1e-5)
    np.testing.assert_allclose(single.emission, double.emission, rtol=1e-5)


def test_map_climbs_with_its_prior(text: Text, dictionary: TagDictionary) -> None:
    learner = EM(dictionary=dictionary, iterations=6, transition_prior=1.0, emission_prior=0.1)
    model = lg.fit(lg.HMM, text, by=learner)
    assert np.all(np.diff(bounds(model)) > -1e-9)
    assert model.transition[1:].min() > 0


@pytest.mark.parametrize("order", [2, 3])
def test_counting_gives_relative_frequencies(tagged: list[Sentence], order: int) -> None:
    model = lg.fit(lg.HMM, tagged, by=Counting(order=order, transition_prior=0.0))
    tags = model.tags
    history, follower = {}, {}
    for sentence in tagged:
        path = [*[0] * (order - 1), *tags.encode(sentence.tags or ()), 0]
        for i in range(order - 1, len(path)):
            key = tuple(int(t) for t in path[i - order + 1 : i])
            history[key] = history.get(key, 0) + 1
            follower[*key, int(path[i])] = follower.get((*key, int(path[i])), 0) + 1
    for key, total in history.items():
        state = int("".join(map(str, key)), len(tags))
        for tag in range(len(tags)):
            assert model.transition[state, tag] == pytest.approx(follower.get((*key, tag), 0) / total)
    for word, tag in product("abcd", tags.symbols[1:]):
        seen = sum(pair == (word, tag) for s in tagged for pair in zip(s.words, s.tags or (), strict=True))
        row = slice(*model.emit_start[[model.words.index(word), model.words.index(word) + 1]])
        found = dict(zip(tags.decode(model.emit_tag[row].tolist()), model.emit_prob[row], strict=True))
        emitted = sum(t == tag for s in tagged for t in s.tags or ())
        assert found.get(tag, 0.0) == pytest.approx(seen / emitted)


@pytest.mark.parametrize("window", [1, 2])
def test_variational_is_close_to_em(text: Text, dictionary: TagDictionary, window: int) -> None:
    counts = NGramCounts.of(text, order=4, cutoff=2)
    model = lg.fit(lg.HMM, counts, by=Variational(dictionary=dictionary, iterations=30, window=window))
    exact = lg.fit(lg.HMM, text, by=EM(dictionary=dictionary, iterations=30))
    tokens = text.size + len(text)
    assert model.loglik(text) / tokens == pytest.approx(exact.loglik(text) / tokens, abs=0.01)
    assert bounds(model)[-1] > bounds(model)[0]


def test_classes_give_the_same_em(text: Text, dictionary: TagDictionary) -> None:
    """On n-grams that are the corpus itself, window 2 is EM, and so it is on classes of words."""
    sentences = [f"{first} {rest}" for first, rest in zip("pqrs", ["d a", "d c d", "a c", "d d"], strict=True)]
    small = Text.of(sentences)
    counts = NGramCounts.of(small, order=5, dictionary=dictionary)
    assert counts.classes is not None
    assert "<tag:1>" in counts.words
    plain = NGramCounts.of(small, order=5)
    learner = Variational(dictionary=dictionary, iterations=4, window=2, lag=0)
    one, other = (lg.fit(lg.HMM, data, by=learner) for data in (counts, plain))
    assert one.words == other.words
    np.testing.assert_allclose(one.transition, other.transition, atol=1e-9)
    np.testing.assert_allclose(one.emit_prob, other.emit_prob, atol=1e-9)


@pytest.mark.parametrize("reading", ["exclusive", "epsilon", "failure"])
@pytest.mark.parametrize("window", [1, 2])
@pytest.mark.parametrize("lag", [0, 1])
def test_the_gradient_is_that_of_differences(
    text: Text, dictionary: TagDictionary, reading: str, window: int, lag: int
) -> None:
    small = Text.of([sentence.words for sentence in list(text)[:30]])
    model = from_counts(NGramCounts.of(small, order=3, cutoff=2), reading)
    problem = BOUNDS[window](ApproximateCorpus.of(model, dictionary, lag), Prior(0.5, 0.1))
    rng = np.random.default_rng(0)
    eta = rng.standard_normal(len(problem.entry))
    _, gradient = problem.value(eta)
    for _ in range(5):
        direction = rng.standard_normal(len(eta))
        ahead, _ = problem.value(eta + 1e-5 * direction)
        behind, _ = problem.value(eta - 1e-5 * direction)
        assert (ahead - behind) / 2e-5 == pytest.approx(gradient @ direction, rel=1e-5)


@pytest.mark.parametrize("window", [1, 2])
def test_both_optimisers_reach_the_same_height(text: Text, dictionary: TagDictionary, window: int) -> None:
    counts = NGramCounts.of(text, order=3, cutoff=3)
    settings = {"dictionary": dictionary, "iterations": 150 if window == 1 else 60, "window": window}
    found = [lg.fit(lg.HMM, counts, by=Variational(optimiser=name, **settings)) for name in ("rounds", "gradient")]
    ends = [model.provenance.trace[-1]["bound"] / text.size for model in found]
    assert ends[0] == pytest.approx(ends[1], abs=5e-3)


def test_automata_are_the_hmms_they_were(text: Text, tagged: list[Sentence], dictionary: TagDictionary) -> None:
    for data, learner in ((text, EM(dictionary=dictionary, iterations=3)), (tagged, Counting())):
        hmm, automaton = (lg.fit(model, data, by=learner) for model in (lg.HMM, lg.OperatorAutomaton))
        assert automaton.total() == pytest.approx(1.0, rel=1e-9)
        for words in ("d", "ab", "dcbd"):
            assert automaton.probability(list(words)) == pytest.approx(np.exp(hmm.logprob(list(words))), rel=1e-9)


def test_the_number_of_workers_changes_nothing(text: Text, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("latentgram.sequences.em.SHARD", 500)
    one, two = (lg.fit(lg.HMM, text, by=EM(states=3, iterations=2), n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.emit_prob, two.emit_prob)


def test_what_cannot_be_learned_is_refused(text: Text, tagged: list[Sentence]) -> None:
    with pytest.raises(DataError, match="tagged sentences"):
        lg.fit(lg.HMM, text, by=Counting())
    with pytest.raises(DataError, match="BackoffNGram or NGramCounts"):
        lg.fit(lg.HMM, text, by=Variational())
    with pytest.raises(UnsupportedPair, match="HMM can be learned by EM, Variational"):
        lg.fit(lg.HMM, text, by=Clustering())


def test_what_is_no_dictionary_or_sentence_is_refused(text: Text, tagged: list[Sentence]) -> None:
    with pytest.raises(SettingError, match=r"dictionary must be a TagDictionary .* not a str"):
        lg.fit(lg.HMM, text, by=EM(dictionary="tags.tsv"))
    with pytest.raises(DataError, match="needs tagged sentences, and there are none"):
        TagDictionary.of([])
    hmm = lg.fit(lg.HMM, tagged, by=Counting())
    with pytest.raises(DataError, match=r"a sentence is a string, .* not None"):
        hmm.tag(None)


def test_a_word_may_hold_a_blank() -> None:
    tagged = [Sentence(("13 819", "people"), ("C", "N")), Sentence(("people",), ("N",))]
    hmm = lg.fit(lg.HMM, tagged, by=Counting())
    assert hmm.tag(("13 819", "people")).tags == ("C", "N")
    assert hmm.tag(("13 819", "people")).unknown == (False, False)
