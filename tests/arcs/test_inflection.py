"""Morphological features in arcs and relations: learned where they alone tell the truth, harmless elsewhere."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import latentgram as lg
from latentgram.arcs.kernels.features import ARC_FEATURES, arc_buckets, last_alike, role_codes
from latentgram.arcs.symbols import ArcSymbols


def agreeing_trees(count: int, seed: int) -> lg.Treebank:
    """Noun, noun, adjective, verb: the adjective belongs to the noun of its gender, case tells subject and object.

    Words and tags say nothing of either.
    """
    random = np.random.default_rng(seed)
    trees = []
    for _ in range(count):
        gender = ["Gender=Fem", "Gender=Masc"][:: random.choice([1, -1])]
        case = ["Case=Acc", "Case=Nom"][:: random.choice([1, -1])]
        owner = int(random.integers(2))
        trees.append(
            lg.DependencyTree(
                tuple(f"{kind}{random.integers(9)}" for kind in "nnav"),
                heads=(4, 4, owner + 1, 0) if owner == 1 else (4, 1, 1, 0),
                deprels=(*("obj" if of == "Case=Acc" else "subj" for of in case), "amod", "root"),
                upos=("NOUN", "NOUN", "ADJ", "VERB"),
                feats=(f"{case[0]}|{gender[0]}", f"{case[1]}|{gender[1]}", gender[owner], "Person=3"),
            )
        )
    return lg.Treebank.of(trees)


@pytest.fixture(scope="module", params=[1, 2])
def model(request: pytest.FixtureRequest) -> lg.ArcFactored:
    return lg.fit(lg.ArcFactored, agreeing_trees(80, 0), by=lg.MIRA(order=request.param, passes=4, bits=16))


def test_agreement_and_case_are_learned(model: lg.ArcFactored) -> None:
    score = lg.Parser(model).evaluate(agreeing_trees(40, 1))
    assert score.uas > 95
    assert score.las > 95


def test_without_features_there_is_nothing_to_tell_them_by() -> None:
    blank = [
        lg.Treebank.of([tree.replace(feats=()) for tree in agreeing_trees(n, s)]) for n, s in ((80, 0), (40, 1))
    ]
    model = lg.fit(lg.ArcFactored, blank[0], by=lg.MIRA(order=1, passes=4, bits=16))
    assert model.encode(blank[0][0].sentence).shape[0] == 4
    assert lg.Parser(model).evaluate(blank[1]).las < 80


def test_a_sentence_without_features_or_with_new_ones_is_parsed(model: lg.ArcFactored) -> None:
    sentence = agreeing_trees(1, 2)[0].sentence
    for feats in (None, ("_",) * 4, ("Case=Abl|Mood=Ind", "Gender=Neut", "X=Y", "_")):
        parse = lg.Parser(model).parse(dataclasses.replace(sentence, feats=feats))
        assert parse.tree.fault is None
        assert np.isfinite(parse.tree_logprob)


def test_features_survive_storage(model: lg.ArcFactored, tmp_path) -> None:
    lg.save(lg.Parser(model), tmp_path / "arcs.lg")
    again, dev = lg.load(tmp_path / "arcs.lg"), agreeing_trees(20, 3)
    for tree in dev:
        assert again.parse(tree.sentence).tree == lg.Parser(model).parse(tree.sentence).tree


def test_pairs_are_of_one_attribute() -> None:
    """Two words share a bucket more for each attribute that both have, whatever its place among the others."""
    feats = ("A=1|C=2|D=1", "B=1|C=2|E=3", "A=1|B=2|C=1|D=1", "_")
    sentence = lg.Sentence(("w",) * 4, upos=("X",) * 4, feats=feats)
    symbols = ArcSymbols.of([sentence]).encode([sentence]).sentence(0)
    codes, last, buckets = role_codes(symbols), last_alike(symbols), np.empty(ARC_FEATURES, np.uint32)

    def count(head: int, word: int) -> int:
        between = (
            abs(head - word) > 1
        )  # all tags are alike, so that one pair of buckets stands for what is between
        return arc_buckets(codes, last, head, word, np.uint64(40), buckets) - 2 * between

    plain = count(4, 4)
    assert [count(1, 2) - plain, count(1, 3) - plain, count(2, 3) - plain] == [3 + 3 + 1, 3 + 4 + 3, 3 + 4 + 2]
    assert count(4, 3) - plain == 4
    assert count(0, 3) - plain == 4
