"""Trees with crossing arcs: the best, the k best, sums and draws, against all trees one by one."""

from __future__ import annotations

import numpy as np
import pytest

from latentgram.data.dependencies import DependencyArrays
from latentgram.numeric.spanning import best_spanning, draw_spanning, k_best_spanning, spanning_marginals
from oracles.spanning import all_trees


def scores_of(n_words: int, seed: int, spread: float = 2.0, forbidden: float = 0.0):
    random = np.random.default_rng(seed)
    arc, root = random.normal(0, spread, (n_words, n_words)), random.normal(0, spread, n_words)
    arc[random.random(arc.shape) < forbidden] = -np.inf
    root[random.random(n_words) < forbidden] = -np.inf
    return arc, root


def enumerated(arc, root) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """The trees that are allowed, best first, and their scores."""
    trees = [
        (sum(root[m] if h < 0 else arc[h, m] for m, h in enumerate(heads)), heads)
        for heads in all_trees(len(root))
    ]
    trees = sorted(((score, heads) for score, heads in trees if score > -np.inf), reverse=True)
    return [heads for _, heads in trees], np.array([score for score, _ in trees])


def test_the_oracle_counts_as_cayley_does():
    assert [sum(1 for _ in all_trees(n)) for n in range(1, 6)] == [n ** (n - 1) for n in range(1, 6)]


@pytest.mark.parametrize("n_words", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(
    ("seed", "spread", "forbidden"), [(0, 1.0, 0.0), (1, 5.0, 0.0), (2, 2.0, 0.4), (3, 2.0, 0.6)]
)
def test_against_all_trees(n_words: int, seed: int, spread: float, forbidden: float):
    arc, root = scores_of(n_words, 10 * seed + n_words, spread, forbidden)
    trees, scores = enumerated(arc, root)
    heads, best = best_spanning(arc, root)
    listed, values = k_best_spanning(arc, root, 12)
    arcs, roots, log_total = spanning_marginals(arc, root)
    if not trees:
        assert best == log_total == -np.inf
        assert len(listed) == 0
        assert not arcs.any()
        return
    assert tuple(heads) == trees[0]
    assert best == pytest.approx(scores[0])
    assert [tuple(row) for row in listed] == trees[:12]
    np.testing.assert_allclose(values, scores[:12])
    total = np.logaddexp.reduce(scores)
    assert log_total == pytest.approx(total, abs=1e-8)
    expected = np.zeros((n_words + 1, n_words))
    for tree, score in zip(trees, scores, strict=True):
        expected[np.array(tree) + 1, range(n_words)] += np.exp(score - total)
    np.testing.assert_allclose(np.vstack([roots, arcs]), expected, atol=1e-8)


def test_posteriors_are_right_where_a_determinant_is_not():
    """Two words that want each other, and a way in that is e⁻²⁰⁰ as likely: 1 + e⁻²⁰⁰ − 1 would be 0."""
    arc, root = (
        np.array([[-np.inf, 0.0, -3.0], [0.0, -np.inf, 0.0], [-200.0, -201.0, -np.inf]]),
        np.full(3, -300.0),
    )
    trees, scores = enumerated(arc, root)
    total = np.logaddexp.reduce(scores)
    arcs, roots, log_total = spanning_marginals(arc, root)
    assert log_total == pytest.approx(total)
    expected = np.zeros((4, 3))
    for tree, score in zip(trees, scores, strict=True):
        expected[np.array(tree) + 1, range(3)] += np.exp(score - total)
    np.testing.assert_allclose(np.vstack([roots, arcs]), expected, atol=1e-12)


def test_long_sentences():
    """Every word has one head, the best tree is a tree, and no arc of it can be changed for a better one."""
    arc, root = scores_of(60, 0, 4.0)
    arcs, roots, log_total = spanning_marginals(arc, root)
    np.testing.assert_allclose(arcs.sum(0) + roots, 1.0, atol=1e-9)
    assert roots.sum() == pytest.approx(1.0)
    heads, best = best_spanning(arc, root)
    assert DependencyArrays.of_heads([(heads + 1).tolist()]).fault(0) is None
    assert best < log_total
    values = k_best_spanning(arc, root, 5)[1]
    assert values[0] == pytest.approx(best)
    assert (np.diff(values) <= 0).all()


def test_draws_follow_the_posterior():
    arc, root = scores_of(3, 4, 1.0)
    trees, scores = enumerated(arc, root)
    drawn = draw_spanning(arc, root, np.random.default_rng(0).random((4000, 3)))
    rows = [trees.index(tuple(tree)) for tree in drawn.tolist()]
    share = np.bincount(rows, minlength=len(trees)) / len(rows)
    np.testing.assert_allclose(share, np.exp(scores - np.logaddexp.reduce(scores)), atol=0.03)
