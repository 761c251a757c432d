"""The bound, its blocks and its expectations against enumeration of every path with every tagging."""

import numpy as np
import pytest
from tests.oracles.tagged_paths import Enumeration

from latentgram.data.ngram_counts import NGramCounts
from latentgram.data.sentence import Sentence
from latentgram.data.tag_dictionary import TagDictionary, open_dictionary
from latentgram.data.text import Text
from latentgram.dp.chain import expect
from latentgram.errors import SettingError
from latentgram.learn.hmm_parameters import Parameters
from latentgram.learn.ngram import from_counts
from latentgram.learn.variational import (
    ApproximateCorpus,
    Memory,
    first_memory,
    independent_round,
    paired_round,
    sweep_values,
)
from latentgram.models.ngram import READINGS

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


def corpus(reading: str, lag: int, cutoff: int = 4, bigrams: bool = True) -> ApproximateCorpus:
    counts = NGramCounts.of(Text.of(layered()), order=3, cutoff=cutoff, all_bigrams=bigrams)
    return ApproximateCorpus.of(from_counts(counts, reading), DICTIONARY, lag)


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

    return Enumeration(given.model, allowed, given.lag)


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
CASES += [("exclusive", 0, False)]


@pytest.mark.parametrize(("reading", "lag", "bigrams"), CASES)
def test_objective_and_best_blocks(reading: str, lag: int, bigrams: bool) -> None:
    given = corpus(reading, lag, bigrams=bigrams)
    parameters, phi = random_parameters(given), random_phi(given)
    emission, listed = dense(given, parameters), oracle(given)
    bound = given.bound(phi, parameters)
    assert bound == pytest.approx(
        listed.bound(choose(given, phi), parameters.transition, emission), rel=1e-10, abs=1e-12
    )
    assert bound <= listed.expected_logprob(parameters.transition, emission)
    # A single block moved to its best response: no tilt of it does better, by enumeration.
    _, memory, _ = given.statistics(phi)
    best = given.response(memory, parameters)
    rng = np.random.default_rng(0)
    wide = np.flatnonzero((np.diff(given.phi_start) > 1) & (given.machine.flow > 1e-9))
    for arc in rng.choice(wide, min(4, len(wide)), replace=False):
        block = slice(given.phi_start[arc], given.phi_start[arc + 1])
        moved = phi.copy()
        moved[block] = best[block]
        top = listed.bound(choose(given, moved), parameters.transition, emission)
        gains = []
        for tilt in np.eye(block.stop - block.start) - 1.0 / (block.stop - block.start):
            for step in (1e-4, -1e-4):
                tilted = moved.copy()
                tilted[block] = best[block] * np.exp(step * tilt)
                tilted[block] /= tilted[block].sum()
                gains.append(listed.bound(choose(given, tilted), parameters.transition, emission) - top)
        assert max(gains) < 1e-12
        # The derivative vanishes: differences are of second order in the step.
        assert min(gains) > -1e-8


@pytest.mark.parametrize("reading", ["exclusive", "epsilon"])
@pytest.mark.parametrize("lag", [0, 1])
def test_the_fused_pass_is_the_stored_one(reading: str, lag: int) -> None:
    given = corpus(reading, lag)
    parameters = random_parameters(given)
    _, memory, _ = given.statistics(random_phi(given))
    phi = given.response(memory, parameters)
    stored, stored_memory, _ = given.statistics(phi)
    expected, fresh, bound = independent_round(given, parameters, memory)
    np.testing.assert_allclose(expected.transition, stored.transition, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(expected.emission, stored.emission, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(fresh.down, stored_memory.down, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(fresh.up, stored_memory.up, rtol=1e-10, atol=1e-14)
    assert bound == pytest.approx(given.bound(phi, parameters), rel=1e-11)


@pytest.mark.parametrize("reading", ["exclusive", "epsilon"])
def test_the_open_round_is_the_fused_one(reading: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In single precision, and twice, since the second round starts from tables that the first one left."""
    counts = NGramCounts.of(Text.of(layered()), order=3, cutoff=4)
    given = ApproximateCorpus.of(from_counts(counts, reading), open_dictionary(5), 1)
    parameters = random_parameters(given)
    memory = first_memory(given, 1)[1]
    stored = [independent_round(given, parameters, memory)]
    stored.append(independent_round(given, parameters, stored[0][1]))
    monkeypatch.setattr("latentgram.learn.variational_open.LARGE", 1)
    found = [independent_round(given, parameters, memory)]
    found.append(independent_round(given, parameters, found[0][1]))
    for one, other in zip(found, stored, strict=True):
        assert one[1].down.dtype == np.float32
        np.testing.assert_allclose(one[0].transition, other[0].transition, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(one[0].emission, other[0].emission, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(one[1].down, other[1].down, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(one[1].up, other[1].up, rtol=1e-5, atol=1e-6)
        assert one[2] == pytest.approx(other[2], rel=1e-6)
    # A word too improbable for single precision leaves the round to the other kernel.
    parameters.emission[-5:] *= 1e-40
    _, fresh, bound = independent_round(given, parameters, memory)
    assert fresh.down.dtype == np.float64
    assert bound < found[0][2]


def settled(given: ApproximateCorpus, parameters: Parameters) -> tuple[Memory, float]:
    """Sweeps until ρ and the flow stand still, which an acyclic automaton reaches."""
    memory = first_memory(given, 2)[1]
    for _ in range(12):
        _, memory, bound = paired_round(given, parameters, memory)
    return memory, bound


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
    assert bound >= independent_round(given, parameters, first_memory(given, 1)[1])[2] - 1e-12
    rng = np.random.default_rng(2)
    for _ in range(3):
        arc, tag, before = rng.integers(given.model.arcs), rng.integers(1, given.tags), rng.integers(given.tags)

        def tilted(a: int, t: int, s: int, arc=arc, tag=tag, before=before) -> float:
            column = parameters.transition[s] * weight[a]
            if (a, s) == (arc, before):
                column = column * np.exp(1e-3 * (np.arange(given.tags) == tag))
            return column[t] / column.sum()

        assert listed.bound(tilted, parameters.transition, emission) <= top + 1e-13


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
        expected, memory, bound = paired_round(given, parameters, memory)
    transitions, emissions = np.zeros((given.tags, given.tags)), np.zeros(len(given.shape.tag))
    zeros = np.zeros(len(text), np.int64)
    logs = expect(
        parameters.transition, given.shape.start, given.shape.tag, parameters.emission, text.tokens,
        text.start[:-1], text.start[1:] - 1, zeros, zeros, np.ones(len(text)), transitions, emissions,
    )  # fmt: skip
    assert bound == pytest.approx(logs.mean(), rel=1e-9)
    np.testing.assert_allclose(expected.transition, transitions / len(text), atol=1e-9)
    np.testing.assert_allclose(expected.emission[1:], emissions[1:] / len(text), atol=1e-9)


def test_lag_one_needs_histories() -> None:
    with pytest.raises(SettingError, match="lag 1 needs a history for every word"):
        corpus("exclusive", 1, bigrams=False)
    counts = NGramCounts.of(Text.of(layered()), order=3, cutoff=4, all_bigrams=False)
    assert ApproximateCorpus.of(from_counts(counts), DICTIONARY).lag == 0


def test_values_are_of_what_is_carried() -> None:
    given = corpus("exclusive", 1)
    memory = first_memory(given, 2)[1]
    rho = sweep_values(given, random_parameters(given), memory)
    assert rho.max() == 0.0
    assert not rho[memory.down <= 0].any()
