"""Weights of hashed features after several passes over data: the mean over all steps (numeric/adagrad.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from latentgram.arcs.model import HashedWeights
from latentgram.arrays import Ints
from latentgram.numeric.adagrad import Moving

SMALLEST = 0.01
"""Weights smaller than this are not kept."""


@dataclass(frozen=True)
class Learning:
    """How weights are learned."""

    passes: int
    step: float
    bits: int
    seed: int


def averaged_weights(
    how: Learning,
    count: int,
    moments: int,
    one_pass: Callable[[int, Ints, Moving], float],
    report: Callable[[int, float], None],
) -> HashedWeights:
    """Weights after all passes over `count` things, which have so many moments; the loss of each is reported.

    `one_pass` is given the number of passes done, the order of the things, and the weights to move.
    """
    weights = Moving(*(np.zeros(1 << how.bits, np.float32) for _ in range(3)))
    rng = np.random.default_rng(how.seed)
    for done in range(how.passes):
        loss = one_pass(done, rng.permutation(count), weights)
        report(done + 1, loss / max(moments, 1))
    mean = weights.value - weights.drift / max(how.passes * moments, 1)
    mean[np.abs(mean) < SMALLEST] = 0.0
    return HashedWeights.of(mean)
