"""Typical subtrees against the best derivations by recursion over everything."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import latentgram as lg
from latentgram.errors import SettingError
from latentgram.lpcfg.inspect.hidden_states import preferred_rules, rule_tensor
from latentgram.lpcfg.inspect.typical_subtrees import TypicalSubtrees
from oracles.latent_truth import truth


def best(grammar: lg.LPCFG, symbol: int, state: int, levels: int) -> float:
    """The probability of the most probable derivation of so many levels, by trying all."""
    found = [0.0]
    for entry, (over, _) in enumerate(grammar.lexicon.tolist()):
        if over == symbol:
            found.append(float(grammar.lexicon_vector[grammar.lexicon_offset[entry] + state]))
    for rule, (parent, left, right) in enumerate(grammar.rules.tolist() if levels > 1 else []):
        if parent == symbol:
            tensor = rule_tensor(grammar, rule)[state]
            for i, j in np.ndindex(*tensor.shape):
                below = best(grammar, left, i, levels - 1) * best(grammar, right, j, levels - 1)
                found.append(float(tensor[i, j]) * below)
    return max(found)


def test_derivations_below_a_state_are_the_best() -> None:
    grammar = truth()
    found = TypicalSubtrees(grammar, levels=4)
    for symbol, m in enumerate(grammar.states.tolist()):
        for state in range(m):
            assert found._best[0][symbol][state] == pytest.approx(best(grammar, symbol, state, 4))


def test_a_subtree_begins_with_a_preferred_rule_and_goes_on_with_the_best() -> None:
    grammar = truth()
    names = (*grammar.interminals, *grammar.preterminals)
    found = TypicalSubtrees(grammar, levels=4)
    for symbol in range(len(grammar.interminals)):
        for state, subtrees in enumerate(found.of(names[symbol], count=2)):
            rules = preferred_rules(grammar, symbol, state, 2)
            assert len(subtrees) == len(rules) > 0
            for rule, subtree in zip(rules, subtrees, strict=True):
                _, left, right = grammar.rules[rule].tolist()
                assert [child.label for child in subtree.tree.children] == [names[left], names[right]]
                tensor = rule_tensor(grammar, rule)[state]
                below = [
                    tensor[i, j] * best(grammar, left, i, 4) * best(grammar, right, j, 4)
                    for i, j in np.ndindex(*tensor.shape)
                ]
                assert subtree.probability == pytest.approx(max(below))


def test_trees_are_those_of_the_treebank() -> None:
    """No intermediate symbol of binarisation, no root label, and a word under every tag."""
    bank = lg.demo_treebank(100, seed=0)
    grammar = lg.fit(lg.LPCFG, bank, by=lg.Clustering(states=2, iterations=1))
    found = TypicalSubtrees(grammar)
    labels = set(bank.forest.labels)
    for symbol in ("NP", "VP", "NN", "@VP"):
        if symbol in grammar.interminals or symbol in grammar.preterminals:
            for subtrees in found.of(symbol):
                assert subtrees
                for subtree in subtrees:
                    assert {node.label for node in subtree.tree.nodes()} <= labels - {"TOP"}
                    assert 0 < subtree.probability <= 1
    with pytest.raises(SettingError, match="no symbol"):
        found.of("no such")


def test_coordinates_have_no_subtrees() -> None:
    with pytest.raises(SettingError, match="coordinates"):
        TypicalSubtrees(dataclasses.replace(truth(), nonnegative=False))
