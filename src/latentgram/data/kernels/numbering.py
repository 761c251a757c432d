"""Numbers for the distinct values of each group, in the order in which they come: one pass with a hash table."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Ints
from latentgram.compiling import njit

Number = TypeVar("Number", bound=np.generic)

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""Fibonacci hashing: odd, and close to 2⁶⁴ over the golden ratio."""


@njit()
def number_values(group, value, groups):
    """The number of each value among those of its group, from 0, and how many values each group has.

    `group` is in [0, groups); values are any non-negative numbers.
    """
    size = 16
    while size < 2 * group.size:
        size *= 2
    mask = np.uint64(size - 1)
    table = np.full(size, -1, np.int64)  # the first place of the pair that is here
    number = np.empty(group.size, np.int32)
    width = np.zeros(groups, np.int64)
    for i in range(group.size):
        key = np.uint64(value[i]) * _MULTIPLIER + np.uint64(group[i])
        key = (key ^ (key >> np.uint64(29))) * _MULTIPLIER
        slot = (key ^ (key >> np.uint64(32))) & mask
        while table[slot] >= 0 and (group[table[slot]] != group[i] or value[table[slot]] != value[i]):
            slot = (slot + np.uint64(1)) & mask
        if table[slot] < 0:
            table[slot] = i
            number[i] = width[group[i]]
            width[group[i]] += 1
        else:
            number[i] = number[table[slot]]
    return number, width


def numbered(values: NDArray[Number]) -> tuple[NDArray[Number], Ints]:
    """The distinct values, sorted, and the number of each value among them.

    As `np.unique` with its inverse, but only what is distinct is sorted, so that the time grows with the values.

    >>> numbered(np.array([5, 2, 5]))
    (array([2, 5]), array([1, 0, 1]))
    """
    number, many = number_values(np.zeros(values.size, np.int64), values, 1)
    distinct = np.empty(many[0], values.dtype)
    distinct[number] = values
    order = np.argsort(distinct)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return distinct[order], place[number]
