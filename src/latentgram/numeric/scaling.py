"""Scaling of sparse indicator features before a decomposition (004 §3.1).

Canonical correlation whitens both views, φ → C^(-1/2) φ. Of the covariance C of indicators only the diagonal is
kept, which is each feature's frequency: feature i seen count(i) times in M examples is multiplied by

    sqrt(M / (count(i) + κ)),

so a feature's weight falls with the square root of its frequency. κ keeps rare features from ruling.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def whitening(counts: NDArray[Any], examples: int, smoothing: float = 5.0) -> NDArray[np.float64]:
    """The weight of each feature from how often it is seen.

    >>> whitening(np.array([4, 20]), examples=100, smoothing=5)
    array([3.33333333, 2. ])
    """
    return np.sqrt(examples / (np.asarray(counts, np.float64) + smoothing))
