"""Means of rows over groups, each pulled to a coarser mean, and rows of different lengths laid end to end.

    mean(r) = (Σ_{i in group r} x_i + K · mean(coarse(r))) / (n(r) + K),    or mean(coarse(r)) where n(r) + K = 0.

Coarser means come before finer ones in the table. Cost: the rows of all groups, once.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def pulled_means(first, last, member, begin, end, coarse, seen, pull, place, rows, table, above):
    """Write the means numbered first to last into the rows of `table` that follow the first `above`.

    Group r are the members begin[r] to end[r], which have their rows at `place`; `coarse` is a row of the table,
    or -1 where there is nothing to be pulled to.
    """
    for r in range(first, last):
        mean = table[above + r]
        mean[:] = 0.0
        for i in range(begin[r], end[r]):
            row = place[member[i]]
            for h in range(rows.shape[1]):
                mean[h] += rows[row, h]
        if coarse[r] < 0:
            mean /= seen[r]
        elif seen[r] + pull > 0.0:
            for h in range(rows.shape[1]):
                mean[h] = (mean[h] + pull * table[coarse[r], h]) / (seen[r] + pull)
        else:
            mean[:] = table[coarse[r]]


@njit(cache=True, nogil=True)
def scaled_rows(first, last, table, chosen, factor, result):
    """Write the chosen rows of a table, each multiplied by a factor."""
    for r in range(first, last):
        for h in range(table.shape[1]):
            result[r, h] = table[chosen[r], h] * factor[r]


@njit(cache=True, nogil=True)
def leading_parts(rows, offset):
    """The leading offset[r + 1] - offset[r] numbers of each row, one after the other."""
    result = np.empty(offset[-1])
    for r in range(rows.shape[0]):
        for p in range(offset[r], offset[r + 1]):
            result[p] = rows[r, p - offset[r]]
    return result
