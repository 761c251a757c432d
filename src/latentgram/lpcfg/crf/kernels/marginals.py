"""The conditional random field over a packed chart: scores, marginals and their derivatives.

With b the trust in the grammar, μ its posteriors, w the weights and f the features (features.py), a tree has

    score(tree) = b log μ(root) + Σ_edges ( b log μ(edge)/μ(parent) + w · f(edge) ) + Σ_items w · f(item)

and p(tree | sentence) = exp(score(tree)) / Z, a distribution that chooses each edge by itself (kernels/edgewise.py
of the room). At w = 0 and b = 1 the marginals are the grammar's own posteriors. The derivative of the log of the
probability of a target tree is (target − marginal) · f for all items and edges. O(edges) and one exponential for
each, besides the features.
"""

from __future__ import annotations

import math

import numpy as np

from latentgram.compiling import njit
from latentgram.lpcfg.crf.kernels.features import (
    EDGE_FEATURES,
    ITEM_FEATURES,
    edge_buckets,
    item_buckets,
    span_keys,
    split_keys,
)
from latentgram.lpcfg.crf.kernels.view import view_of
from latentgram.lpcfg.kernels.edgewise import Scores, log_shares, marginals


@njit()
def score_chart(view, shares, trust, weights, shift):
    """The scores of all items and edges."""
    item, edge = np.empty(view.item.shape[0]), trust * shares[0]
    keys, buckets = np.empty((2, max(ITEM_FEATURES, EDGE_FEATURES)), np.uint64)
    _score_items(view, weights, shift, keys, buckets, item)
    _score_edges(view, weights, shift, keys, buckets, edge)
    return Scores(item, edge, trust * shares[1])


@njit(borrows=True)
def _score_items(view, weights, shift, keys, buckets, item):
    """Write the scores of all items. Features look at some forty arrays, whose references need not be counted."""
    begin, end, shared = -1, -1, 0
    for some in range(item.shape[0]):
        if view.first[some] != begin or view.end[some] != end:
            begin, end = view.first[some], view.end[some]
            shared = span_keys(view, begin, end, keys)
        count = item_buckets(view, some, keys, shared, shift, buckets)
        total = weights.dtype.type(0)
        for place in range(count):
            total += weights[buckets[place]]
        item[some] = total


@njit(borrows=True)
def _score_edges(view, weights, shift, keys, buckets, edge):
    """Add the scores of their features to those of all edges."""
    chart = view.chart
    for group in range(chart.split_begin.shape[0] - 1):
        first_split, end_split = chart.split_begin[group], chart.split_begin[group + 1]
        for split in range(first_split, end_split):
            left, right = chart.split_left[split], chart.split_right[split]
            both = split_keys(view, left, right, keys)
            number = chart.edge_begin[group] + split - first_split
            for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
                count = edge_buckets(view, number, entry, left, right, keys, both, shift, buckets)
                total = weights.dtype.type(0)
                for place in range(count):
                    total += weights[buckets[place]]
                edge[number] += total
                number += end_split - first_split


@njit()
def layer_posteriors(chart, item, edge, words, symbols, trust, weights):
    """The posteriors of the items and edges of a chart, from those of the grammar."""
    view = view_of(chart, item, edge, words, symbols)
    scores = score_chart(view, log_shares(view.chart, view.item, view.edge), trust, weights, shift_of(weights))
    _, item_marginal, edge_marginal = marginals(chart, scores)
    return item_marginal, edge_marginal


@njit()
def reweighed(chart, item, edge, word_scores):
    """Posteriors of the items and edges of a chart when every item over a word gets a score more, in float32.

    `item` and `edge` are posteriors; a tree has the product of their μ(root) and μ(edge)/μ(parent), times
    exp(score) for each of its words.
    """
    edges, roots = log_shares(chart, item, edge)
    scores = np.zeros(item.shape[0])
    for leaf in range(word_scores.shape[0]):
        scores[leaf] = word_scores[leaf]
    _, item_marginal, edge_marginal = marginals(chart, Scores(scores, edges, roots))
    return item_marginal.astype(np.float32), edge_marginal.astype(np.float32)


@njit()
def shift_of(weights):
    """How many low bits of a key do not count, for a power of two of weights."""
    return np.uint64(64) - np.uint64(round(math.log2(weights.shape[0])))


@njit()
def add_gradient(view, item, edge, least, shift, gradient):
    """Add Σ difference · f over the items and edges whose `item` or `edge` difference is at least `least` in size;
    the buckets that were zero before.
    """
    items, edges = np.count_nonzero(np.abs(item) >= least), np.count_nonzero(np.abs(edge) >= least)
    touched = np.empty(items * ITEM_FEATURES + edges * EDGE_FEATURES, np.uint64)
    keys, buckets = np.empty((2, max(ITEM_FEATURES, EDGE_FEATURES)), np.uint64)
    size = _add_items(view, item, least, shift, keys, buckets, gradient, touched)
    size = _add_edges(view, edge, least, shift, keys, buckets, gradient, touched, size)
    return touched[:size]


@njit(borrows=True)
def _add_items(view, item, least, shift, keys, buckets, gradient, touched):
    """Add what items say to the gradient; how many buckets were touched."""
    size = 0
    for some in range(item.shape[0]):
        if abs(item[some]) >= least:
            shared = span_keys(view, view.first[some], view.end[some], keys)
            count = item_buckets(view, some, keys, shared, shift, buckets)
            size = _add(item[some], buckets, count, gradient, touched, size)
    return size


@njit(borrows=True)
def _add_edges(view, edge, least, shift, keys, buckets, gradient, touched, size):
    """Add what edges say to the gradient; how many buckets were touched."""
    chart = view.chart
    for group in range(chart.split_begin.shape[0] - 1):
        number = chart.edge_begin[group]
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            for split in range(chart.split_begin[group], chart.split_begin[group + 1]):
                if abs(edge[number]) >= least:
                    left, right = chart.split_left[split], chart.split_right[split]
                    both = split_keys(view, left, right, keys)
                    count = edge_buckets(view, number, entry, left, right, keys, both, shift, buckets)
                    size = _add(edge[number], buckets, count, gradient, touched, size)
                number += 1
    return size


@njit(borrows=True)
def _add(value, buckets, count, gradient, touched, size):
    for place in range(count):
        bucket = buckets[place]
        if gradient[bucket] == 0:
            touched[size] = bucket
            size += 1
        gradient[bucket] += value
    return size
