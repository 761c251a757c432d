"""Typical subtrees against recursion over everything, likely ones against the grammar before its rotation."""

from __future__ import annotations

import dataclasses
from itertools import product

import numpy as np
import pytest

import latentgram as lg
from latentgram.errors import SettingError
from latentgram.lpcfg.inspect.states import preferred_rules, symbol_number
from latentgram.lpcfg.inspect.subtrees import LikelySubtrees, TypicalSubtrees
from oracles.latent_truth import rotated, truth

ROTATION = np.array([[1.0, 2.0], [0.5, -1.0]])


def best(grammar: lg.LPCFG, symbol: int, state: int, levels: int) -> float:
    """The probability of the most probable derivation of so many levels, by trying all."""
    found = [0.0]
    for entry, (over, _) in enumerate(grammar.lexicon.tolist()):
        if over == symbol:
            found.append(float(grammar.lexicon_vector[grammar.lexicon_offset[entry] + state]))
    for rule, (parent, left, right) in enumerate(grammar.rules.tolist() if levels > 1 else []):
        if parent == symbol:
            tensor = grammar.tensor(rule)[state]
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
                tensor = grammar.tensor(rule)[state]
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


def inside(grammar: lg.LPCFG, tree: lg.Tree) -> np.ndarray:
    """The inside vector of a binary tree by recursion over its nodes."""
    symbol = symbol_number(grammar, tree.label)
    if tree.word is not None:
        row = [symbol, grammar.words.index(tree.word)]
        entry = int(np.flatnonzero((grammar.lexicon == row).all(1))[0])
        return grammar.vector(entry)
    numbers = [symbol, *(symbol_number(grammar, child.label) for child in tree.children)]
    rule = int(np.flatnonzero((grammar.rules == numbers).all(1))[0])
    left, right = (inside(grammar, child) for child in tree.children)
    return np.einsum("hjk,j,k->h", grammar.tensor(rule), left, right)


def test_probabilities_are_those_of_the_grammar_without_the_rotation() -> None:
    known = truth()
    hidden = rotated(known, [ROTATION] * 4)
    for rule, side in product(range(len(known.rules)), (1, -1)):
        found = LikelySubtrees(hidden).pulling(rule, 1, side)
        assert found is not None
        symbol = symbol_number(known, found.tree.label)
        expected = known.of_symbol(known.mean_outside, symbol) @ inside(known, found.tree)
        assert found.probability == pytest.approx(float(expected))


def test_the_likeliest_words_come_first() -> None:
    known = truth()
    beams = LikelySubtrees(rotated(known, [ROTATION] * 4), width=100)._beams
    for symbol in (symbol_number(known, "A"), symbol_number(known, "B")):
        name = known.symbol_name(symbol)
        entries = np.flatnonzero(known.lexicon[:, 0] == symbol)
        share = {
            known.words[w]: inside(known, lg.Tree(name, word=known.words[w])).mean()
            for w in known.lexicon[entries, 1]
        }
        shown = [share[tree.word] for tree in beams[symbol].trees]
        assert shown == pytest.approx(sorted(share.values(), reverse=True))
