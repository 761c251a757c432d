"""Two views of the same hidden state, and the maps that bring both to few dimensions (004 §2.2.1).

An example has an inside view φ (d features) and an outside view ψ (d' features) that are independent given a
hidden state of m values. Then Ω = E[φ ψᵀ] has rank m, and with its decomposition U Σ Vᵀ

    Y = Uᵀ φ,    Z = Σ⁻¹ Vᵀ ψ,    E[Y Zᵀ] = I,

so Y and Z are coordinates of the state seen from inside and from outside. Cost: N·|φ|·|ψ| for Ω with |φ|, |ψ|
the non-zeros of an example, then one truncated decomposition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latentgram.numeric import sparse as kernels
from latentgram.numeric.svd import DENSE_CELLS, truncated_svd

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TwoViews:
    """`inside_map` U [d, r], `outside_map` V Σ⁻¹ [d', r] and the `spectrum` [r]."""

    inside_map: Floats
    outside_map: Floats
    spectrum: Floats

    def truncated(self, rank: int) -> TwoViews:
        """The maps to the leading dimensions."""
        return TwoViews(self.inside_map[:, :rank], self.outside_map[:, :rank], self.spectrum[:rank])


def join_views(
    inside: NDArray[np.int32],
    outside: NDArray[np.int32],
    inside_weight: Floats,
    outside_weight: Floats,
    rank: int,
) -> TwoViews:
    """Learn the maps from examples of which each has a few features: rows of their numbers, [N, F] and [N, G].

    Features are multiplied by weights [d] and [d'], and so are the rows of the maps: Y is the sum of the rows of
    an example's features (`kernels.project_rows`). Compiled, but for what LAPACK does.

    >>> inside = np.array([[0], [0], [1]], np.int32)
    >>> views = join_views(inside, inside, np.ones(2), np.ones(2), rank=2)
    >>> views.spectrum
    array([0.66666667, 0.33333333])
    >>> views.inside_map[inside[:, 0]].T @ views.outside_map[inside[:, 0]] / 3
    array([[1., 0.], [0., 1.]])
    """
    if len(inside_weight) * len(outside_weight) <= DENSE_CELLS:
        cross = kernels.dense_cross(inside, outside, inside_weight, outside_weight)
    elif len(inside_weight) >= len(outside_weight):
        cross = _sparse_cross(inside, outside, inside_weight, outside_weight)
    else:
        cross = _sparse_cross(outside, inside, outside_weight, inside_weight).T
    found = truncated_svd(cross, rank)
    return TwoViews(
        inside_weight[:, None] * found.left,
        outside_weight[:, None] * (found.right / found.values),
        found.values,
    )


def _sparse_cross(rows: NDArray[np.int32], columns: NDArray[np.int32], row_weight: Floats, weight: Floats) -> Any:
    pointers, column, values = kernels.sparse_cross(rows, columns, row_weight, weight)
    return scipy.sparse.csr_matrix((values, column, pointers), (len(row_weight), len(weight)))
