"""The leading singular triples of a sparse matrix by Lanczos' method with thick restarts (Wu & Simon 2000).

A basis of the Krylov space of AᵀA grows one product at a time; the eigenvectors of AᵀA projected to it are the
best in it. When the basis is full and they are not yet good, its leading part is kept, with the last residual, and
the rest grows anew. Like ARPACK, but compiled as a whole, so that threads can decompose side by side. For k
triples of a d × d' matrix with n numbers, d' ≤ d: some 4k products of 2n steps, and 12k²·d' for the basis.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentgram.errors import RankError
from latentgram.numeric import sparse as kernels

Floats = NDArray[np.float64]

PRECISION = 1e-12
"""Residuals, relative to the largest eigenvalue of AᵀA, at which vectors are good."""
RESTARTS = 1000


def basis_size(rank: int) -> int:
    """The vectors kept while `rank` triples are sought."""
    return max(2 * rank + 1, 20)


def leading_triples(
    pointers: NDArray[np.integer], columns: NDArray[np.integer], values: Floats, width: int, rank: int
) -> tuple[Floats, Floats, Floats]:
    """U [d, rank], σ from the largest down, and V [width, rank] of a sparse matrix with `width` columns.

    `width` must be at least `basis_size(rank)`, and should be the shorter side.
    """
    pointers, columns = pointers.astype(np.int64, copy=False), columns.astype(np.int32, copy=False)
    values = np.asarray(values, np.float64)
    size = basis_size(rank)
    basis, projected = np.empty((size + 1, width)), np.zeros((size, size))
    start = np.random.default_rng(0).standard_normal(width)
    basis[0] = start / np.linalg.norm(start)
    kept = 0
    for _ in range(RESTARTS):
        residual = kernels.lanczos_steps(pointers, columns, values, basis, projected, kept)
        squares, vectors = np.linalg.eigh(projected, UPLO="U")
        squares, vectors = squares[::-1], vectors[:, ::-1]
        if np.all(residual * np.abs(vectors[-1, :rank]) <= PRECISION * squares[0]):
            right = (vectors[:, :rank].T @ basis[:size]).T
            left, sizes, turn = np.linalg.svd(
                kernels.multiply(pointers, columns, values, np.ascontiguousarray(right)), full_matrices=False
            )
            return left, sizes, right @ turn.T
        kept = (size + rank) // 2
        basis[:kept] = np.ascontiguousarray(vectors[:, :kept].T) @ basis[:size]
        basis[kept] = basis[size]
        projected[:] = 0.0
        np.fill_diagonal(projected[:kept, :kept], squares[:kept])
    raise RankError(f"the {rank} leading singular vectors were not found in {RESTARTS} restarts")
