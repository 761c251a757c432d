"""What states prefer and coordinates tell apart, on a grammar whose states are known and then rotated."""

import numpy as np
import pytest
from tests.oracles.latent_truth import rotated, truth

import latentgram as lg
from latentgram.data.brackets import parse_tree
from latentgram.errors import SettingError
from latentgram.lpcfg.inspect.states import (
    coordinates,
    events_below,
    hidden_states,
    hierarchy,
    state_strength,
    symbol_number,
)

SUM_AND_DIFFERENCE = np.array([[1.0, 1.0], [1.0, -1.0]])


def test_states_tell_their_words_and_their_contexts() -> None:
    first, second = sorted(hidden_states(truth(), "A", top=2), key=lambda state: state.number)
    assert [preference.event for preference in first.below] == ["a0", "a1"]
    assert [preference.event for preference in second.below] == ["a3", "a2"]
    assert first.below[0].probability == pytest.approx(0.7)
    assert first.below[0].lift == pytest.approx(0.7 / 0.4)
    assert "X → A* B" in [preference.event for preference in first.above]
    assert str(first).startswith("state 0 (50.0%)\n  below: a0 (70.0%, ×1.8)")


def test_contexts_are_the_joint_of_parent_and_rule() -> None:
    """Against Σ over the states of parent and sibling of p(parent) · p(rule, states | parent), loop by loop."""
    grammar, names = truth(), ("S", "X", "A", "B")
    joint: dict[str, list[float]] = {}
    for row, rule in enumerate(grammar.rules.tolist()):
        tensor = grammar.rule_tensor[grammar.rule_offset[row] : grammar.rule_offset[row + 1]].reshape(2, 2, 2)
        parents = sum(1 for other in grammar.rules.tolist() if other[0] == rule[0])  # each rule is counted once
        for i, j, k in np.ndindex(2, 2, 2):
            for place, state in ((1, j), (2, k)):
                if names[rule[place]] == "A":
                    shown = [names[s] + "*" * (at == place) for at, s in enumerate(rule)]
                    event = f"{shown[0]} → {shown[1]} {shown[2]}"
                    joint.setdefault(event, [0.0, 0.0])[state] += parents * 0.5 * tensor[i, j, k]
    total = np.sum(list(joint.values()), axis=0)
    for state in hidden_states(grammar, "A", top=20, least=0):
        for preference in state.above:
            expected = joint[preference.event][state.number] / total[state.number]
            assert preference.probability == pytest.approx(expected)
            assert preference.lift == pytest.approx(
                expected / np.mean([joint[preference.event][h] / total[h] for h in range(2)])
            )


def test_coordinates_have_no_meaning_but_a_strength() -> None:
    other = rotated(truth(), [np.array([[1.0, 2.0], [0.5, -1.0]])] * 4)
    with pytest.raises(SettingError, match="coordinates without a meaning"):
        hidden_states(other, "A")
    with pytest.raises(SettingError, match="no symbol 'Z'"):
        hidden_states(truth(), "Z")
    assert state_strength(truth())["S"] == pytest.approx([0.5, 0.5])


def test_the_hierarchy_joins_all_states() -> None:
    steps = hierarchy(truth(), "X")
    assert steps.shape == (1, 4)
    assert steps[0, 3] == 2


def test_labels_with_marks_are_found_as_the_treebank_has_them() -> None:
    bank = lg.Treebank.of([parse_tree("(S (N+P (D~ the) (N cat)) (VP (V sleeps) (R well)))")])
    grammar = lg.fit(lg.LPCFG, bank, by=lg.Counting(rare=0))
    assert grammar.interminals[symbol_number(grammar, "N+P")] == r"N\+P"
    assert symbol_number(grammar, "D~") == symbol_number(grammar, r"D\~")
    with pytest.raises(SettingError, match=r"no symbol 'VP1'; the nearest are VP"):
        symbol_number(grammar, "VP1")


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
        symbol = symbol_number(grammar, name)
        _, vectors = events_below(grammar, symbol)
        np.testing.assert_allclose(vectors.sum(0), grammar.of_symbol(grammar.mean_inside, symbol))


def test_words_are_shown_and_not_what_stands_for_unknown_ones() -> None:
    grammar = lg.fit(lg.LPCFG, lg.demo_treebank(80, seed=0), by=lg.Spectral(states=2))
    names = {each.name for found in coordinates(grammar, "NN") for end in found.ends for each in end}
    assert names
    assert not [name for name in names if name.startswith("‹")]
