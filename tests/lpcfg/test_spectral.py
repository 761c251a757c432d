"""Two views of a mixture: the maps find its states."""

import numpy as np
import pytest
import scipy.sparse

from latentgram.lpcfg.features import View, disturbed, dropped
from latentgram.lpcfg.kernels import moments as kernels
from latentgram.lpcfg.views import (
    NodeFeatures,
    TwoViews,
    cross_moment,
    decompose,
    weighted_moment,
    whitening,
)


def examples(number: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three states, each with its own distribution over 20 inside and 30 outside indicators."""
    rng = np.random.default_rng(seed)
    state = rng.integers(3, size=number)
    views = []
    for size in (20, 30):
        likely = rng.dirichlet(np.full(size, 0.2), 3)
        views.append(np.array([[rng.choice(size, p=likely[s])] for s in state], np.int32))
    return state, views[0], views[1]


def joined(inside: np.ndarray, outside: np.ndarray, rank: int) -> TwoViews:
    return decompose(weighted_moment(inside, outside, np.ones(20), np.ones(30)), rank)


def test_rare_features_weigh_more() -> None:
    assert whitening(np.array([0, 5, 95]), 400, 5.0) == pytest.approx([80**0.5, 40**0.5, 2.0])


def test_the_spectrum_shows_the_number_of_states() -> None:
    _, inside, outside = examples(20_000)
    spectrum = joined(inside, outside, rank=6).spectrum
    assert spectrum[2] > 5 * spectrum[3]


def test_both_views_are_biorthogonal_and_agree_on_the_state() -> None:
    state, inside, outside = examples(20_000)
    views = joined(inside, outside, rank=3)
    y, z = views.inside_map[inside[:, 0]], views.outside_map[outside[:, 0]]
    assert y.T @ z / len(state) == pytest.approx(np.eye(3), abs=1e-8)
    means = np.array([[view[state == s].mean(0) for s in range(3)] for view in (y, z)])
    # E[Y|h] and E[Z|h] are dual bases up to the weights of the states.
    assert np.einsum("sh,th,s->st", means[0], means[1], np.ones(3)).round(1) == pytest.approx(
        3 * np.eye(3), abs=0.4
    )


@pytest.mark.parametrize("sizes", [(700, 90), (90, 700), (12, 15)], ids=["long", "wide", "small"])
def test_maps_and_views_of_weighted_features_follow_the_definition(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(5)
    columns = [rng.integers(size, size=(400, 3)).astype(np.int32) for size in sizes]
    weights = [rng.random(size) + 0.5 for size in sizes]
    phi, psi = (
        np.stack([np.bincount(row, minlength=size) for row in column]) * weight
        for column, size, weight in zip(columns, sizes, weights, strict=True)
    )
    left, values, right = np.linalg.svd(phi.T @ psi / 400, full_matrices=False)
    views = decompose(weighted_moment(*columns, *weights), 4)
    assert views.spectrum == pytest.approx(values[:4])
    y = np.zeros((400, 6))
    kernels.project_rows(columns[0], np.arange(400), views.inside_map, y)
    signs = np.sign((phi @ left[:, :4])[0] * y[0, :4])
    assert y[:, :4] == pytest.approx(phi @ left[:, :4] * signs, abs=1e-9)
    assert np.all(y[:, 4:] == 0)
    z = np.stack([views.outside_map[row].sum(0) for row in columns[1]])
    assert z == pytest.approx(psi @ right.T[:, :4] / values[:4] * signs, abs=1e-9)


def test_dropped_features_are_as_if_they_had_not_been_there() -> None:
    """Ω, its maps and the views from noisy features, against vectors in which the dropped ones are zero."""
    rng = np.random.default_rng(7)
    sides = [View(rng.integers(size, size=(300, 3)).astype(np.int32), np.array([size])) for size in (8, 11)]
    noisy = [dropped(side, np.zeros(300, np.int64), 0.4, rng) for side in sides]
    vectors = []
    for side, (before, after) in zip(noisy, zip(sides, noisy, strict=True), strict=True):
        size = int(before.width[0])
        assert side.width[0] == size + 1
        gone = after.column == size
        assert 0.3 < gone.mean() < 0.5
        assert (after.column[~gone] == before.column[~gone]).all()
        assert not gone.all(1).any()
        seen = np.stack([np.bincount(row, minlength=size + 1)[:size] for row in after.column])
        vectors.append(seen * np.sqrt(301 / (seen.sum(0) + 5.0)))
    phi, psi = vectors
    left, values, _ = np.linalg.svd(phi.T @ psi / 300, full_matrices=False)
    features = NodeFeatures(noisy[0].column, noisy[1].column, (9, 12), 301, 5.0, dropped=True)
    views = decompose(cross_moment(features), 4)
    assert views.spectrum == pytest.approx(values[:4])
    y = views.inside_map[noisy[0].column].sum(1)
    assert np.abs(y) == pytest.approx(np.abs(phi @ left[:, :4]), abs=1e-9)


@pytest.mark.parametrize("sizes", [(8, 11), (1100, 900)], ids=["dense", "sparse"])
def test_features_that_noise_multiplies_have_its_values(sizes: tuple[int, int]) -> None:
    """Ω, its maps and the views, against vectors in which a Gaussian of mean 1 stands for each 1."""
    rng = np.random.default_rng(8)
    sides = [
        View(
            np.sort(rng.permuted(np.tile(np.arange(size), (300, 1)), axis=1)[:, :3]).astype(np.int32),
            np.array([size]),
        )
        for size in sizes
    ]
    noisy = [disturbed(side, 0.3, rng) for side in sides]
    vectors = []
    for side, size in zip(noisy, sizes, strict=True):
        assert side.value is not None
        assert side.value.mean() == pytest.approx(1.0, abs=0.05)
        assert side.value.std() == pytest.approx(0.3, abs=0.05)
        seen = np.zeros((300, size))
        np.put_along_axis(seen, side.column, side.value, 1)
        vectors.append(seen * np.sqrt(301 / ((seen != 0).sum(0) + 5.0)))
    phi, psi = vectors
    left, values, right = np.linalg.svd(phi.T @ psi / 300, full_matrices=False)
    features = NodeFeatures(
        noisy[0].column, noisy[1].column, sizes, 301, 5.0, values=(noisy[0].value, noisy[1].value)
    )
    views = decompose(cross_moment(features), 4)
    assert views.spectrum == pytest.approx(values[:4])
    y = (views.inside_map[noisy[0].column] * noisy[0].value[:, :, None]).sum(1)
    assert np.abs(y) == pytest.approx(np.abs(phi @ left[:, :4]), abs=1e-8)
    z = (views.outside_map[noisy[1].column] * noisy[1].value[:, :, None]).sum(1)
    assert np.abs(z) == pytest.approx(np.abs(psi @ right.T[:, :4] / values[:4]), abs=1e-8)


def test_sparse_and_dense_moments_are_the_same() -> None:
    rng = np.random.default_rng(6)
    inside, outside = (
        rng.integers(9, size=(50, 2)).astype(np.int32),
        rng.integers(7, size=(50, 3)).astype(np.int32),
    )
    weights = rng.random(9), rng.random(7)
    pointers, columns, values = kernels.sparse_cross(inside, outside, *weights)
    sparse = scipy.sparse.csr_matrix((values, columns, pointers), (9, 7))
    assert sparse.toarray() == pytest.approx(kernels.dense_cross(inside, outside, *weights), abs=1e-15)
    assert len(np.unique(np.repeat(np.arange(9), np.diff(pointers)) * 7 + columns)) == len(columns)
