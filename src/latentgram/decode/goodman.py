"""Goodman's decoder: the tree whose nodes are expected to be right most often (Goodman 1996).

The expected number of right labelled nodes of a tree is the sum of their posteriors, so

    best = argmax_tree Σ_{(a,i,j) in tree} μ(a,i,j).

Spectral posteriors may be negative by error; |μ| is what 004 §4.2 uses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Goodman:
    """Most labelled nodes right in expectation.

    `intermediate` is what a node counts that binarisation put in and that is not in the tree in the end. With
    `signed` negative posteriors count as they are, which 004 §3.3 found to be bad.

    >>> Goodman()
    Goodman(intermediate=1.0, signed=False)
    """

    intermediate: float = 1.0
    signed: bool = False

    def gains(
        self,
        items: NDArray[np.float64],
        edges: NDArray[np.float64],
        leaves: int,
        intermediate: NDArray[np.bool_],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What each item and each edge adds to the objective, from their posteriors.

        The first `leaves` items are over words; `intermediate` are those that binarisation put in.
        """
        gain = items if self.signed else np.abs(items)
        return np.where(intermediate, self.intermediate * gain, gain), np.zeros_like(edges)
