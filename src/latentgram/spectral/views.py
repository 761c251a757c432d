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
from numpy.typing import NDArray

from latentgram.spectral.svd import truncated_svd

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


def join_views(inside: Any, outside: Any, rank: int, *, smallest: float = 0.0) -> TwoViews:
    """Learn the maps from examples in rows: `inside` [N, d] and `outside` [N, d'], dense or sparse.

    Singular values up to `smallest` are dropped (besides those that are zero to rounding).

    >>> inside = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> views = join_views(inside, inside, rank=2)
    >>> views.spectrum
    array([0.66666667, 0.33333333])
    >>> (inside @ views.inside_map).T @ (inside @ views.outside_map) / 3
    array([[1., 0.], [0., 1.]])
    """
    found = truncated_svd(inside.T @ outside / max(inside.shape[0], 1), rank)
    kept = max(int(np.sum(found.values > smallest)), min(1, found.values.size))
    found = found.truncated(kept)
    return TwoViews(found.left, found.right / found.values, found.values)
