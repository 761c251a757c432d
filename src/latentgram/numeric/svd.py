"""Truncated singular value decompositions with fixed signs, and regularised inverses.

For Ω of size d × d' and rank r, Ω ≈ U diag(s) Vᵀ with the r largest singular values. Three ways, by shape:
LAPACK for small matrices; the eigenvectors of the small Gram matrix when one side is short (d·d'·min(d, d')
work); Lanczos' method for large sparse ones. Singular vectors are only defined up to sign, so the
entry of largest size in each left vector is made positive: equal input gives equal output. Linear algebra runs on
one thread.

Lanczos' method with thick restarts (Wu & Simon 2000): a basis of the Krylov space of AᵀA grows one product at a
time; the eigenvectors of AᵀA projected to it are the best in it. When the basis is full and they are not yet good,
its leading part is kept, with the last residual, and the rest grows anew. Like ARPACK, but compiled as a whole, so
that threads can decompose side by side. For k triples of a d × d' matrix with n numbers, d' ≤ d: some 4k products
of 2n steps, and 12k²·d' for the basis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.sparse

from latentgram.arrays import Floats
from latentgram.compiling import njit
from latentgram.errors import RankError
from latentgram.parallel import one_thread

SparseMatrix: TypeAlias = "scipy.sparse.csr_array[np.float64] | scipy.sparse.csc_array[np.float64]"

DENSE_SIDE = 96
"""Up to this length of the shorter side, dense algebra is quicker than Lanczos' method."""
DENSE_CELLS = 40_000
"""Up to this many cells a matrix is decomposed as it is."""
PRECISION = 1e-12
"""Residuals, relative to the largest eigenvalue of AᵀA, at which Lanczos' vectors are good."""
RESTARTS = 1000


@dataclass(frozen=True)
class Decomposition:
    """`left` [d, r] and `right` [d', r] singular vectors in columns, `values` [r] from the largest down."""

    left: Floats
    values: Floats
    right: Floats

    def truncated(self, rank: int) -> Decomposition:
        """The leading part of this rank: one decomposition serves all smaller ranks."""
        return Decomposition(self.left[:, :rank], self.values[:rank], self.right[:, :rank])

    @property
    def turned(self) -> Decomposition:
        """That of the transposed matrix, but for the signs."""
        return Decomposition(self.right, self.values, self.left)


def truncated_svd(matrix: Floats | SparseMatrix, rank: int, *, smallest: float = 1e-9) -> Decomposition:
    """The leading singular triples of a dense or sparse matrix, at most `rank`.

    Values below `smallest` times the largest are dropped, so the rank may come out lower (0 for a zero matrix).

    >>> svd = truncated_svd(np.array([[0.0, -2.0], [1.0, 0.0]]), 1)
    >>> svd.values, svd.left @ np.diag(svd.values) @ svd.right.T + 0.0
    (array([2.]), array([[ 0., -2.], [ 0.,  0.]]))
    """
    if rank < 1:
        raise RankError(f"a decomposition needs a rank of at least 1, got {rank}")
    short = min(matrix.shape)
    if short == 0:
        return Decomposition(np.zeros((matrix.shape[0], 0)), np.zeros(0), np.zeros((matrix.shape[1], 0)))
    with one_thread():
        if isinstance(matrix, np.ndarray):
            svd = _dense(matrix)
        elif matrix.shape[0] * matrix.shape[1] <= DENSE_CELLS:
            svd = _dense(matrix.toarray())
        elif short <= max(DENSE_SIDE, basis_size(rank)):
            svd = _by_gram(matrix)
        else:
            svd = by_lanczos(matrix, rank)
    kept = int(np.sum(svd.values > smallest * max(svd.values[0], np.finfo(float).tiny)))
    return _signed(svd.truncated(min(rank, kept)))


def _dense(matrix: Floats) -> Decomposition:
    left, values, right = np.linalg.svd(np.asarray(matrix, np.float64), full_matrices=False)
    return Decomposition(left, values, right.T)


def _by_gram(matrix: SparseMatrix) -> Decomposition:
    """ΩΩᵀ = U diag(s²) Uᵀ on the shorter side; the other side follows by projection, V = Ωᵀ U diag(1/s)."""
    if matrix.shape[0] > matrix.shape[1]:
        return _by_gram(matrix.T.tocsr()).turned
    squares, vectors = np.linalg.eigh((matrix @ matrix.T).toarray())
    values = np.asarray(np.sqrt(np.maximum(squares[::-1], 0.0)), np.float64)
    left = vectors[:, ::-1]
    # Squaring halves the digits: values below 1e-7 of the largest are noise.
    kept = max(1, int(np.sum(values > 1e-7 * values[0])))
    return Decomposition(left[:, :kept], values[:kept], (matrix.T @ left[:, :kept]) / values[:kept])


def _signed(svd: Decomposition) -> Decomposition:
    """Make the largest entry of every left vector positive; among equals the first decides."""
    if svd.values.size == 0:
        return svd
    sizes = np.abs(svd.left)
    # Entries equal up to rounding must not let the last bit choose.
    leaders = np.argmax(sizes >= sizes.max(0) * (1 - 1e-9), axis=0)
    signs = np.where(svd.left[leaders, np.arange(svd.values.size)] < 0, -1.0, 1.0)
    return Decomposition(svd.left * signs, svd.values, svd.right * signs)


def ridge_inverse(matrix: Floats, ridge: float = 0.0, *, smallest: float = 1e-12) -> Floats:
    """The pseudo-inverse with σ/(σ² + ridge²) in place of 1/σ.

    >>> ridge_inverse(np.diag([2.0, 0.0]))
    array([[0.5, 0. ], [0. , 0. ]])
    >>> ridge_inverse(np.diag([1.0]), ridge=1.0)
    array([[0.5]])
    """
    with one_thread():
        svd = _dense(np.asarray(matrix, np.float64))
        if svd.values.size == 0 or svd.values[0] == 0:
            return np.zeros(matrix.shape[::-1])
        used = svd.truncated(int(np.sum(svd.values > smallest * svd.values[0])))
        return np.asarray((used.right * (used.values / (used.values**2 + ridge**2))) @ used.left.T)


def basis_size(rank: int) -> int:
    """The vectors that Lanczos' method keeps while `rank` triples are sought."""
    return max(2 * rank + 1, 20)


def by_lanczos(matrix: SparseMatrix, rank: int) -> Decomposition:
    """The `rank` leading triples of a sparse matrix whose sides are at least `basis_size(rank)`."""
    if matrix.shape[0] < matrix.shape[1]:
        return by_lanczos(matrix.T.tocsr(), rank).turned
    rows = matrix.tocsr()
    pointers, columns = rows.indptr.astype(np.int64, copy=False), rows.indices.astype(np.int32, copy=False)
    values, width, size = np.asarray(rows.data, np.float64), rows.shape[1], basis_size(rank)
    basis, projected = np.empty((size + 1, width)), np.zeros((size, size))
    start = np.random.default_rng(0).standard_normal(width)
    basis[0] = start / np.linalg.norm(start)
    kept = 0
    for _ in range(RESTARTS):
        residual = _lanczos_steps(pointers, columns, values, basis, projected, kept)
        squares, vectors = np.linalg.eigh(projected, UPLO="U")
        squares, vectors = squares[::-1], vectors[:, ::-1]
        if np.all(residual * np.abs(vectors[-1, :rank]) <= PRECISION * squares[0]):
            right = (vectors[:, :rank].T @ basis[:size]).T
            svd = _dense(_multiply(pointers, columns, values, np.ascontiguousarray(right)))
            return Decomposition(svd.left, svd.values, right @ svd.right)
        kept = (size + rank) // 2
        basis[:kept] = np.ascontiguousarray(vectors[:, :kept].T) @ basis[:size]
        basis[kept] = basis[size]
        projected[:] = 0.0
        np.fill_diagonal(projected[:kept, :kept], squares[:kept])
    raise RankError(f"the {rank} leading singular vectors were not found in {RESTARTS} restarts")


# A sparse matrix is three arrays to what follows, as in scipy's CSR: `pointers` [rows + 1] to where each row
# begins in `columns` and `values`. All of it lets go of the interpreter's lock.


@njit()
def _multiply(pointers, columns, values, vectors):
    """A · vectors [columns of A, r]."""
    result = np.zeros((pointers.size - 1, vectors.shape[1]))
    for i in range(pointers.size - 1):
        for p in range(pointers[i], pointers[i + 1]):
            for h in range(vectors.shape[1]):
                result[i, h] += values[p] * vectors[columns[p], h]
    return result


@njit()
def _square(pointers, columns, values, vector, result):
    """AᵀA · vector, in one pass over A."""
    result[:] = 0.0
    for i in range(pointers.size - 1):
        total = 0.0
        for p in range(pointers[i], pointers[i + 1]):
            total += values[p] * vector[columns[p]]
        for p in range(pointers[i], pointers[i + 1]):
            result[columns[p]] += total * values[p]


@njit()
def _away_from(basis, vector):
    """Take from a vector its parts along orthonormal rows; returns these."""
    parts = np.dot(basis, vector)
    vector -= np.dot(parts, basis)
    return parts


@njit()
def _lanczos_steps(pointers, columns, values, basis, projected, first):
    """Continue an orthonormal basis (rows) of a Krylov space of AᵀA behind row `first`, up to its last row.

    The upper half of `projected` gets basis · AᵀA · basisᵀ but for the last row, whose length before it was
    normalised is returned. In exact arithmetic a new vector has parts along the two before it only (and, after a
    restart, along all): these are taken off first, and then what rounding has left along any of them.
    """
    length, largest = 0.0, projected[0, 0]
    for j in range(first, basis.shape[0] - 1):
        vector = basis[j + 1]
        _square(pointers, columns, values, basis[j], vector)
        largest = max(largest, np.sqrt(np.dot(vector, vector)))
        near = 0 if j == first else j - 1
        projected[near : j + 1, j] += _away_from(basis[near : j + 1], vector)
        length, before = 0.0, np.inf
        while length < 0.5 * before and before > 1e-14 * largest:
            before = np.sqrt(np.dot(vector, vector))
            projected[: j + 1, j] += _away_from(basis[: j + 1], vector)
            length = np.sqrt(np.dot(vector, vector))
        if length <= 1e-14 * largest:
            # The space is closed: go on from any direction outside of it, which nothing couples to it.
            for i in range(vector.size):
                vector[i] = ((i + 1) * 2654435761 + j * 40503) % 4294967296 / 2147483648.0 - 1.0
            for _ in range(3):
                _away_from(basis[: j + 1], vector)
                vector /= np.sqrt(np.dot(vector, vector))
            length = 0.0
        else:
            vector /= length
    return length
