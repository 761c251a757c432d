"""The whole way from raw text to CoNLL-U, by one model, from Python and by commands."""

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.conllu import parse_conllu, to_conllu
from latentgram.data.surface import raw_text, tokens_of
from latentgram.kinds.kind import update_model
from latentgram.parser.answers import render


def fused(trees):
    """Demo trees in which `of the` and `in the` are one token, and a blank before the point is left out."""
    changed = []
    for tree in trees:
        misc = ["SpaceAfter=No" if i + 2 == len(tree) else "_" for i in range(len(tree))]
        rows = [
            (i, "\t".join((f"{i + 1}-{i + 2}", f"{tree.words[i]}the", *"_" * 8)))
            for i in range(len(tree) - 3)
            if tree.words[i] in ("of", "in") and tree.words[i + 1] == "the"
        ]
        changed.append(tree.replace(misc=tuple(misc), extra_rows=tuple(rows)))
    return lg.Treebank.of(changed)


@pytest.fixture(scope="module")
def parser():
    return lg.Parser(
        lg.fit(lg.UDParser, fused(lg.demo_dependencies(150, seed=0)), by=lg.Gradient(passes=3, folds=2))
    )


@pytest.fixture(scope="module")
def held_out():
    return fused(lg.demo_dependencies(30, seed=1))


def test_every_measure_is_high_on_a_simple_language(parser, held_out):
    parses = list(parser.parse_many(parser.sentences_of(raw_text(held_out))))
    score = lg.score_conll18(held_out, [parse.tree for parse in parses])
    figures = score.to_json()
    assert min(figures[name] for name in ("tokens", "sentences", "words", "upos", "lemmas")) > 85, figures
    assert figures["las"] > 60, figures


def test_multiword_rows_blanks_and_text_are_written(parser, held_out):
    tree = next(tree for tree in held_out if tree.extra_rows)
    found = parser.parse(raw_text([tree])).tree
    assert [(t.form, t.first, t.end) for t in tokens_of(found)] == [
        (t.form, t.first, t.end) for t in tokens_of(tree)
    ]
    assert parse_conllu(to_conllu(found))[0] == found
    assert found.comments[-1] == f"# text = {raw_text([tree]).strip()}"
    assert raw_text([found]) == raw_text([tree])


def test_every_probability_is_written_once(parser, held_out):
    tree = next(tree for tree in held_out if tree.extra_rows)
    (row,) = parse_conllu(render(parser.parse(raw_text([tree])), "conllu", probabilities=True))
    for word, misc in enumerate(row.misc):
        names = [part.split("=")[0] for part in misc.split("|")]
        inside = any(token.multiword and token.first <= word < token.end for token in tokens_of(row))
        wanted = {"HeadProb", "RelProb", "TagProb", "UposProb", "XposProb", "LemmaProb"}
        wanted |= set() if inside else {"TokenProb"}
        assert set(names) - {"SpaceAfter"} == wanted
        assert len(names) == len(set(names))
    assert all("TokenProb=" in line and "SplitProb=" in line for _, line in row.extra_rows)
    again = parser.parse(row.sentence.without_tags()).onto(row)
    assert not any("Prob=" in misc for misc in again.tree.misc)


def test_tags_that_are_given_are_kept(parser, held_out):
    sentence = held_out[0].sentence
    assert parser.parse(sentence).tree.xpos == sentence.xpos
    assert parser.evaluate(held_out, gold_tags=True).uas > 70


def test_lists_draws_constraints_and_marginals(parser):
    listed = parser.nbest("the dog sees the old cat in the house .", 3)
    assert len({parse.tree.heads for parse in listed}) == 3
    assert all(parse.tree.lemmas[1] == "dog" for parse in listed)
    assert len(parser.sample("the dog sleeps .", 4)) == 4
    known = parser.parse("the dog sleeps .", tags={2: "NNS"}, heads={1: 4})
    assert (known.tree.xpos[2], known.tree.heads[0]) == ("NNS", 4)
    assert known.tree.lemmas[1] == "dog"
    arcs = parser.marginals(["the", "dog", "sleeps"]).arcs
    for word in (1, 2, 3):
        assert sum(p for _, modifier, p in arcs if modifier == word) == pytest.approx(1, abs=0.01)


def test_it_comes_back_from_a_file_and_learns_more_trees(parser, held_out, tmp_path):
    lg.save(parser, tmp_path / "m.lg", "compact")
    again = lg.load(tmp_path / "m.lg")
    text = raw_text(held_out[:5])
    trees, others = ([p.tree for p in each.parse_many(each.sentences_of(text))] for each in (parser, again))
    assert [tree.words for tree in trees] == [tree.words for tree in others]
    more = update_model(parser.model, list(held_out[:5]))
    assert more.segmenter is parser.model.segmenter
    assert lg.Parser(more).parse("the dog sleeps .").tree.lemmas[1] == "dog"


def test_json_and_back(parser):
    parse = parser.parse("the dog sleeps.")
    again = lg.Parse.from_json(parse.to_json())
    assert again.tree.lemmas == parse.tree.lemmas
    np.testing.assert_array_equal(again.lemma_confidence, parse.lemma_confidence)
    assert set(again.column_confidence) == {"upos", "xpos"}
    for name, column in again.column_confidence.items():
        np.testing.assert_array_equal(column, parse.column_confidence[name])


@pytest.mark.parametrize("text", ["x", "\x07", "word " * 500, "…", "  a  "])
def test_odd_text_is_parsed(parser, text):
    parses = list(parser.parse_many(parser.sentences_of(text)))
    assert [tree.fault for tree in (parse.tree for parse in parses)] == [None] * len(parses)
    assert raw_text([parse.tree for parse in parses]).split() == text.split()


def test_text_without_words_has_no_sentences(parser):
    assert list(parser.sentences_of(" \n\n")) == []
    with pytest.raises(lg.DataError, match="no words"):
        parser.parse("  ")


def test_trees_without_tags_are_refused():
    with pytest.raises(lg.DataError, match="no tags"):
        lg.fit(lg.UDParser, [lg.DependencyTree(("a",), (0,))], by=lg.Gradient())


def test_lemmas_may_be_missing():
    trees = [tree.replace(lemmas=()) for tree in lg.demo_dependencies(60, seed=0)]
    model = lg.fit(lg.UDParser, trees, by=lg.Gradient(passes=1, folds=1))
    assert model.lemmatiser is None
    assert set(lg.Parser(model).parse("the dog sleeps .").tree.lemmas) == {"_"}
