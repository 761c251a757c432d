"""The bound, its blocks and its expectations against enumeration of every path with every tagging."""

from pathlib import Path

import numpy as np
import pytest
from tests.oracles.tagged_paths import DelayedEnumeration, Enumeration

import latentgram as lg
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.sentence import Sentence
from latentgram.data.tag_dictionary import TagDictionary, open_dictionary
from latentgram.data.text import Text
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context
from latentgram.sequences.approximate_corpus import ApproximateCorpus, Memory, standing_for
from latentgram.sequences.counting import from_counts
from latentgram.sequences.em import Corpus
from latentgram.sequences.empty_history import without_empty_history
from latentgram.sequences.ngram import READINGS
from latentgram.sequences.parameters import Parameters
from latentgram.sequences.variational import first_memory, independent_round, paired_round, round_of, sweep_values
from latentgram.sequences.variational_triples import triple_response, triple_round, triple_statistics

DICTIONARY = TagDictionary.of(
    [Sentence.of([("a", "1"), ("a", "2"), ("B", "2"), ("c", "1"), ("c", "2"), ("C", "1"), ("C", "3")])], 1
)


def layered(sentences: int = 25, seed: int = 3) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    text = []
    for _ in range(sentences):
        words = [pair[rng.integers(2)] for pair in ("aA", "bB", "cC")]
        if rng.random() < 0.5:
            words[2] = "c" if words[0] == "a" else "C"
        text.append(words[: rng.integers(2, 4)])
    return text


# Bigrams with x are cut off, so # and p back off to the empty history, from where p may come again: a loop, but of
# a word of one tag, and x and z end the sentence.
LOOP = ["p x"] * 3 + ["x"] * 3 + ["p z"] * 5
LOOP_DICTIONARY = TagDictionary.of(
    [Sentence.of([("p", "1"), ("x", "1"), ("x", "2"), ("z", "1"), ("z", "2"), ("z", "3")])], 1
)


def corpus(reading: str, lag: int, cutoff: int = 4, bigrams: bool = True) -> ApproximateCorpus:
    text, dictionary = (layered(), DICTIONARY) if bigrams else (LOOP, LOOP_DICTIONARY)
    counts = NGramCounts.of(Text.of(text), order=3, cutoff=cutoff, all_bigrams=bigrams)
    model = from_counts(counts, reading)
    return remembered(ApproximateCorpus.of(model, dictionary, lag), model)


ORIGINS: dict[int, lg.BackoffNGram] = {}
"""The automaton that a corpus was made of."""


def remembered(given: ApproximateCorpus, model: lg.BackoffNGram) -> ApproximateCorpus:
    ORIGINS[id(given)] = model
    return given


def random_parameters(given: ApproximateCorpus, seed: int = 0) -> Parameters:
    rng = np.random.default_rng(seed)
    transition = rng.dirichlet(np.ones(given.tags), given.tags)
    emission = rng.random(len(given.shape.tag))
    emission[0] = 1.0
    return Parameters(transition, emission)


def dense(given: ApproximateCorpus, parameters: Parameters) -> np.ndarray:
    table = np.zeros((len(given.shape.words), given.tags))
    table[np.repeat(np.arange(len(given.shape.words)), np.diff(given.shape.start)), given.shape.tag] = (
        parameters.emission
    )
    return table


def oracle(given: ApproximateCorpus) -> Enumeration:
    def allowed(word: int) -> list[int]:
        return given.shape.tag[given.shape.start[word] : given.shape.start[word + 1]].tolist()

    if given.lag < 2:
        return Enumeration(given.model, allowed, given.lag)
    later = given.model
    names = [tuple(word for word in row if word >= 0) for row in later.history.tolist()]
    arcs = {
        (names[source], names[target], word): arc
        for arc, (source, target, word) in enumerate(
            zip(later.source.tolist(), later.arc_target.tolist(), later.arc_word.tolist(), strict=True)
        )
    }
    assert len(arcs) == later.arcs
    return DelayedEnumeration(ORIGINS[id(given)], allowed, lambda *key: arcs[key])


def random_phi(given: ApproximateCorpus, seed: int = 1) -> np.ndarray:
    phi = np.random.default_rng(seed).random(int(given.phi_start[-1])) + 0.1
    sums = np.add.reduceat(phi, given.phi_start[:-1])
    return phi / np.repeat(sums, np.diff(given.phi_start))


def choose(given: ApproximateCorpus, phi: np.ndarray):
    table = np.zeros((given.model.arcs, given.tags))
    size = np.diff(given.phi_start)
    rows = np.repeat(given.shape.start[given.machine.tagged] - given.phi_start[:-1], size) + np.arange(len(phi))
    table[np.repeat(np.arange(given.model.arcs), size), given.shape.tag[rows]] = phi
    return lambda arc, tag, before: table[arc, tag]


CASES = [(reading, lag, True) for reading in READINGS for lag in (0, 1)]
CASES += [(reading, 0, False) for reading in READINGS]
CASES += [(reading, 2, True) for reading in ("exclusive", "epsilon")]
"""Without all bigrams some words have only the empty history, which lag 1 cannot have."""


def check_blocks(given: ApproximateCorpus, phi: np.ndarray, best: np.ndarray, parameters: Parameters) -> None:
    """Each block is at its optimum, ∝ e^{b/e}.

    A path takes an arc once, so the bound is Σ_t φ(t) (b(t) − e log φ(t)) in a single block, with b(t) the bound
    when the block is sure of t and e the probability of paths through the arc.
    """
    emission, listed = dense(given, parameters), oracle(given)
    wide = np.flatnonzero((np.diff(given.phi_start) > 1) & (given.machine.flow > 1e-9))
    for arc in np.random.default_rng(0).choice(wide, min(4, len(wide)), replace=False):
        block = slice(given.phi_start[arc], given.phi_start[arc + 1])
        sure = []
        for one in np.eye(block.stop - block.start):
            moved = phi.copy()
            moved[block] = one
            sure.append(listed.bound(choose(given, moved), parameters.transition, emission))
        taken = sum(
            weight
            for weight, arcs in listed.paths
            if arc in [a for a, _, _ in listed.choices(arcs, (1,) * len(arcs))]
        )
        assert taken == pytest.approx(given.machine.flow[arc], rel=1e-10)
        optimum = np.exp((np.array(sure) - max(sure)) / taken)
        np.testing.assert_allclose(best[block], optimum / optimum.sum(), rtol=1e-9)


@pytest.mark.parametrize(("reading", "lag", "bigrams"), CASES)
def test_objective_and_best_blocks(reading: str, lag: int, bigrams: bool) -> None:
    given = corpus(reading, lag, bigrams=bigrams)
    parameters, phi = random_parameters(given), random_phi(given)
    emission, listed = dense(given, parameters), oracle(given)
    expected, memory = given.statistics(phi)
    bound = given.bounded(phi, expected, parameters).bound
    assert bound == pytest.approx(
        listed.bound(choose(given, phi), parameters.transition, emission), rel=1e-10, abs=1e-12
    )
    assert bound <= listed.expected_logprob(parameters.transition, emission)
    check_blocks(given, phi, given.response(memory, parameters), parameters)


@pytest.mark.parametrize(("reading", "lag", "bigrams"), [case for case in CASES if case[0] != "failure"])
def test_order_three_against_enumeration(reading: str, lag: int, bigrams: bool) -> None:
    given = corpus(reading, lag, bigrams=bigrams)
    phi, tags = random_phi(given), given.tags
    transition = np.random.default_rng(5).dirichlet(np.ones(tags), tags * tags)
    parameters = Parameters(transition, random_parameters(given).emission)
    emission, listed = dense(given, parameters), oracle(given)
    expected, memory = triple_statistics(given, phi)
    bound = given.bounded(phi, expected, parameters).bound
    assert bound == pytest.approx(listed.bound(choose(given, phi), transition, emission), rel=1e-10, abs=1e-12)
    best = triple_response(given, parameters, memory)
    check_blocks(given, phi, best, parameters)
    counts, _ = triple_round(given, parameters, memory)
    np.testing.assert_allclose(counts.transition, triple_statistics(given, best)[0].transition, atol=1e-12)
    assert counts.bound == pytest.approx(listed.bound(choose(given, best), transition, emission), rel=1e-10)


def test_learning_order_three() -> None:
    """Which tag comes third depends on the first, which an HMM of order 2 cannot say."""
    sentences = ["p m x", "q m y"] * 30
    dictionary = TagDictionary.of(
        [Sentence.of([("p", "P"), ("q", "Q"), ("m", "M"), ("x", "X"), ("y", "Y")])], at_least=1
    )
    counts = NGramCounts.of(Text.of(sentences), order=3)
    two, three = (
        lg.fit(lg.HMM, counts, by=lg.Variational(dictionary=dictionary, order=order, transition_prior=0.0))
        for order in (2, 3)
    )
    assert np.exp(two.logprob("p m x")) == pytest.approx(0.25, rel=1e-6)
    assert np.exp(three.logprob("p m x")) == pytest.approx(0.5, rel=1e-6)
    assert three.order == 3
    failing = lg.fit(lg.BackoffNGram, counts, by=lg.Counting(reading="failure"))
    with pytest.raises(SettingError, match="exclusive or the epsilon reading"):
        lg.fit(lg.HMM, failing, by=lg.Variational(states=2, order=3))
    with pytest.raises(SettingError, match="window 1"):
        lg.fit(lg.HMM, counts, by=lg.Variational(states=2, order=3, window=2))


@pytest.mark.parametrize("reading", ["exclusive", "epsilon"])
@pytest.mark.parametrize("lag", [0, 1])
def test_the_fused_pass_is_the_stored_one(reading: str, lag: int) -> None:
    given = corpus(reading, lag)
    parameters = random_parameters(given)
    _, memory = given.statistics(random_phi(given))
    phi = given.response(memory, parameters)
    stored, stored_memory = given.statistics(phi)
    expected, fresh = independent_round(given, parameters, memory)
    np.testing.assert_allclose(expected.transition, stored.transition, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(expected.emission, stored.emission, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(fresh.down, stored_memory.down, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(fresh.up, stored_memory.up, rtol=1e-10, atol=1e-14)
    assert expected.bound == pytest.approx(given.bounded(phi, stored, parameters).bound, rel=1e-11)


@pytest.mark.parametrize("reading", ["exclusive", "epsilon"])
def test_the_open_round_is_the_fused_one(reading: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In single precision, and twice, since the second round starts from tables that the first one left."""
    counts = NGramCounts.of(Text.of(layered()), order=3, cutoff=4)
    given = ApproximateCorpus.of(from_counts(counts, reading), open_dictionary(5), 1)
    parameters = random_parameters(given)
    memory = first_memory(given, 1)[1]
    stored = [independent_round(given, parameters, memory)]
    stored.append(independent_round(given, parameters, stored[0][1]))
    monkeypatch.setattr("latentgram.sequences.variational.LARGE", 1)
    found = [independent_round(given, parameters, memory)]
    found.append(independent_round(given, parameters, found[0][1]))
    for one, other in zip(found, stored, strict=True):
        assert one[1].down.dtype == np.float32
        np.testing.assert_allclose(one[0].transition, other[0].transition, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(one[0].emission, other[0].emission, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(one[1].down, other[1].down, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(one[1].up, other[1].up, rtol=1e-5, atol=1e-6)
        assert one[0].bound == pytest.approx(other[0].bound, rel=1e-6)
    # A word too improbable for single precision leaves the round to the other kernel.
    parameters.emission[-5:] *= 1e-40
    expected, fresh = independent_round(given, parameters, memory)
    assert fresh.down.dtype == np.float64
    assert expected.bound < found[0][0].bound


def settled(given: ApproximateCorpus, parameters: Parameters) -> tuple[Memory, float]:
    """Sweeps until ρ and the flow stand still, which an acyclic automaton reaches."""
    memory = first_memory(given, 2)[1]
    for _ in range(40):
        expected, memory = paired_round(given, parameters, memory)
    return memory, expected.bound


@pytest.mark.parametrize(("reading", "lag", "bigrams"), CASES)
def test_pairs_against_enumeration(reading: str, lag: int, bigrams: bool) -> None:
    given = corpus(reading, lag, bigrams=bigrams)
    parameters = random_parameters(given)
    emission, listed = dense(given, parameters), oracle(given)
    memory, bound = settled(given, parameters)
    weight = np.exp(memory.up)[given.machine.target] * emission[given.machine.tagged]
    weight[given.machine.tagged == 0] = np.eye(given.tags)[0]

    def best(arc: int, tag: int, before: int) -> float:
        column = parameters.transition[before] * weight[arc]
        return column[tag] / column.sum()

    top = listed.bound(best, parameters.transition, emission)
    assert bound == pytest.approx(top, rel=1e-10)
    assert bound <= listed.expected_logprob(parameters.transition, emission) + 1e-12
    assert bound >= independent_round(given, parameters, first_memory(given, 1)[1])[0].bound - 1e-12
    # As for single blocks above; a block is an arc and the tag before, and comes into play `reached` times.
    rng = np.random.default_rng(2)
    wide = np.flatnonzero(np.diff(given.phi_start) > 1)
    for arc in rng.choice(wide, min(3, len(wide)), replace=False):
        tags = given.shape.tag[given.shape.start[given.machine.tagged[arc]] :][: np.diff(given.phi_start)[arc]]
        for before in range(given.tags):
            reached = listed.reached(best, int(arc), before)
            if reached < 1e-6:
                continue
            sure = []
            for chosen in tags.tolist():

                def moved(a: int, t: int, s: int, arc=arc, before=before, chosen=chosen) -> float:
                    return float(t == chosen) if (a, s) == (arc, before) else best(a, t, s)

                sure.append(listed.bound(moved, parameters.transition, emission))
            optimum = np.exp((np.array(sure) - max(sure)) / reached)
            found = [best(int(arc), tag, before) for tag in tags.tolist()]
            np.testing.assert_allclose(found, optimum / optimum.sum(), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("reading", READINGS)
def test_pairs_are_em_when_the_future_is_certain(reading: str) -> None:
    # Every first word is of one sentence only, so each state determines the rest.
    sentences = ["p a b", "q a c C", "r C", "s B c"]
    counts = NGramCounts.of(Text.of(sentences * 2), order=5)
    text = Text.of(sentences)
    given = ApproximateCorpus.of(from_counts(counts, reading), DICTIONARY, 0)
    parameters = random_parameters(given)
    memory = first_memory(given, 2)[1]
    for _ in range(12):
        expected, memory = paired_round(given, parameters, memory)
    exact = Corpus.of(text, given.shape, 2, segments=False).expect(parameters, Context())
    assert expected.bound == pytest.approx(exact.bound / len(text), rel=1e-9)
    np.testing.assert_allclose(expected.transition, exact.transition / len(text), atol=1e-9)
    np.testing.assert_allclose(expected.emission[1:], exact.emission[1:] / len(text), atol=1e-9)


def test_enough_sweeps_close_the_gap_in_one_round() -> None:
    """Footnote 21: after a pass over an automaton without cycles the bound is the likelihood."""
    sentences = ["p a b", "q a c C", "r C", "s B c"]
    given = ApproximateCorpus.of(from_counts(NGramCounts.of(Text.of(sentences), order=5)), DICTIONARY, 0)
    parameters, memory = random_parameters(given), first_memory(given, 2)[1]
    exact = Corpus.of(Text.of(sentences), given.shape, 2, segments=False).expect(parameters, Context())
    once, often = (round_of(2, sweeps=sweeps)(given, parameters, memory)[0].bound for sweeps in (1, 12))
    assert exact.bound / 4 - once > 0.01
    assert exact.bound / 4 == pytest.approx(often, abs=1e-9)


@pytest.mark.parametrize(("reading", "lag", "bigrams"), CASES)
def test_states_in_turn_settle_where_all_at_once_do(reading: str, lag: int, bigrams: bool) -> None:
    """And, but for lag 2, in one round, since these automata have no cycles of ambiguous words."""
    given = corpus(reading, lag, bigrams=bigrams)
    parameters, memory = random_parameters(given), first_memory(given, 2)[1]
    (at_once, bound), in_turn = settled(given, parameters), round_of(2, sequential=True)
    for _ in range(3 if lag == 2 else 1):
        expected, memory = in_turn(given, parameters, memory)
    assert expected.bound == pytest.approx(bound, rel=1e-12)
    np.testing.assert_allclose(memory.down, at_once.down, atol=1e-12)
    counts = paired_round(given, parameters, at_once)[0]
    np.testing.assert_allclose(expected.transition, counts.transition, atol=1e-12)
    np.testing.assert_allclose(expected.emission, counts.emission, atol=1e-12)


@pytest.mark.parametrize("lag", [0, 1])
def test_one_sequential_sweep_closes_the_gap(lag: int) -> None:
    """Footnote 21: Z of a pass from the end is the sum over all that follows, where a state determines it."""
    sentences = ["p a b", "q a c C", "r C", "s B c"]
    given = ApproximateCorpus.of(from_counts(NGramCounts.of(Text.of(sentences), order=5)), DICTIONARY, lag)
    parameters, memory = random_parameters(given), first_memory(given, 2)[1]
    exact = Corpus.of(Text.of(sentences), given.shape, 2, segments=False).expect(parameters, Context())
    found = round_of(2, sequential=True)(given, parameters, memory)[0]
    assert found.bound == pytest.approx(exact.bound / 4, rel=1e-12)
    np.testing.assert_allclose(found.transition, exact.transition / 4, atol=1e-12)


def test_sequential_rounds_on_cycles_reach_the_same_bound() -> None:
    rng = np.random.default_rng(0)
    text = Text.of(["".join(rng.choice(list("aBcC"), rng.integers(1, 9))) for _ in range(200)])
    text = Text.of([list(sentence.words[0]) for sentence in text])
    given = ApproximateCorpus.of(from_counts(NGramCounts.of(text, order=2)), DICTIONARY)
    parameters, at_once = random_parameters(given), first_memory(given, 2)[1]
    in_turn, step = at_once, round_of(2, sequential=True)
    gaps = []
    for _ in range(60):
        one, at_once = paired_round(given, parameters, at_once)
        other, in_turn = step(given, parameters, in_turn)
        gaps.append(other.bound)
    assert other.bound == pytest.approx(one.bound, rel=1e-10)
    assert abs(gaps[5] - gaps[-1]) < 1e-6
    np.testing.assert_allclose(in_turn.down, at_once.down, atol=1e-9)


@pytest.mark.parametrize("reading", READINGS)
def test_hard_tags_are_the_likeliest_of_the_soft_ones(reading: str) -> None:
    given = corpus(reading, 1)
    parameters, memory = random_parameters(given), first_memory(given, 1)[1]
    soft = given.response(memory, parameters)
    hard = given.hardened(soft)
    for begin, end in zip(given.phi_start[:-1], given.phi_start[1:], strict=True):
        assert hard[begin:end].sum() == 1.0
        assert soft[begin:end].max() == soft[begin:end][hard[begin:end] > 0][0]
    bounds = [given.bounded(phi, given.statistics(phi)[0], parameters).bound for phi in (soft, hard)]
    assert round_of(1, hard=True)(given, parameters, memory)[0].bound == pytest.approx(bounds[1])
    with pytest.raises(SettingError, match="window 1"):
        round_of(2, hard=True)


def test_learning_with_hard_tags_and_sweeps() -> None:
    counts = NGramCounts.of(Text.of(layered()), order=3)
    soft, hard, swept = (
        lg.fit(lg.HMM, counts, by=lg.Variational(dictionary=DICTIONARY, iterations=10, **more))
        for more in ({}, {"hard": True}, {"sweeps": 3})
    )
    text = Text.of(layered())
    assert soft.loglik(text) >= hard.loglik(text) - 1.0
    assert swept.loglik(text) == pytest.approx(soft.loglik(text), rel=0.01)
    for more in ({"hard": True}, {"sequential": True}):
        with pytest.raises(SettingError, match="not gradient"):
            lg.fit(lg.HMM, counts, by=lg.Variational(states=2, optimiser="gradient", **more))
    with pytest.raises(SettingError, match="window 2"):
        lg.fit(lg.HMM, counts, by=lg.Variational(states=2, window=1, sequential=True))
    in_turn = lg.fit(lg.HMM, counts, by=lg.Variational(dictionary=DICTIONARY, iterations=10, sequential=True))
    assert in_turn.loglik(text) == pytest.approx(soft.loglik(text), rel=0.01)


def test_lag_one_needs_histories() -> None:
    with pytest.raises(SettingError, match="lag 1 needs a history for every word"):
        corpus("exclusive", 1, bigrams=False)
    counts = NGramCounts.of(Text.of(layered()), order=3, cutoff=4, all_bigrams=False)
    assert ApproximateCorpus.of(from_counts(counts), DICTIONARY).lag == 0


def conditional(model: lg.BackoffNGram, history: int, words: int) -> np.ndarray:
    """[words] p(word | history) by the definition of the readings."""
    own = np.zeros(words)
    arcs = slice(model.arc_start[history], model.arc_start[history + 1])
    own[model.arc_word[arcs]] = model.arc_prob[arcs]
    if model.failure[history] == 0:
        return own
    below = conditional(model, int(model.backoff[history]), words)
    shut = own > 0 if model.reading == "failure" else np.zeros(words, bool)
    return own + model.failure[history] * np.where(shut, 0.0, below)


@pytest.mark.parametrize("smoothing", ["none", "failure", "kneser-ney", "katz"])
def test_without_the_empty_history_every_history_sums_to_one(smoothing: str) -> None:
    """Footnote 2. Bigrams are cut off, so z is only ever followed by itself, and goes with its history."""
    text = Text.of([*layered(60), "a b z z"])
    counts = NGramCounts.of(text, order=3, cutoff=(1, 2, 2), all_bigrams=False)
    learner = lg.Counting(reading="failure") if smoothing == "failure" else lg.Counting(smoothing=smoothing)
    model = lg.fit(lg.BackoffNGram, counts, by=learner)
    bare = without_empty_history(model)
    assert bare.flow.sum() > 0
    assert bare.expected_visits[0] == 0.0
    assert "z" not in {bare.words[int(word)] for word in bare.arc_word}
    passed = np.flatnonzero(bare.expected_visits > 0)
    assert len(passed) > 3
    for history in passed.tolist():
        before, after = (conditional(each, history, len(model.words)) for each in (model, bare))
        assert after.sum() == pytest.approx(1.0, rel=1e-12)
        own = slice(bare.arc_start[history], bare.arc_start[history + 1])
        ratio = bare.arc_prob[own] / before[bare.arc_word[own]]
        if model.reading == "failure":
            assert ratio.std() < 1e-9
    assert without_empty_history(bare) is bare
    hmm = lg.fit(lg.HMM, model, by=lg.Variational(dictionary=DICTIONARY, empty_history=False, lag=1))
    assert np.isfinite(hmm.logprob("a b c"))
    with pytest.raises(DataError, match="nothing is left"):
        without_empty_history(from_counts(NGramCounts.of(text, order=1)))


def test_lag_two_needs_trigrams_and_free_failure_arcs() -> None:
    for reading, order in (("failure", 3), ("exclusive", 2)):
        counts = NGramCounts.of(Text.of(layered()), order=order)
        with pytest.raises(SettingError, match="lag 2 needs n-grams of order 3 or more"):
            ApproximateCorpus.of(from_counts(counts, reading), DICTIONARY, 2)
    with pytest.raises(SettingError, match="lag 2 needs a history for every word"):
        corpus("exclusive", 2, bigrams=False)


def test_the_window_is_two_where_that_costs_little() -> None:
    counts = NGramCounts.of(Text.of(layered()), order=3)
    chosen, two, one = (
        lg.fit(lg.HMM, counts, by=lg.Variational(dictionary=DICTIONARY, iterations=5, **more))
        for more in ({}, {"window": 2}, {"window": 1})
    )
    assert (chosen.emit_prob == two.emit_prob).all()
    assert (chosen.emit_prob != one.emit_prob).any()
    for more in ({"hard": True}, {"order": 3}, {"optimiser": "gradient"}):
        chosen, one = (
            lg.fit(lg.HMM, counts, by=lg.Variational(dictionary=DICTIONARY, iterations=2, **more, **window))
            for window in ({}, {"window": 1})
        )
        assert (chosen.emit_prob == one.emit_prob).all()


def test_values_are_of_what_is_carried() -> None:
    given = corpus("exclusive", 1)
    memory = first_memory(given, 2)[1]
    rho = sweep_values(given, random_parameters(given), memory)
    assert rho.max() == 0.0
    assert not rho[memory.down <= 0].any()


def test_an_arpa_file_stands_for_as_many_sentences_as_its_rarest_words_say(tmp_path: Path) -> None:
    """Else the pseudo-counts would outweigh a model that does not say how much text it was estimated from."""
    # Of ten words one occurs once and the others about fifty times each: a word at the rarest tenth, once.
    rng = np.random.default_rng(0)
    text = Text.of([[f"w{rng.integers(9)}" for _ in range(5)] for _ in range(90)] + [["once", "w0"]])
    counts = NGramCounts.of(text, order=2)
    model = lg.fit(lg.BackoffNGram, counts, by=lg.Counting(smoothing="witten-bell"))
    model.to_arpa(tmp_path / "model.arpa")
    foreign = lg.read_arpa(tmp_path / "model.arpa")
    assert foreign.sentences == 1.0
    assert standing_for(model).sentences == 91
    assert 60 < standing_for(foreign).sentences < 140
    assert standing_for(foreign, 500).sentences == 500
    settings = {"states": 3, "iterations": 5, "emission_prior": 0.1}
    own, read, told = (
        lg.fit(lg.HMM, source, by=lg.Variational(**settings, **more))
        for source, more in ((model, {}), (foreign, {}), (foreign, {"sentences": 91}))
    )
    np.testing.assert_allclose(told.emit_prob, own.emit_prob, atol=1e-4)
    np.testing.assert_allclose(read.emit_prob, own.emit_prob, atol=0.02)
