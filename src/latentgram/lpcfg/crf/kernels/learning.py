"""One step of learning a conditional random field from one chart: AdaGrad on the softmax margin.

The loss of a target tree T is log Σ_trees exp(score(tree) + margin · wrong items of the tree) − score(T): the
likelihood when every wrong item is made a little more probable than it is (Gimpel & Smith 2010). With g the
derivative for one sentence and G the sum of all g² so far,

    w ← w + rate · g / √G,

and the trust in the grammar likewise. The mean of the weights over all moments of learning is
w − Σ (share of the time that had passed) · step. O(features of the items and edges that are wrong by `LEAST`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from latentgram.arrays import Codes, Floats, Floats32, Ints, Ints32
from latentgram.compiling import njit
from latentgram.lpcfg.crf.kernels.marginals import add_gradient, score_chart, shift_of
from latentgram.lpcfg.crf.kernels.view import WIDE, Symbols, view_of
from latentgram.lpcfg.kernels.chart import PackedChart
from latentgram.lpcfg.kernels.edgewise import Scores, log_shares, marginals

LEAST = 1e-2
"""What is right up to so much changes no weight."""
WIDE_RATE = 0.5
"""The share of the rate for wide features: there are more than twice as many, so together they go as far."""


class Lesson(NamedTuple):
    """A chart with the grammar's posteriors, and the tree to be taught."""

    chart: PackedChart
    item: Floats32
    edge: Floats32
    words: Codes
    symbols: Symbols
    target_item: Ints32
    """In preorder."""
    target_edge: Ints


class State(NamedTuple):
    """What learning moves."""

    weights: Floats32
    squares: Floats32
    """The sum of squares of the derivatives, from one on."""
    drift: Floats32
    """Steps times the share of the time that had passed: the weights less these are the mean."""
    gradient: Floats32
    """Zero between steps."""
    trust: Floats
    """[3] the trust, its squares and its drift."""


@njit()
def learn_chart(lesson, state, rate, margin, time):
    """Move the weights by what one chart says; the loss before that."""
    chart, item, edge, words, symbols, target_item, target_edge = lesson
    view = view_of(chart, item, edge, words, symbols)
    shares = log_shares(view.chart, view.item, view.edge)
    shift = shift_of(state.weights)
    scores = score_chart(view, shares, state.trust[0], state.weights, shift)
    right_item, right_edge = np.zeros(item.shape[0]), np.zeros(edge.shape[0])
    loss = 0.0
    for some in target_item:
        right_item[some] = 1.0
        loss -= scores.item[some]
    for number in target_edge:
        right_edge[number] = 1.0
        loss -= scores.edge[number]
    root = target_item[0] - chart.cell_begin[-2]
    loss -= scores.root[root]
    costly = scores.item + margin * (1.0 - right_item)
    log_total, item_marginal, edge_marginal = marginals(chart, Scores(costly, scores.edge, scores.root))
    loss += log_total
    right_item -= item_marginal
    right_edge -= edge_marginal
    slope = shares[1][root]
    for number in range(edge.shape[0]):
        slope += right_edge[number] * shares[0][number]
    first = chart.cell_begin[-2]
    for place in range(shares[1].shape[0]):
        slope -= item_marginal[first + place] * shares[1][place]
    if symbols.templates >= WIDE:
        rate *= WIDE_RATE
    touched = add_gradient(view, right_item, right_edge, LEAST, shift, state.gradient)
    _apply(state, touched, np.float32(rate), np.float32(time))
    trust = state.trust
    trust[1] += slope * slope
    step = rate * slope / math.sqrt(trust[1])
    trust[0] += step
    trust[2] += time * step
    return loss


@njit(borrows=True)
def _apply(state, touched, rate, time):
    for bucket in touched:
        slope = state.gradient[bucket]
        if slope == 0:
            continue
        state.gradient[bucket] = 0
        state.squares[bucket] += slope * slope
        step = rate * slope / np.sqrt(state.squares[bucket])
        state.weights[bucket] += step
        state.drift[bucket] += time * step
