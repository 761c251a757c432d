"""Vectors of symbols from counts of what stands beside them: singular vectors and canonical correlations.

Let C[x, z] count how often symbol x was seen with neighbour z. The singular vectors of C (Hsu et al. 2008) see
the frequent symbols only. Canonical correlation analysis whitens both sides first; the covariance of indicators
being nearly diagonal, that is a scaling by counts (Cohen et al. 2013, §3.1, do the same):

    W_x C W_z ≈ A Σ Bᵀ,   vector of x = row x of W_x A,   so that the mean of (vector)(vector)ᵀ is about 1.

One truncated decomposition of a sparse matrix.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latentgram.numeric.svd import truncated_svd

Floats = NDArray[np.float64]


class Vectors(NamedTuple):
    """[symbols, k] a vector a symbol, and the k singular values (canonical correlations)."""

    vectors: Floats
    values: Floats


def singular_vectors(counts: Any, rank: int) -> Vectors:
    """The left singular vectors of relative frequencies."""
    found = truncated_svd(counts / max(float(counts.sum()), 1.0), rank)
    return Vectors(found.left, found.values)


def canonical_vectors(counts: Any, rank: int, smoothing: float = 5.0) -> Vectors:
    """Canonical correlation analysis of symbols and their neighbours; κ = `smoothing` tames rare ones.

    >>> counts = scipy.sparse.csr_array(np.array([[8.0, 0.0], [0.0, 2.0]]))
    >>> found = canonical_vectors(counts, 2, smoothing=0.0)
    >>> found.values, found.vectors.round(3)
    (array([1., 1.]), array([[1.118, 0. ], [0. , 2.236]]))
    """
    total = float(counts.sum())
    rows, columns = (
        np.sqrt(1.0 / (np.asarray(counts.sum(axis), np.float64).ravel() + smoothing)) for axis in (1, 0)
    )
    seen = [np.where(np.isfinite(weights), weights, 0.0) for weights in (rows, columns)]
    scaled = scipy.sparse.diags_array(seen[0]) @ counts @ scipy.sparse.diags_array(seen[1])
    found = truncated_svd(scaled, rank)
    return Vectors(seen[0][:, None] * found.left * np.sqrt(total), found.values)
