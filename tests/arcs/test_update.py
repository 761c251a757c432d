"""Absorbing trees into an arc-factored parser: it parses them right from then on, and the rest as before."""

from __future__ import annotations

import numpy as np
import pytest

import latentgram as lg
from latentgram.arcs.update import update


@pytest.fixture(scope="module")
def bank() -> lg.Treebank:
    return lg.demo_dependencies(90, seed=1)


def test_a_corrected_tree_is_learned_and_little_else_changes(bank: lg.Treebank) -> None:
    """Of order 2, whose pruner is a parser of order 1 and learns as such."""
    model = lg.fit(lg.ArcFactored, bank[:60], by=lg.MIRA(order=2, passes=1, bits=16))
    parser = lg.Parser(model)
    wrong = next(tree for tree in bank[60:75] if parser.parse(tree.sentence).tree.heads != tree.heads)
    relation = next(name for name in sorted(set(wrong.deprels)) if name != wrong.deprels[0])
    wanted = wrong.replace(deprels=(relation, *wrong.deprels[1:]))
    grown = lg.Parser(update(model, [wanted]))
    assert grown.parse(wanted.sentence).tree.heads == wanted.heads
    assert grown.parse(wanted.sentence).tree.deprels[0] == relation
    before, after = (each.evaluate(bank[75:]).uas for each in (parser, grown))
    assert after > before - 10
    assert update(model, []) is model


def test_what_is_right_with_a_margin_moves_nothing(bank: lg.Treebank) -> None:
    model = update(lg.fit(lg.ArcFactored, bank[:60], by=lg.MIRA(order=1, passes=1, bits=16)), [bank[3]])
    again = update(model, [bank[3]])
    np.testing.assert_allclose(model.weights.dense, again.weights.dense, atol=1e-7)
