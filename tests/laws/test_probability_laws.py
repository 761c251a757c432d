"""Laws of probability for grammars of phrases, whoever learned them, on small and on odd treebanks."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.brackets import parse_forest
from latentgram.data.rarewords import is_symbol
from latentgram.kinds.settings import fields_of
from latentgram.lpcfg.mass import tree_mass
from latentgram.lpcfg.surprisal import Surprisal
from latentgram.lpcfg.update import update
from laws.cases import CASES, Case, fitted

GRAMMARS = [case for case in CASES if case.model == "LPCFG"]
ODD = {
    "one tree": "(S (NP (D the) (N dog)) (V barks))",
    "one label": "(X (X (X a) (X b)) (X (X c) (X a)))",
    "unary chains": "(TOP (ROOT (S (NP (N (W cows))) (VP (V go))))) (TOP (ROOT (S (NP (N cats)) (VP (V sleep)))))",
    "one word": "(S (A a)) (S (A b)) (S (B a))",
    "tags alone": "(A a) (B b)",
    "two words": "(S (A a) (B b)) (S (B b) (A a)) (S (A a) (A a))",
}


def learned(case: Case, trees: str) -> lg.LPCFG:
    every_word = {"rare": 0} if "rare" in fields_of(type(case.by)) else {}
    return lg.fit(lg.LPCFG, lg.Treebank.of(parse_forest(trees)), by=dataclasses.replace(case.by, **every_word))


@pytest.mark.parametrize("case", GRAMMARS, ids=str)
def test_trees_have_a_mass_of_at_most_one(case: Case) -> None:
    """By exact recursion; signed grammars do not claim it, and say so."""
    grammar = fitted(case)
    assert grammar.is_distribution == (case.learner != "Spectral")
    if grammar.is_distribution:
        mass = np.cumsum(tree_mass(grammar, 100))
        assert 0.9 < mass[-1] <= 1 + 1e-9
        assert (np.diff(mass) >= 0).all()


@pytest.mark.parametrize("trees", ODD.values(), ids=ODD)
@pytest.mark.parametrize("case", GRAMMARS, ids=str)
def test_odd_treebanks_have_a_mass_of_at_most_one(case: Case, trees: str) -> None:
    """And any sentence gets a tree, if only one that is made up."""
    grammar = learned(case, trees)
    if grammar.is_distribution:
        assert tree_mass(grammar, 100).sum() <= 1 + 1e-9
    for words in (("a",), ("a", "b"), ("never", "seen", "words"), ("a",) * 30):
        parse = lg.Parser(grammar).parse(list(words))
        assert parse.tree.words == words
        assert 0.0 <= np.min(parse.confidence) <= np.max(parse.confidence) <= 1.0


@pytest.mark.parametrize("case", GRAMMARS, ids=str)
def test_more_trees_leave_a_distribution(case: Case) -> None:
    grammar = fitted(case)
    grown = update(grammar, parse_forest("(TOP (S (NP (NEW thing)) (VP (VBZ is) (NP (NEW stuff)))))"))
    assert isinstance(grown, lg.LPCFG)
    if grammar.is_distribution:
        assert grown.is_distribution
        assert tree_mass(grown, 60).sum() <= 1 + 1e-9


def test_seen_rules_alone_and_unseen_on_top_differ_by_what_is_kept() -> None:
    """A grammar without the discount has more mass than one: the law can fail."""
    grammar = fitted(Case("LPCFG", "Clustering"))
    seen = 1.0 - grammar.unseen[grammar.rules[:, 0]]
    undiscounted = dataclasses.replace(
        grammar,
        rule_tensor=grammar.rule_tensor / np.repeat(seen, np.diff(grammar.rule_offset)),
        unseen=np.zeros(0),
    )
    assert not undiscounted.is_distribution
    assert tree_mass(undiscounted, 40).sum() > 1


@pytest.mark.parametrize("case", GRAMMARS, ids=str)
def test_one_value_of_p_of_a_sentence(case: Case) -> None:
    """The exact parser and the prefixes at the end; and no prefix is less probable than a longer one."""
    grammar = fitted(case)
    parser, surprisal = lg.Parser(grammar, pruning=lg.Pruning.none()), Surprisal.of(grammar, 0.0, beam=0.0)
    short = [sentence for sentence in case.data.sentences() if len(sentence) <= 9][:4]
    assert len(short) > 2
    for tagged in short:
        for sentence in (tagged, tagged.without_tags(), lg.Sentence(("never-seen", *tagged.words[1:]))):
            reading, parse = surprisal.read(sentence), parser.parse(sentence)
            assert parse.logprob == pytest.approx(reading.logprob, abs=1e-9)
            bits = reading.surprisal.sum() + reading.ending
            assert bits == pytest.approx(-reading.logprob / np.log(2), abs=1e-9)
            if grammar.is_distribution:
                falling = np.array([0.0, *reading.prefix, reading.logprob])
                assert (falling[1:] <= falling[:-1] + 1e-9).all()


@pytest.mark.parametrize("trees", ODD.values(), ids=ODD)
@pytest.mark.parametrize("case", GRAMMARS, ids=str)
def test_one_value_of_p_in_odd_treebanks(case: Case, trees: str) -> None:
    """And first words, those never seen being one, have a probability of one together."""
    grammar = learned(case, trees)
    parser, surprisal = lg.Parser(grammar, pruning=lg.Pruning.none()), Surprisal.of(grammar, 0.0, beam=0.0)
    known = [word for word in grammar.words if not is_symbol(word)]
    some = known[:2] or ["a", "b"]
    for words in (some[:1], some, some * 2, ["never-seen"], ["never", "seen"]):
        reading = surprisal.read(words)
        assert parser.parse(words).logprob == pytest.approx(reading.logprob, abs=1e-9)
    if grammar.is_distribution:
        first = [surprisal.prefix_logprobs([word])[0] for word in (*known, "never-seen")]
        assert np.exp(first).sum() <= 1 + 1e-9


@pytest.mark.parametrize("case", GRAMMARS, ids=str)
def test_five_hundred_words_are_read(case: Case) -> None:
    grammar = fitted(case)
    words = [word for sentence in case.data.sentences() for word in sentence.words][:500]
    reading = Surprisal.of(grammar, beam=1e-2, entropies=False).read(words)
    assert np.isfinite(reading.surprisal).all()
    if grammar.is_distribution:
        assert (reading.surprisal >= -1e-9).all()
        assert reading.logprob <= reading.prefix[-1] + 1e-9


@pytest.mark.parametrize("case", GRAMMARS, ids=str)
def test_names_of_words_mean_nothing(case: Case) -> None:
    """Where no form is looked at; in another order too, where nothing is drawn at random."""
    trees = "(S (A x) (B y)) (S (B y) (A z)) (S (C (A x) (B z)) (B y)) (S (A z) (C (A x) (B y)))"
    drawn = case.learner in ("EM", "Clustering")
    renamed = {"x": "k", "y": "m", "z": "q"} if drawn else {"x": "q", "y": "m", "z": "k"}
    other = "".join(renamed.get(letter, letter) for letter in trees)
    exact = lg.Pruning.none()
    one, two = (lg.Parser(learned(case, text), pruning=exact) for text in (trees, other))
    for words in ("x y", "y z", "x z y", "z x y"):
        named = [renamed[word] for word in words.split()]
        assert one.parse(words).logprob == pytest.approx(two.parse(named).logprob, abs=1e-9)


def test_the_likelihood_rises_under_em() -> None:
    case = Case("LPCFG", "EM")
    learner = dataclasses.replace(case.by, states=2, iterations=8, backoff=0.0, pull=0.0)
    trace = lg.fit(lg.LPCFG, case.data, by=learner).provenance.trace
    values = [step["bound"] for step in trace]
    assert len(values) > 4
    assert (np.diff(values) >= -1e-6).all()
    assert values[-1] > values[0]
