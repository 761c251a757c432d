"""What coordinates tell apart, on a grammar whose states are known and then hidden by a rotation."""

from __future__ import annotations

import numpy as np
import pytest

import latentgram as lg
from latentgram.lpcfg.inspect.coordinates import coordinates, events_below
from latentgram.lpcfg.inspect.hidden_states import piece, symbol_number
from oracles.latent_truth import rotated, truth

SUM_AND_DIFFERENCE = np.array([[1.0, 1.0], [1.0, -1.0]])


def test_the_difference_of_two_states_has_their_words_at_its_ends() -> None:
    grammar = rotated(truth(), [SUM_AND_DIFFERENCE] * 4)
    together, apart = coordinates(grammar, "A", top=2)
    ends = {tuple(each.name for each in end) for end in apart.ends}
    assert ends == {("a0", "a1"), ("a3", "a2")}
    assert together.number == 0
    # The share of a word is that of both states together, whatever the coordinates.
    shares = {each.name: each.probability for end in apart.ends for each in end}
    assert shares["a0"] == pytest.approx(0.4)
    rules = coordinates(grammar, "X")[1].ends
    assert all(grammar.rules[each.rule, 0] == symbol_number(grammar, "X") for end in rules for each in end)


def test_events_add_up_to_the_symbol() -> None:
    grammar = truth()
    for name in (*grammar.interminals, *grammar.preterminals):
        _, vectors = events_below(grammar, symbol_number(grammar, name))
        np.testing.assert_allclose(
            vectors.sum(0), piece(grammar.mean_inside, grammar, symbol_number(grammar, name))
        )


def test_words_are_shown_and_not_what_stands_for_unknown_ones() -> None:
    grammar = lg.fit(lg.LPCFG, lg.demo_treebank(80, seed=0), by=lg.Spectral(states=2))
    names = {each.name for found in coordinates(grammar, "NN") for end in found.ends for each in end}
    assert names
    assert not [name for name in names if name.startswith("‹")]
