"""Sums of products of vectors, written so that vector instructions do them."""

from __future__ import annotations

from latentgram.compiling import REORDER, njit


@njit(fastmath=REORDER, borrows=True)
def dot(left, right):
    """Σₖ leftₖ rightₖ."""
    total = left.dtype.type(0)
    for k in range(left.shape[0]):
        total += left[k] * right[k]
    return total


@njit(fastmath=REORDER, borrows=True)
def add_scaled(target, value, vector):
    """target += value · vector."""
    for k in range(target.shape[0]):
        target[k] += value * vector[k]
