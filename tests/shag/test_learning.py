"""Learners of head-automata grammars: known truths, and what must hold whatever they learn."""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import latentgram as lg
from latentgram.errors import DataError, SettingError
from latentgram.kinds.learners import EM, Clustering, Counting, Spectral
from latentgram.sequences.automaton import OperatorAutomaton
from latentgram.sequences.kernels.automata import expected_counts
from latentgram.sequences.spectral import spectral_operators
from latentgram.sequences.statistics import SequenceCounts
from latentgram.shag.automata import Automata
from latentgram.shag.em import normalised, pooled, random_automata
from latentgram.shag.statistics import HeadCounts

LEARNERS = [
    Counting(memory="none"),
    Counting(),
    Spectral(states=4),
    EM(states=3, iterations=5),
    EM(states=3, iterations=5, start="spectral"),
    EM(states=3, iterations=5, start="random"),
    Clustering(states=4),
]


@pytest.fixture(scope="module")
def bank():
    return lg.demo_dependencies(300, seed=2)


def random_automaton(rng, n_symbols, n_states):
    """Non-negative, ending after two symbols on average."""
    leaving = rng.dirichlet(np.full(n_symbols * n_states, 0.3), n_states) * rng.uniform(0.5, 0.8, (n_states, 1))
    step = leaving.reshape(n_states, n_symbols, n_states).transpose(1, 2, 0)
    symbols = lg.Alphabet(tuple("abcdefgh"[:n_symbols]))
    return OperatorAutomaton(symbols, rng.dirichlet(np.ones(n_states)), 1.0 - step.sum((0, 1)), step)


def drawn(automaton, size, rng):
    """Many strings at once: all that are still going on take a step together."""
    n_symbols, n_states, _ = automaton.step.shape
    state = rng.choice(n_states, size, p=automaton.start)
    strings = [[] for _ in range(size)]
    going = np.arange(size)
    choices = np.concatenate([automaton.step.transpose(2, 0, 1).reshape(n_states, -1), automaton.stop[:, None]], 1)
    bounds = np.cumsum(choices, axis=1)
    while len(going):
        event = (rng.random((len(going), 1)) > bounds[state[going]]).sum(1)
        goes = event < n_symbols * n_states
        for string, symbol in zip(going[goes], event[goes] // n_states, strict=True):
            strings[string].append(int(symbol))
        state[going[goes]] = event[goes] % n_states
        going = going[goes]
    return strings


def divergence(truth, guess, longest=6):
    """KL between what is known of strings: which one it is up to a length, or that it is longer."""
    total, left, guess_left = 0.0, 1.0, 1.0
    for length in range(longest + 1):
        for string in product(truth.symbols, repeat=length):
            p, q = truth.probability(string), max(guess.probability(string), 1e-9)
            total += p * np.log(p / q)
            left, guess_left = left - p, guess_left - q
    return total + left * np.log(left / guess_left)


def test_spectral_learning_is_exact_on_exact_statistics():
    """Given the true probabilities as counts, Algorithm 1 gives the automaton back."""
    rng = np.random.default_rng(0)
    truth = random_automaton(rng, 2, 2)
    strings = [list(s) for n in range(12) for s in product(range(2), repeat=n)]
    share = np.array([truth.probability([truth.symbols[a] for a in s]) for s in strings])
    offset = np.concatenate([[0], np.cumsum([len(s) for s in strings])])
    flat = np.array([a for s in strings for a in s])
    counts = SequenceCounts.of_flat(np.zeros(len(strings), int), offset, flat, share, n_sources=1, n_symbols=2)
    for history, future in ((1, 1), (2, 3)):
        found = spectral_operators(counts, 2, history=history, future=future, power=0.0, ridge=0.0)
        guess = OperatorAutomaton(truth.symbols, found.start[0] * counts.passes[0], found.stop[0], found.operators)
        for string in strings[:60]:
            names = [truth.symbols[a] for a in string]
            # Cutting the strings at 11 symbols is the only error.
            assert guess.probability(names) == pytest.approx(truth.probability(names), abs=2e-3)


def test_divergence_falls_as_one_over_the_size_of_the_sample():
    rng = np.random.default_rng(3)
    truth = random_automaton(rng, 3, 2)
    strings = drawn(truth, 320_000, rng)
    sizes, errors = (5_000, 40_000, 320_000), []
    for size in sizes:
        counts = SequenceCounts.of([0] * size, strings[:size], n_sources=1, n_symbols=3)
        found = spectral_operators(counts, 2)
        assert len(found.pairs) == 3
        guess = OperatorAutomaton(truth.symbols, found.start[0], found.stop[0], found.operators)
        guess = OperatorAutomaton(truth.symbols, guess.start, guess.stop / guess.total(), guess.step)
        errors.append(divergence(truth, guess))
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope < -0.8, errors
    assert errors[-1] < 1e-4, errors


def test_counting_gives_relative_frequencies(bank):
    """With thousands of words the pseudo-counts hardly show."""
    shag = lg.fit(lg.SHAG, bank, by=Counting(memory="first"))
    first, after = Counter(), Counter()
    for tree in bank:
        for head, tag in enumerate(tree.xpos, 1):
            below = [word for word in range(head + 1, len(tree) + 1) if tree.heads[word - 1] == head]
            if tag == "VBZ" and tree.upos[head - 1] == "VERB":
                names = [f"{tree.upos[word - 1]}|{tree.xpos[word - 1]}" for word in below]
                first[names[0] if names else "STOP"] += 1
                after.update([*names[1:], "STOP"] if names else [])
    automaton = shag["VERB|VBZ", lg.RIGHT]
    assert automaton.states == 2
    n = sum(first.values())
    assert automaton.stop[0] == pytest.approx(first["STOP"] / n, abs=0.5 / n)
    for symbol, count in first.items():
        if symbol != "STOP":
            assert automaton.step[automaton.symbols.index(symbol), 1, 0] == pytest.approx(count / n, abs=0.5 / n)
    assert automaton.stop[1] == pytest.approx(after["STOP"] / after.total(), abs=0.5 / after.total())


@pytest.mark.parametrize("by", LEARNERS, ids=str)
def test_every_automaton_sums_to_one(bank, by):
    shag = lg.fit(lg.SHAG, bank, by=by)
    for head in shag.symbols.alphabet:
        for direction in (lg.LEFT, lg.RIGHT):
            assert shag[head, direction].total() == pytest.approx(1.0, abs=1e-9)
    assert shag.root.sum() == pytest.approx(1.0)
    if shag.nonnegative:
        assert min(shag.start.min(), shag.stop.min(), shag.operators.min()) >= 0


def test_the_likelihood_never_falls_under_em(bank):
    counts = HeadCounts.of(bank, "joined").counts
    pairs, step = counts.step
    automata = random_automata(counts, 3, np.random.default_rng(0))
    bounds = []
    for _ in range(15):
        *expected, bound = expected_counts(
            counts.parent, counts.source, step, counts.stops, automata.start, automata.stop, automata.operators
        )
        start, stop, operators = expected
        bounds.append(bound)
        # Every sequence begins once and ends once, and every modifier is made once.
        assert start.sum() == pytest.approx(counts.stops.sum())
        assert stop.sum() == pytest.approx(counts.stops.sum())
        assert operators.sum() == pytest.approx(counts.passes[counts.n_sources :].sum())
        automata = normalised(Automata(start, stop, pairs, operators), counts.n_symbols)
    assert np.diff(bounds).min() > 0


def test_back_off_pulls_states_to_what_their_source_does(bank):
    """Without it counts stay; with much of it all states of a source make the same symbols and stop alike."""
    counts = HeadCounts.of(bank, "joined").counts
    drawn_counts = random_automata(counts, 3, np.random.default_rng(0))
    same = pooled(drawn_counts, counts.n_symbols, 0.0)
    assert np.array_equal(same.operators, drawn_counts.operators)
    assert np.array_equal(same.stop, drawn_counts.stop)
    pulled = normalised(pooled(drawn_counts, counts.n_symbols, 1e9), counts.n_symbols)
    np.testing.assert_allclose(pulled.stop, np.broadcast_to(pulled.stop[:, :1], pulled.stop.shape), rtol=1e-6)
    made = pulled.operators.sum(1)
    np.testing.assert_allclose(made, np.broadcast_to(made[:, :1], made.shape), rtol=1e-6)


@pytest.mark.parametrize("start", ["clusters", "spectral"])
def test_em_climbs_further_from_the_spectral_solution(bank, start):
    """One round from there explains the trees better than one round from a random start."""
    bounds = {
        begin: lg.fit(lg.SHAG, bank, by=EM(states=4, iterations=2, backoff=0.0, start=begin)).provenance.trace[-1]
        for begin in (start, "random")
    }
    assert bounds[start]["bound"] > bounds["random"]["bound"]


def test_more_hidden_states_can_be_chosen_on_held_out_data(bank):
    dev = lg.demo_dependencies(40, seed=9)
    asked = []

    def score(model):
        asked.append(model.states)
        return -abs(model.states - 2)

    chosen = lg.fit(lg.SHAG, bank, by=Spectral(states=5), dev_score=score)
    assert sorted(asked) == [1, 2, 4, 5]
    assert chosen.states == 2
    assert 50 < lg.Parser(chosen).evaluate(dev).uas <= 100


def test_states_can_be_chosen_by_their_singular_values(bank):
    many = lg.fit(lg.SHAG, bank, by=Spectral(states=6))
    values = many.spectrum[lg.LEFT, many.symbols.find("NN")]
    fewer = lg.fit(lg.SHAG, bank, by=Spectral(states=6, least=float(values[1] + values[2]) / 2))
    assert many["NN", lg.LEFT].states > 2
    assert fewer["NN", lg.LEFT].states == 2


def test_words_can_be_symbols(bank):
    shag = lg.fit(lg.SHAG, bank, by=Counting(symbols="words"))
    assert any("^" in symbol for symbol in shag.symbols.alphabet)


def test_a_memory_that_a_shag_lacks_is_refused(bank):
    with pytest.raises(SettingError, match="none or first"):
        lg.fit(lg.SHAG, bank, by=Counting(memory="kind"))


def test_constituency_trees_are_refused():
    with pytest.raises(DataError, match="dependency treebank"):
        lg.fit(lg.SHAG, lg.demo_treebank(5, seed=0), by=Spectral())


@pytest.mark.parametrize("by", LEARNERS, ids=str)
def test_a_treebank_without_a_single_arc_is_enough(by):
    """Whatever was never seen is still possible."""
    words = lg.Treebank.of([lg.DependencyTree((word,), heads=(0,), xpos=(word,)) for word in "ABA"])
    shag = lg.fit(lg.SHAG, words, by=by)
    parse = lg.Parser(shag).parse([("x", "A"), ("y", "B"), ("z", "C")])
    assert np.isfinite(parse.tree_logprob)
    for model in (lg.LexicalSHAG, lg.ArcDistance):
        shag = shag * lg.fit(model, words, by=Counting())
    assert np.isfinite(lg.Parser(shag).parse([("x", "A"), ("y", "B")]).tree_logprob)


def test_products_are_chosen_by_what_they_are_as_products(bank):
    seen = []

    def score(model):
        seen.append(type(model))
        return float(len(seen))

    chosen = lg.fit(lg.ProductSHAG, bank, by=Spectral(states=2, lexical=0.0), dev_score=score)
    assert set(seen) == {lg.ProductSHAG}
    assert [type(factor) for factor in chosen.factors] == [lg.SHAG, lg.ArcDistance]
    assert chosen.powers == (1.0, 0.5)


@pytest.mark.parametrize("by", [Spectral(states=3), EM(states=2, iterations=2), Clustering(states=2)])
def test_automata_are_made_deterministic_where_asked(bank, by):
    asked = replace(by, deterministic=3)
    made, expected = lg.fit(lg.SHAG, bank, by=asked), lg.fit(lg.SHAG, bank, by=by).determinise(3)
    for name in ("start", "stop", "operators", "pair", "pair_weight", "root"):
        np.testing.assert_array_equal(getattr(made, name), getattr(expected, name))
    product = lg.fit(lg.ProductSHAG, bank, by=asked)
    assert product.deterministic
    parser = lg.Parser(product)
    best, *others = parser.nbest(bank[0].sentence, 5)
    assert lg.Parser(product, lg.Viterbi()).parse(bank[0].sentence).tree.heads == best.tree.heads
    assert all(other.tree_logprob <= best.tree_logprob for other in others)


def test_deterministic_automata_are_chosen_as_what_they_become(bank):
    seen = []

    def score(model):
        seen.append(model.deterministic)
        return float(len(seen))

    lg.fit(lg.SHAG, bank, by=Spectral(states=3, deterministic=3), dev_score=score)
    assert seen == [True, True, True]
