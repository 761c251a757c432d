"""The best tree and draws of trees against enumeration."""

import numpy as np
import pytest

from latentgram.shag.kernels.inside_outside import HeadWeights, inside, tree_weight
from latentgram.shag.kernels.trees import draw_tree
from latentgram.shag.parse import k_best_trees
from oracles.head_trees import positive, random_grammar, weight
from oracles.projective import projective_trees


def positive_grammar(seed, n_words, n_states, n_classes):
    return positive(random_grammar(np.random.default_rng(seed), n_words, n_states, n_classes))


@pytest.mark.parametrize("n_words", range(1, 6))
def test_weight_of_a_tree(n_words):
    grammar = random_grammar(np.random.default_rng(n_words), n_words, 3, 2)
    for heads in projective_trees(n_words):
        value = weight(heads, *grammar)
        log_weight, sign = tree_weight(grammar, np.array(heads))
        assert sign * np.exp(log_weight) == pytest.approx(value, rel=1e-9)


def best_against_enumeration(grammar, n_words):
    trees = sorted(projective_trees(n_words), key=lambda heads: weight(heads, *grammar), reverse=True)
    best = k_best_trees(grammar, 5)
    assert [tuple(heads) for heads, _ in best] == trees[:5]
    logs = np.log([weight(heads, *grammar) for heads in trees[:5]])
    np.testing.assert_allclose([score for _, score in best], logs, atol=1e-7)


@pytest.mark.parametrize("n_words", range(1, 7))
def test_best_tree_of_a_deterministic_grammar(n_words):
    """Two states as in DET+F (first, rest), beside three memory classes."""
    grammar = positive_grammar(n_words, n_words, 2, 3)
    grammar.start[:, :, 1] = 0.0
    grammar.operators[:, 0, :] = 0.0
    best_against_enumeration(grammar, n_words)


@pytest.mark.parametrize("n_words", range(1, 7))
def test_best_tree_of_deterministic_automata(n_words):
    """Three states, in which an operator leads from each to any one."""
    grammar = positive_grammar(n_words, n_words, 3, 2)
    rng = np.random.default_rng(n_words)
    grammar.start[np.arange(3) != rng.integers(0, 3, (2, n_words, 1))] = 0.0
    grammar.operators[np.arange(3)[None, :, None] != rng.integers(0, 3, (5, 1, 3))] = 0.0
    best_against_enumeration(grammar, n_words)


def test_trees_of_several_paths_have_no_list():
    assert k_best_trees(positive_grammar(0, 4, 2, 1), 3) is None


@pytest.mark.parametrize("n_words", [1, 2, 5, 40])
def test_ties_go_to_the_first_root_and_the_nearest_modifiers(n_words):
    """All trees have the weight 0.1^N, whatever rounding makes of its logarithms in one order or another."""
    grammar = HeadWeights.without_states(np.full((n_words, n_words, 2), 0.1), np.full(n_words, 0.1))
    assert k_best_trees(grammar, 1)[0][0].tolist() == list(range(-1, n_words - 1))


def test_draws_follow_the_posterior():
    n_words, n_draws = 4, 20_000
    grammar = positive_grammar(3, n_words, 2, 2)
    trees = list(projective_trees(n_words))
    expected = np.array([weight(heads, *grammar) for heads in trees])
    expected /= expected.sum()
    charts, _, _ = inside(grammar)
    seen = dict.fromkeys(trees, 0)
    for uniforms in np.random.default_rng(0).random((n_draws, 2 * n_words)):
        seen[tuple(draw_tree(grammar, charts, uniforms).tolist())] += 1
    deviation = (np.array(list(seen.values())) / n_draws - expected) / np.sqrt(expected / n_draws)
    assert np.abs(deviation).max() < 4.5
