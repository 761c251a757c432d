"""Absorbing trees into an arc-factored parser: it parses them right from then on, and the rest as before."""

from __future__ import annotations

import numpy as np
import pytest

import latentgram as lg
from latentgram.learn.absorb_arcs import absorb_arcs


@pytest.fixture(scope="module")
def bank() -> lg.Treebank:
    return lg.demo_dependencies(90, seed=1)


def other_tree(tree: lg.DependencyTree, parser: lg.Parser) -> lg.DependencyTree:
    """A tree that the parser does not give: that of rank five in its list, with a name changed."""
    heads = parser.nbest(tree.sentence, 5)[-1].tree.heads
    relation = next(name for name in sorted(set(tree.deprels)) if name != tree.deprels[0])
    return tree.replace(heads=heads, deprels=(relation, *tree.deprels[1:]))


@pytest.mark.parametrize("order", [1, 2])
def test_a_corrected_tree_is_learned_and_little_else_changes(bank: lg.Treebank, order: int) -> None:
    model = lg.fit(lg.ArcFactored, bank[:60], by=lg.MIRA(order=order, passes=3, bits=18))
    parser = lg.Parser(model)
    wanted = other_tree(bank[70], parser)
    grown = lg.Parser(absorb_arcs(model, [wanted]))
    assert parser.parse(wanted.sentence).tree.heads != wanted.heads
    assert grown.parse(wanted.sentence).tree.heads == wanted.heads
    assert grown.parse(wanted.sentence).tree.deprels[0] == wanted.deprels[0]
    before, after = (each.evaluate(bank[75:]).uas for each in (parser, grown))
    assert after > before - 10
    assert absorb_arcs(model, []) is model


def test_what_is_right_with_a_margin_moves_nothing(bank: lg.Treebank) -> None:
    model = absorb_arcs(lg.fit(lg.ArcFactored, bank[:60], by=lg.MIRA(order=1, passes=3, bits=18)), [bank[3]])
    again = absorb_arcs(model, [bank[3]])
    np.testing.assert_allclose(model.weights.dense, again.weights.dense, atol=1e-7)
