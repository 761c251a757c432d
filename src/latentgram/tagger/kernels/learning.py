"""One pass of online learning of a tagger's weights: log-linear, second order, averaged.

After each sentence x with tags t every weight moves along the gradient of log p(t | x),

    g = (how often its feature is in t) − E[how often | x],

by numeric/adagrad.py, a moment being a sentence. O(Σ K³) per sentence for the sums over K candidates per token,
and the weights of the features that fire at tokens with more than one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Ints, Ints16, Ints32
from latentgram.compiling import njit
from latentgram.numeric.adagrad import Moving, move
from latentgram.tagger.kernels.chain import expectations, note, triple_index
from latentgram.tagger.kernels.scores import Rows, chosen, narrow, score_token

SMALLEST_GRADIENT = 1e-4


class Observed(NamedTuple):
    """Tagged sentences end to end, with the candidates of their tokens."""

    sentence_start: Ints
    gold: Ints
    start: Ints
    tag: Ints16
    features: Ints32
    """[tokens with more than one candidate, FEATURES] the rows of their weights, −1 for none."""
    feature_row: Ints32
    """The row of `features` of each token."""


class Weights(NamedTuple):
    """The weights of a tagger: those of each feature with parts of tags, row by row, and those of steps."""

    row_start: Ints
    row_part: Ints16
    parts: Moving
    pairs: Moving
    triples: Moving


@njit()
def learn_round(order, seen, parts, margin, step, moment, weights, exponentials):
    """Go through the sentences in an order; return Σ −log p(t | x). `exponentials` of the steps are kept right."""
    row_start, row_part, pairs, triples = weights.row_start, weights.row_part, weights.pairs, weights.triples
    n_tags = len(exponentials.group) - 1
    rows = Rows(row_start, row_part, weights.parts.value)
    score = np.zeros(seen.start[-1])
    spare, missing = np.empty(parts.number), np.zeros(parts.number)
    pair_missing = np.zeros((n_tags + 1, n_tags + 1))
    triple_missing = np.zeros(len(triples.value))
    touched = np.empty(2 * len(triples.value) + 1, np.int64)
    kept = np.empty(seen.start[-1], np.int64)
    shares = np.empty(seen.start[-1])
    loss = 0.0
    for s in order:
        moment += 1.0
        first, last = seen.sentence_start[s], seen.sentence_start[s + 1]
        for i in range(first, last):
            if seen.start[i + 1] - seen.start[i] > 1:
                features = seen.features[seen.feature_row[i]]
                score_token(features, rows, parts, seen.tag, seen.start[i], seen.start[i + 1], spare, score)
        begin = narrow(first, last, seen.start, seen.tag, score, margin, seen.gold, kept)
        tag, points = chosen(seen.tag, kept, begin[-1]), chosen(score, kept, begin[-1])
        log_total, noted = expectations(
            begin, tag, points, exponentials, shares, pair_missing, triple_missing, touched
        )
        loss += log_total
        for i in range(first, last + 1):
            before2 = seen.gold[i - 2] if i > first + 1 else n_tags
            before = seen.gold[i - 1] if i > first else n_tags
            here = seen.gold[i] if i < last else n_tags
            index = triple_index(before2, before, here, exponentials)
            loss -= pairs.value[before * (n_tags + 1) + here] + triples.value[index]
            pair_missing[before, here] -= 1.0
            noted = note(triple_missing, touched, noted, index, -1.0)
            if i == last:
                continue
            if begin[i - first + 1] - begin[i - first] == 1:
                loss -= points[begin[i - first]]
                continue
            for place in range(begin[i - first], begin[i - first + 1]):
                share = -shares[place]
                if tag[place] == here:
                    loss -= points[place]
                    share += 1.0
                for p in range(parts.start[tag[place]], parts.start[tag[place] + 1]):
                    missing[parts.part[p]] += share
            features = seen.features[seen.feature_row[i]]
            for f in range(len(features)):
                row = features[f]
                if row >= 0:
                    for place in range(row_start[row], row_start[row + 1]):
                        gradient = missing[row_part[place]]
                        if abs(gradient) > SMALLEST_GRADIENT:
                            move(weights.parts, place, gradient, step, moment)
            for place in range(begin[i - first], begin[i - first + 1]):
                for p in range(parts.start[tag[place]], parts.start[tag[place] + 1]):
                    missing[parts.part[p]] = 0.0
        for i in range(last - first + 1):
            for j in range(begin[i - 1] if i > 0 else 0, begin[i] if i > 0 else 1):
                b = np.int64(tag[j]) if i > 0 else n_tags
                for k in range(begin[i] if i < last - first else 0, begin[i + 1] if i < last - first else 1):
                    c = np.int64(tag[k]) if i < last - first else n_tags
                    gradient = -pair_missing[b, c]
                    if gradient != 0.0:
                        cell = b * (n_tags + 1) + c
                        move(pairs, cell, gradient, step, moment)
                        exponentials.pair[b, c] = np.exp(pairs.value[cell])
                        pair_missing[b, c] = 0.0
        for n in range(noted):
            index = touched[n]
            if triple_missing[index] != 0.0:
                move(triples, index, -triple_missing[index], step, moment)
                exponentials.triple[index] = np.exp(triples.value[index])
                triple_missing[index] = 0.0
    return loss
