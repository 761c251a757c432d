"""Absorbing trees into head-automata grammars: statistics add, so it is learning from all trees together."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import latentgram as lg
from latentgram.errors import DataError
from latentgram.kinds.kind import update_model, updates
from latentgram.shag.update import update

NEW = lg.DependencyTree(
    ("zu", "zyx", "the", "dog"),
    (2, 0, 4, 2),
    upos=("AAA", "XXX", "DET", "NOUN"),
    xpos=("AA", "XX", "DT", "NN"),
    deprels=("aaa", "root", "det", "zzz"),
)
"""Symbols and relations before, between and behind the known ones; a known head with a new modifier."""


@pytest.fixture(scope="module")
def bank() -> lg.Treebank:
    return lg.demo_dependencies(120, seed=3)


def assert_same(grown: Any, learned: Any, tolerance: float = 1e-9) -> None:
    """Equal in all arrays, symbols and relations, but for where they came from."""
    if isinstance(learned, np.ndarray):
        np.testing.assert_allclose(grown, learned, rtol=0, atol=tolerance)
    elif isinstance(learned, tuple):
        for one, other in zip(grown, learned, strict=True):
            assert_same(one, other, tolerance)
    elif dataclasses.is_dataclass(learned):
        for field in dataclasses.fields(learned):
            if field.name != "provenance":
                assert_same(getattr(grown, field.name), getattr(learned, field.name), tolerance)
    else:
        assert grown == learned


@pytest.mark.parametrize(
    "by",
    [
        lg.Counting(),
        lg.Counting(memory="none", symbols="xpos"),
        lg.Spectral(states=4),
        lg.Spectral(states=4, least=0.5),
    ],
    ids=str,
)
def test_counted_and_spectral_grammars_grow_into_those_of_all_trees(bank: lg.Treebank, by: Any) -> None:
    whole = lg.Treebank.of([*bank[:100], NEW, *bank[100:]])
    grammar = lg.fit(lg.SHAG, whole[:100], by=by)
    grown = update_model(update_model(grammar, [NEW]), list(bank[100:]))
    assert_same(grown, lg.fit(lg.SHAG, whole, by=by))
    assert grown.provenance.trace[-2:] == ({"updated": 1.0}, {"updated": 20.0})


def test_what_a_tree_does_not_touch_stays(bank: lg.Treebank) -> None:
    grammar = lg.fit(lg.SHAG, bank[:100], by=lg.Clustering(states=3))
    grown = update_model(grammar, [NEW])
    for head in set(grammar.symbols.alphabet) - {"DET|DT", "NOUN|NN"}:
        for direction in (lg.LEFT, lg.RIGHT):
            old, new = grammar[head, direction], grown[head, direction]
            np.testing.assert_allclose(new.start, old.start)
            np.testing.assert_allclose(new.stop, old.stop)
            kept = grown.symbols.alphabet.encode(grammar.symbols.alphabet)
            seen = old.step.any((1, 2)) & (grammar.pair_weight[direction, grammar.symbols.find(head)] == 1)
            np.testing.assert_allclose(new.step[kept][seen], old.step[seen], atol=1e-3)


@pytest.mark.parametrize("by", [lg.EM(states=3, iterations=5), lg.Clustering(states=3)], ids=str)
def test_hidden_states_learn_a_tree_that_was_all_but_impossible(bank: lg.Treebank, by: Any) -> None:
    grammar = lg.fit(lg.SHAG, bank[:100], by=by)
    grown = update_model(grammar, [NEW])
    assert grown.tree_logprob(NEW) > grammar.tree_logprob(NEW) + 5
    likelihood = [sum(each.tree_logprob(tree) for tree in bank[:100]) for each in (grammar, grown)]
    assert likelihood[1] > likelihood[0] - 0.02 * abs(likelihood[0])
    for head in grown.symbols.alphabet:
        for direction in (lg.LEFT, lg.RIGHT):
            assert grown[head, direction].total() == pytest.approx(1.0)
    assert (grown.operators >= 0).all()


def test_words_and_distances_are_counted_on(bank: lg.Treebank) -> None:
    """With words that all trees have in common the grammar is that of all trees."""
    trees = [*bank[:100], *bank[:20]]
    renamed = NEW.replace(words=bank[0].words[:4])
    for kind, by in ((lg.LexicalSHAG, lg.Counting(memory="kind", rare=0)), (lg.ArcDistance, lg.Counting())):
        grown = update_model(lg.fit(kind, trees[:100], by=by), [*trees[100:], renamed])
        assert_same(grown, lg.fit(kind, lg.Treebank.of([*trees, renamed]), by=by))


def test_a_product_grows_in_all_its_factors(bank: lg.Treebank) -> None:
    by = lg.Spectral(states=3)
    product = lg.fit(lg.ProductSHAG, bank[:100], by=by)
    grown = update_model(product, list(bank[100:]))
    assert updates(product)
    assert_same(grown.factors[0], lg.fit(lg.SHAG, bank, by=by))
    sizes = [int(factor.symbols.counts.sum()) for factor in grown.factors]
    assert sizes == [sum(len(tree) for tree in bank)] * 3
    by_hand = lg.fit(lg.SHAG, bank[:100], by=by) * lg.fit(lg.ArcDistance, bank[:100], by=lg.Counting()) ** 0.5
    assert_same(update_model(by_hand, list(bank[100:])).factors, (grown.factors[0], grown.factors[2]))


def test_a_grammar_without_its_statistics_says_so(bank: lg.Treebank) -> None:
    grammar = dataclasses.replace(lg.fit(lg.SHAG, bank[:20], by=lg.Counting()), counts=None)
    assert not updates(grammar)
    with pytest.raises(DataError, match="did not keep its statistics"):
        update(grammar, bank[20:22])
