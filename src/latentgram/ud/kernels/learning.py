"""Weights of hashed features: their sum, and a step of learning along the log-likelihood (numeric/adagrad.py)."""

import numpy as np

from latentgram.compiling import njit
from latentgram.numeric import adagrad
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
        adagrad.move(weights, squares, drift, bucket(keys[k], bits), gradient, step, moment)


@njit()
def sigmoid(x):
    """1 / (1 + exp(−x)), without overflow."""
    if x >= 0.0:
        return 1.0 / (1.0 + np.exp(-x))
    power = np.exp(x)
    return power / (1.0 + power)
