"""Paths through the second-order chains of `chain`: the k best, and samples from the posterior.

The nodes of column i are pairs (tag of i − 1, tag of i), and the node (j, k) follows any node (h, j) before it.
The k best paths are those of numeric/kbest.py over the scores of the best paths to all nodes, and samples those of
numeric/sampling.py over their forward sums. O(Σ K_{i−2} K_{i−1} K_i), and what these say.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from latentgram.compiling import by_type, njit
from latentgram.numeric.hypergraph import NOTHING, list_edges
from latentgram.numeric.kbest import k_best
from latentgram.numeric.sampling import draw
from latentgram.numeric.semiring import Log
from latentgram.tagger.kernels.chain import best_sums, column_starts, forward, tag_at, triple_index, width


class _Paths(NamedTuple):
    """The chain of a sentence as a hypergraph: an item is a node, made of one of the column before."""

    start: NDArray[np.int64]
    tag: NDArray[np.int16]
    score: NDArray[np.float64]
    pair: NDArray[np.float32]
    triple: NDArray[np.float32]
    n_tags: int
    columns: NDArray[np.int64]
    """[tokens + 1] where the nodes of each column begin."""


def _list_edges(paths, node, edges):
    start, tag, score, pair, triple, n_tags, columns = paths
    length, size = len(start) - 1, len(triple)
    if node == columns[length]:
        here = width(length - 1, 0, start)
        for n in range(columns[length] - columns[length - 1]):
            b = tag_at(length - 2, n // here, 0, start, tag, n_tags)
            c = np.int64(tag[start[length - 1] + n % here])
            weight = pair[c, n_tags] + triple[triple_index(b, c, n_tags, n_tags, size)]
            edges.append((columns[length - 1] + n, NOTHING, weight))
        return
    i = np.searchsorted(columns, node, side="right") - 1
    here, before = width(i, 0, start), width(i - 1, 0, start)
    j, place = (node - columns[i]) // here, start[i] + (node - columns[i]) % here
    b, c = tag_at(i - 1, j, 0, start, tag, n_tags), np.int64(tag[place])
    step = pair[b, c] + score[place]
    for h in range(width(i - 2, 0, start)):
        a = tag_at(i - 2, h, 0, start, tag, n_tags)
        weight = step + triple[triple_index(a, b, c, n_tags, size)]
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
            candidates[path, i] = (node - columns[i]) % width(i, 0, start)
    return candidates


@njit()
def k_best_tags(start, tag, score, pair, triple, n_tags, k):
    """The best sequences of a sentence as numbers of candidates [at most k, tokens], and their scores."""
    columns = column_starts(0, len(start) - 1, start)
    best, _ = best_sums(0, len(start) - 1, start, tag, score, pair, triple, n_tags, columns)
    paths = _Paths(start, tag, score, pair, triple, n_tags, columns)
    nodes, begin, scores = k_best(paths, best, columns[1], k)
    return _in_rows(nodes, len(begin) - 1, start, columns), scores


@njit()
def sample_tags(start, tag, score, pair, triple, factor, n_tags, uniform):
    """Sequences drawn from the posterior, as numbers of candidates, for each row of `uniform` [samples, tokens].

    `factor` is exp(triple). The numbers of a row are used from its end.
    """
    columns = column_starts(0, len(start) - 1, start)
    alpha, _ = forward(0, len(start) - 1, start, tag, score, pair, factor, n_tags, columns)
    paths = _Paths(start, tag, score, pair, triple, n_tags, columns)
    backwards = np.ascontiguousarray(uniform[:, ::-1])
    nodes, begin = draw(Log(), paths, np.log(alpha), columns[1], backwards, True)
    return _in_rows(nodes, len(begin) - 1, start, columns)


@njit()
def path_scores(paths, start, tag, score, pair, triple, n_tags):
    """The scores of sequences, given as numbers of candidates [paths, tokens]."""
    length, size = len(start) - 1, len(triple)
    totals = np.zeros(len(paths))
    for p in range(len(paths)):
        a, b = np.int64(n_tags), np.int64(n_tags)
        for i in range(length):
            place = start[i] + paths[p, i]
            c = np.int64(tag[place])
            totals[p] += score[place] + pair[b, c] + triple[triple_index(a, b, c, n_tags, size)]
            a, b = b, c
        totals[p] += pair[b, n_tags] + triple[triple_index(a, b, n_tags, n_tags, size)]
    return totals
