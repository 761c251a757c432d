"""Scores of the candidates of tokens, and the lattices that the chain works on.

A tag is made of parts (itself, and with morphology its UPOS, its XPOS and each of its attributes), and a feature
has a weight for some parts:

    e_i(t) = Σ_{p ∈ parts(t)} Σ_f weight[f(x, i), p].

Candidates that score less than the best one of their token by more than `margin` are left out. A token with one
candidate needs no score: that would be the same constant for every sequence. O(weights of the features that fire).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Floats32, Ints, Ints16
from latentgram.compiling import njit
from latentgram.tagger.kernels.chain import best_path, expectations
from latentgram.tagger.kernels.features import FEATURES, feature_keys, find_row


class Parts(NamedTuple):
    """The parts of tag t: `part[start[t] : start[t + 1]]`."""

    start: Ints
    part: Ints
    number: int
    """How many parts there are."""


class Rows(NamedTuple):
    """The weights of feature f: `weight[start[f] : start[f + 1]]`, for the parts in `part`."""

    start: Ints
    part: Ints16
    weight: Floats32


@njit()
def score_token(features, rows, parts, tag, begin, end, spare, out):
    """e_i(t) of the candidates begin … end − 1 of a token that has these features, into `out`."""
    for part in range(parts.number):
        spare[part] = 0.0
    for f in range(len(features)):
        row = features[f]
        if row >= 0:
            for place in range(rows.start[row], rows.start[row + 1]):
                spare[rows.part[place]] += rows.weight[place]
    for place in range(begin, end):
        total = 0.0
        for p in range(parts.start[tag[place]], parts.start[tag[place] + 1]):
            total += spare[parts.part[p]]
        out[place] = total


@njit()
def narrow(first, last, start, tag, score, margin, gold, kept):
    """Note in `kept` the candidates of a sentence that stay, and return where those of each token begin.

    The right one stays in any case, where `gold` is not empty.
    """
    begin = np.empty(last - first + 1, np.int64)
    begin[0] = 0
    number = 0
    for i in range(first, last):
        least = -np.inf
        for place in range(start[i], start[i + 1]):
            least = max(least, score[place] - margin)
        for place in range(start[i], start[i + 1]):
            if score[place] >= least or (len(gold) > 0 and gold[i] == tag[place]):
                kept[number] = place
                number += 1
        begin[i - first + 1] = number
    return begin


@njit()
def chosen(values, kept, number):
    """The values at the first of the places that are kept."""
    result = np.empty(number, values.dtype)
    for n in range(number):
        result[n] = values[kept[n]]
    return result


@njit()
def score_tokens(sentence_start, forms, words, known, slots, rows, parts, start, tag):
    """e_i(t) of all candidates of all tokens; 0 where there is but one."""
    score = np.zeros(start[-1])
    spare = np.empty(parts.number)
    keys = np.empty(FEATURES, np.uint64)
    features = np.empty(FEATURES, np.int64)
    for s in range(len(sentence_start) - 1):
        for i in range(sentence_start[s], sentence_start[s + 1]):
            if start[i + 1] - start[i] == 1:
                continue
            feature_keys(forms, words, i, sentence_start[s], sentence_start[s + 1], keys)
            for f in range(FEATURES):
                features[f] = find_row(known, slots, keys[f])
            score_token(features, rows, parts, tag, start[i], start[i + 1], spare, score)
    return score


@njit()
def tag_sentences(sentence_start, start, tag, score, margin, steps, exponentials, by_posterior):
    """Of all tokens the place of the best candidate, and the posteriors of all candidates."""
    best = np.empty(len(start) - 1, np.int64)
    posterior = np.zeros(start[-1])
    kept = np.empty(start[-1], np.int64)
    shares = np.empty(start[-1])
    path = np.empty(len(start) - 1, np.int64)
    none, nothing = np.zeros(0), np.zeros(0, np.int64)
    for s in range(len(sentence_start) - 1):
        first, last = sentence_start[s], sentence_start[s + 1]
        begin = narrow(first, last, start, tag, score, margin, nothing, kept)
        here, points = chosen(tag, kept, begin[-1]), chosen(score, kept, begin[-1])
        expectations(begin, here, points, exponentials, shares, steps.pair, none, nothing)
        if not by_posterior:
            best_path(begin, here, points, steps, path)
        for i in range(last - first):
            if by_posterior:
                path[i] = 0
                for k in range(1, begin[i + 1] - begin[i]):
                    if shares[begin[i] + k] > shares[begin[i] + path[i]]:
                        path[i] = k
            best[first + i] = kept[begin[i] + path[i]]
            for place in range(begin[i], begin[i + 1]):
                posterior[kept[place]] = shares[place]
    return best, posterior


@njit()
def shares_of_values(value, start, tag, best, posterior):
    """Of all tokens the posterior of the entry that the best tag has in each column of `value` [tags, columns]."""
    shares = np.zeros((len(best), value.shape[1]))
    for i in range(len(best)):
        for place in range(start[i], start[i + 1]):
            for column in range(value.shape[1]):
                if value[tag[place], column] == value[tag[best[i]], column]:
                    shares[i, column] += posterior[place]
        for column in range(value.shape[1]):
            shares[i, column] = min(shares[i, column], 1.0)
    return shares
