"""`ChartCRF`: what it is taught, by whom, and what its parser says."""

from __future__ import annotations

import dataclasses
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.head_rules import HeadRules
from latentgram.data.heads import ENGLISH
from latentgram.kinds.kind import Context
from latentgram.lpcfg.crf import learning
from latentgram.lpcfg.crf.charts import Teacher, dealt, jackknifed
from latentgram.lpcfg.crf.kernels.view import NARROW, WIDE
from latentgram.lpcfg.crf.model import ChartCRF
from latentgram.lpcfg.crf.symbols import WordCodes
from latentgram.lpcfg.crf.tags import FLOOR
from latentgram.lpcfg.crf.update import update
from latentgram.parallel import LocalProcesses
from latentgram.parser.suspects import find_suspects
from oracles.equality import same

BY = lg.Gradient(states=2, passes=2, bits=14, tagger_up_to=10_000)


@cache
def bank() -> lg.Treebank[lg.Tree]:
    return lg.demo_treebank(80, seed=5)


@cache
def crf() -> ChartCRF:
    return lg.fit(lg.ChartCRF, bank(), by=BY)


def untaught(model: ChartCRF) -> ChartCRF:
    """The layer before it learned anything."""
    return dataclasses.replace(model, weights=np.zeros_like(model.weights), trust=1.0, tagger=None)


def test_no_fold_has_seen_itself() -> None:
    """Each grammar learns from all trees but those of its part, and teaches these; stretches of neighbours go to
    the parts in turn."""
    trees, seen = bank()[:23], []

    def learn(part: lg.Treebank[lg.Tree]) -> lg.LPCFG:
        seen.append({str(tree) for tree in part})
        return lg.fit(lg.LPCFG, part, by=lg.Clustering(states=2))

    codes = WordCodes()
    by_words = {codes.of(tree.words).tobytes(): str(tree) for tree in trees}
    assert len(by_words) == len({str(tree) for tree in trees}) == len(trees)
    lessons = jackknifed(trees, 5, learn, HeadRules.learn(trees.forest), Context())
    taught = [by_words[lesson.words.tobytes()] for lesson in lessons]
    everything = [str(tree) for tree in trees]
    held = [sorted(everything.index(tree) for tree in set(everything) - part) for part in seen]
    fold_of = [place * 20 // 23 % 5 for place in range(23)]
    assert held == [[place for place in range(23) if fold_of[place] == fold] for fold in range(5)]
    assert dealt(23, 5).tolist() == fold_of
    assert taught == sorted(taught, key=lambda tree: (fold_of[everything.index(tree)], everything.index(tree)))
    assert len(taught) > 30


@pytest.mark.parametrize(("trees", "folds"), [(2, 2), (7, 5), (23, 5), (100, 5), (999, 10)])
def test_parts_are_of_about_the_same_size_and_no_part_is_one_long_stretch(trees: int, folds: int) -> None:
    part = dealt(trees, folds)
    sizes = np.bincount(part, minlength=folds)
    assert sizes.min() > 0
    assert sizes.max() - sizes.min() <= max(2, trees // 50)
    changes = np.flatnonzero(np.diff(part)) + 1
    assert max(np.diff([0, *changes, trees])) <= max(2, -(-trees // (10 * folds)) + 1)


def test_the_target_is_the_gold_tree_where_the_chart_has_it() -> None:
    """Most gold trees of a source as simple as this one are."""
    grammar = lg.fit(lg.LPCFG, bank()[:60], by=lg.Clustering(states=2))
    teacher, forest = Teacher(grammar, ENGLISH), bank()[60:].forest
    words = {teacher.codes.of(tree.words).tobytes(): tree for tree in forest}
    names = (*grammar.interminals, *grammar.preterminals)
    reached = 0
    for lesson in teacher.lessons(forest):
        gold = words[lesson.words.tobytes()]
        binary = grammar.binarisation.binarise(lg.Forest.of([gold]))
        symbols = [names[symbol] for symbol in lesson.chart.item_symbol[lesson.target_item]]
        assert len(lesson.target_edge) == len(gold.words) - 1
        reached += symbols == list(binary.labels.decode(binary.label.tolist()))
    assert reached > 25


def test_the_number_of_workers_changes_nothing() -> None:
    other = lg.fit(lg.ChartCRF, bank(), by=BY, engine=LocalProcesses(2))
    assert np.array_equal(other.weights, crf().weights)
    assert same(other.grammar, crf().grammar)


def test_without_weights_it_parses_as_its_grammar() -> None:
    plain, layered = lg.Parser(crf().grammar), lg.Parser(untaught(crf()))
    for sentence in lg.demo_treebank(15, seed=9).sentences():
        for asked in (sentence, sentence.without_tags()):
            one, other = plain.parse(asked), layered.parse(asked)
            assert one.tree == other.tree
            assert one.logprob == other.logprob
            np.testing.assert_allclose(one.confidence, other.confidence, atol=1e-4)
            assert one.entropy == pytest.approx(other.entropy, abs=1e-2)


def test_p_of_the_sentence_is_the_grammars_and_p_of_the_tree_the_layers() -> None:
    plain, parser = lg.Parser(crf().grammar), lg.Parser(crf())
    sentence = bank()[3].sentence.without_tags()
    parse = parser.parse(sentence)
    assert parse.logprob == plain.parse(sentence).logprob
    listed = parser.nbest(sentence, 2000)
    assert listed[0].tree == parse.tree
    assert 0 < parse.probability <= 1
    assert sum(each.probability for each in listed) <= 1 + 1e-9
    draws = parser.sample(sentence, 400, seed=1)
    share = np.mean([draw.tree == parse.tree for draw in draws])
    assert share == pytest.approx(parse.probability, abs=0.1)
    assert parser.score(bank()[3]).tree_logprob <= plain.parse(bank()[3].sentence).logprob


def test_viterbi_finds_the_most_probable_trees() -> None:
    parser, sentence = lg.Parser(crf(), decoder=lg.Viterbi()), bank()[3].sentence.without_tags()
    listed = parser.nbest(sentence, 50)
    probabilities = [parse.probability for parse in listed]
    assert probabilities == sorted(probabilities, reverse=True)
    assert listed[0].tree == parser.parse(sentence).tree
    drawn = lg.Parser(crf()).sample(sentence, 100, seed=3)
    assert max(parse.probability for parse in drawn) <= probabilities[0] * (1 + 1e-9)


def test_a_tree_outside_of_the_chart_has_the_probability_of_the_grammar() -> None:
    """One with a span that was pruned is not in the chart."""
    plain, layered = lg.Parser(crf().grammar), lg.Parser(crf())
    scored = ((tree, plain.score(tree)) for tree in lg.demo_treebank(100, seed=31))
    outside = [pair for pair in scored if pair[1].confidence.min() == 0 and np.isfinite(pair[1].tree_logprob)]
    assert outside
    for tree, by_grammar in outside:
        assert layered.score(tree).tree_logprob == by_grammar.tree_logprob


def test_learning_raises_what_is_right() -> None:
    """On sentences from the same source the layer does not lose to its grammar, and its loss falls."""
    trace = crf().provenance.trace
    assert trace[-1]["loss"] < trace[0]["loss"]
    test = lg.demo_treebank(60, seed=77)
    assert lg.Parser(crf()).evaluate(test).f1 >= lg.Parser(crf().grammar).evaluate(test).f1 - 0.5


def test_constraints_hold() -> None:
    parser, sentence = lg.Parser(crf()), bank()[7].sentence.without_tags()
    for first, end in ((0, 2), (1, 3)):
        spans = set(parser.parse(sentence, spans=[(first, end, None)]).tree.spans())
        assert any((first, end) == span[1:] for span in spans)


def test_calibration_and_suspects() -> None:
    parser = lg.calibrate(lg.Parser(crf()), lg.demo_treebank(30, seed=11))
    assert parser.calibrator is not None
    wrong = bank()[:6]
    found = find_suspects(lg.Parser(crf()), wrong, 3)
    assert [suspect.per_word for suspect in found] == sorted(suspect.per_word for suspect in found)


def test_learning_goes_on() -> None:
    """A tree taught again and again becomes more probable, and the grammar counts it."""
    tree = lg.demo_treebank(30, seed=21)[4]
    model, before = crf(), lg.Parser(crf()).score(tree)
    for _ in range(3):
        model = update(model, [tree])
    after = lg.Parser(model).score(tree)
    assert after.probability > before.probability
    assert model.grammars[0].root_count.sum() == crf().grammars[0].root_count.sum() + 3
    assert update(model, []) is model


def test_an_ensemble_below_it(tmp_path: Path) -> None:
    model = lg.fit(lg.ChartCRF, bank(), by=lg.Gradient(states=2, passes=1, bits=12, members=2))
    assert len(model.grammars) == 2
    lg.save(model, tmp_path / "m.lg")
    sentence = bank()[0].sentence
    assert lg.Parser(lg.load(tmp_path / "m.lg")).parse(sentence).tree == lg.Parser(model).parse(sentence).tree


def test_any_script() -> None:
    """Nothing is asked of letters: words without case, in another script, and labels of another treebank."""
    text = "(根 (句 (名 (N 猫)) (動 (V 食べる) (名 (N 魚)))))", "(根 (句 (名 (N 犬)) (動 (V 寝る))))"
    trees = [lg.parse_tree(line) for line in text] * 6
    model = lg.fit(lg.ChartCRF, trees, by=lg.Gradient(states=2, passes=1, bits=12))
    assert lg.Parser(model).parse("猫 寝る").tree.words == ("猫", "寝る")


def test_one_tree_is_not_enough() -> None:
    with pytest.raises(lg.LatentgramError, match="two trees"):
        lg.fit(lg.ChartCRF, bank()[:1], by=BY)
    with pytest.raises(lg.LatentgramError, match="folds must be at least 2"):
        lg.fit(lg.ChartCRF, bank(), by=lg.Gradient(folds=1))


def test_a_tagger_helps_with_sentences_without_tags() -> None:
    """Before the layer learned anything, a tree has the grammar's share times p of its tags, summing to one."""
    model, sentence = crf(), bank()[3].sentence.without_tags()
    assert model.tagger is not None
    plain = lg.Parser(untaught(model))
    helped = lg.Parser(dataclasses.replace(untaught(model), tagger=model.tagger))
    tags, said = model.tagger.tags, np.maximum(model.tagger.posteriors(sentence), FLOOR)
    products = {}
    for parse in plain.nbest(sentence, 2000):
        shares = [said[word, tags.index(tag)] for word, tag in enumerate(parse.tree.tags)]
        products[parse.tree] = parse.probability * np.prod(shares)
    total = sum(products.values())
    for parse in helped.nbest(sentence, 20):
        assert parse.probability == pytest.approx(products[parse.tree] / total, rel=1e-3, abs=1e-4)
    given = bank()[3].sentence
    assert helped.parse(given).probability == plain.parse(given).probability


def test_large_treebanks_and_large_tag_sets_have_no_tagger(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = dataclasses.replace(BY, passes=1, bits=10, folds=2)
    words = sum(len(tree.words) for tree in bank()[:20])
    for most, has_one in ((words, True), (words - 1, False), (0, False)):
        model = lg.fit(lg.ChartCRF, bank()[:20], by=dataclasses.replace(fast, tagger_up_to=most))
        assert (model.tagger is not None) == has_one
    monkeypatch.setattr(learning, "MOST_TAGS", 2)
    assert lg.fit(lg.ChartCRF, bank()[:20], by=fast).tagger is None


def test_the_tagger_is_stored_and_learns_on(tmp_path: Path) -> None:
    lg.save(crf(), tmp_path / "m.lg")
    loaded = lg.load(tmp_path / "m.lg", lg.ChartCRF)
    sentence = bank()[0].sentence.without_tags()
    assert lg.Parser(loaded).parse(sentence).probability == lg.Parser(crf()).parse(sentence).probability
    taught = update(loaded, [lg.parse_tree("(S (NP (NN zyx)) (VP (VBZ sleeps)) (. .))")]).tagger
    assert taught is not None
    assert loaded.tagger is not None
    assert "zyx" in taught.candidates.words
    assert "zyx" not in loaded.tagger.candidates.words


def test_large_treebanks_have_wide_features_which_are_stored_and_learned_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert crf().templates == NARROW
    monkeypatch.setattr(learning, "WIDE_FROM", 1)
    wide = lg.fit(lg.ChartCRF, bank(), by=BY)
    assert wide.templates == WIDE
    lg.save(wide, tmp_path / "wide.lg")
    loaded = lg.load(tmp_path / "wide.lg", ChartCRF)
    assert loaded.templates == WIDE
    sentence = lg.demo_treebank(1, seed=9)[0].sentence
    parse = lg.Parser(wide).parse(sentence)
    assert lg.Parser(loaded).parse(sentence).probability == parse.probability
    other = lg.Parser(dataclasses.replace(wide, templates=NARROW)).parse(sentence)
    assert other.probability != parse.probability
    learned = update(loaded, [lg.demo_treebank(1, seed=9)[0]])
    assert learned.templates == WIDE
    assert lg.Parser(learned).score(lg.demo_treebank(1, seed=9)[0]).probability > parse.probability * 0.99
