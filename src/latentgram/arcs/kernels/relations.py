"""Naming the arcs of given trees: hashed features of an arc in its tree, one row of weights per feature.

A feature's row are the weights of all L relations, side by side from bucket b_f on; rows begin at multiples of 8
and may overlap those of other features, as hashed features do.

    score(relation r) = Σ_f weight[b_f + r]

    p(relation r | head) ∝ exp(scale · score(r))

Learned by passive-aggressive steps: the right relation must beat the best wrong one by 1 (Crammer et al. 2006).
Cost: 26 rows per arc, O(L) each; with morphological features 34, and two more for each that the word has.
"""

import numpy as np

from latentgram.arcs.kernels.features import (
    COARSE,
    FEATURES,
    INFLECTION,
    STEM,
    TAG,
    WORD,
    distance_variant,
    sentence_at,
)
from latentgram.compiling import njit

MOST_ROWS = 66
"""Room for the rows of an arc; features of a word that go beyond it are left out."""
_ROW = 8
_ODD = np.uint64(0x9E3779B97F4A7C15)
_TAGS = 1 << 15
"""More than there are coarse tags, so that two of them make one number."""


@njit(inline="always")
def _key(first, second, third):
    """Three symbols in one number."""
    return (np.uint64(first + 11) * _ODD + np.uint64(second + 11)) * _ODD + np.uint64(third + 11)


@njit(inline="always")
def _row(key, template, size):
    """Where the row of a filled template begins among `size` weights."""
    mixed = (key + np.uint64(template)) * _ODD
    mixed = (mixed ^ (mixed >> np.uint64(29))) * _ODD
    return np.int64((mixed >> np.uint64(20)) & np.uint64(size // _ROW - 1)) * _ROW


@njit()
def relation_rows(symbols, heads, first_child, last_child, children, word, size, rows):
    """Write the rows of the arc to `word`; `heads` by places, 0 the root. How many there are."""
    head = heads[word]
    above = heads[head] if head > 0 else 0
    tag, coarse, form, stem = symbols[TAG], symbols[COARSE], symbols[WORD], symbols[STEM]
    side = distance_variant(head, word)
    direction = 1 if word > head else 0
    first, last = first_child[word], last_child[word]
    keys = (
        _key(tag[word], direction, 0), _key(form[word], direction, 0), _key(stem[word], tag[word], 0),
        _key(tag[head], direction, 0), _key(form[head], direction, 0),
        _key(tag[word], tag[head], direction), _key(form[word], tag[head], direction),
        _key(tag[word], form[head], direction), _key(form[word], form[head], direction),
        _key(coarse[word], coarse[head], side), _key(tag[word], tag[head], side),
        _key(tag[word], tag[word - 1], direction), _key(tag[word], tag[word + 1], direction),
        _key(tag[word], tag[head], tag[word - 1]), _key(tag[word], tag[head], tag[word + 1]),
        _key(tag[word], tag[head], tag[above]), _key(tag[head], tag[above], direction),
        _key(tag[word], tag[first] if first > 0 else -1, direction),
        _key(tag[word], form[first] if first > 0 else -1, direction),
        _key(tag[word], tag[last] if last > 0 else -1, direction),
        _key(tag[word], form[last] if last > 0 else -1, direction),
        _key(coarse[word], min(children[word], 3), coarse[head]),
        _key(coarse[head], tag[first_child[head]], tag[word] * 2 + (1 if first_child[head] == word else 0)),
        _key(coarse[head], tag[last_child[head]], tag[word] * 2 + (1 if last_child[head] == word else 0)),
        _key(coarse[word], min(children[head], 4), side), _key(form[word], tag[head], side),
    )  # fmt: skip
    count = 0
    for key in keys:
        rows[count] = _row(key, count, size)
        count += 1
    if len(symbols) <= INFLECTION:
        return count
    inflection, tags = symbols[INFLECTION], coarse[word] * _TAGS + coarse[head]
    inflected = (
        _key(inflection[word], direction, 0), _key(inflection[word], coarse[head], direction),
        _key(inflection[word], inflection[head], tags), _key(inflection[word], form[head], direction),
        _key(tag[word], inflection[head], direction), _key(form[word], inflection[head], direction),
        _key(inflection[word], tags, side),
        _key(inflection[word], inflection[first] if first > 0 else -1, coarse[head]),
    )  # fmt: skip
    for key in inflected:
        rows[count] = _row(key, count, size)
        count += 1
    single = count
    for f in range(FEATURES, len(symbols)):
        feature = symbols[f, word]
        if feature == 0 or count + 2 > len(rows):
            break
        rows[count] = _row(_key(feature, tags, direction), single, size)
        rows[count + 1] = _row(_key(feature, form[head], 0), single + 1, size)
        count += 2
    return count


@njit()
def _children(heads):
    """For every place its first and last modifier (0: none) and how many it has."""
    first, last = np.zeros(len(heads), np.int64), np.zeros(len(heads), np.int64)
    count = np.zeros(len(heads), np.int64)
    for word in range(1, len(heads) - 1):
        head = heads[word]
        if count[head] == 0:
            first[head] = word
        last[head] = word
        count[head] += 1
    return first, last, count


@njit()
def _scores(weights, rows, used, scores):
    for r in range(len(scores)):
        scores[r] = 0.0
    for f in range(used):
        begin = rows[f]
        for r in range(len(scores)):
            scores[r] += weights[begin + r]


@njit()
def name_arcs(symbols, heads, weights, n_relations, scale):
    """The best relation of every word of a sentence, the lowest number of equals, and its probability.

    `heads` [N + 2] by places. The weights end with a margin of `n_relations` that the rows at the end reach into.
    """
    first, last, count = _children(heads)
    relations, sure = np.empty(len(heads) - 2, np.int64), np.empty(len(heads) - 2)
    rows, scores = np.empty(MOST_ROWS, np.int64), np.empty(n_relations)
    for word in range(1, len(heads) - 1):
        used = relation_rows(symbols, heads, first, last, count, word, len(weights) - n_relations, rows)
        _scores(weights, rows, used, scores)
        best, total = np.argmax(scores), 0.0
        for r in range(n_relations):
            total += np.exp(scale * (scores[r] - scores[best]))
        relations[word - 1], sure[word - 1] = best, 1.0 / total
    return relations, sure


@njit()
def relation_scores(symbols, heads, weights, n_relations):
    """The scores [N, L] of all relations of every word of a sentence, of which `name_arcs` takes the best."""
    first, last, count = _children(heads)
    rows, scores = np.empty(MOST_ROWS, np.int64), np.empty((len(heads) - 2, n_relations))
    for word in range(1, len(heads) - 1):
        used = relation_rows(symbols, heads, first, last, count, word, len(weights) - n_relations, rows)
        _scores(weights, rows, used, scores[word - 1])
    return scores


@njit()
def losses_by_scale(trees, relations, weights, n_relations, scales):
    """−Σ log p(right relation | head) of all arcs under each of these scales."""
    losses = np.zeros(len(scales))
    rows, scores = np.empty(MOST_ROWS, np.int64), np.empty(n_relations)
    for s in range(len(trees.offsets) - 1):
        symbols, heads = sentence_at(trees, s)
        first, last, count = _children(heads)
        for word in range(1, len(heads) - 1):
            used = relation_rows(symbols, heads, first, last, count, word, len(weights) - n_relations, rows)
            _scores(weights, rows, used, scores)
            right, greatest = scores[relations[trees.offsets[s] + word - 1]], np.max(scores)
            for i, scale in enumerate(scales):
                total = 0.0
                for r in range(n_relations):
                    total += np.exp(scale * (scores[r] - greatest))
                losses[i] += np.log(total) - scale * (right - greatest)
    return losses


@njit()
def relation_pass(order, trees, relations, n_relations, limit, clock, weights, summed):
    """Learn from the sentences in this order; how many relations were wrong, and the clock."""
    rows, scores = np.empty(MOST_ROWS, np.int64), np.empty(n_relations)
    wrong = 0
    for s in order:
        symbols, heads = sentence_at(trees, s)
        first, last, count = _children(heads)
        for word in range(1, len(heads) - 1):
            used = relation_rows(symbols, heads, first, last, count, word, len(weights) - n_relations, rows)
            _scores(weights, rows, used, scores)
            right = relations[trees.offsets[s] + word - 1]
            rival = -1
            for r in range(n_relations):
                if r != right and (rival < 0 or scores[r] > scores[rival]):
                    rival = r
            clock += 1.0
            if rival < 0 or scores[right] - scores[rival] >= 1.0:
                continue
            wrong += scores[right] <= scores[rival]
            rate = min(limit, (1.0 - scores[right] + scores[rival]) / (2.0 * used))
            for f in range(used):
                weights[rows[f] + right] += rate
                weights[rows[f] + rival] -= rate
                summed[rows[f] + right] += clock * rate
                summed[rows[f] + rival] -= clock * rate
    return wrong, clock
