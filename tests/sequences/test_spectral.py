"""Spectral automata: exact on exact moments' limit, equal to the prefix way and to a right-branching L-PCFG."""

from itertools import product

import numpy as np
import pytest
from tests.sequences.test_hmm import random_hmm

import latentgram as lg
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.text import Text
from latentgram.errors import DataError, UnsupportedPair
from latentgram.kinds.learners import Clustering, Spectral


@pytest.fixture(scope="module")
def strings() -> list[list[str]]:
    return [list(sentence.words) for sentence in random_hmm(2, seed=4, sparse=False).sample(3000, seed=1)]


def test_trigrams_are_enough(strings: list[list[str]]) -> None:
    text = Text.of(strings)
    by_ngrams = lg.fit(lg.OperatorAutomaton, text, by=Spectral(states=3))
    from latentgram.sequences.spectral import _from_prefixes

    by_prefixes = _from_prefixes(text, Spectral(states=3, history=1, future=1, power=0.0, ridge=0.0))
    scaled = lg.fit(lg.OperatorAutomaton, text, by=Spectral(states=2, power=0.25, ridge=1.0))
    scaled_prefixes = _from_prefixes(text, Spectral(states=2, history=1, future=1, power=0.25, ridge=1.0))
    for length in (1, 2, 3):
        for string in product("abcd", repeat=length):
            assert by_ngrams.probability(string) == pytest.approx(by_prefixes.probability(string), abs=1e-12)
            assert scaled.probability(string) == pytest.approx(scaled_prefixes.probability(string), abs=1e-12)


def right_branching(strings: list[list[str]], states: int):
    """003 figs. 7 and 8 on trees (S x₁ (S x₂ … (S STOP))): inside feature the first word, outside the word before.

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
    with pytest.raises(DataError, match="one symbol only"):
        lg.fit(lg.OperatorAutomaton, NGramCounts.of(text, order=3), by=Spectral(states=3, history=2))
    with pytest.raises(DataError, match="from text or from counts of order 3"):
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
