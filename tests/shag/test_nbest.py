"""Lists of trees of deterministic head automata, against all projective trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import latentgram as lg
from oracles.projective import projective_trees


@pytest.fixture(scope="module")
def bank() -> lg.Treebank:
    return lg.demo_dependencies(80, seed=3)


def models(bank: lg.Treebank) -> dict[str, Any]:
    lexical = lg.fit(lg.LexicalSHAG, bank, by=lg.Counting())
    distance = lg.fit(lg.ArcDistance, bank, by=lg.Counting())
    return {
        "none": lg.fit(lg.SHAG, bank, by=lg.Counting(memory="none")),
        "first": lg.fit(lg.SHAG, bank, by=lg.Counting(memory="first")),
        "lexical": lexical,
        "product": lexical * distance**0.5,
    }


@pytest.mark.parametrize("name", ["none", "first", "lexical", "product"])
def test_most_probable_trees(bank: lg.Treebank, name: str) -> None:
    parser = lg.Parser(models(bank)[name])
    given = next(tree for tree in bank if len(tree) >= 5).sentence
    sentence = lg.Sentence(*(part and part[:5] for part in (given.words, given.xpos, given.upos)))
    shape = parser.parse(sentence).tree
    every = [parser.score(shape.replace(heads=tuple(h + 1 for h in heads))) for heads in projective_trees(5)]
    logs = sorted((parse.tree_logprob for parse in every), reverse=True)
    found = parser.nbest(sentence, 12)
    np.testing.assert_allclose([parse.tree_logprob for parse in found], logs[:12], atol=1e-8)
    assert len({parse.tree.heads for parse in found}) == 12
    assert np.logaddexp.reduce(logs) == pytest.approx(found[0].logprob)
