"""A parser with its own tagger and tokeniser: from raw text to CoNLL-U, in Python and by commands."""

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.conllu import parse_conllu
from latentgram.errors import SettingError
from latentgram.parser.answers import render
from latentgram.parser.pipeline import fit_parser


@pytest.fixture(scope="module")
def parser() -> lg.Parser:
    trees = lg.demo_dependencies(200, seed=0)
    return fit_parser(lg.SHAG, trees, by=lg.Counting(), tagger=lg.Gradient(passes=3))


def test_raw_text_becomes_a_tree_that_keeps_the_text(parser: lg.Parser) -> None:
    (sentence,) = parser.sentences_of("The dog sleeps.")
    parse = parser.parse(sentence)
    assert parse.sentence.tags is not None
    assert np.isfinite(parse.tag_confidence).all()
    (tree,) = parse_conllu(render(parse, "conllu", probabilities=True))
    assert "# text = The dog sleeps." in tree.comments
    assert tree.misc[2].startswith("SpaceAfter=No|HeadProb=")
    assert "TagProb=" in tree.misc[0]


def test_given_tags_are_kept_and_own_tags_are_the_default_of_a_test(parser: lg.Parser) -> None:
    tree = lg.demo_dependencies(5, seed=3)[0]
    assert parser.parse(tree.sentence).sentence == tree.sentence
    assert np.isnan(parser.parse(tree.sentence).tag_confidence).all()
    assert parser.question(tree, gold_tags=True) == tree.sentence
    assert parser.question(tree, gold_tags=False).tags is None
    fresh = lg.demo_dependencies(30, seed=4)
    own, gold = (parser.evaluate(fresh, gold_tags=given) for given in (False, True))
    assert own.uas >= gold.uas - 10


def test_lists_and_draws_are_tagged_too(parser: lg.Parser) -> None:
    assert parser.nbest("the dog sleeps .", 2)[0].sentence.tags is not None
    assert parser.sample("the dog sleeps .", 1)[0].sentence.tags is not None


def test_jackknifed_tags_are_those_of_other_parts() -> None:
    trees = lg.demo_dependencies(60, seed=5)
    found = fit_parser(lg.SHAG, trees, by=lg.Counting(), tagger=lg.Gradient(passes=2), jackknife=2)
    assert found.parse("the dog sleeps .").tree.heads
    with pytest.raises(SettingError, match="at least 2"):
        fit_parser(lg.SHAG, trees, by=lg.Counting(), tagger=lg.Gradient(), jackknife=1)


def test_all_of_it_is_stored(parser: lg.Parser, tmp_path) -> None:
    lg.save(parser, tmp_path / "parser.lg")
    stored = lg.load(tmp_path / "parser.lg")
    assert stored.parse("the dog sleeps .").tree == parser.parse("the dog sleeps .").tree
    assert stored.tokeniser == parser.tokeniser
