"""The names of arcs and their probabilities."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import latentgram as lg
from latentgram.arcs.kernels.relations import losses_by_scale, name_arcs
from latentgram.arcs.symbols import EncodedTrees
from latentgram.parser.answers import render


@pytest.fixture(scope="module")
def bank() -> lg.Treebank:
    """Demo trees in which one relation of ten is another one by chance."""
    random = np.random.default_rng(0)
    trees = lg.demo_dependencies(200, seed=1)
    return lg.Treebank.of(
        [
            tree.replace(deprels=tuple("other" if random.random() < 0.1 else name for name in tree.deprels))
            for tree in trees
        ]
    )


@pytest.fixture(scope="module")
def model(bank: lg.Treebank) -> lg.ArcFactored:
    return lg.fit(lg.ArcFactored, bank[:150], by=lg.MIRA(order=1, passes=2, bits=16))


def test_probabilities_are_as_often_right(model: lg.ArcFactored, bank: lg.Treebank) -> None:
    """Nobody can be right more often than in nine of ten, and the probabilities say so."""
    sure, right = [], []
    for tree in bank[150:]:
        names, confidence = model.relations.predict(model.encode(tree.sentence), np.array(tree.heads))
        sure += confidence.tolist()
        right += [name == gold for name, gold in zip(names, tree.deprels, strict=True)]
    assert 0.8 < np.mean(right) < 0.95
    assert np.mean(sure) == pytest.approx(np.mean(right), abs=0.06)


def test_losses_are_those_of_the_probabilities(model: lg.ArcFactored, bank: lg.Treebank) -> None:
    """Of the named relation, whose probability the parser gives, at two scales."""
    relations, tree = model.relations, bank[160]
    symbols, size = model.encode(tree.sentence), len(relations.names)
    places = np.array([0, *tree.heads, 0])
    for scale in (0.5, 7.0):
        best, sure = name_arcs(symbols, places, relations.weights.dense, size, scale)
        data = EncodedTrees(symbols, np.array([0, len(tree)]), places[1:-1])
        loss = losses_by_scale(data, best.astype(np.int32), relations.weights.dense, size, np.array([scale]))
        assert loss[0] == pytest.approx(-np.log(sure).sum())
    assert (sure >= 1 / size).all()


def test_they_are_written_and_read(model: lg.ArcFactored, bank: lg.Treebank) -> None:
    parse = lg.Parser(model).parse(bank[150].sentence)
    assert parse.relation_confidence.shape == (len(bank[150]),)
    again = lg.Parse.from_json(parse.to_json())
    np.testing.assert_array_equal(again.relation_confidence, parse.relation_confidence)
    rows = render(parse, probabilities=True).splitlines()
    assert f"RelProb={parse.relation_confidence[0]:.4g}" in rows[0]
    marked = lg.Treebank.of([parse.tree.replace(misc=("RelProb=0.5|Gloss=x",) * len(parse.tree))])[0]
    assert parse.onto(marked).tree.misc == ("Gloss=x",) * len(parse.tree)


def test_models_without_a_scale_have_no_probabilities(model: lg.ArcFactored, bank: lg.Treebank) -> None:
    old = dataclasses.replace(model, relations=dataclasses.replace(model.relations, scale=0.0))
    parse = lg.Parser(old).parse(bank[150].sentence)
    assert len(parse.relation_confidence) == 0
    assert "relation_confidence" not in parse.to_json()
    assert "RelProb" not in render(parse, probabilities=True)


def test_the_score_tells_relations_at_right_heads(model: lg.ArcFactored, bank: lg.Treebank) -> None:
    score = lg.Parser(model).evaluate(bank[150:])
    assert score.relation_accuracy == pytest.approx(100 * score.labelled / score.heads)
    assert score.to_json()["relation_accuracy"] == score.relation_accuracy


def test_arcs_of_given_trees_are_named_as_those_of_parses_are(model: lg.ArcFactored, bank: lg.Treebank) -> None:
    parser = lg.Parser(model)
    parsed = [parse.tree for parse in parser.parse_many(tree.sentence for tree in bank[150:160])]
    assert (
        parser.name_arcs([tree.replace(deprels=("?",) * len(tree)) for tree in parsed], gold_tags=True) == parsed
    )
    with pytest.raises(lg.SettingError, match="only a dependency parser"):
        lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(10, seed=0), by=lg.Counting())).name_arcs(parsed)
