"""Two views of a mixture: the maps find its states."""

import numpy as np
import pytest
import scipy.sparse

from latentgram.spectral.scaling import scale_columns, whitening
from latentgram.spectral.views import join_views


def examples(number: int, seed: int = 0) -> tuple[np.ndarray, scipy.sparse.csr_matrix, scipy.sparse.csr_matrix]:
    """Three states, each with its own distribution over 20 inside and 30 outside indicators."""
    rng = np.random.default_rng(seed)
    state = rng.integers(3, size=number)
    views = []
    for size in (20, 30):
        likely = rng.dirichlet(np.full(size, 0.2), 3)
        drawn = np.array([rng.choice(size, p=likely[s]) for s in state])
        views.append(scipy.sparse.csr_matrix((np.ones(number), (np.arange(number), drawn)), (number, size)))
    return state, views[0], views[1]


def test_the_spectrum_shows_the_number_of_states() -> None:
    _, inside, outside = examples(20_000)
    spectrum = join_views(inside, outside, rank=6).spectrum
    assert spectrum[2] > 5 * spectrum[3]


def test_both_views_are_biorthogonal_and_agree_on_the_state() -> None:
    state, inside, outside = examples(20_000)
    views = join_views(inside, outside, rank=3)
    y, z = inside @ views.inside_map, outside @ views.outside_map
    assert y.T @ z / len(state) == pytest.approx(np.eye(3), abs=1e-8)
    means = np.array([[view[state == s].mean(0) for s in range(3)] for view in (y, z)])
    # E[Y|h] and E[Z|h] are dual bases up to the weights of the states.
    assert np.einsum("sh,th,s->st", means[0], means[1], np.ones(3)).round(1) == pytest.approx(
        3 * np.eye(3), abs=0.4
    )


def test_small_singular_values_are_dropped_but_never_all() -> None:
    _, inside, outside = examples(2_000)
    assert join_views(inside, outside, 10, smallest=0.05).spectrum.min() > 0.05
    assert join_views(inside, outside, 10, smallest=10.0).spectrum.size == 1


def test_rare_features_weigh_more() -> None:
    counts = np.array([0, 5, 95])
    weights = whitening(counts, 400, 5.0)
    assert weights == pytest.approx([80**0.5, 40**0.5, 2.0])
    matrix = scipy.sparse.csr_matrix(np.array([[1.0, 0, 1], [0, 1, 0]]))
    assert scale_columns(matrix, weights).toarray() == pytest.approx(matrix.toarray() * weights)
