"""Prefixes of grammars with hidden states: p by enumeration, and how prefixes and entropies add up."""

from __future__ import annotations

import dataclasses
import itertools
import pickle

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.brackets import parse_forest
from latentgram.errors import SettingError
from latentgram.lpcfg.model import Ensemble, rule_layout
from latentgram.lpcfg.projection import discounted, unseen_rules
from latentgram.lpcfg.surprisal import Surprisal
from oracles.latent_grammar import WORDS, random_lpcfg, tree_probabilities
from oracles.latent_truth import rotated

SENTENCES = [["dog"], ["the", "dog"], ["barks", "barks"], ["the", "dog", "barks"], ["dog", "the", "the"]]


def distribution(seed: int) -> lg.LPCFG:
    """A random grammar whose rules, seen and unseen, sum to one; it knows all words."""
    grammar = discounted(random_lpcfg(seed))
    unseen = grammar.unseen * (np.arange(len(grammar.states)) < len(grammar.interminals))
    assert unseen.max() > 0.1
    return dataclasses.replace(grammar, unseen=unseen)


def explicit(grammar: lg.LPCFG, power: float = 1.0) -> lg.LPCFG:
    """The grammar with its unseen rules written out; all numbers to some power."""
    unseen, inner = unseen_rules(grammar), len(grammar.interminals)
    seen = {tuple(rule): grammar.tensor(number) for number, rule in enumerate(grammar.rules.tolist())}
    every = list(itertools.product(range(inner), *[range(len(grammar.states))] * 2))

    def tensor(a: int, b: int, c: int) -> np.ndarray:
        outside = np.einsum(
            "h,l,r->hlr",
            grammar.of_symbol(grammar.mean_inside, a),
            grammar.of_symbol(grammar.mean_outside, b),
            grammar.of_symbol(grammar.mean_outside, c),
        )
        return unseen.weight * unseen.left[b, a] * unseen.right[c, a] * outside

    tensors = [seen[rule] if rule in seen else tensor(*rule) for rule in every]
    rules = np.array(every, np.int32)
    return dataclasses.replace(
        grammar,
        rules=rules,
        rule_offset=rule_layout(rules, grammar.states),
        rule_tensor=np.concatenate([each.ravel() for each in tensors]) ** power,
        lexicon_vector=grammar.lexicon_vector**power,
        root_vector=grammar.root_vector**power,
    )


def probability(grammar: lg.LPCFG, words: list[str]) -> float:
    return sum(tree_probabilities(grammar, words).values())


@pytest.mark.parametrize("seed", [0, 5])
def test_prefixes_add_up_to_sentences(seed: int) -> None:
    """p is that of enumeration, P(prefix …) = p(prefix) + Σ_w P(prefix w …), and P of nothing is one."""
    grammar = distribution(seed)
    assert grammar.states.max() > 1
    surprisal, written_out = Surprisal.of(grammar, beam=0.0), explicit(grammar)

    def prefix(words: list[str]) -> float:
        return float(np.exp(surprisal.prefix_logprobs(words)[-1]))

    assert sum(prefix([word]) for word in WORDS) == pytest.approx(1.0, abs=1e-12)
    for words in SENTENCES:
        reading = surprisal.read(words)
        p = probability(written_out, words)
        assert np.exp(reading.logprob) == pytest.approx(p, rel=1e-9)
        longer = sum(prefix([*words, word]) for word in WORDS)
        assert np.exp(reading.prefix[-1]) == pytest.approx(p + longer, rel=1e-9)
        bits = reading.surprisal.sum() + reading.ending
        assert bits == pytest.approx(-reading.logprob / np.log(2), rel=1e-9)


def test_entropies_obey_the_chain_rule() -> None:
    """H(words) = Σ_o p(o) (−log p(o) + H(words, o)) over what comes next, a word or the end; where the sentence
    ends, H is that of its derivations with their states, by the slope of Σ p(D)^θ from enumeration."""
    grammar, step = distribution(5), 1e-4
    surprisal = Surprisal.of(grammar, beam=0.0)
    for words in ([], *SENTENCES):
        readings = [surprisal.read([*words, word]) for word in WORDS]
        before, entropy = (0.0, *readings[0].prefix)[len(words)], readings[0].entropy[len(words)]
        ways = [(reading.prefix[-1] - before, reading.entropy[-1]) for reading in readings]
        if len(words) > 1:
            higher, lower = (np.log(probability(explicit(grammar, 1 + by), words)) for by in (step, -step))
            whole = surprisal.logprob(words)
            ways.append((whole - before, whole - (higher - lower) / (2 * step)))
        assert entropy == pytest.approx(sum(np.exp(log) * (left - log) for log, left in ways), rel=1e-6)


def test_entropy_of_finitely_many_trees() -> None:
    """Four trees of the same probability: two bits before the first word, and what each word leaves of them."""
    trees = "(S (a x) (b y)) (S (a x) (b z)) (S (c x) (b y)) (S (c x) (b z))"
    grammar = lg.fit(lg.LPCFG, lg.Treebank.of(parse_forest(trees)), by=lg.Counting(rare=0))
    grammar = dataclasses.replace(grammar, unseen=np.zeros_like(grammar.unseen), pull=0.0)
    reading = Surprisal.of(grammar).read("x y")
    np.testing.assert_allclose(reading.entropy / np.log(2), [2.0, 2.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(reading.reduction, [0.0, 1.0], atol=1e-12)


def test_coordinates_change_nothing() -> None:
    """A grammar in rotated coordinates, as spectral ones are, has the prefixes of the grammar itself."""
    grammar = distribution(0)
    random = np.random.default_rng(1)
    turned = rotated(grammar, [random.normal(size=(m, m)) for m in grammar.states])
    surprisal, other = Surprisal.of(grammar, beam=0.0), Surprisal.of(turned, beam=0.0)
    assert other.signed
    for words in SENTENCES:
        one, two = surprisal.read(words), other.read(words)
        np.testing.assert_allclose(one.prefix, two.prefix, atol=1e-8)
        assert one.logprob == pytest.approx(two.logprob, abs=1e-8)
        assert np.isnan(two.entropy).all()


def test_a_beam_gives_lower_bounds() -> None:
    trees = lg.demo_treebank(60, seed=0)
    grammar = lg.fit(lg.LPCFG, trees, by=lg.Clustering(states=3))
    exact, close, wide = (Surprisal.of(grammar, beam=beam) for beam in (0.0, 1e-4, 0.05))
    assert exact.exact
    assert not close.exact
    lost = 0.0
    for sentence in lg.demo_treebank(8, seed=4).sentences():
        whole, much, little = (each.read(sentence.without_tags()) for each in (exact, close, wide))
        assert (much.prefix <= whole.prefix + 1e-12).all()
        assert (little.prefix <= whole.prefix + 1e-12).all()
        assert much.logprob <= whole.logprob + 1e-12
        assert much.logprob == pytest.approx(whole.logprob, abs=0.1)
        lost += whole.prefix[-1] - little.prefix[-1]
    assert lost > 0.01


def test_readings_of_several_sentences_and_of_several_grammars() -> None:
    trees = lg.demo_treebank(40, seed=0)
    one, two = (lg.fit(lg.LPCFG, trees, by=lg.Clustering(states=2, seed=seed)) for seed in (1, 2))
    sentences = [sentence.without_tags() for sentence in lg.demo_treebank(20, seed=3).sentences()]
    both = Surprisal.of(Ensemble((one, two)), beam=0.0)
    alone = [list(Surprisal.of(grammar, beam=0.0).read_many(sentences)) for grammar in (one, two)]
    exact = lg.Parser(Ensemble((one, two)), pruning=lg.Pruning.none())
    for sentence, reading, first, second in zip(sentences, both.read_many(sentences), *alone, strict=True):
        np.testing.assert_allclose(np.exp(reading.prefix), (np.exp(first.prefix) + np.exp(second.prefix)) / 2)
        if len(sentence) < 8:
            assert reading.logprob == pytest.approx(exact.parse(sentence).logprob, abs=1e-9)
    worker = pickle.loads(pickle.dumps(both))
    np.testing.assert_array_equal(worker(sentences[0]), both(sentences[0]))
    (reading,) = Surprisal.of(one).read_many(["the qwertz ."])
    assert reading.unknown.tolist() == [False, True, False]


def test_trees_that_are_not_finite_have_no_entropy() -> None:
    """S → S S with a probability of one half or more."""
    trees = "(S (S (S (a x) (a x)) (S (a x) (a x))) (S (S (a x) (a x)) (S (a x) (a x))))"
    grammar = lg.fit(lg.LPCFG, lg.Treebank.of(parse_forest(trees)), by=lg.Counting(rare=0))
    grammar = dataclasses.replace(grammar, rule_tensor=np.array([0.7, 0.3]))
    assert np.isnan(Surprisal.of(grammar).read("x x").entropy).all()
    assert np.isfinite(Surprisal.of(grammar)("x x")).all()


def test_settings_are_checked() -> None:
    with pytest.raises(SettingError, match="beam"):
        Surprisal.of(distribution(0), beam=1.0)
