"""Posteriors in plain numbers against those in logarithms, and where plain numbers do not suffice."""

from __future__ import annotations

import numpy as np
import pytest

from latentgram.numeric.projective import first_order, marginals, second_order
from latentgram.numeric.projective_posteriors import posteriors
from latentgram.numeric.semiring import Log


def drawn_scores(n_words: int, order: int, spread: float):
    random = np.random.default_rng(n_words + order)
    arc, root = random.normal(0, spread, (n_words, n_words)), random.normal(0, spread, n_words)
    if order == 1:
        np.fill_diagonal(arc, -np.inf)
        return first_order(arc, root)
    kept = random.random((n_words, n_words)) < 0.7
    kept[0] = True
    np.fill_diagonal(kept, False)
    listed = second_order(kept)
    return listed._replace(arc=arc, root=root, sibling=random.normal(0, spread, len(listed.sibling)))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    ("n_words", "spread"), [(1, 1.0), (2, 1.0), (9, 0.5), (12, 40.0), (20, 5.0), (160, 1.0), (200, 40.0)]
)
def test_both_ways_agree(order: int, n_words: int, spread: float) -> None:
    """Also with weights whose best trees lie far below the product of the best heads."""
    scores = drawn_scores(n_words, order, spread)
    scaled = scores._replace(arc=1.7 * scores.arc, root=1.7 * scores.root, sibling=1.7 * scores.sibling)
    expected_arcs, expected_roots, expected_total = marginals(Log(), scaled)
    arcs, roots, total = posteriors(scores, 1.7)
    assert total == pytest.approx(expected_total, rel=1e-10)
    np.testing.assert_allclose(arcs, expected_arcs, atol=1e-9)
    np.testing.assert_allclose(roots, expected_roots, atol=1e-9)


def test_no_tree_has_no_posteriors() -> None:
    scores = first_order(np.full((3, 3), -np.inf), np.zeros(3))
    arcs, roots, total = posteriors(scores, 1.0)
    assert total == -np.inf
    assert not arcs.any()
    assert not roots.any()
