"""Weights of hashed features: their sum, and a step of learning along the log-likelihood (numeric/adagrad.py)."""

import numpy as np

from latentgram.compiling import njit
from latentgram.numeric import adagrad
from latentgram.numeric.hashing import bucket


@njit()
def score(keys, weights, bits):
    """The sum of the weights of some keys."""
    total = 0.0
    for k in range(len(keys)):
        total += weights[bucket(keys[k], bits)]
    return total


@njit()
def move(keys, gradient, step, moment, weights, bits):
    """One step of the weights of some keys."""
    for k in range(len(keys)):
        adagrad.move(weights, bucket(keys[k], bits), gradient, step, moment)


@njit()
def sigmoid(x):
    """1 / (1 + exp(−x)), without overflow."""
    if x >= 0.0:
        return 1.0 / (1.0 + np.exp(-x))
    power = np.exp(x)
    return power / (1.0 + power)
