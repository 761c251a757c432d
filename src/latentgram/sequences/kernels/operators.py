"""Products of operators along strings, f(x₁ … x_T) = stopᵀ A_{x_T} ⋯ A_{x_1} start, in ℝ with exact scaling.

The vectors may be negative, so no logarithms inside: after each symbol the vector is divided by its largest
absolute entry and the logarithms of the divisors are added up. O(T n²).
"""

import numpy as np
from numba import njit


@njit(cache=True)
def string_values(start, stop, step, tokens, offset):
    """Sign and log |f| of each string `tokens[offset[i] : offset[i + 1]]`; a symbol below 0 gives f = 0."""
    size = start.size
    sign = np.zeros(offset.size - 1)
    log_size = np.full(offset.size - 1, -np.inf)
    state = np.empty(size)
    moved = np.empty(size)
    for string in range(offset.size - 1):
        state[:] = start
        scale = 0.0
        known = True
        for place in range(offset[string], offset[string + 1]):
            symbol = tokens[place]
            if symbol < 0:
                known = False
                break
            largest = 0.0
            for j in range(size):
                total = 0.0
                for k in range(size):
                    total += step[symbol, j, k] * state[k]
                moved[j] = total
                largest = max(largest, abs(total))
            if largest == 0.0:
                known = False
                break
            for j in range(size):
                state[j] = moved[j] / largest
            scale += np.log(largest)
        if known:
            value = 0.0
            for j in range(size):
                value += stop[j] * state[j]
            sign[string] = np.sign(value)
            if value != 0.0:
                log_size[string] = np.log(abs(value)) + scale
    return sign, log_size
