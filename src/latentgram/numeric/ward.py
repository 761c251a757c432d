"""Ward's criterion: groups of points such that the squared distances to the centres of their groups stay small.

Every point begins as a group of its own; again and again the two groups are joined whose union adds least to that
sum. If i and j become one, the distance to any other group k is (Lance & Williams 1967)

    d²(k, i∪j) = ((n_k + n_i) d²(k, i) + (n_k + n_j) d²(k, j) − n_k d²(i, j)) / (n_k + n_i + n_j)

with n the sizes of the groups. Several sets of equally many points are grouped side by side: with sets × points³
steps, for sets of few points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def ward_groups(squared: NDArray[np.float64], groups: int) -> NDArray[np.int64]:
    """[sets, points] the group of every point, named by one of its points, from squared distances.

    >>> points = np.array([0.0, 1.0, 5.0, 5.5])
    >>> ward_groups(np.subtract.outer(points, points)[None] ** 2, 2)
    array([[0, 0, 2, 2]])
    """
    sets, points, _ = squared.shape
    distance = squared.copy()
    every, set_of = np.arange(points), np.arange(sets)
    distance[:, every, every] = np.inf
    size = np.ones((sets, points))
    group = np.tile(every, (sets, 1))
    for _ in range(points - groups):
        nearest = distance.reshape(sets, -1).argmin(1)
        kept, gone = nearest // points, nearest % points
        n_kept, n_gone = size[set_of, kept][:, None], size[set_of, gone][:, None]
        joined = (
            (size + n_kept) * distance[set_of, kept]
            + (size + n_gone) * distance[set_of, gone]
            - size * distance[set_of, kept, gone][:, None]
        ) / (size + n_kept + n_gone)
        joined[set_of, kept] = joined[set_of, gone] = np.inf
        distance[set_of, kept, :] = distance[set_of, :, kept] = joined
        distance[set_of, gone, :] = distance[set_of, :, gone] = np.inf
        size[set_of, kept] += n_gone[:, 0]
        group = np.where(group == gone[:, None], kept[:, None], group)
    return group
