"""Spectral automata: exact on exact moments' limit, equal to the prefix way and to a right-branching L-PCFG."""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from tests.sequences.test_hmm import random_hmm

import latentgram as lg
from latentgram.data.alphabet import Alphabet
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.text import Text
from latentgram.errors import DataError, UnsupportedPair
from latentgram.kinds.learners import Clustering, Spectral
from latentgram.sequences.settings import SpectralAutomaton
from latentgram.sequences.spectral import (
    _features,
    _from_prefixes,
    _histories,
    _operators_of,
    _prefixes,
    prefix_directions,
)


@pytest.fixture(scope="module")
def strings() -> list[list[str]]:
    return [list(sentence.words) for sentence in random_hmm(2, seed=4, sparse=False).sample(3000, seed=1)]


def test_trigrams_are_enough(strings: list[list[str]]) -> None:
    text = Text.of(strings)
    by_ngrams = lg.fit(lg.OperatorAutomaton, text, by=Spectral(states=3))
    by_prefixes = _from_prefixes(text, Spectral(states=3, history=1, future=1, power=0.0, ridge=0.0))
    scaled = lg.fit(lg.OperatorAutomaton, text, by=Spectral(states=2, power=0.25, ridge=1.0))
    scaled_prefixes = _from_prefixes(text, Spectral(states=2, history=1, future=1, power=0.25, ridge=1.0))
    for length in (1, 2, 3):
        for string in product("abcd", repeat=length):
            assert by_ngrams.probability(string) == pytest.approx(by_prefixes.probability(string), abs=1e-12)
            assert scaled.probability(string) == pytest.approx(scaled_prefixes.probability(string), abs=1e-12)


def right_branching(strings: list[list[str]], states: int):
    """Cohen et al. 2012 figs. 7 and 8 on trees (S x₁ (S x₂ … (S STOP))): inside feature the first word, outside
    the word before.

    A node S spanning xᵢ … STOP is the rule S → W S with W = xᵢ, or S → STOP. Returns p(string).
    """
    words = sorted({word for string in strings for word in string})
    inside = {word: i for i, word in enumerate([*words, "STOP"])}
    outside = {word: i for i, word in enumerate(["START", *words])}
    nodes = []
    for string in strings:
        marked = ["START", *string, "STOP"]
        nodes += [
            (outside[marked[i]], inside[marked[i + 1]], marked[i + 2 : i + 3]) for i in range(len(string) + 1)
        ]
    omega = np.zeros((len(inside), len(outside)))
    for o, i, _ in nodes:
        omega[i, o] += 1 / len(nodes)
    left, values, right = np.linalg.svd(omega)
    project_in, project_out = left[:, :states], right[:states].T / values[:states]
    rule = np.zeros((len(words), states, states))
    final = np.zeros(states)
    for o, i, after in nodes:
        z = project_out[o]
        if after:
            rule[i] += np.outer(z, project_in[inside[after[0]]]) / len(nodes)
        else:
            final += z / len(nodes)
    root = sum(project_in[inside[string[0]]] for string in strings) / len(strings)

    def probability(string: tuple[str, ...]) -> float:
        vector = final
        for word in reversed(string):
            vector = rule[inside[word]] @ vector
        return float(root @ vector)

    return probability


def test_an_hmm_is_a_right_branching_grammar(strings: list[list[str]]) -> None:
    automaton = lg.fit(lg.OperatorAutomaton, Text.of(strings), by=Spectral(states=3))
    grammar = right_branching(strings, 3)
    for length in (1, 2, 3, 4):
        for string in product("abcd", repeat=length):
            assert automaton.probability(string) == pytest.approx(grammar(string), rel=1e-9, abs=1e-13)


def test_more_data_smaller_error() -> None:
    truth = random_hmm(2, seed=4, sparse=False)
    mass = np.bincount(truth.emit_tag, truth.emit_prob)
    truth = lg.HMM(
        truth.tags, truth.words, truth.transition, truth.emit_start, truth.emit_tag,
        truth.emit_prob / mass[truth.emit_tag], truth.unknown,
    )  # fmt: skip
    exact = {s: np.exp(truth.logprob(list(s))) for n in (1, 2, 3) for s in product("abcd", repeat=n)}
    errors = []
    for size in (500, 8000):
        runs = []
        for seed in range(3):
            text = Text.of([s.words for s in truth.sample(size, seed=seed)])
            found = lg.fit(lg.OperatorAutomaton, text, by=Spectral(states=3))
            runs.append(sum(abs(found.probability(s) - p) for s, p in exact.items()))
        errors.append(np.mean(runs))
    assert errors[1] < errors[0] / 2


def test_longer_strings_and_what_is_refused(strings: list[list[str]]) -> None:
    text = Text.of(strings)
    longer = lg.fit(lg.OperatorAutomaton, text, by=Spectral(states=3, history=2, future=2, power=0.25, ridge=3.0))
    shorter = lg.fit(lg.OperatorAutomaton, text, by=Spectral(states=3))
    assert longer.probability("a d") == pytest.approx(shorter.probability("a d"), abs=0.02)
    with pytest.raises(DataError, match="of one symbol"):
        lg.fit(lg.OperatorAutomaton, NGramCounts.of(text, order=3), by=Spectral(states=3, history=2))
    with pytest.raises(DataError, match="these have order 2"):
        lg.fit(lg.OperatorAutomaton, NGramCounts.of(text, order=2), by=Spectral(states=3))


def test_clusters_are_a_distribution_and_close_to_the_spectral_one(strings: list[list[str]]) -> None:
    text = Text.of(strings)
    clustered = lg.fit(lg.OperatorAutomaton, text, by=Clustering(states=8))
    assert min(array.min() for array in (clustered.start, clustered.stop, clustered.step)) >= 0.0
    assert clustered.total() == pytest.approx(1.0, rel=1e-9)
    seen = [tuple(string) for string in strings]
    for string in ("a", "d", "ad", "da", "dd"):
        share = seen.count(tuple(string)) / len(seen)
        assert clustered.probability(list(string)) == pytest.approx(share, abs=0.03)
    again = lg.fit(lg.OperatorAutomaton, text, by=Clustering(states=8))
    np.testing.assert_array_equal(clustered.step, again.step)
    one = lg.fit(lg.OperatorAutomaton, text, by=Clustering(states=1))
    ends = len(strings) / sum(len(string) + 1 for string in strings)
    assert one.stop == pytest.approx(ends)
    with pytest.raises(DataError, match="prefixes of a text, not of NGramCounts"):
        lg.fit(lg.OperatorAutomaton, NGramCounts.of(text, order=3), by=Clustering())
    with pytest.raises(UnsupportedPair, match="is an OperatorAutomaton by Spectral"):
        lg.fit(lg.HMM, text, by=Spectral())


def test_unused_symbols_change_nothing_however_many() -> None:
    """Keys of strings of five symbols out of 7,000 do not fit into 64 bits as they are."""
    strings = [list(sentence.words) for sentence in random_hmm(2, seed=4, sparse=False).sample(400, seed=1)]
    few = Text.of(strings)
    names = Alphabet((few.words[0], *(f"unused{i}" for i in range(7000)), *few.words.symbols[1:]))
    many = Text(names, np.where(few.tokens > 0, few.tokens + 7000, 0).astype(np.int32))
    learner = Spectral(states=3, history=5, future=5, power=0.25, ridge=2.0)
    one, other = (lg.fit(lg.OperatorAutomaton, text, by=learner) for text in (few, many))
    for length in (1, 2, 3):
        for string in product("abcd", repeat=length):
            assert one.probability(string) == pytest.approx(other.probability(string), rel=1e-7, abs=1e-12)


def test_counts_with_a_cut_off_keep_their_mass(strings: list[list[str]]) -> None:
    whole, cut = (NGramCounts.of(Text.of(strings), order=3, cutoff=cutoff) for cutoff in (1, 250))
    assert len(cut) < len(whole)
    one, other = (lg.fit(lg.OperatorAutomaton, counts, by=Spectral(states=3)) for counts in (whole, cut))
    assert one.total() == pytest.approx(1.0, abs=0.01)
    assert other.total() == pytest.approx(1.0, abs=0.05)
    for string in ("a", "d", "a d"):
        assert other.probability(string) == pytest.approx(one.probability(string), abs=0.02)


def test_a_basis_of_frequent_strings(strings: list[list[str]]) -> None:
    text = Text.of(strings)
    learner = Spectral(states=3, history=3, future=3, power=0.25, ridge=2.0)
    whole = lg.fit(lg.OperatorAutomaton, text, by=learner)
    every = lg.fit(lg.OperatorAutomaton, text, by=replace(learner, basis=10_000))
    frequent = lg.fit(lg.OperatorAutomaton, text, by=replace(learner, basis=25))
    seen = [tuple(string) for string in strings]
    for string in (("a",), ("d", "a"), ("d", "d", "a")):
        assert every.probability(string) == pytest.approx(whole.probability(string), rel=1e-9)
        assert frequent.probability(string) == pytest.approx(seen.count(string) / len(seen), abs=0.02)
    prefixes = _prefixes(text)
    matrix, begin = _features(prefixes, _histories(prefixes, 3), 25)
    assert matrix.shape[1] == begin[-1] == 25
    counted = Counter(string[i : i + n] for string in seen for n in (1, 2, 3) for i in range(len(string) - n + 1))
    assert sorted(matrix.T @ prefixes.passes)[-1] == pytest.approx(max(counted.values()))


def test_clusters_of_long_strings_do_not_underflow() -> None:
    rng = np.random.default_rng(0)
    strings = [["ab"[int(i)] for i in rng.random(900) < 0.5 + 0.4 * np.sin(np.arange(900))] for _ in range(4)]
    prefixes = _prefixes(Text.of(strings))
    automata = _operators_of(prefixes, SpectralAutomaton(states=2, history=2, future=2, power=0.25, ridge=1.0))
    vectors = prefix_directions(prefixes, prefixes.step[1], automata.start, automata.operators)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-9)
