"""A counted PCFG behind `Parser`: probabilities that agree with each other, and no sentence lost."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import latentgram as lg
from latentgram.errors import DataError, SettingError, UnsupportedPair
from oracles.equality import same

SENTENCE = "the dog sees the cat"


def tree(text: str) -> lg.Tree:
    from latentgram.data.brackets import parse_forest

    return parse_forest(text)[0]


@pytest.fixture(scope="module")
def bank() -> lg.Treebank:
    return lg.demo_treebank(300, seed=1)


@pytest.fixture(scope="module")
def parser(bank: lg.Treebank) -> lg.Parser:
    return lg.Parser(lg.fit(lg.LPCFG, bank, by=lg.Counting()))


@pytest.fixture(scope="module", params=[100.0, 0.0], ids=["pulled words", "words alone"])
def ambiguous(request: pytest.FixtureRequest) -> lg.Parser:
    """A grammar of coordinations: a sentence of n conjuncts has as many trees as there are binary ones."""
    trees = [tree("(TOP (N (N (n a) (c and)) (N (n a) (n a))))"), tree("(TOP (N (n a) (N (c and) (n a))))")]
    return lg.Parser(lg.fit(lg.LPCFG, lg.Treebank.of(trees), by=lg.Counting(rare=0, pull=request.param)))


def test_every_sentence_keeps_its_words(parser: lg.Parser, bank: lg.Treebank) -> None:
    questions = [sentence.words for sentence in bank.sentences()]
    parses = list(parser.parse_many(questions))
    assert [parse.tree.words for parse in parses] == questions
    assert {parse.tree.label for parse in parses} == {bank[0].label}
    assert not any(parse.fallback for parse in parses)
    for parse in parses:
        nodes = list(parse.tree.nodes())
        assert len(parse.confidence) == len(nodes)
        assert len(parse.tag_confidence) == len(parse.sentence)
        assert (parse.confidence >= 0).all()
        assert (parse.confidence <= 1).all()
        assert parse.tree_logprob <= parse.logprob + 1e-9


def test_given_tags_come_back(parser: lg.Parser, bank: lg.Treebank) -> None:
    score = parser.evaluate(bank, gold_tags=True)
    assert score.accuracy == 100
    assert score.sentences == len(bank)
    assert score.no_parse == 0
    assert score.f1 > 70


@pytest.mark.parametrize("sentence", ["a and a", "a and a and a", "a a and a a and", "a"])
def test_all_trees_together_are_the_sentence(ambiguous: lg.Parser, sentence: str) -> None:
    parses = ambiguous.nbest(sentence, 5000)
    assert len(parses) < 5000
    scores = [parse.tree_logprob for parse in parses]
    assert scores == sorted(scores, reverse=True)
    assert np.logaddexp.reduce(scores) == pytest.approx(parses[0].logprob, abs=1e-9)
    assert len({str(parse.tree) for parse in parses}) == len(parses)
    best = lg.Parser(ambiguous.model, lg.Viterbi()).parse(sentence)
    assert best.tree_logprob == pytest.approx(scores[0], abs=1e-12)
    for decoder in (lg.Goodman(), lg.MaxRule()):
        assert lg.Parser(ambiguous.model, decoder).parse(sentence).tree_logprob <= scores[0] + 1e-12


def test_node_posteriors_are_sums_over_trees(ambiguous: lg.Parser) -> None:
    sentence = "a and a and a a"
    parses = ambiguous.nbest(sentence, 5000)
    posterior: Counter[tuple[str, int, int]] = Counter()
    for parse in parses:
        for span in set(parse.tree.spans()):
            posterior[span] += np.exp(parse.tree_logprob - parse.logprob)
    for parse in parses[:5]:
        expected = [posterior[span] for span in parse.tree.spans()]
        np.testing.assert_allclose(parse.confidence, expected, atol=1e-4)


def test_samples_follow_the_posterior(ambiguous: lg.Parser) -> None:
    sentence = "a and a and a"
    draws = ambiguous.sample(sentence, 4000, seed=3)
    seen = Counter(str(parse.tree) for parse in draws)
    for parse in ambiguous.nbest(sentence, 100):
        probability = np.exp(parse.tree_logprob - parse.logprob)
        assert abs(seen[str(parse.tree)] / 4000 - probability) < 4 * np.sqrt(probability / 4000)
    again = ambiguous.sample(sentence, 5, seed=3)
    assert [str(parse.tree) for parse in again] == [str(parse.tree) for parse in draws[:5]]


def test_score_of_a_tree(parser: lg.Parser, bank: lg.Treebank) -> None:
    gold = bank[0]
    parse = parser.parse(list(zip(gold.words, gold.tags, strict=True)))
    scored = parser.score(parse.tree)
    assert scored.logprob == pytest.approx(parse.logprob)
    assert scored.tree_logprob == pytest.approx(parse.tree_logprob)
    np.testing.assert_allclose(scored.confidence, parse.confidence)
    foreign = parser.score(tree("(TOP (ODD (NN dog) (STRANGE cat)))"))
    assert foreign.tree_logprob == -np.inf
    assert str(foreign.tree) == "(TOP (ODD (NN dog) (STRANGE cat)))"
    assert foreign.confidence[1] == foreign.confidence[3] == 0


def test_score_where_a_label_stands_over_words_and_nodes() -> None:
    trees = [tree("(TOP (N (N a) (M b)))"), tree("(TOP (M (N a) (N (M b) (M b))))")]
    parser = lg.Parser(lg.fit(lg.LPCFG, lg.Treebank.of(trees), by=lg.Counting(rare=0)))
    assert all(np.isfinite(parser.score(each).tree_logprob) for each in trees)
    assert np.isfinite(parser.score(tree("(TOP (M (N a) (N (N a) (M b))))")).tree_logprob)


@pytest.mark.parametrize("decoder", [None, lg.Viterbi(), lg.MaxRule()])
def test_without_a_parse_there_is_a_tree(decoder: object) -> None:
    trees = [tree("(TOP (S (A a) (B b)))"), tree("(TOP (S (A a) (S (A a) (B b))))")]
    parser = lg.Parser(lg.fit(lg.LPCFG, lg.Treebank.of(trees), by=lg.Counting(rare=0)), decoder)
    given = [("b", "B"), ("a", "A"), ("b", "B")]
    parse = parser.parse(given)
    assert parse.fallback
    assert parse.logprob == parse.tree_logprob == -np.inf
    assert str(parse.tree) == "(TOP (S (B b) (S (A a) (B b))))"
    assert parser.parse(given[1:]).fallback is False
    assert [each.fallback for each in (*parser.nbest(given, 3), *parser.sample(given, 2))] == [True] * 3
    gold = lg.Treebank.of([tree("(TOP (S (B b) (S (A a) (B b))))"), trees[0]])
    score = parser.evaluate(gold, gold_tags=True)
    assert (score.sentences, score.no_parse) == (2, 1)


def test_words_and_tags_never_seen(parser: lg.Parser) -> None:
    for sentence in ("Zyx", "πρόβλημα 東京 dog", "( ) [ ] {", "the the the of of"):
        assert parser.parse(sentence).tree.words == tuple(sentence.split())
    assert parser.parse([("dogs", "NO-SUCH-TAG"), ("sleep", "NEITHER")]).tree.words == ("dogs", "sleep")


def test_long_sentences(parser: lg.Parser, bank: lg.Treebank) -> None:
    words = [word for sentence in bank.sentences() for word in sentence.words][:250]
    parse = parser.parse(words)
    assert parse.tree.words == tuple(words)
    assert np.isfinite(parse.confidence).all()


def test_what_cannot_be_parsed_is_said(parser: lg.Parser) -> None:
    with pytest.raises(DataError):
        parser.parse("")
    with pytest.raises(SettingError):
        parser.nbest(SENTENCE, 0)
    with pytest.raises(UnsupportedPair):
        lg.Parser("a model")
    with pytest.raises(DataError):
        lg.fit(lg.LPCFG, lg.Treebank.of(parser.parse(SENTENCE).tree for _ in range(0)), by=lg.Counting())


def test_what_cannot_be_parsed_is_refused_in_words(parser: lg.Parser, bank: lg.Treebank) -> None:
    with pytest.raises(SettingError, match="MBR is for dependency trees"):
        lg.Parser(parser.model, decoder=lg.MBR()).parse(SENTENCE)
    with pytest.raises(DataError, match="word 2 of the sentence is empty"):
        parser.parse(["the", "", "dog"])


def test_workers_do_not_change_anything(parser: lg.Parser, bank: lg.Treebank) -> None:
    alone = parser.model
    shared = lg.fit(lg.LPCFG, bank, by=lg.Counting(), n_jobs=2)
    assert same(*(dataclasses.replace(each, provenance=lg.Counting()) for each in (alone, shared)))
    questions = [sentence.words for sentence in bank.sentences()[:100]]
    one, two = (list(parser.parse_many(questions, n_jobs=n)) for n in (1, 2))
    assert all(map(same, one, two))


@pytest.mark.corpus
def test_bar_on_wsj_sample() -> None:
    """F1 with gold tags on dev, all sentences parsed, the paper's simple binarisation."""
    if "LATENTGRAM_DATA" not in os.environ:
        pytest.skip("LATENTGRAM_DATA does not point to the corpora")
    folder = Path(os.environ["LATENTGRAM_DATA"]) / "constituency" / "wsj-sample"
    grammar = lg.fit(lg.LPCFG, lg.Treebank.read(folder / "train.mrg"), by=lg.Counting())
    dev = lg.Treebank.read(folder / "dev.mrg")
    score = lg.Parser(grammar).evaluate(dev, gold_tags=True)
    assert score.sentences == len(dev)
    assert score.errors == score.skipped == 0
    assert score.f1 >= 67
