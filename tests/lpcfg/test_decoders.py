"""Minimum risk over brackets and what is said about a parse, against all trees of small sentences."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.brackets import parse_forest
from latentgram.lpcfg.parse.backend import PhraseBackend
from latentgram.lpcfg.parse.cascade import Cascade

SENTENCES = ["a and a", "a and a and a a", "a a and a a and"]


@pytest.fixture(scope="module")
def grammar() -> lg.LPCFG:
    """Chains, an intermediate symbol and much ambiguity."""
    trees = """(TOP (N (N (N (n a) (c and)) (N (n a) (n a))))) (TOP (N (n a) (N (c and) (M (n a)))))
               (TOP (M (n a) (c and) (n a))) (TOP (M (N (n a) (n a)) (M (c and) (n a)) (N (n a))))"""
    return lg.fit(lg.LPCFG, lg.Treebank.of(parse_forest(trees)), by=lg.Counting(rare=0))


def parser(grammar: lg.LPCFG, decoder: object = None) -> lg.Parser:
    """A parser that leaves nothing out, however improbable."""
    made = lg.Parser(grammar, decoder)
    assert isinstance(made.backend, PhraseBackend)
    made.backend.cascade = Cascade((grammar,), lg.Pruning.none())
    return made


def brackets(tree: lg.Tree, labelled: bool) -> Counter:
    """The phrases of a tree without its root, chains of one label counted as often as they are there."""
    inner = [span for span, node in zip(tree.spans(), tree.nodes(), strict=True) if node.word is None][1:]
    return Counter(inner) if labelled else Counter({span[1:] for span in inner})


@pytest.mark.parametrize("sentence", SENTENCES)
def test_posteriors_entropy_and_expectations(grammar: lg.LPCFG, sentence: str) -> None:
    parses = parser(grammar).nbest(sentence, 5000)
    probability = np.array([parse.probability for parse in parses])
    assert len(parses) < 5000
    assert probability.sum() == pytest.approx(1)
    assert parses[0].entropy == pytest.approx(-(probability * np.log(probability)).sum(), abs=1e-9)
    for parse in parses[:3]:
        times: Counter = Counter()
        for span, said in zip(parse.tree.spans(), parse.confidence, strict=True):
            times[span] += 1
            there = [list(other.tree.spans()).count(span) >= times[span] for other in parses]
            assert said == pytest.approx(probability @ there)
        mine = brackets(parse.tree, True)
        right = sum(
            p * (mine & brackets(other.tree, True)).total() for p, other in zip(probability, parses, strict=True)
        )
        number = sum(p * brackets(other.tree, True).total() for p, other in zip(probability, parses, strict=True))
        assert parse.expected == pytest.approx(2 * right / (mine.total() + number))


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("gain", ["recall", "f1"])
def test_least_risk(grammar: lg.LPCFG, sentence: str, labelled: bool, gain: str) -> None:
    parses = parser(grammar).nbest(sentence, 5000)
    probability = [parse.probability for parse in parses]
    there = [brackets(parse.tree, labelled) for parse in parses]
    number = sum(p * each.total() for p, each in zip(probability, there, strict=True))

    def merit(tree: lg.Tree) -> float:
        mine = brackets(tree, labelled)
        right = sum(p * (mine & each).total() for p, each in zip(probability, there, strict=True))
        return right if gain == "recall" else 2 * right / (mine.total() + number)

    found = parser(grammar, lg.Brackets(gain, labelled)).parse(sentence).tree
    assert merit(found) == pytest.approx(max(merit(parse.tree) for parse in parses))


def test_score_of_a_tree_of_a_latent_grammar() -> None:
    """The weights of all trees sum to that of the sentence, and a foreign tree has none."""
    bank = lg.demo_treebank(60, seed=2)
    latent = lg.Parser(lg.fit(lg.LPCFG, bank, by=lg.EM(states=2, iterations=2)))
    gold = bank[0]
    scored = latent.score(gold)
    assert scored.tree_logprob <= scored.logprob + 1e-5
    assert 0 <= scored.probability <= 1
    assert len(scored.confidence) == len(list(gold.nodes()))
    foreign = latent.score(lg.parse_tree("(TOP (ODD (NN dog) (STRANGE cat)))"))
    assert foreign.tree_logprob == -np.inf
    assert foreign.probability == 0


def test_a_second_node_of_a_label_is_right_only_where_there_are_two() -> None:
    """A chain N over N is in one tree of ten: it must not be taken for twice as right as a single N."""
    trees = "(TOP (N (n a) (n a))) " * 9 + "(TOP (N (N (n a) (n a))))"
    grammar = lg.fit(lg.LPCFG, lg.Treebank.of(parse_forest(trees)), by=lg.Counting(rare=0))
    found = parser(grammar, lg.Brackets()).parse("a a")
    assert str(found.tree) == "(TOP (N (n a) (n a)))"
    double = parser(grammar).score(lg.parse_tree("(TOP (N (N (n a) (n a))))"))
    assert double.confidence[1:3] == pytest.approx([1.0, 0.1])
