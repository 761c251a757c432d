"""Truncated singular value decompositions with fixed signs, and regularised inverses.

For Ω of size d × d' and rank r, Ω ≈ U diag(s) Vᵀ with the r largest singular values. Three ways, by shape:
LAPACK for small matrices; the eigenvectors of the small Gram matrix when one side is short (d·d'·min(d, d')
work); Lanczos' method for large sparse ones (lanczos.py). Singular vectors are only defined up to sign, so the
entry of largest size in each left vector is made positive: equal input gives equal output. Linear algebra runs on
one thread: these matrices are small, and waiting for threads costs more than they bring.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from latentgram.errors import RankError
from latentgram.numeric.lanczos import basis_size, leading_triples

Floats = NDArray[np.float64]

DENSE_SIDE = 96
"""Up to this length of the shorter side, dense algebra is quicker than Lanczos' method."""
DENSE_CELLS = 40_000
"""Up to this many cells a matrix is decomposed as it is."""


@dataclass(frozen=True)
class Decomposition:
    """`left` [d, r] and `right` [d', r] singular vectors in columns, `values` [r] from the largest down."""

    left: Floats
    values: Floats
    right: Floats

    def truncated(self, rank: int) -> Decomposition:
        """The leading part of this rank: one decomposition serves all smaller ranks."""
        return Decomposition(self.left[:, :rank], self.values[:rank], self.right[:, :rank])


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra in this block runs on one thread."""
    with _libraries().limit(limits=1):
        yield


@cache
def _libraries() -> ThreadpoolController:
    """Looking for the libraries takes longer than many a decomposition, so it is done once."""
    return ThreadpoolController()


def truncated_svd(matrix: Any, rank: int, *, smallest: float = 1e-9) -> Decomposition:
    """The leading singular triples of a dense or sparse matrix, at most `rank`.

    Values below `smallest` times the largest are dropped, so the rank may come out lower (0 for a zero matrix).

    >>> found = truncated_svd(np.array([[0.0, -2.0], [1.0, 0.0]]), 1)
    >>> found.values, found.left @ np.diag(found.values) @ found.right.T + 0.0
    (array([2.]), array([[ 0., -2.], [ 0.,  0.]]))
    """
    if rank < 1:
        raise RankError(f"a decomposition needs a rank of at least 1, got {rank}")
    short = min(matrix.shape)
    if short == 0:
        return Decomposition(np.zeros((matrix.shape[0], 0)), np.zeros(0), np.zeros((matrix.shape[1], 0)))
    with one_thread():
        if matrix.shape[0] * matrix.shape[1] <= DENSE_CELLS or not scipy.sparse.issparse(matrix):
            found = _dense(_as_dense(matrix))
        elif short <= max(DENSE_SIDE, basis_size(rank)):
            found = _by_gram(matrix)
        else:
            found = _by_lanczos(matrix, rank)
    kept = int(np.sum(found.values > smallest * max(found.values[0], np.finfo(float).tiny)))
    return _signed(found.truncated(min(rank, kept)))


def _as_dense(matrix: Any) -> Floats:
    dense: Any = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    return np.asarray(dense, np.float64)


def _dense(matrix: Floats) -> Decomposition:
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    return Decomposition(left, values, right.T)


def _by_gram(matrix: Any) -> Decomposition:
    """ΩΩᵀ = U diag(s²) Uᵀ on the shorter side; the other side follows by projection, V = Ωᵀ U diag(1/s)."""
    if matrix.shape[0] > matrix.shape[1]:
        turned = _by_gram(matrix.T.tocsr())
        return Decomposition(turned.right, turned.values, turned.left)
    squares, vectors = np.linalg.eigh(_as_dense(matrix @ matrix.T))
    values = np.asarray(np.sqrt(np.maximum(squares[::-1], 0.0)), np.float64)
    left = vectors[:, ::-1]
    # Squaring halves the digits: values below 1e-7 of the largest are noise.
    kept = max(1, int(np.sum(values > 1e-7 * values[0])))
    return Decomposition(left[:, :kept], values[:kept], (matrix.T @ left[:, :kept]) / values[:kept])


def _by_lanczos(matrix: Any, rank: int) -> Decomposition:
    if matrix.shape[0] < matrix.shape[1]:
        turned = _by_lanczos(matrix.T, rank)
        return Decomposition(turned.right, turned.values, turned.left)
    rows = matrix.tocsr()
    return Decomposition(*leading_triples(rows.indptr, rows.indices, rows.data, rows.shape[1], rank))


def _signed(found: Decomposition) -> Decomposition:
    """Make the largest entry of every left vector positive; among equals the first decides."""
    if found.values.size == 0:
        return found
    sizes = np.abs(found.left)
    # Entries equal up to rounding must not let the last bit choose.
    leaders = np.argmax(sizes >= sizes.max(0) * (1 - 1e-9), axis=0)
    signs = np.where(found.left[leaders, np.arange(found.values.size)] < 0, -1.0, 1.0)
    return Decomposition(found.left * signs, found.values, found.right * signs)


def ridge_inverse(matrix: Floats, ridge: float = 0.0, *, smallest: float = 1e-12) -> Floats:
    """The pseudo-inverse with σ/(σ² + ridge²) in place of 1/σ.

    >>> ridge_inverse(np.diag([2.0, 0.0]))
    array([[0.5, 0. ], [0. , 0. ]])
    >>> ridge_inverse(np.diag([1.0]), ridge=1.0)
    array([[0.5]])
    """
    with one_thread():
        found = _dense(np.asarray(matrix, np.float64))
        if found.values.size == 0 or found.values[0] == 0:
            return np.zeros(matrix.shape[::-1])
        used = found.truncated(int(np.sum(found.values > smallest * found.values[0])))
        return np.asarray((used.right * (used.values / (used.values**2 + ridge**2))) @ used.left.T)
