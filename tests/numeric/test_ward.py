"""Grouping by Ward's criterion: against scipy, and against the definition for the last step."""

import itertools

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist, squareform

from latentgram.numeric.ward import ward_groups


def partition(groups):
    return {frozenset(np.flatnonzero(groups == each).tolist()) for each in groups}


@pytest.mark.parametrize("groups", [1, 2, 4, 9])
def test_groups_are_those_of_scipy(groups):
    points = np.random.default_rng(0).normal(size=(20, 9, 5))
    found = ward_groups(np.stack([squareform(pdist(each)) ** 2 for each in points]), groups)
    for each, own in zip(points, found, strict=True):
        expected = fcluster(linkage(each, "ward"), groups, "maxclust")
        assert partition(own) == partition(expected)
        assert len(partition(own)) == groups


def test_the_last_step_joins_what_adds_least():
    points = np.random.default_rng(1).normal(size=(7, 3))

    def spread(groups):
        return sum(((points[list(each)] - points[list(each)].mean(0)) ** 2).sum() for each in groups)

    squared = squareform(pdist(points))[None] ** 2
    before, after = partition(ward_groups(squared, 4)[0]), partition(ward_groups(squared, 3)[0])
    ways = [before - {one, other} | {one | other} for one, other in itertools.combinations(before, 2)]
    assert after == min(ways, key=spread)
