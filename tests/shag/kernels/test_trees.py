"""The best tree and draws of trees against enumeration."""

import numpy as np
import pytest

from latentgram.shag.kernels.inside_outside import inside, tree_weight
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


@pytest.mark.parametrize("n_words", range(1, 7))
def test_best_tree_of_a_deterministic_grammar(n_words):
    """Two states as in DET+F (first, rest), beside three memory classes."""
    grammar = positive_grammar(n_words, n_words, 2, 3)
    grammar.start[:, :, 1] = 0.0
    grammar.operators[:, 0, :] = 0.0
    trees = sorted(projective_trees(n_words), key=lambda heads: weight(heads, *grammar), reverse=True)
    best = k_best_trees(grammar, 5)
    assert [tuple(heads) for heads, _ in best] == trees[:5]
    # Scores are the logarithms of weights but for what all trees have: the ends of words without modifiers.
    logs = np.log([weight(heads, *grammar) for heads in trees[:5]])
    np.testing.assert_allclose([score - best[0][1] for _, score in best], logs - logs[0], atol=1e-9)


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
