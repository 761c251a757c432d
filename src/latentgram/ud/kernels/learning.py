"""Weights of hashed features: their sum, and a step of learning.

A weight w moves along the gradient g of the log-likelihood, less far the more it has moved already (AdaGrad); the
weights used in the end are the mean over all moments, w − drift / moments with `drift` = Σ (change · moment):

    w ← w + step · g / sqrt(1 + Σ g²)
"""

import numpy as np

from latentgram.compiling import njit
from latentgram.numeric.hashing import bucket


@njit()
def score(keys, size, weights, bits):
    """The sum of the weights of some keys."""
    total = 0.0
    for k in range(size):
        total += weights[bucket(keys[k], bits)]
    return total


@njit()
def move(keys, size, gradient, step, moment, weights, squares, drift, bits):
    """One step of the weights of some keys."""
    for k in range(size):
        place = bucket(keys[k], bits)
        squares[place] += gradient * gradient
        change = step * gradient / np.sqrt(1.0 + squares[place])
        weights[place] += change
        drift[place] += change * moment


@njit()
def sigmoid(x):
    """1 / (1 + exp(−x)), without overflow."""
    if x >= 0.0:
        return 1.0 / (1.0 + np.exp(-x))
    power = np.exp(x)
    return power / (1.0 + power)
