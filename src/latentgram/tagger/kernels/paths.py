"""Paths through the second-order chains of `chain`: the k best, and samples from the posterior.

The nodes of column i are pairs (tag of i − 1, tag of i), and the node (j, k) follows any node (h, j) before it.
The k best paths are those of numeric/kbest.py over the scores of the best paths to all nodes, and samples those of
numeric/sampling.py over their forward sums. O(Σ K_{i−2} K_{i−1} K_i), and what these say.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from latentgram.arrays import Floats, Ints, Ints16
from latentgram.compiling import by_type, njit
from latentgram.numeric.hypergraph import NOTHING, list_edges
from latentgram.numeric.kbest import k_best
from latentgram.numeric.sampling import draw
from latentgram.numeric.semiring import Log
from latentgram.tagger.kernels.chain import (
    Steps,
    best_sums,
    column_starts,
    factors,
    forward,
    tag_at,
    triple_index,
    width,
)


class _Paths(NamedTuple):
    """The chain of a sentence as a hypergraph: an item is a node, made of one of the column before."""

    start: Ints
    tag: Ints16
    score: Floats
    steps: Steps
    columns: Ints
    """[tokens + 1] where the nodes of each column begin."""


def _list_edges(paths, node, edges):
    start, tag, score, steps, columns = paths
    length, boundary = len(start) - 1, len(steps.group) - 1
    if node == columns[length]:
        here = width(length - 1, start)
        for n in range(columns[length] - columns[length - 1]):
            b = tag_at(length - 2, n // here, start, tag, steps)
            c = np.int64(tag[start[length - 1] + n % here])
            weight = steps.pair[c, boundary] + steps.triple[triple_index(b, c, boundary, steps)]
            edges.append((columns[length - 1] + n, NOTHING, weight))
        return
    i = np.searchsorted(columns, node, side="right") - 1
    here, before = width(i, start), width(i - 1, start)
    j, place = (node - columns[i]) // here, start[i] + (node - columns[i]) % here
    b, c = tag_at(i - 1, j, start, tag, steps), np.int64(tag[place])
    step = steps.pair[b, c] + score[place]
    for h in range(width(i - 2, start)):
        a = tag_at(i - 2, h, start, tag, steps)
        weight = step + steps.triple[triple_index(a, b, c, steps)]
        edges.append((columns[i - 1] + h * before + j, NOTHING, weight))


by_type(list_edges, {_Paths: _list_edges})


@register_jitable
def _in_rows(nodes, paths, start, columns):
    """The numbers of the candidates of paths, one a row, from nodes that stand last first."""
    length = len(start) - 1
    candidates = np.empty((paths, length), np.int64)
    for path in range(paths):
        for i in range(length):
            node = nodes[(path + 1) * length - 1 - i]
            candidates[path, i] = (node - columns[i]) % width(i, start)
    return candidates


@njit()
def k_best_tags(start, tag, score, steps, k):
    """The best sequences of a sentence as numbers of candidates [at most k, tokens], and their scores."""
    columns = column_starts(start)
    best, _ = best_sums(start, tag, score, steps, columns)
    paths = _Paths(start, tag, score, steps, columns)
    nodes, begin, scores = k_best(paths, best, columns[1], k)
    return _in_rows(nodes, len(begin) - 1, start, columns), scores


@njit()
def sample_tags(start, tag, score, steps, exponentials, uniform):
    """Sequences drawn from the posterior, as numbers of candidates, for each row of `uniform` [samples, tokens].

    `exponentials` are those of the steps. The numbers of a row are used from its end.
    """
    columns = column_starts(start)
    alpha, _ = forward(start, tag, factors(start, score)[0], exponentials, columns)
    paths = _Paths(start, tag, score, steps, columns)
    backwards = np.ascontiguousarray(uniform[:, ::-1])
    nodes, begin = draw(Log(), paths, np.log(alpha), columns[1], backwards, True)
    return _in_rows(nodes, len(begin) - 1, start, columns)


@njit()
def path_scores(paths, start, tag, score, steps):
    """The scores of sequences, given as numbers of candidates [paths, tokens]."""
    length, boundary = len(start) - 1, np.int64(len(steps.group) - 1)
    totals = np.zeros(len(paths))
    for p in range(len(paths)):
        a, b = boundary, boundary
        for i in range(length):
            place = start[i] + paths[p, i]
            c = np.int64(tag[place])
            totals[p] += score[place] + steps.pair[b, c] + steps.triple[triple_index(a, b, c, steps)]
            a, b = b, c
        totals[p] += steps.pair[b, boundary] + steps.triple[triple_index(a, b, boundary, steps)]
    return totals
