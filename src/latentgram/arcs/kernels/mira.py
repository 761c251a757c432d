"""One pass of MIRA over a treebank (Crammer et al. 2006; McDonald, Crammer & Pereira 2005), compiled whole.

Each sentence is parsed with the loss added in: y' maximises score(y') + loss(y, y'), the loss being the number of
wrong heads. If it beats the right tree y, the weights take the smallest step that mends it, cut off at C:

    Δ = features(y) − features(y'),   τ = min(C, (loss + score(y') − score(y)) / ‖Δ‖²),   w ← w + τ Δ.

The average of the weights over all steps is w − u / T with u = Σ_t t τ_t Δ_t, so averaging costs nothing more.
Sentences lie end to end in `symbols`, with a place for the root before and one for the end after each.
"""

import numpy as np
from numba import njit

from latentgram.arcs.kernels.features import (
    ARC_FEATURES,
    arc_buckets,
    bits_of,
    distance_variant,
    last_alike,
    role_codes,
    score_arcs,
    score_listed,
    sibling_buckets,
    sibling_of,
)
from latentgram.numeric.projective import best_heads, first_order, second_order


@njit(cache=True)
def _collect(buckets, count, direction, variant, sign, change, touched, used):
    """Add a part's features to the change of weights; how many buckets are touched now."""
    for f in range(count):
        for bucket in (buckets[f] ^ direction, buckets[f] ^ variant):
            change[bucket] += sign
            touched[used] = bucket
            used += 1
    return used


@njit(cache=True)
def _update(symbols, gold, guess, second, margin, limit, clock, weights, summed, change):
    """The step that makes the gold heads (by places, 0 the root) win over the guessed ones."""
    n_words = symbols.shape[1] - 2
    shift = np.uint64(64 - bits_of(len(weights)))
    codes, last = role_codes(symbols), last_alike(symbols)
    buckets = np.empty(ARC_FEATURES, np.int64)
    touched = np.empty(4 * n_words * (ARC_FEATURES + 32), np.int64)
    used = 0
    for word in range(1, n_words + 1):
        for sign in (1.0, -1.0):
            heads = gold if sign > 0 else guess
            head = heads[word]
            direction = 1 if word > head else 0
            if gold[word] != guess[word]:
                count = arc_buckets(codes, last, head, word, shift, buckets)
                variant = distance_variant(head, word)
                used = _collect(buckets, count, direction, variant, sign, change, touched, used)
            if second:
                right, wrong = sibling_of(gold, word), sibling_of(guess, word)
                if head > 0 and (gold[word] != guess[word] or right != wrong):
                    before = right if sign > 0 else wrong
                    count = sibling_buckets(codes, head, before, word, shift, buckets)
                    variant = distance_variant(before, word)
                    used = _collect(buckets, count, direction, variant, sign, change, touched, used)
    # The change of a bucket is taken out where it is first met, so later meetings count nothing.
    steps = np.empty(used)
    norm = 0.0
    for t in range(used):
        steps[t] = change[touched[t]]
        change[touched[t]] = 0.0
        norm += steps[t] * steps[t]
    if norm == 0.0:
        return
    rate = min(limit, margin / norm)
    for t in range(used):
        weights[touched[t]] += rate * steps[t]
        summed[touched[t]] += clock * rate * steps[t]


@njit(cache=True)
def first_order_pass(order, symbols, offsets, heads, limit, clock, weights, summed):
    """Learn from the sentences in this order, scoring arcs alone; the number of wrong heads met, and the clock."""
    change = np.zeros(len(weights))
    wrong = 0
    for s in order:
        base, n_words = offsets[s] + 2 * s, offsets[s + 1] - offsets[s]
        here = symbols[:, base : base + n_words + 2]
        gold, guess = np.zeros(n_words + 2, np.int64), np.zeros(n_words + 2, np.int64)
        gold[1 : n_words + 1] = heads[offsets[s] : offsets[s + 1]]
        arc, root = np.full((n_words, n_words), -np.inf), np.empty(n_words)
        score_arcs(here, weights, arc, root)
        right = 0.0
        for word in range(n_words):
            right += root[word] if gold[word + 1] == 0 else arc[gold[word + 1] - 1, word]
            for head in range(n_words):
                if gold[word + 1] != head + 1:
                    arc[head, word] += 1.0
            if gold[word + 1] != 0:
                root[word] += 1.0
        best, score = best_heads(first_order(arc, root))
        guess[1 : n_words + 1] = best + 1
        clock += 1.0
        missed = int(np.sum(gold != guess))
        if missed > 0 and score > right:
            wrong += missed
            _update(here, gold, guess, False, score - right, limit, clock, weights, summed, change)
    return wrong, clock


@njit(cache=True)
def second_order_pass(order, symbols, offsets, heads, kept_start, kept_head, limit, clock, weights, summed):
    """The same with adjacent siblings, among the heads kept for each word (by places, the right one included)."""
    change = np.zeros(len(weights))
    wrong = 0
    for s in order:
        base, n_words = offsets[s] + 2 * s, offsets[s + 1] - offsets[s]
        here = symbols[:, base : base + n_words + 2]
        gold, guess = np.zeros(n_words + 2, np.int64), np.zeros(n_words + 2, np.int64)
        gold[1 : n_words + 1] = heads[offsets[s] : offsets[s + 1]]
        kept = np.zeros((n_words, n_words), np.bool_)
        rooted = np.zeros(n_words, np.bool_)
        for word in range(n_words):
            for t in range(kept_start[offsets[s] + word], kept_start[offsets[s] + word + 1]):
                if kept_head[t] == 0:
                    rooted[word] = True
                else:
                    kept[kept_head[t] - 1, word] = True
        scores = second_order(kept)
        score_listed(here, weights, scores)
        arc, root, offset, modifier, sibling_begin, sibling = scores
        right = 0.0
        for word in range(n_words):
            if gold[word + 1] == 0:
                right += root[word]
            else:
                root[word] += 1.0
            if not rooted[word]:
                root[word] = -np.inf
        for source in range(2 * n_words):
            head = source % n_words
            for number in range(offset[source], offset[source + 1]):
                word = modifier[number]
                if gold[word + 1] != head + 1:
                    arc[head, word] += 1.0
                    continue
                place = sibling_begin[head, word]
                right += arc[head, word] + sibling[place]
                before = sibling_of(gold, word + 1)
                for b in range(offset[source], number):
                    if modifier[b] + 1 == before:
                        right += sibling[place + 1 + b - offset[source]] - sibling[place]
        best, score = best_heads(scores)
        guess[1 : n_words + 1] = best + 1
        clock += 1.0
        missed = int(np.sum(gold != guess))
        if missed > 0 and score > right:
            wrong += missed
            _update(here, gold, guess, True, score - right, limit, clock, weights, summed, change)
    return wrong, clock
