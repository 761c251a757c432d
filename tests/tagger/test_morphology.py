"""UPOS, XPOS and FEATS together: their parts, their posteriors, odd treebanks, and the way through parsers."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import latentgram as lg
from latentgram.errors import DataError
from latentgram.parser.answers import render
from latentgram.parser.pipeline import fit_parser
from latentgram.tagger.guesser import Guesser
from latentgram.tagger.scaling import fitted_scale
from latentgram.tagger.spelling import describe
from latentgram.tagger.tagset import TagSet
from latentgram.tagger.update import update
from oracles.equality import same


def inflected(count: int, seed: int) -> list[lg.DependencyTree]:
    """Nouns whose ending tells number and case, after an article that agrees; a verb without features."""
    rng = np.random.default_rng(seed)
    endings = {("Sing", "Nom"): "a", ("Sing", "Acc"): "am", ("Plur", "Nom"): "ae", ("Plur", "Acc"): "as"}
    articles = {"Sing": "li", "Plur": "los"}
    trees = []
    for _ in range(count):
        words: list[str] = []
        feats: list[str] = []
        for case in ("Nom", "Acc"):
            number = ("Sing", "Plur")[rng.integers(2)]
            stem = "".join(rng.choice(list("bdfgklmnprst")) + rng.choice(list("aeiou")) for _ in range(2))
            words += [articles[number], stem + endings[number, case]]
            feats += [f"Number={number}", f"Case={case}|Number={number}"]
        words.append("videt")
        feats.append("_")
        upos = ("DET", "NOUN", "DET", "NOUN", "VERB")
        trees.append(lg.DependencyTree(tuple(words), (2, 5, 4, 5, 0), upos=upos, feats=tuple(feats)))
    return trees


@pytest.fixture(scope="module")
def tagger() -> lg.Tagger:
    return lg.fit(lg.Tagger, lg.Treebank.of(inflected(80, 0)), by=lg.Gradient(passes=4))


def test_features_of_new_words_are_found(tagger: lg.Tagger) -> None:
    fresh = inflected(40, 1)
    right = [tagger.tag(tree.words).feats == tree.feats for tree in fresh]
    assert np.mean(right) > 0.9
    tagging = tagger.tag(fresh[0].words)
    assert tagging.upos == fresh[0].upos
    assert tagging.xpos is None
    assert set(tagging.posteriors) == {"upos", "feats"}


def test_posteriors_of_the_sides_are_sums_over_the_tags(tagger: lg.Tagger) -> None:
    words = inflected(1, 5)[0].words
    every, tagging = tagger.posteriors(words), tagger.tag(words)
    assert every.sum(1) == pytest.approx(np.ones(len(words)))
    for name, column, names in (("upos", tagging.upos, tagger.upos), ("feats", tagging.feats, tagger.feats)):
        sums = [every[i, [other == entry for other in names]].sum() for i, entry in enumerate(column)]
        assert tagging.posteriors[name] == pytest.approx(sums)
    assert tagging.confidence == pytest.approx(tagging.posteriors["upos"])


def test_lists_sum_to_one_and_equal_enumeration(tagger: lg.Tagger) -> None:
    """Over all sequences of candidates the scores of parts, pairs and triples make the probabilities."""
    words = inflected(1, 6)[0].words[:3]
    sentence, start, tag, score = tagger._lattice(lg.Sentence(words), None)
    group, boundary = tagger.tagset.group, len(tagger.xpos)
    groups = int(group[-1]) + 1
    totals = {}
    for path in product(*(range(start[i], start[i + 1]) for i in range(len(words)))):
        numbers = [boundary, boundary, *(int(tag[place]) for place in path), boundary]
        total = sum(score[place] for place in path)
        for a, b, c in zip(numbers, numbers[1:], numbers[2:], strict=False):
            index = (group[a] * groups + group[b]) * groups + group[c]
            total += tagger.pair[b, c] + tagger.triple[index % len(tagger.triple)]
        totals[tuple(numbers[2:-1])] = total
    every = tagger.nbest(sentence, 100_000)
    assert sum(np.exp(one.tags_logprob) for one in every) == pytest.approx(1, abs=1e-4)
    log_total = np.logaddexp.reduce(list(totals.values()))
    best = max(totals, key=totals.__getitem__)
    assert every[0].feats == tuple(tagger.feats[number] for number in best)
    assert every[0].tags_logprob == pytest.approx(totals[best] - log_total, abs=1e-4)


def test_parts_are_shared_by_tags() -> None:
    tags = TagSet((("", "NOUN", "Case=Nom|Number=Sing"), ("", "NOUN", "Case=Nom|Number=Plur"), ("", "VERB", "_")))
    parts = tags.parts
    sets = [set(parts.part[parts.start[t] : parts.start[t + 1]].tolist()) for t in range(3)]
    assert len(sets[0] & sets[1]) == 2, "UPOS and case"
    assert not sets[0] & sets[2]
    assert tags.group.tolist() == [0, 0, 1, 2]
    plain = TagSet((("NN", "NOUN", ""), ("VB", "VERB", "")))
    assert (plain.parts.number, plain.group.tolist()) == (2, [0, 1, 2])


def test_guesses_equal_their_definition() -> None:
    """Shares by level, from nothing to the word in lower case, the least of them left out."""
    words, tags = ("walking", "talking", "king", "runs", "Walking"), np.array([0, 0, 1, 2, 0], np.int16)
    forms = describe(words)
    guesser = Guesser.of(forms, np.arange(5), tags, np.ones(5, np.bool_), 0.05)
    begin, found = guesser.of_new(describe(("zooing",)), 3)
    share = np.array([3, 1, 1]) / 5 * 5 / 6  # every word, pulled towards nothing
    share = (np.array([2, 1, 1]) + share) / 5  # words of its kind
    for _ in ("g", "ng", "ing"):
        share = (np.array([2, 1, 0]) + share) / 4
    expected = [t for t in range(3) if share[t] >= 0.05 * share.max()]
    assert (begin.tolist(), found.tolist()) == ([0, len(expected)], expected)
    start = np.arange(6)
    own, mine = guesser.candidates(forms, 3, start, tags, np.array([False, True, True, True, True]))
    assert mine[own[0] : own[1]].tolist() == [0], "a closed word has the tags it was seen with"
    assert 1 in mine[own[2] : own[3]].tolist(), "an open one those in any case"


def test_files_and_rows_keep_features(tagger: lg.Tagger, tmp_path: Path) -> None:
    lg.save(tagger, tmp_path / "tagger.lg")
    assert same(lg.load(tmp_path / "tagger.lg"), tagger)
    parser = fit_parser(lg.SHAG, lg.Treebank.of(inflected(80, 0)), by=lg.Counting(), tagger=lg.Gradient(passes=4))
    tree = inflected(1, 7)[0]
    parse = parser.parse(" ".join(tree.words))
    tagging = tagger.tag(tree.words)
    assert parse.tree.feats == tagging.feats
    for name, column in parse.column_confidence.items():
        assert tuple(column.tolist()) == pytest.approx(tagging.posteriors[name])
    assert render(parse, "conllu", probabilities=True).count("FeatsProb=") == len(tree)


def test_the_scale_is_that_under_which_the_tagger_is_right_as_often_as_it_says() -> None:
    """Three nouns of four are in the nominative, whatever is learned from them."""
    rng = np.random.default_rng(0)

    def drawn(count: int) -> list[lg.Sentence]:
        cases = [("Case=Nom", "Case=Acc")[int(rng.random() < 0.25)] for _ in range(count)]
        return [lg.Sentence((rng.choice(["rex", "lex", "pax"]),), upos=("NOUN",), feats=(case,)) for case in cases]

    tagger, unseen = lg.fit(lg.Tagger, drawn(300), by=lg.Gradient(passes=2)), drawn(500)
    scales = {factor: fitted_scale(tagger.scaled(factor), unseen) for factor in (1.0, 4.0)}
    assert scales[4.0] == pytest.approx(scales[1.0] / 4.0, rel=0.4)
    for factor, scale in scales.items():
        tuned = tagger.scaled(factor * scale)
        found, sure = zip(*tuned.annotated(unseen), strict=True)
        right = np.mean([gold.feats == each.feats for gold, each in zip(unseen, found, strict=True)])
        assert np.mean([each.columns["feats"] for each in sure]) == pytest.approx(right, abs=0.05)
    loud = tagger.scaled(4.0)
    for (first, _), (second, _) in zip(tagger.annotated(unseen), loud.annotated(unseen), strict=True):
        assert first.feats == second.feats
    assert fitted_scale(tagger, []) == 1.0


def test_features_can_be_left_out() -> None:
    tagger = lg.fit(lg.Tagger, lg.Treebank.of(inflected(20, 0)), by=lg.Gradient(passes=1, feats=False))
    assert tagger.feats == ()
    assert tagger.tag(("li", "bata")).feats is None


def test_trees_without_features_are_absorbed_by_those_of_the_tagger(tagger: lg.Tagger) -> None:
    tree = inflected(1, 8)[0]
    grown = update(tagger, [lg.Sentence(tree.words, upos=tree.upos)])
    assert grown.tag(tree.words).upos == tree.upos
    strange = lg.Sentence(("los", "xyzzy"), upos=("DET", "NOUN"), feats=("Number=Plur", "Case=Acc|Number=Sing"))
    taught = update(tagger, [strange])
    assert taught.tag(strange.words).feats == strange.feats
    assert update(tagger, [lg.Sentence(("a",), upos=("NOUN",), feats=("Case=Dat",))]) is tagger


@pytest.mark.parametrize(
    "trees",
    [
        [lg.DependencyTree(("hi",), (0,), upos=("INTJ",))],
        [lg.DependencyTree(("hi", "hi"), (0, 1), upos=("X", "X"), feats=("A=B", "_"))],
        [lg.DependencyTree((f"w{i}", f"v{i}"), (0, 1), xpos=("N", "V")) for i in range(30)],
        [
            lg.DependencyTree(("a",), (0,), upos=("X",), feats=("A=B",)),
            lg.DependencyTree(("b",), (0,), upos=("Y",)),
        ],
    ],
    ids=["one word", "one sentence", "all words unique", "a sentence without features"],
)
def test_odd_treebanks(trees: list[lg.DependencyTree], tmp_path: Path) -> None:
    tagger = lg.fit(lg.Tagger, lg.Treebank.of(trees), by=lg.Gradient(passes=2))
    lg.save(tagger, tmp_path / "tagger.lg")
    for words in (trees[0].words, ("new", "words", "here")):
        tagging = lg.load(tmp_path / "tagger.lg").tag(words)
        assert same(tagging, tagger.tag(words))
        assert tagger.posteriors(words).sum(1) == pytest.approx(np.ones(len(words)))
        assert "" not in (tagging.feats or ("_",))


def test_nothing_to_learn_from_is_said() -> None:
    with pytest.raises(DataError, match="no tagged sentences"):
        lg.fit(lg.Tagger, [lg.Sentence(("a", "b"))], by=lg.Gradient())
