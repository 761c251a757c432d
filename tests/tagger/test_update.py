"""Absorbing tagged sentences: they are tagged right from then on, and others as before."""

from __future__ import annotations

import numpy as np
import pytest

import latentgram as lg
from latentgram.tagger.update import update


@pytest.fixture(scope="module")
def bank() -> lg.Treebank:
    return lg.demo_dependencies(160, seed=2)


@pytest.fixture(scope="module")
def tagger(bank: lg.Treebank) -> lg.Tagger:
    return lg.fit(lg.Tagger, bank[:100], by=lg.Gradient(passes=3))


def right(tagger: lg.Tagger, trees: lg.Treebank) -> float:
    pairs = [
        (one, other)
        for tree in trees
        for one, other in zip(tagger.tag(tree.sentence.without_tags()).tags, tree.xpos, strict=True)
    ]
    return float(np.mean([one == other for one, other in pairs]))


def test_new_words_and_new_tags_of_old_words_are_learned(bank: lg.Treebank, tagger: lg.Tagger) -> None:
    tree = bank[120]
    noun = tree.xpos.index("NN")
    change = {0: ("NNP", "PROPN"), noun: ("JJ", "ADJ")}
    tags = [change.get(i, pair) for i, pair in enumerate(zip(tree.xpos, tree.upos, strict=True))]
    words = ("Zyxomat", *tree.words[1:])
    strange = lg.Sentence(words, *(tuple(side) for side in zip(*tags, strict=True)))
    assert tagger.tag(words).tags != strange.xpos
    grown = update(tagger, [strange])
    assert grown.tag(words).tags == strange.xpos
    assert right(grown, bank[100:]) > right(tagger, bank[100:]) - 0.03
    assert "Zyxomat" in grown.candidates.words


def test_what_is_right_moves_no_weight_and_unknown_tags_teach_nothing(
    bank: lg.Treebank, tagger: lg.Tagger
) -> None:
    known = bank[0].sentence
    assert tagger.tag(known.without_tags()).tags == known.xpos
    grown = update(tagger, [known])
    np.testing.assert_array_equal(grown.pair, tagger.pair)
    assert np.abs(grown.row_weight).sum() == pytest.approx(np.abs(tagger.row_weight).sum())
    assert update(tagger, [lg.Sentence(("a",), ("???",), ("???",))]) is tagger
    assert update(tagger, [known.without_tags()]) is tagger
