"""Ranking n-best lists by a linear model, and one pass of its averaged perceptron (Collins 2002; 001 §4.3).

A candidate tree has a few dense features (its base score, log-probabilities under other models) and the codes of
two templates over tags, which the base parser does not look at:

    ⟨nearest left modifier, head, nearest right modifier⟩          one a head
    ⟨left or right modifier, head, grandparent⟩                    one a word

    score(y) = Σ_i weight_i · dense_i(y) + Σ_c template_weight[c]

A code is ((kind · T + a) · T + b) · T + c for tags numbered below T; T − 2 stands for the root, T − 1 for none.
The learner moves towards the candidate with the fewest wrong heads, away from the one with the best score + loss,
by the step that mends the margin, at most `limit`.

Candidates lie end to end: those of list s are starts[s] … starts[s + 1], and the heads of its first one begin at
head_starts[s]; tags of all sentences end to end, those of list s from tag_starts[s] on.
"""

import numpy as np
from numba import njit

KINDS = 3


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
def _step(codes, sign, change, touched, used):
    for code in codes:
        change[code] += sign
        touched[used] = code
        used += 1
    return used


@njit(cache=True)
def perceptron_pass(
    order, starts, head_starts, heads, tag_starts, tags, dense, right, n_tags, limit, clock,
    weights, summed, template_weights, template_summed,
):  # fmt: skip
    """Learn from the lists in this order; how many heads were lost against the best candidates, and the clock."""
    change = np.zeros(len(template_weights))
    lost = 0
    for s in order:
        begin, end = starts[s], starts[s + 1]
        here = tags[tag_starts[s] : tag_starts[s + 1]]
        n_words = len(here)
        trees = heads[head_starts[s] : head_starts[s] + (end - begin) * n_words].reshape(end - begin, n_words)
        scores = score_candidates(here, trees, dense[begin:end], weights, n_tags, template_weights)
        most = right[begin:end].max()
        gold, guess = -1, 0
        for c in range(end - begin):
            if right[begin + c] == most and (gold < 0 or scores[c] > scores[gold]):
                gold = c
            if scores[c] + most - right[begin + c] > scores[guess] + most - right[begin + guess]:
                guess = c
        clock += 1.0
        lost += most - right[begin + np.argmax(scores)]
        margin = scores[guess] + most - right[begin + guess] - scores[gold]
        if guess == gold or margin <= 0.0:
            continue
        difference = dense[begin + gold] - dense[begin + guess]
        norm = np.sum(difference * difference)
        used = 0
        touched = np.empty(4 * n_words, np.int64)
        steps = np.empty(4 * n_words)
        if len(template_weights) > 0:
            codes = np.empty(2 * n_words, np.int64)
            template_codes(here, trees[gold], n_tags, codes)
            used = _step(codes, 1.0, change, touched, used)
            template_codes(here, trees[guess], n_tags, codes)
            used = _step(codes, -1.0, change, touched, used)
        for t in range(used):
            steps[t] = change[touched[t]]
            change[touched[t]] = 0.0
            norm += steps[t] * steps[t]
        if norm == 0.0:
            continue
        rate = min(limit, margin / norm)
        for f in range(len(weights)):
            weights[f] += rate * difference[f]
            summed[f] += clock * rate * difference[f]
        for t in range(used):
            template_weights[touched[t]] += rate * steps[t]
            template_summed[touched[t]] += clock * rate * steps[t]
    return lost, clock
