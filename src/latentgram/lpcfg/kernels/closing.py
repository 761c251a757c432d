"""What the words around a span say of it before a chart grows: what it may be, and whether it can be left out.

**Contexts.** A bigram model of tags is run over the sentence, forwards and backwards,

    f_i(t) ∝ q(t→x_i) Σ_{t′} f_{i-1}(t′) p(t | t′),   b_i(t) ∝ Σ_{t′} p(t′ | t) q(t′→x_{i+1}) b_{i+1}(t′),

with the scales c_i = p(x_i | x_0 … x_{i-1}), and its tags next to a gap are mapped to symbols
(projection.py). The tag of the sentence boundary is the last. O(n · leaves² + n · leaves · I) for
`leaves` tags per word.

**Closing.** Which cells may stay closed: a hashed logistic regression over spans (Bodenstab et al. 2011).

A span i … j−1 is a node of the binarised tree, or no node is over it. Its score is a sum of weights of what is
seen at its first gap, at its last one, and of both together,

    s(i,j) = Σ_k w[h(k, gap i)] + Σ_k w[h(k, gap j)] + Σ_k w[h(k, gap i, gap j, width)],

with tags and words on both sides of a gap; h hashes into a table of 2ᵇ weights. The first two sums are made once
per gap, so a sentence of n words costs 18 n + 12 n²/2 look-ups. Stored weights are bytes, in units of `UNIT`.

Learning: gradient steps on − log σ(±s), each weight with its own step (AdaGrad); spans of the tree count more.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Flags, Ints, Ints32, Reals
from latentgram.compiling import njit
from latentgram.lpcfg.kernels.chart import CLOSED, OPEN, SpanMasks, add_scaled, cell_of

BITS = 18
UNIT = 1.0 / 16.0
"""What one unit of a stored weight is worth."""
_GAP, _PAIR = 9, 12
_FACTOR = np.int64(-7046029254386353131)
_EDGE = np.int64(1) << 40
"""The tag and the word beyond the ends of the sentence."""


class Contexts(NamedTuple):
    """[n+1, I] what the words before and after each gap say for a symbol that begins, or ends, there."""

    begins: Reals
    ends: Reals


@njit()
def filter_tags(leaf_begin, leaf_tag, leaf_weight, bigram):
    """Scaled forward and backward numbers of the tags a bigram model gives to words, and the scales c.

    `leaf_tag` and `leaf_weight` list, word after word, the tags t that a word x may have, and q(t→x). With f the
    forward and b the backward numbers, f(t) b(t) is the posterior of a tag.
    """
    length, edge = leaf_begin.shape[0] - 1, bigram.shape[0] - 1
    forward, backward = np.zeros(leaf_tag.shape[0]), np.zeros(leaf_tag.shape[0])
    scale = np.empty(length)
    for word in range(length):
        total = 0.0
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            if word == 0:
                mass = bigram[edge, leaf_tag[leaf]]
            else:
                mass = 0.0
                for previous in range(leaf_begin[word - 1], leaf_begin[word]):
                    mass += forward[previous] * bigram[leaf_tag[previous], leaf_tag[leaf]]
            forward[leaf] = mass * leaf_weight[leaf]
            total += forward[leaf]
        scale[word] = total
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            forward[leaf] /= total
    total = 0.0
    for leaf in range(leaf_begin[length - 1], leaf_begin[length]):
        backward[leaf] = bigram[leaf_tag[leaf], edge]
        total += forward[leaf] * backward[leaf]
    for leaf in range(leaf_begin[length - 1], leaf_begin[length]):
        backward[leaf] /= total
    for word in range(length - 2, -1, -1):
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            for following in range(leaf_begin[word + 1], leaf_begin[word + 2]):
                backward[leaf] += (
                    bigram[leaf_tag[leaf], leaf_tag[following]]
                    * leaf_weight[following]
                    / scale[word + 1]
                    * backward[following]
                )
    return forward, backward, scale


@njit()
def context_scores(leaf_begin, leaf_tag, leaf_weight, forward, backward, scale, after, before):
    """[n+1, I] what the words before and after each gap say for a symbol that begins, or ends, there."""
    length, kind = leaf_begin.shape[0] - 1, after.dtype
    begins, ends = np.zeros((length + 1, after.shape[1]), kind), np.zeros((length + 1, after.shape[1]), kind)
    _add_contexts(leaf_begin, leaf_tag, leaf_weight, forward, backward, scale, after, before, begins, ends)
    return Contexts(begins, ends)


@njit(borrows=True)
def _add_contexts(leaf_begin, leaf_tag, leaf_weight, forward, backward, scale, after, before, begins, ends):
    """Add what all words say to nothing."""
    length, edge, kind = leaf_begin.shape[0] - 1, after.shape[0] - 1, after.dtype
    add_scaled(begins[0], kind.type(1), after[edge])
    add_scaled(ends[length], kind.type(1), before[edge])
    for word in range(length):
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            here = leaf_weight[leaf] / scale[word] * backward[leaf]
            add_scaled(begins[word + 1], kind.type(forward[leaf]), after[leaf_tag[leaf]])
            add_scaled(ends[word], kind.type(here), before[leaf_tag[leaf]])


class Closing(NamedTuple):
    """What closes cells."""

    weight: NDArray[np.int8]
    """[2ᵇ], or none: then nothing is closed."""
    least: float
    """The least score of a cell that is open."""
    tag: Ints32
    """[P] the tag of each preterminal."""


@njit(inline="always")
def _mix(one, other):
    """A hash of two numbers."""
    mixed = (one ^ other) * _FACTOR
    return mixed ^ (mixed >> 31)


@njit()
def gaps(tag, word):
    """[n+1, 5] hashes of what is on both sides of each gap: tag before, tag after, both, word before, after; and
    [n+1, 9] of all that speaks of the gap alone."""
    length = tag.shape[0]
    ends, seen = np.empty((length + 1, 5), np.int64), np.empty((length + 1, _GAP), np.int64)
    for gap in range(length + 1):
        before = tag[gap - 1] if gap > 0 else _EDGE
        after = tag[gap] if gap < length else _EDGE
        further = tag[gap - 2] if gap > 1 else _EDGE
        beyond = tag[gap + 1] if gap + 1 < length else _EDGE
        word_before = word[gap - 1] if gap > 0 else _EDGE
        word_after = word[gap] if gap < length else _EDGE
        both = _mix(_mix(1, before), after)
        ends[gap, 0], ends[gap, 1], ends[gap, 2] = _mix(2, before), _mix(3, after), both
        ends[gap, 3], ends[gap, 4] = _mix(4, word_before), _mix(5, word_after)
        for kind in range(5):
            seen[gap, kind] = ends[gap, kind]
        seen[gap, 5] = _mix(ends[gap, 3], after)
        seen[gap, 6] = _mix(ends[gap, 4], before)
        seen[gap, 7] = _mix(both, further)
        seen[gap, 8] = _mix(both ^ 7, beyond)
    return ends, seen


@njit(inline="always")
def _place(hashed, mask):
    """Where the weight of a hash is."""
    return (hashed ^ (hashed >> 23)) & mask


@njit(inline="always")
def _bucket(width):
    """Widths up to five, and then by doubling."""
    bucket = width
    if width > 5:
        bucket = 6 + (width > 7) + (width > 10) + (width > 15) + (width > 22) + (width > 35)
    return bucket


@njit(borrows=True)
def pair_places(ends, first, end, mask, places):
    """Where the weights of all that speaks of both gaps of a span are."""
    bucket = np.int64(_bucket(end - first)) << 48
    inner = _mix(ends[first, 1], ends[end, 0])
    outer = _mix(ends[first, 0], ends[end, 1])
    places[0] = _place(inner, mask)
    places[1] = _place(outer, mask)
    places[2] = _place(_mix(inner, bucket), mask)
    places[3] = _place(_mix(outer, bucket), mask)
    places[4] = _place(_mix(ends[first, 2], ends[end, 2]), mask)
    places[5] = _place(_mix(ends[first, 2], ends[end, 1]), mask)
    places[6] = _place(_mix(ends[first, 1], ends[end, 2]), mask)
    places[7] = _place(_mix(ends[first, 4], ends[end, 1]), mask)
    places[8] = _place(_mix(ends[first, 3], ends[end, 1]), mask)
    places[9] = _place(_mix(ends[first, 0], ends[end, 4]), mask)
    places[10] = _place(_mix(ends[first, 1], ends[end, 3]), mask)
    places[11] = _place(_mix(ends[first, 4], ends[end, 3]), mask)


@njit()
def span_scores(tag, word, weights):
    """[cells] the scores of all spans of a sentence, in the units of the weights."""
    length, mask = tag.shape[0], weights.shape[0] - 1
    ends, seen = gaps(tag, word)
    begins_at, ends_at = np.zeros(length + 1, np.float32), np.zeros(length + 1, np.float32)
    for gap in range(length + 1):
        for kind in range(_GAP):
            begins_at[gap] += weights[_place(_mix(seen[gap, kind], 11), mask)]
            ends_at[gap] += weights[_place(_mix(seen[gap, kind], 13), mask)]
    scores, places = np.empty(length * (length + 1) // 2, np.float32), np.empty(_PAIR, np.int64)
    for width in range(1, length + 1):
        for first in range(length - width + 1):
            pair_places(ends, first, first + width, mask, places)
            score = begins_at[first] + ends_at[first + width]
            for kind in range(_PAIR):
                score += weights[places[kind]]
            scores[cell_of(length, first, width)] = score
    return scores


@njit()
def learn_sentence(tag, word, is_node, weights, squares, step, worth):
    """One step for each span of two words and more, but the whole; `is_node` is [cells]."""
    length, mask = tag.shape[0], weights.shape[0] - 1
    ends, seen = gaps(tag, word)
    begins_at, ends_at = np.empty((length + 1, _GAP), np.uint32), np.empty((length + 1, _GAP), np.uint32)
    for gap in range(length + 1):
        for kind in range(_GAP):
            begins_at[gap, kind] = _place(_mix(seen[gap, kind], 11), mask)
            ends_at[gap, kind] = _place(_mix(seen[gap, kind], 13), mask)
    places = np.empty(2 * _GAP + _PAIR, np.uint32)
    for width in range(2, length):
        for first in range(length - width + 1):
            pair_places(ends, first, first + width, mask, places)
            begins, ended, both = 0.0, 0.0, 0.0  # three sums, which need not wait for each other
            for kind in range(_GAP):
                begins += weights[begins_at[first, kind]]
                ended += weights[ends_at[first + width, kind]]
            for kind in range(_PAIR):
                both += weights[places[kind]]
            score, positive = begins + ended + both, is_node[cell_of(length, first, width)]
            if not positive and score < -7.0:  # the gradient would be next to nothing
                continue
            share = 1.0 / (1.0 + math.exp(-max(min(score, 30.0), -30.0)))
            gradient = worth * (share - 1.0) if positive else share
            if abs(gradient) < 1e-3:
                continue
            for kind in range(_GAP):
                places[_PAIR + kind] = begins_at[first, kind]
                places[_PAIR + _GAP + kind] = ends_at[first + width, kind]
            for kind in range(places.shape[0]):
                place = places[kind]
                squares[place] += gradient * gradient
                weights[place] -= step * gradient / math.sqrt(squares[place])


class Lessons(NamedTuple):
    """Sentences to learn from: the words of lesson l begin at `start[l]` of `tag` and `word`, its cells at
    `cell[l]` of `is_node`."""

    start: Ints
    cell: Ints
    tag: Ints
    word: Ints
    is_node: Flags


@njit()
def learn_lessons(order, lessons, weights, squares, step, worth):
    """All steps of lessons, in this order."""
    for lesson in order:
        words = slice(lessons.start[lesson], lessons.start[lesson + 1])
        is_node = lessons.is_node[lessons.cell[lesson] : lessons.cell[lesson + 1]]
        learn_sentence(lessons.tag[words], lessons.word[words], is_node, weights, squares, step, worth)


@njit()
def node_scores(first, end, lessons, weights):
    """The scores of the nodes of the lessons first to end that are over two words and more, but not over all."""
    scores, filled = np.empty(lessons.cell[end] - lessons.cell[first], np.float32), 0
    for lesson in range(first, end):
        words = slice(lessons.start[lesson], lessons.start[lesson + 1])
        tag, is_node = lessons.tag[words], lessons.is_node[lessons.cell[lesson] : lessons.cell[lesson + 1]]
        of_spans = span_scores(tag, lessons.word[words], weights)
        for cell in range(tag.shape[0], of_spans.shape[0] - 1):
            if is_node[cell]:
                scores[filled] = of_spans[cell]
                filled += 1
    return scores[:filled]


@njit()
def sure_tags(leaf_begin, leaf_tag, forward, backward, tag_of):
    """The tag of each word that has the greatest posterior under the bigram model."""
    tag = np.empty(leaf_begin.shape[0] - 1, np.int64)
    for word in range(tag.shape[0]):
        best = -1.0
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            if forward[leaf] * backward[leaf] > best:
                best, tag[word] = forward[leaf] * backward[leaf], tag_of[leaf_tag[leaf]]
    return tag


@njit()
def sentence_tags(start, leaf_begin, leaf_tag, leaf_weight, bigram, tag_of):
    """The same for the words of several sentences, of which s begins at word `start[s]`."""
    tag = np.empty(leaf_begin.shape[0] - 1, np.int64)
    for sentence in range(start.shape[0] - 1):
        begin = leaf_begin[start[sentence] : start[sentence + 1] + 1]
        leaves = slice(begin[0], begin[-1])
        own, begin = leaf_tag[leaves], begin - begin[0]
        forward, backward, _ = filter_tags(begin, own, leaf_weight[leaves], bigram)
        found = sure_tags(begin, own, forward, backward, tag_of)
        for word in range(found.shape[0]):
            tag[start[sentence] + word] = found[word]
    return tag


@njit()
def close_cells(tag, word, closing, masks):
    """The masks, with all cells closed of which nothing is known and whose scores are too low."""
    length, of_cell = tag.shape[0], masks.of_cell.copy()
    scores = span_scores(tag, word, closing.weight)
    for cell in range(length, of_cell.shape[0] - 1):
        if of_cell[cell] == OPEN and scores[cell] < closing.least:
            of_cell[cell] = CLOSED
    return SpanMasks(masks.allowed, of_cell)
