"""Compiled passes over the nodes of trees in preorder."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def nearest_other(parent, head, value):
    """The value at the head of the nearest node above whose head is another one, -1 if there is none.

    A node with the head of its parent sees what its parent sees, and parents come first.
    """
    found = np.full(parent.size, -1, np.int64)
    for v in range(parent.size):
        above = parent[v]
        if above >= 0:
            found[v] = found[above] if head[above] == head[v] else value[head[above]]
    return found
