"""k-means of weighted points (Lloyd), seeded by k-means++: hard states from spectral vectors.

O(points · clusters · dimensions) per round. A cluster that loses all its points takes the point farthest from its
centre.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from latentgram.arrays import Floats, Ints
from latentgram.parallel import one_thread


def kmeans(points: Floats, weights: Floats, clusters: int, rng: np.random.Generator, rounds: int = 50) -> Ints:
    """The cluster of each point; at most as many clusters as there are distinct points.

    >>> points = np.array([[0.0], [0.1], [5.0], [5.2]])
    >>> kmeans(points, np.ones(4), 2, np.random.default_rng(0)).tolist()
    [0, 0, 1, 1]
    """
    with one_thread():
        centres = _spread(points, weights, clusters, rng)
        labels = np.full(len(points), -1)
        for _ in range(rounds):
            distance = _distances(points, centres)
            moved = np.argmin(distance, axis=1)
            if np.array_equal(moved, labels):
                break
            labels = moved
            mass = np.bincount(labels, weights, len(centres))
            # One matrix product in place of a loop over the points, which would keep other threads waiting.
            chosen = scipy.sparse.csr_array(
                (weights, (labels, np.arange(len(points)))), (len(centres), len(points))
            )
            sums = chosen @ points
            used = mass > 0
            centres[used] = sums[used] / mass[used, None]
            if not used.all():
                worst = np.argsort(-distance[np.arange(len(points)), labels] * weights, kind="stable")
                centres[~used] = points[worst[: int((~used).sum())]]
    # Clusters are numbered by their first points, so that the numbers say nothing.
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def _distances(points: Floats, centres: Floats) -> Floats:
    """[points, centres] squared distances, up to a constant a point."""
    return np.asarray((centres**2).sum(1) - 2.0 * points @ centres.T)


def _spread(points: Floats, weights: Floats, clusters: int, rng: np.random.Generator) -> Floats:
    """k-means++: each next centre is a point drawn by its weighted squared distance to the nearest so far."""
    chosen = [int(rng.choice(len(points), p=weights / weights.sum()))]
    nearest = ((points - points[chosen[0]]) ** 2).sum(1)
    while len(chosen) < clusters:
        shares = nearest * weights
        if shares.sum() <= 1e-12 * weights.sum():
            break
        chosen.append(int(rng.choice(len(points), p=shares / shares.sum())))
        nearest = np.minimum(nearest, ((points - points[chosen[-1]]) ** 2).sum(1))
    return points[chosen].copy()
