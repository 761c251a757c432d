"""What follows from the sizes of a forest's subtrees: one pass over the nodes each."""

import numpy as np
from numba import njit


@njit(cache=True)
def parents(size):
    """The parent of each node, -1 at the roots; O(nodes).

    In preorder the parent of v is the nearest earlier node whose slice [u, u + size[u]) holds v: if v - 1 is a
    leaf that ends some slices, climb from it until one is still open.
    """
    parent = np.empty(len(size), np.int32)
    up = np.int32(-1)
    for v in range(len(size)):
        while up >= 0 and up + size[up] <= v:
            up = parent[up]
        parent[v] = up
        up = np.int32(v)
    return parent


@njit(cache=True)
def depths(parent):
    """The number of ancestors of each node; parents stand before their children."""
    depth = np.zeros(len(parent), np.int32)
    for v in range(len(parent)):
        if parent[v] >= 0:
            depth[v] = depth[parent[v]] + 1
    return depth
