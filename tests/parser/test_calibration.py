"""Calibration: fitted on dev alone, kept with the parser, and better on trees that nobody has seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import latentgram as lg
from latentgram.errors import DataError, SettingError
from latentgram.parser.curves import Curve
from latentgram.parser.suspects import find_suspects
from oracles.equality import same


@pytest.fixture(scope="module")
def banks() -> tuple[lg.Treebank, lg.Treebank, lg.Treebank]:
    return lg.demo_treebank(60, seed=1), lg.demo_treebank(150, seed=2), lg.demo_treebank(150, seed=3)


@pytest.fixture(scope="module")
def parsers(banks: tuple[lg.Treebank, ...]) -> tuple[lg.Parser, lg.Parser]:
    plain = lg.Parser(lg.fit(lg.LPCFG, banks[0], by=lg.Counting()))
    return plain, lg.calibrate(plain, banks[1])


def test_curves_recover_what_made_the_data() -> None:
    random = np.random.default_rng(0)
    said = random.random(20000)
    right = random.random(20000) < said**2
    curve = Curve.fit(said, right.astype(float))
    grid = np.linspace(0.05, 0.95, 19)
    np.testing.assert_allclose(curve(grid), grid**2, atol=0.04)
    assert (np.diff(curve(np.linspace(0, 1, 200))) >= 0).all()
    assert np.isnan(curve(np.array([np.nan]))).all()
    assert Curve.fit(np.zeros(0), np.zeros(0))(np.array([0.3])) == pytest.approx(0.3)


def test_error_falls_on_unseen_trees(parsers: tuple[lg.Parser, lg.Parser], banks: tuple[lg.Treebank, ...]) -> None:
    before, after = (lg.reliability(parser, banks[2]) for parser in parsers)
    assert after.reliability.error < before.reliability.error
    assert after.reliability.error < 4
    assert before.reliability.count == after.reliability.count
    (_, every), *_, (_, half) = after.selective()
    assert half > every
    assert every == pytest.approx(parsers[0].evaluate(banks[2]).f1)
    assert "most confident sentences  F1" in after.table()
    assert after.to_json()["parts"]["count"] == after.reliability.count


def test_trees_already_seen_are_refused(
    parsers: tuple[lg.Parser, lg.Parser], banks: tuple[lg.Treebank, ...]
) -> None:
    train, dev, test = banks
    with pytest.raises(DataError, match="learned from these trees"):
        lg.calibrate(parsers[0], train)
    with pytest.raises(DataError, match="learned from these trees"):
        lg.reliability(parsers[0], train)
    with pytest.raises(DataError, match="calibrated on these trees"):
        lg.reliability(parsers[1], dev)
    lg.reliability(parsers[1], test)
    assert same(lg.calibrate(parsers[0], dev).calibrator, parsers[1].calibrator)


def test_folds_calibrate_on_the_training_trees_without_having_seen_them(
    parsers: tuple[lg.Parser, lg.Parser], banks: tuple[lg.Treebank, ...]
) -> None:
    train, _, test = banks
    fitted = lg.calibrate(parsers[0], train, folds=2)
    halves = [(train[30:], train[:30]), (train[:30], train[30:])]
    seen = [
        lg.reliability(lg.Parser(lg.fit(lg.LPCFG, known, by=lg.Counting())), other).parts
        for known, other in halves
    ]
    assert fitted.calibrator is not None
    assert same(fitted.calibrator.parts, Curve.fit(*np.concatenate(seen).T))
    before, after = (lg.reliability(parser, test).reliability.error for parser in (parsers[0], fitted))
    assert after < before
    for folds in (1, 61, -1, 10**30):
        with pytest.raises(SettingError, match="folds must be from 2"):
            lg.calibrate(parsers[0], train, folds=folds)


def test_trees_stay_and_the_calibration_is_stored(
    parsers: tuple[lg.Parser, lg.Parser], banks: tuple[lg.Treebank, ...], tmp_path: Path
) -> None:
    plain, fitted = parsers
    lg.save(fitted, tmp_path / "fitted.lg")
    again = lg.load(tmp_path / "fitted.lg", lg.Parser)
    for sentence in banks[2].sentences()[:20]:
        words = sentence.words
        one, other = plain.parse(words), again.parse(words)
        assert str(one.tree) == str(other.tree)
        assert one.logprob == other.logprob
        np.testing.assert_array_equal(fitted.parse(words).confidence, other.confidence)
        assert ((other.confidence >= 0) & (other.confidence <= 1)).all()
        assert other.confidence[0] == 1


@pytest.mark.parametrize("parts", [{}, {"spans": [(0, 5, "NP")], "tags": {1: "NN"}}], ids=str)
def test_marginals_are_calibrated_like_the_parse(
    parsers: tuple[lg.Parser, lg.Parser], parts: dict[str, Any]
) -> None:
    fitted, sentence = parsers[1], "the teacher of the girl mends the lamp ."
    parse, found = fitted.parse(sentence, **parts), fitted.marginals(sentence, **parts)
    said = {(label, first, end): p for first, end, label, p in found.spans}
    said |= {(tag, word, word + 1): p for word, tag, p in found.tags}
    for span, confidence in zip(parse.tree.spans(), parse.confidence.tolist(), strict=True):
        assert said.get(span, 1.0) == pytest.approx(confidence)  # the root label is not in the chart


def test_what_was_asked_for_stays_certain(parsers: tuple[lg.Parser, lg.Parser]) -> None:
    fitted, sentence = parsers[1], "the teacher of the girl mends the lamp ."
    free = fitted.parse(sentence)
    assert free.confidence[2:].max() < 1  # or the test below could not fail
    told = fitted.parse(sentence, spans=[(0, 5, "NP")], tags={1: "NN"})
    of = dict(zip(told.tree.spans(), told.confidence.tolist(), strict=True))
    assert of["NP", 0, 5] == 1
    assert told.tag_confidence[1] == 1
    assert sum(p < 1 for p in told.confidence) > 3
    for each in [
        *fitted.nbest(sentence, 3, spans=[(0, 5, "NP")]),
        *fitted.sample(sentence, 3, spans=[(0, 5, "NP")]),
    ]:
        assert each.confidence[list(each.tree.spans()).index(("NP", 0, 5))] == 1


def test_arcs() -> None:
    train, dev, test = (lg.demo_dependencies(120, seed=seed) for seed in (1, 2, 3))
    plain = lg.Parser(lg.fit(lg.SHAG, train, by=lg.Counting()))
    fitted = lg.calibrate(plain, dev)
    after = lg.reliability(fitted, test)
    assert after.reliability.error < 4
    assert after.selective()[0][1] == pytest.approx(100 * sum(after.parts[:, 1]) / len(after.parts), abs=1e-9)
    assert "arcs:" in after.table()
    unsure = min((fitted.parse(tree.sentence) for tree in test), key=lambda parse: parse.confidence.min())
    word = int(unsure.confidence.argmin())
    assert unsure.confidence[word] < 1
    assert fitted.parse(unsure.sentence, heads={word + 1: unsure.tree.heads[word]}).confidence[word] == 1


def test_suspects_are_the_spoiled_trees() -> None:
    good = list(lg.demo_treebank(30, seed=4))
    parser = lg.Parser(lg.fit(lg.LPCFG, lg.Treebank.of(good), by=lg.Counting()))
    spoiled = lg.parse_tree(str(good[7]).replace("(VP ", "(PP "))
    found = find_suspects(parser, [*good[:7], spoiled, *good[8:]], 3)
    assert found[0].number == 8
    assert found[0].per_word <= found[1].per_word <= found[2].per_word
    assert " over " in found[0].part
