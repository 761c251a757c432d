"""Random-looking codes of 64 bits: what stands for a feature, and where its weight lies."""

import numpy as np

from latentgram.compiling import njit

ODD = np.uint64(0x9E3779B97F4A7C15)
"""2⁶⁴ over the golden ratio."""


@njit(inline="always")
def mixed(key, value):
    """The code of a sequence that goes on with a value; order matters (steps of SplitMix64)."""
    x = (key ^ np.uint64(value)) * ODD
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return x ^ (x >> np.uint64(27))


@njit(inline="always")
def bucket(key, bits):
    """The place of a code among 2^bits."""
    return np.int64((key * ODD) >> np.uint64(64 - bits))
