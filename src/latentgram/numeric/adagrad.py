"""A step of learning for one weight, less far the more it has moved already (AdaGrad), and the mean over moments.

w ← w + step · g / sqrt(1 + Σ g²),    drift = Σ (change · moment),    mean = w − drift / moments
"""

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Floats32
from latentgram.compiling import njit


class Moving(NamedTuple):
    """Weights on their way: their values, the squares of their past gradients, and their drift."""

    value: Floats32
    squares: Floats32
    drift: Floats32


@njit()
def move(weights, place, gradient, step, moment):
    """Move a weight along its gradient."""
    weights.squares[place] += gradient * gradient
    change = step * gradient / np.sqrt(1.0 + weights.squares[place])
    weights.value[place] += change
    weights.drift[place] += change * moment
