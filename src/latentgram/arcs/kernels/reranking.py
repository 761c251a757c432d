"""Ranking n-best lists by a linear model, and its learner (Dhillon et al. 2012, §4.3; Collins & Koo 2005).

A candidate tree has a few dense features (its base score, log-probabilities under other models) and the codes of
two templates over tags, which the base parser does not look at:

    ⟨nearest left modifier, head, nearest right modifier⟩          one per head
    ⟨left or right modifier, head, grandparent⟩                    one per word

    score(y) = Σ_i weight_i · dense_i(y) + Σ_c template_weight[c]

A code is ((kind · T + a) · T + b) · T + c for tags numbered below T; T − 2 stands for the root, T − 1 for none.
The learner moves towards the candidate y with the fewest wrong heads, away from the one y' with the best score +
loss, by the step that mends the margin (`margin_pass`), as MIRA does over all trees (mira.py):

    Δ = features(y) − features(y'),   τ = min(limit, (loss + score(y') − score(y)) / ‖Δ‖²),   w ← w + τ Δ.

The averaged perceptron (Collins 2002), which the paper has, takes for y' the candidate with the best score, and
τ = 1 wherever y' has more wrong heads than y (a `limit` of 0 asks for it).
"""

from typing import NamedTuple

import numpy as np

from latentgram.arcs.kernels.mira import move, taken_out
from latentgram.arrays import Floats, Ints
from latentgram.compiling import njit

KINDS = 3


class FlatLists(NamedTuple):
    """N-best lists end to end; the candidates of list s are starts[s] … starts[s + 1]."""

    starts: Ints
    head_starts: Ints
    """Where the heads of the first candidate of each list begin."""
    heads: Ints
    tag_starts: Ints
    """Where the tags of each sentence begin."""
    tags: Ints
    dense: Floats
    """[candidates, features]"""
    right: Ints
    """[candidates] how many heads are right."""
    n_tags: int
    """Root and none counted."""


@njit()
def template_codes(tags, heads, n_tags, codes):
    """Write the codes [2N] of a tree; tags [N], heads [N] from 1, 0 the root."""
    n_words = len(tags)
    root, none = n_tags - 2, n_tags - 1
    for head in range(1, n_words + 1):
        left, right = none, none
        for word in range(head - 1, 0, -1):
            if heads[word - 1] == head:
                left = tags[word - 1]
                break
        for word in range(head + 1, n_words + 1):
            if heads[word - 1] == head:
                right = tags[word - 1]
                break
        codes[head - 1] = (left * n_tags + tags[head - 1]) * n_tags + right
    for word in range(1, n_words + 1):
        head = heads[word - 1]
        above = none if head == 0 else heads[head - 1]
        grandparent = none if head == 0 else root if above == 0 else tags[above - 1]
        kind = 2 if word > head else 1
        tag = root if head == 0 else tags[head - 1]
        codes[n_words + word - 1] = ((kind * n_tags + tags[word - 1]) * n_tags + tag) * n_tags + grandparent


@njit()
def score_candidates(tags, heads, dense, weights, n_tags, template_weights):
    """The scores [k] of the candidates of one list: heads [k, N], dense [k, D]."""
    scores = np.zeros(len(heads))
    codes = np.empty(2 * len(tags), np.int64)
    for c in range(len(heads)):
        for f in range(len(weights)):
            scores[c] += weights[f] * dense[c, f]
        if len(template_weights) > 0:
            template_codes(tags, heads[c], n_tags, codes)
            for code in codes:
                scores[c] += template_weights[code]
    return scores


@njit()
def _collect(tags, heads, n_tags, sign, change):
    """Add the templates of a tree to the change of weights; their codes."""
    codes = np.empty(2 * len(tags), np.int64)
    template_codes(tags, heads, n_tags, codes)
    for code in codes:
        change[code] += sign
    return codes


@njit()
def margin_pass(order, lists, limit, clock, weights, summed, template_weights, template_summed):
    """Learn from the lists in this order; how many heads were lost against the best candidates, and the clock."""
    change = np.zeros(len(template_weights))
    touched = np.empty(0, np.int64)
    lost = 0
    for s in order:
        begin, end = lists.starts[s], lists.starts[s + 1]
        tags = lists.tags[lists.tag_starts[s] : lists.tag_starts[s + 1]]
        heads = lists.heads[lists.head_starts[s] : lists.head_starts[s + 1]].reshape(end - begin, len(tags))
        dense, right = lists.dense[begin:end], lists.right[begin:end]
        scores = score_candidates(tags, heads, dense, weights, lists.n_tags, template_weights)
        loss = right.max() - right
        lost += loss[np.argmax(scores)]
        gold, guess = -1, 0 if limit > 0.0 else np.argmax(scores)
        for c in range(end - begin):
            if loss[c] == 0 and (gold < 0 or scores[c] > scores[gold]):
                gold = c
            if limit > 0.0 and scores[c] + loss[c] > scores[guess] + loss[guess]:
                guess = c
        clock += 1.0
        margin = scores[guess] + loss[guess] - scores[gold]
        if loss[guess] == 0 or margin <= 0.0:
            continue
        difference = dense[gold] - dense[guess]
        if len(template_weights) > 0:
            good = _collect(tags, heads[gold], lists.n_tags, 1.0, change)
            bad = _collect(tags, heads[guess], lists.n_tags, -1.0, change)
            touched = np.concatenate((good, bad))
        steps, norm = taken_out(change, touched)
        norm += np.sum(difference * difference)
        if norm == 0.0:
            continue
        rate = min(limit, margin / norm) if limit > 0.0 else 1.0
        weights += rate * difference
        summed += clock * rate * difference
        move(template_weights, template_summed, touched, steps, rate, clock)
    return lost, clock
