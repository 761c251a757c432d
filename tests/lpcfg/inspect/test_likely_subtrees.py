"""Likely subtrees: their probabilities are those of the grammar, whatever its coordinates."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import latentgram as lg
from latentgram.lpcfg.inspect.hidden_states import piece, rule_tensor, symbol_name, symbol_number
from latentgram.lpcfg.inspect.likely_subtrees import LikelySubtrees
from oracles.latent_truth import rotated, truth

ROTATION = np.array([[1.0, 2.0], [0.5, -1.0]])


def inside(grammar: lg.LPCFG, tree: lg.Tree) -> np.ndarray:
    """The inside vector of a binary tree by recursion over its nodes."""
    symbol = symbol_number(grammar, tree.label)
    if tree.word is not None:
        row = [symbol, grammar.words.index(tree.word)]
        entry = int(np.flatnonzero((grammar.lexicon == row).all(1))[0])
        return grammar.lexicon_vector[slice(*grammar.lexicon_offset[entry : entry + 2])]
    numbers = [symbol, *(symbol_number(grammar, child.label) for child in tree.children)]
    rule = int(np.flatnonzero((grammar.rules == numbers).all(1))[0])
    left, right = (inside(grammar, child) for child in tree.children)
    return np.einsum("hjk,j,k->h", rule_tensor(grammar, rule), left, right)


def test_probabilities_are_those_of_the_grammar_without_the_rotation() -> None:
    known = truth()
    hidden = rotated(known, [ROTATION] * 4)
    for rule, side in product(range(len(known.rules)), (1, -1)):
        found = LikelySubtrees(hidden).pulling(rule, 1, side)
        assert found is not None
        symbol = symbol_number(known, found.tree.label)
        expected = piece(known.mean_outside, known, symbol) @ inside(known, found.tree)
        assert found.probability == pytest.approx(float(expected))


def test_the_likeliest_words_come_first() -> None:
    known = truth()
    beams = LikelySubtrees(rotated(known, [ROTATION] * 4), width=100)._beams
    for symbol in (symbol_number(known, "A"), symbol_number(known, "B")):
        name = symbol_name(known, symbol)
        entries = np.flatnonzero(known.lexicon[:, 0] == symbol)
        share = {
            known.words[w]: inside(known, lg.Tree(name, word=known.words[w])).mean()
            for w in known.lexicon[entries, 1]
        }
        shown = [share[tree.word] for tree in beams[symbol].trees]
        assert shown == pytest.approx(sorted(share.values(), reverse=True))
