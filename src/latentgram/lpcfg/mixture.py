"""What several grammars say together of words and of trees: p = (1/G) Σ_g p_g, from logarithms and signs.

The numbers of spectral grammars are signed, and so is their mixture.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from latentgram.arrays import Floats


def mixed(logs: ArrayLike, signs: ArrayLike) -> tuple[Floats, Floats]:
    """log |p| and the sign of p, from those of the grammars along the first axis; −∞ and 0 for nothing.

    >>> log, sign = mixed(np.log([[0.25, 0.5], [0.75, 0.1]]), [[1, 1], [1, -1]])
    >>> np.exp(log).round(6).tolist(), sign.tolist()
    ([0.5, 0.2], [1.0, 1.0])
    """
    each = np.asarray(logs, np.float64)
    if len(each) == 1:
        return each[0], np.asarray(signs, np.float64)[0]
    most = each.max(axis=0)
    shift = np.where(np.isneginf(most), 0.0, most)
    mean = np.mean(np.asarray(signs) * np.exp(each - shift), axis=0)
    with np.errstate(divide="ignore"):
        return shift + np.log(np.abs(mean)), np.sign(mean)
