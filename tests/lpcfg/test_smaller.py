"""Grammars of fewer states: merging what is alike changes nothing, truncating keeps the first coordinates."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from tests.oracles.latent_grammar import random_lpcfg, tree_probabilities

from latentgram.lpcfg.parse.cascade import Cascade
from latentgram.lpcfg.parse.pruning import Pruning
from latentgram.lpcfg.smaller import smaller

WORDS = ["the", "dog", "barks"]


def split_in_two(grammar, seed=0):
    """Every state as two that rewrite alike and are reached unequally."""
    share = np.random.default_rng(seed).uniform(0.2, 0.8, len(grammar.states))

    def twice(vector):
        return np.repeat(vector, 2)

    def shared(vector, symbol):
        return (vector[:, None] * [share[symbol], 1 - share[symbol]]).ravel()

    tensors = []
    for number, (parent, left, right) in enumerate(grammar.rules):
        begin, end = grammar.rule_offset[number : number + 2]
        tensor = grammar.rule_tensor[begin:end].reshape(grammar.states[[parent, left, right]])
        for axis, symbol in ((1, left), (2, right)):
            weights = np.tile([share[symbol], 1 - share[symbol]], grammar.states[symbol])
            tensor = np.repeat(tensor, 2, axis) * np.expand_dims(weights, tuple({0, 1, 2} - {axis}))
        tensors.append(np.repeat(tensor, 2, 0).ravel())

    def roots(flat, change):
        offset = grammar.root_offset
        return np.concatenate([change(flat[offset[s] : offset[s + 1]], s) for s in range(len(grammar.states))])

    return dataclasses.replace(
        grammar,
        states=grammar.states * 2,
        rule_tensor=np.concatenate(tensors),
        rule_offset=np.cumsum([0, *(tensor.size for tensor in tensors)]),
        lexicon_vector=twice(grammar.lexicon_vector),
        lexicon_offset=grammar.lexicon_offset * 2,
        root_vector=roots(grammar.root_vector, shared),
        root_offset=grammar.root_offset * 2,
        mean_inside=twice(grammar.mean_inside),
        mean_outside=roots(grammar.mean_outside, shared),
    )


@pytest.mark.parametrize("seed", range(3))
def test_merging_equal_states_changes_no_tree(seed):
    grammar = dataclasses.replace(random_lpcfg(seed))
    doubled = split_in_two(grammar)
    before = tree_probabilities(grammar, WORDS)
    assert tree_probabilities(doubled, WORDS) == pytest.approx(before)
    merged = smaller(doubled, int(grammar.states.max()))
    assert merged.states.max() == grammar.states.max()
    assert tree_probabilities(merged, WORDS) == pytest.approx(before)


def test_truncation_keeps_the_first_coordinates():
    grammar = random_lpcfg(3, states=4, signed=True)
    small = smaller(grammar, 2)
    np.testing.assert_array_equal(small.states, np.minimum(grammar.states, 2))
    for number, rule in enumerate(grammar.rules):
        begin, end = grammar.rule_offset[number : number + 2]
        tensor = grammar.rule_tensor[begin:end].reshape(grammar.states[rule])
        begin, end = small.rule_offset[number : number + 2]
        np.testing.assert_allclose(small.rule_tensor[begin:end].reshape(small.states[rule]), tensor[:2, :2, :2])


def test_small_grammars_have_no_smaller_one():
    grammar = random_lpcfg(0, states=2)
    smallest = [Cascade((grammar,), Pruning(small_states=most))._small for most in (2, 1)]
    assert smallest[0] is None
    assert smallest[1].states.max() == 1


def test_merging_needs_no_library_that_is_slow_to_import():
    program = (
        "import sys; from tests.oracles.latent_grammar import random_lpcfg\n"
        "from latentgram.lpcfg.smaller import smaller\n"
        "assert smaller(random_lpcfg(0, states=4), 2).states.max() == 2\n"
        "assert 'scipy.cluster' not in sys.modules and 'scipy.sparse' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
