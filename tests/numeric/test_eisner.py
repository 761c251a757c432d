"""Arc-factored projective trees against enumeration."""

import numpy as np
import pytest

from latentgram.numeric.eisner import best_heads, k_best_heads, marginals
from latentgram.numeric.semiring import Log
from oracles.projective import ROOT, projective_trees


def scored(arc, root):
    """Every tree with its score, best first."""
    found = []
    for heads in projective_trees(len(root)):
        score = sum(root[word] if head == ROOT else arc[head, word] for word, head in enumerate(heads))
        found.append((score, heads))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("n_words", range(1, 7))
def test_equals_enumeration(n_words):
    rng = np.random.default_rng(n_words)
    arc, root = rng.standard_normal((n_words, n_words)), rng.standard_normal(n_words)
    trees = scored(arc, root)
    weights = np.exp([score for score, _ in trees])
    expected = np.zeros((n_words + 1, n_words))
    for weight, (_, heads) in zip(weights / weights.sum(), trees, strict=True):
        expected[heads, range(n_words)] += weight
    arcs, roots, total = marginals(Log(), arc, root)
    assert total == pytest.approx(np.log(weights.sum()), abs=1e-10)
    np.testing.assert_allclose(arcs, expected[:-1], atol=1e-10)
    np.testing.assert_allclose(roots, expected[ROOT], atol=1e-10)
    heads, score = best_heads(arc, root)
    assert tuple(heads) == trees[0][1]
    assert score == pytest.approx(trees[0][0])
    heads, scores = k_best_heads(arc, root, 12)
    assert [tuple(row) for row in heads.tolist()] == [heads for _, heads in trees[:12]]
    np.testing.assert_allclose(scores, [score for score, _ in trees[:12]], atol=1e-10)


def test_ties_give_one_tree():
    heads, _ = best_heads(np.zeros((6, 6)), np.zeros(6))
    assert tuple(heads) in set(projective_trees(6))


def test_forbidden_arcs_are_not_used():
    arc, root = np.full((4, 4), -np.inf), np.full(4, -np.inf)
    root[1], arc[1, 0], arc[1, 2], arc[2, 3], arc[1, 3] = 0.0, 0.0, 0.0, 1.0, 0.0
    heads, scores = k_best_heads(arc, root, 10)
    assert heads.tolist() == [[1, ROOT, 1, 2], [1, ROOT, 1, 1]]
    assert scores.tolist() == [1.0, 0.0]
