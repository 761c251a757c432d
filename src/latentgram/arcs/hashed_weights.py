"""`HashedWeights`: a long vector of weights of which most are zero, kept as the others and their places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class HashedWeights:
    """The weights that are not zero.

    >>> weights = HashedWeights.of(np.array([0, 0.5, 0, -1]))
    >>> weights.bucket, weights.dense
    (array([1, 3], dtype=uint32), array([ 0. ,  0.5,  0. , -1. ], dtype=float32))
    """

    size: int
    bucket: NDArray[np.uint32]
    value: NDArray[np.float32]

    @classmethod
    def of(cls, dense: NDArray[np.floating]) -> HashedWeights:
        """Keep what is not zero, in single precision."""
        rounded = dense.astype(np.float32)
        bucket = np.flatnonzero(rounded)
        return cls(len(rounded), bucket.astype(np.uint32), rounded[bucket])

    @cached_property
    def dense(self) -> NDArray[np.float32]:
        """All weights."""
        weights = np.zeros(self.size, np.float32)
        weights[self.bucket] = self.value
        return weights

    def __len__(self) -> int:
        return len(self.bucket)
