"""Trees to NLTK and back, and NLTK's parser interface."""

from __future__ import annotations

import pytest

import latentgram as lg
from latentgram.errors import SettingError
from latentgram.parser.pipeline import fit_parser

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


@pytest.mark.parametrize("trees", [1, 3])
def test_what_nltk_builds_on_its_interface(trees: int) -> None:
    """`parse_one` is None and `parse_all` empty where there is no tree, and lists of sentences stay in order."""
    from latentgram.compat.nltk import NLTKParser

    parser = NLTKParser(lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(100, seed=1), by=lg.Counting())), trees)
    words = ["the", "teacher", "sleeps", "."]
    assert isinstance(parser, nltk.parse.ParserI)
    best = parser.parse_one(words)
    assert best.leaves() == words
    impossible = lg.Constraints(forbidden_spans=[(0, 4, best.label())])
    assert len(parser.parse_all(words)) <= trees
    assert parser.parse_one(words, impossible) is None
    assert parser.parse_all(words, impossible) == []
    assert parser.parse_one([]) is None
    both = [next(each).leaves() for each in parser.parse_sents([words, words[2:]])]
    assert both == [words, words[2:]]


def test_dependencies_are_graphs_that_nltk_evaluates() -> None:
    from latentgram.compat.nltk import NLTKParser, from_nltk, to_nltk

    bank = lg.demo_dependencies(60, seed=2)
    graphs = [to_nltk(tree) for tree in bank]
    for tree, graph in zip(bank, graphs, strict=True):
        back = from_nltk(graph)
        assert (back.words, back.heads, back.deprels) == (tree.words, tree.heads, tree.deprels)
        assert (back.upos, back.xpos) == (tree.upos, tree.xpos)
        assert not graph.contains_cycle()
    parser = fit_parser(lg.ArcFactored, bank[:40], by=lg.MIRA(passes=1), tagger=lg.Gradient(passes=1))
    sentences = bank[40:].sentences()
    parsed = [NLTKParser(parser).parse_one(sentence.words) for sentence in sentences]
    assert [from_nltk(graph).heads for graph in parsed] == [
        parse.tree.heads for parse in parser.parse_many([list(sentence.words) for sentence in sentences])
    ]
    las, uas = nltk.parse.DependencyEvaluator(parsed, graphs[40:]).eval()
    assert 0.5 < las <= uas <= 1


def test_taggers() -> None:
    from latentgram.compat.nltk import NLTKTagger

    sentences = lg.demo_treebank(120, seed=3).sentences()
    model = lg.fit(lg.Tagger, sentences[:100], by=lg.Gradient(passes=1))
    tagger, gold = NLTKTagger(model), [list(zip(s.words, s.tags, strict=True)) for s in sentences[100:]]
    assert isinstance(tagger, nltk.tag.TaggerI)
    assert tagger.tag([]) == []
    ours = [model.tag(list(s.words)).tags for s in sentences[100:]]
    right = [
        tag == known
        for tags, row in zip(ours, gold, strict=True)
        for tag, (_, known) in zip(tags, row, strict=True)
    ]
    assert tagger.accuracy(gold) == pytest.approx(sum(right) / len(right))
    assert tagger.accuracy(gold) > 0.9
