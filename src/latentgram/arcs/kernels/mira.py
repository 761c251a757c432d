"""One pass of MIRA over a treebank (Crammer et al. 2006; McDonald, Crammer & Pereira 2005), compiled whole.

Each sentence is parsed with the loss added in: y' maximises score(y') + loss(y, y'), the loss being the number of
wrong heads. If it beats the right tree y, the weights take the smallest step that mends it, cut off at C:

    Δ = features(y) − features(y'),   τ = min(C, (loss + score(y') − score(y)) / ‖Δ‖²),   w ← w + τ Δ.

The average of the weights over all steps is w − u / T with u = Σ_t t τ_t Δ_t, so averaging costs nothing more.
"""

import numpy as np

from latentgram.arcs.kernels.features import (
    ARC_FEATURES,
    arc_buckets,
    bits_of,
    distance_variant,
    last_alike,
    role_codes,
    score_arcs,
    score_listed,
    sentence_at,
    sibling_buckets,
    sibling_of,
)
from latentgram.compiling import njit
from latentgram.numeric.projective import best_heads, first_order, second_order
from latentgram.numeric.rearranging import best_rearranged
from latentgram.numeric.spanning import best_spanning


@njit()
def _collect(buckets, count, direction, variant, sign, change, touched, used):
    """Add a part's features to the change of weights; how many buckets are touched now."""
    for f in range(count):
        for bucket in (buckets[f] ^ direction, buckets[f] ^ variant):
            change[bucket] += sign
            touched[used] = bucket
            used += 1
    return used


@njit()
def taken_out(change, touched):
    """The change of each touched weight, and the sum of their squares; all of it is zero then.

    A change is taken out where its weight is first met, so later meetings count nothing.
    """
    steps = np.empty(len(touched))
    norm = 0.0
    for t in range(len(touched)):
        steps[t] = change[touched[t]]
        change[touched[t]] = 0.0
        norm += steps[t] * steps[t]
    return steps, norm


@njit()
def move(weights, summed, touched, steps, rate, clock):
    """Take a step, and add it to the sum that the average is made of."""
    for t in range(len(touched)):
        weights[touched[t]] += rate * steps[t]
        summed[touched[t]] += clock * rate * steps[t]


@njit()
def difference(symbols, gold, guess, second, size, change):
    """Add features(gold) − features(guess) to the change of `size` weights; the buckets that are touched.

    Heads are places, 0 the root.
    """
    n_words = symbols.shape[1] - 2
    shift = np.uint64(64 - bits_of(size))
    codes, last = role_codes(symbols), last_alike(symbols)
    buckets = np.empty(ARC_FEATURES, np.uint32)
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
    return touched[:used]


@njit()
def _update(symbols, gold, guess, second, margin, limit, clock, weights, summed, change):
    """The step that makes the gold heads win over the guessed ones."""
    touched = difference(symbols, gold, guess, second, len(weights), change)
    steps, norm = taken_out(change, touched)
    if norm > 0.0:
        move(weights, summed, touched, steps, min(limit, margin / norm), clock)


@njit()
def first_order_scores(symbols, weights):
    """The scores of all arcs [N, N] and of all words as roots [N]."""
    n_words = symbols.shape[1] - 2
    arc, root = np.full((n_words, n_words), -np.inf), np.empty(n_words)
    score_arcs(symbols, weights, arc, root)
    return arc, root


@njit()
def _first_order_rival(symbols, gold, weights, crossing):
    """The heads [N] of the tree with the best score and loss by arcs alone, and how far it beats the right one."""
    n_words = symbols.shape[1] - 2
    arc, root = first_order_scores(symbols, weights)
    right = 0.0
    for word in range(n_words):
        right += root[word] if gold[word + 1] == 0 else arc[gold[word + 1] - 1, word]
        for head in range(n_words):
            if gold[word + 1] != head + 1:
                arc[head, word] += 1.0
        if gold[word + 1] != 0:
            root[word] += 1.0
    heads, score = best_spanning(arc, root) if crossing else best_heads(first_order(arc, root))
    return heads, score - right


@njit()
def listed_scores(symbols, start, listed, weights):
    """The scores of the arcs listed for each word, with adjacent siblings."""
    n_words = symbols.shape[1] - 2
    kept, rooted = np.zeros((n_words, n_words), np.bool_), np.zeros(n_words, np.bool_)
    for word in range(n_words):
        for head in listed[start[word] : start[word + 1]]:
            if head == 0:
                rooted[word] = True
            else:
                kept[head - 1, word] = True
    scores = second_order(kept)
    score_listed(symbols, weights, scores)
    for word in range(n_words):
        if not rooted[word]:
            scores.root[word] = -np.inf
    return scores


@njit()
def _second_order_rival(symbols, gold, start, listed, weights, crossing):
    """The same with adjacent siblings, among the heads listed for each word, the right one included."""
    n_words = symbols.shape[1] - 2
    scores = listed_scores(symbols, start, listed, weights)
    arc, root, offset, modifier, sibling_begin, sibling = scores
    right = 0.0
    for word in range(n_words):
        if gold[word + 1] == 0:
            right += root[word]
        else:
            root[word] += 1.0
    for source in range(2 * n_words):
        head = source % n_words + 1
        for a in range(offset[source], offset[source + 1]):
            word = modifier[a] + 1
            if gold[word] != head:
                arc[head - 1, word - 1] += 1.0
                continue
            place = sibling_begin[head - 1, word - 1]
            right += arc[head - 1, word - 1] + sibling[place]
            before = sibling_of(gold, word)
            for b in range(offset[source], a):
                if modifier[b] + 1 == before:
                    right += sibling[place + 1 + b - offset[source]] - sibling[place]
    heads, score = best_rearranged(scores) if crossing else best_heads(scores)
    return heads, score - right


@njit()
def mira_pass(order, trees, limit, clock, weights, summed, crossing):
    """Learn from `EncodedTrees` in this order; the number of wrong heads met, and the clock.

    Arcs alone are scored where all heads are looked at, adjacent siblings too where they are listed. The
    rivals are projective trees unless arcs may be `crossing`.
    """
    second = len(trees.kept_start) > 0
    change = np.zeros(len(weights))
    wrong = 0
    for s in order:
        symbols, gold = sentence_at(trees, s)
        guess = np.zeros(len(gold), np.int64)
        if second:
            start = trees.kept_start[trees.offsets[s] : trees.offsets[s + 1] + 1]
            heads, margin = _second_order_rival(symbols, gold, start, trees.kept_head, weights, crossing)
        else:
            heads, margin = _first_order_rival(symbols, gold, weights, crossing)
        missed = 0
        for word in range(len(heads)):
            guess[word + 1] = heads[word] + 1
            missed += int(gold[word + 1] != guess[word + 1])
        clock += 1.0
        if missed > 0 and margin > 0.0:
            wrong += missed
            _update(symbols, gold, guess, second, margin, limit, clock, weights, summed, change)
    return wrong, clock
