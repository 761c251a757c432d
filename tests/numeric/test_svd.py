"""Decompositions against their definition, whichever way they are computed."""

import numpy as np
import pytest
import scipy.sparse

from latentgram.errors import RankError
from latentgram.numeric.svd import basis_size, by_lanczos, ridge_inverse, truncated_svd


def low_rank(rows: int, columns: int, rank: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((rows, rank)) @ rng.standard_normal((rank, columns))
    return matrix * (rng.random((rows, 1)) < 0.7)


@pytest.mark.parametrize(
    ("rows", "columns"), [(12, 30), (30, 12), (40, 2000), (2000, 40), (300, 400)], ids=lambda n: str(n)
)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_low_rank_matrices_are_recovered(rows: int, columns: int, sparse: bool) -> None:
    matrix = low_rank(rows, columns, 4, seed=1)
    found = truncated_svd(scipy.sparse.csr_matrix(matrix) if sparse else matrix, 9, smallest=1e-6)
    assert found.values.size == 4
    assert np.all(np.diff(found.values) <= 0)
    assert found.left @ np.diag(found.values) @ found.right.T == pytest.approx(matrix, abs=1e-8)
    assert found.left.T @ found.left == pytest.approx(np.eye(4), abs=1e-7)
    assert found.right.T @ found.right == pytest.approx(np.eye(4), abs=1e-7)
    leaders = np.abs(found.left).argmax(0)
    assert np.all(found.left[leaders, range(4)] > 0)


def test_truncation_is_the_best_approximation() -> None:
    matrix = low_rank(150, 300, 8, seed=2)
    best = np.linalg.svd(matrix)[1]
    found = truncated_svd(scipy.sparse.csr_matrix(matrix), 3)
    error = np.linalg.norm(matrix - found.left @ np.diag(found.values) @ found.right.T, 2)
    assert error == pytest.approx(best[3], rel=1e-6)


@pytest.mark.parametrize("decay", [0.98, 0.5, 0.0], ids=["slow", "quick", "closed"])
def test_lanczos_finds_what_lapack_finds(decay: float) -> None:
    """With slow decay it has to start again; with quick decay and with low rank the space closes early."""
    rng = np.random.default_rng(7)
    left, right = (np.linalg.qr(rng.standard_normal((side, 150)))[0] for side in (700, 150))
    values = decay ** np.arange(150) if decay else (np.arange(150) < 5) * (1.0 + np.arange(150)[::-1])
    assert basis_size(12) < 150
    svd = by_lanczos(scipy.sparse.csr_array(left * values @ right.T), 12)
    # Squares of values below the square root of the precision are lost in rounding.
    good = int(np.sum(values[:12] > 1e-3 * values[0]))
    assert svd.values[:good] == pytest.approx(values[:good], rel=1e-9)
    assert np.all(svd.values[good:] < 2e-3 * values[0])
    assert np.abs(np.sum(svd.left * left[:, :12], axis=0))[:good] == pytest.approx(np.ones(good), abs=1e-8)
    assert svd.right.T @ svd.right == pytest.approx(np.eye(12), abs=1e-9)


def test_equal_input_gives_equal_output() -> None:
    matrix = scipy.sparse.csr_matrix(low_rank(150, 300, 8, seed=3))
    first, second = truncated_svd(matrix, 5), truncated_svd(matrix.copy(), 5)
    assert np.array_equal(first.left, second.left)
    assert np.array_equal(first.right, second.right)


def test_nothing_and_zero_have_rank_zero() -> None:
    assert truncated_svd(np.zeros((3, 4)), 2).values.size == 0
    assert truncated_svd(np.zeros((0, 4)), 2).left.shape == (0, 0)
    with pytest.raises(RankError, match="rank of at least 1"):
        truncated_svd(np.eye(2), 0)


def test_the_inverse_without_ridge_is_the_pseudo_inverse() -> None:
    matrix = low_rank(6, 4, 2, seed=4)
    assert ridge_inverse(matrix) == pytest.approx(np.linalg.pinv(matrix), abs=1e-9)
    assert ridge_inverse(np.zeros((2, 3))) == pytest.approx(np.zeros((3, 2)))
    square = np.diag([3.0, 4.0])
    assert ridge_inverse(square, ridge=1.0) == pytest.approx(np.diag([0.3, 4 / 17]))
