"""Trees to NLTK and back, and NLTK's parser interface."""

from __future__ import annotations

import pytest

import latentgram as lg
from latentgram.errors import SettingError

nltk = pytest.importorskip("nltk", reason="NLTK is not installed")


def test_trees_go_both_ways() -> None:
    from latentgram.compat.nltk import from_nltk, to_nltk

    Tree = nltk.tree.Tree
    for tree in lg.demo_treebank(20, seed=1):
        there = to_nltk(tree)
        assert from_nltk(there) == tree
        assert there.leaves() == list(tree.words)
        assert Tree.fromstring(str(tree)) == there
    with pytest.raises(SettingError, match="node S"):
        from_nltk(Tree("S", ["word", Tree("A", ["b"])]))


def test_parser() -> None:
    from latentgram.compat.nltk import NLTKParser

    parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(200, seed=1), by=lg.Counting()))
    words = ["the", "doctors", "thanked", "the", "captain", "of", "the", "village", "."]
    wrapped = NLTKParser(parser, trees=3)
    trees = list(wrapped.parse(words))
    assert [tree.leaves() for tree in trees] == [words] * 3
    assert trees[0].prob() >= trees[1].prob() >= trees[2].prob() > 0
    assert trees[0].prob() == pytest.approx(parser.nbest(words, 1)[0].probability)
    [one] = NLTKParser(parser).parse(words, spans=[(3, 5, "NP")])
    assert (["the", "captain"], "NP") in [(sub.leaves(), sub.label()) for sub in one.subtrees()]
    assert next(iter(NLTKParser(parser).parse_sents([words]))) is not None
