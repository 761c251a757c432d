"""A step of learning for one weight, less far the more it has moved already (AdaGrad), and the mean over moments.

w ← w + step · g / sqrt(1 + Σ g²),    drift = Σ (change · moment),    mean = w − drift / moments
"""

import numpy as np

from latentgram.compiling import njit


@njit()
def move(values, squares, drift, place, gradient, step, moment):
    """Move a weight along its gradient."""
    squares[place] += gradient * gradient
    change = step * gradient / np.sqrt(1.0 + squares[place])
    values[place] += change
    drift[place] += change * moment
