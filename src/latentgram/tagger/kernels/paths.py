"""Paths through the second-order chains of `tag_chain`: the k best, and samples from the posterior.

The nodes of column i are pairs (tag of i − 1, tag of i). The k best paths into a node are among the k best into
its predecessors, each by its rank (the lists are merged). O(k² Σ K_{i−2} K_{i−1} K_i).

Samples are drawn backwards: given the node (j, k) of column i, the node (h, j) before it has the weight
α(h, j) · exp triple[h, j, k], with α the forward sums. O(Σ K_i) a sample after one forward pass.
"""

import numpy as np
from numba import njit

from latentgram.numeric.drawing import draw_place
from latentgram.sequences.kernels.chain_paths import enter_path
from latentgram.tagger.kernels.chain import column_starts, forward, tag_at, triple_index, width


@njit(cache=True)
def k_best_tags(start, tag, score, pair, triple, n_tags, k):
    """The k best sequences of a sentence as numbers of candidates [k, tokens], and their scores [k].

    Ranks that do not exist have the score −∞.
    """
    length, size = len(start) - 1, len(triple)
    columns = column_starts(0, length, start)
    # A path is known by its last node and its rank there: node · k + rank; the node behind all is the end.
    best = np.full((columns[length] + 1, k), -np.inf)
    source = np.full((columns[length] + 1, k), -1, np.int64)
    for i in range(length):
        here, before, before2 = width(i, 0, start), width(i - 1, 0, start), width(i - 2, 0, start)
        for j in range(before):
            b = tag_at(i - 1, j, 0, start, tag, n_tags)
            for c_number in range(here):
                c = np.int64(tag[start[i] + c_number])
                node = columns[i] + j * here + c_number
                step = pair[b, c] + score[start[i] + c_number]
                if i == 0:
                    best[node, 0] = step + triple[triple_index(n_tags, n_tags, c, n_tags, size)]
                    continue
                for h in range(before2):
                    a = tag_at(i - 2, h, 0, start, tag, n_tags)
                    origin = columns[i - 1] + h * before + j
                    edge = step + triple[triple_index(a, b, c, n_tags, size)]
                    for rank in range(k):
                        if best[origin, rank] == -np.inf:
                            break
                        enter_path(best, source, node, best[origin, rank] + edge, origin * k + rank)
    here, end = width(length - 1, 0, start), columns[length]
    for node in range(columns[length - 1], end):
        j, c_number = (node - columns[length - 1]) // here, (node - columns[length - 1]) % here
        b = tag_at(length - 2, j, 0, start, tag, n_tags)
        c = np.int64(tag[start[length - 1] + c_number])
        edge = pair[c, n_tags] + triple[triple_index(b, c, n_tags, n_tags, size)]
        for rank in range(k):
            if best[node, rank] == -np.inf:
                break
            enter_path(best, source, end, best[node, rank] + edge, node * k + rank)
    found = np.zeros((k, length), np.int64)
    for rank in range(k):
        path = source[end, rank]
        for i in range(length - 1, -1, -1):
            if path < 0:
                break
            found[rank, i] = (path // k - columns[i]) % width(i, 0, start)
            path = source[path // k, path % k]
    return found, best[end].copy()


@njit(cache=True)
def sample_tags(start, tag, score, pair, factor, n_tags, uniform):
    """Sequences drawn from the posterior, as numbers of candidates, for each row of `uniform` [samples, tokens].

    `factor` is exp(triple).
    """
    length, size = len(start) - 1, len(factor)
    columns = column_starts(0, length, start)
    alpha, _ = forward(0, length, start, tag, score, pair, factor, n_tags, columns)
    last, here = columns[length - 1], width(length - 1, 0, start)
    ending = np.empty(columns[length] - last)
    for n in range(len(ending)):
        b = tag_at(length - 2, n // here, 0, start, tag, n_tags)
        c = np.int64(tag[start[length - 1] + n % here])
        ending[n] = alpha[last + n] * np.exp(pair[c, n_tags]) * factor[triple_index(b, c, n_tags, n_tags, size)]
    drawn = np.zeros(uniform.shape, np.int64)
    for sample in range(uniform.shape[0]):
        node = draw_place(ending, uniform[sample, length - 1])
        j, k = node // here, node % here
        for i in range(length - 1, 0, -1):
            drawn[sample, i] = k
            b = tag_at(i - 1, j, 0, start, tag, n_tags)
            c = np.int64(tag[start[i] + k])
            before = width(i - 1, 0, start)
            weight = np.empty(width(i - 2, 0, start))
            for h in range(len(weight)):
                a = tag_at(i - 2, h, 0, start, tag, n_tags)
                weight[h] = alpha[columns[i - 1] + h * before + j] * factor[triple_index(a, b, c, n_tags, size)]
            j, k = draw_place(weight, uniform[sample, i - 1]), j
        drawn[sample, 0] = k
    return drawn


@njit(cache=True)
def path_scores(paths, start, tag, score, pair, triple, n_tags):
    """The scores of sequences, given as numbers of candidates [paths, tokens]."""
    length, size = len(start) - 1, len(triple)
    found = np.zeros(len(paths))
    for p in range(len(paths)):
        a, b = np.int64(n_tags), np.int64(n_tags)
        for i in range(length):
            place = start[i] + paths[p, i]
            c = np.int64(tag[place])
            found[p] += score[place] + pair[b, c] + triple[triple_index(a, b, c, n_tags, size)]
            a, b = b, c
        found[p] += pair[b, n_tags] + triple[triple_index(a, b, n_tags, n_tags, size)]
    return found
