"""Sums of rows by group, as one sparse product."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def sums_by(group: NDArray[np.integer], rows: Floats, groups: int) -> Floats:
    """The sum of the rows of each group, [groups, m], added from first to last.

    >>> sums_by(np.array([1, 0, 1]), np.array([[1.0], [2.0], [3.0]]), 3).ravel()
    array([2., 4., 0.])
    """
    chosen = (np.ones(len(group)), (group, np.arange(len(group))))
    return np.asarray(scipy.sparse.csr_array(chosen, (groups, len(group))) @ rows)
