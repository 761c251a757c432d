"""More features of items and edges (see features.py, which has the common ones): `WIDE`.

Items: second words from the borders, alone and with the first; sequences of up to five tags around and inside the
span; endings and forms at the borders; the marks (words without letter or digit) and the runs of tags inside; the
length with words and tags; the odds of the grammar with length, head and tags; the head with borders, length and
its place in the span; the words next to the head. Items over words: words and tags two places away, endings and
forms with those of the neighbours. Edges with their rule: endings, forms, words and tags around the split and the
borders; the heads with the words beside them; whether the parts are alike in shape, tags and words; the marks and
runs of tags of both parts; what the grammar gives the edge and its children, with lengths and tags.

Each is of little use by itself. Together they gain most for sentences without tags.
"""

from __future__ import annotations

import numpy as np

from latentgram.compiling import njit
from latentgram.lpcfg.crf.kernels.view import (
    ENDING,
    FORM,
    ODD,
    PAD,
    WORD,
    A,
    B,
    C,
    D,
    E,
    F,
    alike,
    hashed,
    length_code,
    odds_code,
    written,
)

_SPAN, _WORD, _PHRASE, _RULE, _EDGE = 384, 448, 512, 576, 640
"""Where the templates of spans, words, phrases with their heads, and of edges with their rule and with what the
grammar gives them begin."""


@njit(inline="always")
def wide_span_keys(view, first, end, keys, count):
    """Write more of what the items over a span of several words share; how many keys there are then."""
    word, tag, ending, form = view.words[WORD], view.tag, view.words[ENDING], view.words[FORM]
    i, j = first + PAD, end + PAD
    w0, w1, wb, wa = word[i] * A, word[j - 1] * B, word[i - 1] * C, word[j] * D
    t0, t1, tb, ta = tag[i] * A, tag[j - 1] * B, tag[i - 1] * C, tag[j] * D
    after_first, before_last, tbb, taa = tag[i + 1] * E, tag[j - 2] * F, tag[i - 2] * E, tag[j + 1] * F
    length = length_code(end - first)
    mark, run = view.marks[first, end - 1], view.runs[first, end - 1]
    values = (
        word[i + 1] * A, word[j - 2] * B, word[i - 2] * C, word[j + 1] * D,
        t0 + after_first, before_last + t1, tb + t0 + after_first, before_last + t1 + ta,
        w0 + word[i + 1] * E, w1 + word[j - 2] * F, word[i - 2] * E + wb, wa + word[j + 1] * F,
        tbb + tb, ta + taa, tbb + tb + t0 + after_first, before_last + t1 + ta + taa,
        tb + t0 + after_first + before_last * ODD + t1 + ta, tbb + tb + ta, tb + ta + taa, tbb + tb + ta + taa,
        ending[i - 1] * C, ending[j] * D, form[i] * A, form[j - 1] * B, form[i - 1] * C, form[j] * D,
        ending[i] * A + ta, ending[j - 1] * B + tb, ending[i - 1] * C + t0, ending[j] * D + t1,
        form[i] * A + tb, form[j] * D + t1, ending[j - 1] * B + wa, ending[i] * A + wb,
        mark * A, mark * A + length, mark * A + ta, mark * A + tb + ta, mark * A + wb + wa,
        run, run + ta, run + tb,
        length + tb + ta, length + t0 + t1, length + w0, length + wa, length + wb, length + t0 + ta, length + w1,
    )  # fmt: skip
    return written(values, _SPAN, keys, count)


@njit(inline="always")
def wide_word_keys(view, place, keys, count):
    """Write more of what the items over a word share; how many keys there are then."""
    word, tag, ending, forms, i = view.words[WORD], view.tag, view.words[ENDING], view.words[FORM], place + PAD
    w, wb, wa = word[i] * A, word[i - 1] * C, word[i + 1] * D
    tb, ta, tbb, taa = tag[i - 1] * C, tag[i + 1] * D, tag[i - 2] * E, tag[i + 2] * F
    own, before, after = ending[i] * A, ending[i - 1] * C, ending[i + 1] * D
    form, form_before, form_after = forms[i] * B, forms[i - 1] * C, forms[i + 1] * D
    values = (
        word[i - 2] * A, word[i + 2] * B, w + tb + ta, w + tbb + tb, w + ta + taa,
        form_before, form_after, form_before + form, form + form_after, form + tb, form + ta,
        own, own + tb, own + ta, own + tb + ta, own + wb, own + wa, before, after, before + own, own + after,
        tbb + tb, ta + taa, tbb + tb + ta, tb + ta + taa,
    )  # fmt: skip
    return written(values, _WORD, keys, count)


@njit(inline="always")
def wide_item_buckets(view, some, odds, symbol, shift, buckets, count):
    """Write more buckets of an item over several words; how many there are then."""
    word, tag = view.words[WORD], view.tag
    i, j, h = view.first[some] + PAD, view.end[some] + PAD, view.head[some] + PAD
    hw, ht, ending, length = word[h] * E, tag[h] * E, view.words[ENDING, h] * E, length_code(j - i)
    t0, t1, tb, ta = tag[i] * A, tag[j - 1] * B, tag[i - 1] * C, tag[j] * D
    to_left, to_right = length_code(h - i) * A, length_code(j - 1 - h) * B
    tag_left, word_left, tag_right, word_right = np.uint64(1), np.uint64(1), np.uint64(2), np.uint64(2)
    if h > i:
        tag_left, word_left = tag[h - 1] * A, word[h - 1] * A
    if h < j - 1:
        tag_right, word_right = tag[h + 1] * B, word[h + 1] * B
    given = odds * A
    values = (
        given + length, given + ht, given + tag[i] * B, given + tag[j - 1] * C, given + tag[i - 1] * D,
        given + tag[j] * F,
        hw + tb + ta, ht + tb + ta, hw + length, hw + word[i] * A, hw + word[j - 1] * B, hw + word[i - 1] * C,
        hw + word[j] * D, ht + t0 + t1, ht + to_left, ht + to_right, ht + to_left + to_right, hw + t0, hw + t1,
        ht + tag_left, ht + tag_right, ht + tag_left + tag_right, hw + tag_left, hw + tag_right,
        ht + word_left, ht + word_right, ending + tb, ending + ta, view.words[FORM, h] * E,
    )  # fmt: skip
    return hashed(values, _PHRASE, symbol, shift, buckets, count)


@njit(inline="always")
def wide_split_keys(view, left, right, keys, count):
    """Write more of what the edges at a split share, which goes with their rule; how many keys there are then."""
    word, tag, ending, form = view.words[WORD], view.tag, view.words[ENDING], view.words[FORM]
    first, middle, end = view.first[left], view.first[right], view.end[right]
    i, k, j = first + PAD, middle + PAD, end + PAD
    g, h = view.head[left] + PAD, view.head[right] + PAD
    gw, gt, hw, ht = word[g] * C, tag[g] * C, word[h] * D, tag[h] * D
    tk, tkk, t0, t1, tb, ta = tag[k - 1] * E, tag[k] * F, tag[i] * A, tag[j - 1] * B, tag[i - 1] * C, tag[j] * D
    distance = length_code(h - g) * E
    one_run, other_run = view.runs[first, middle - 1], view.runs[middle, end - 1]
    one_mark, other_mark = view.marks[first, middle - 1] * A, view.marks[middle, end - 1] * B
    same = alike(view.shapes[first, middle - 1], view.shapes[middle, end - 1]) * A + alike(one_run, other_run) * B
    parallel = alike(tag[i], tag[k]) * A + alike(tag[k - 1], tag[j - 1]) * B + alike(tag[g], tag[h]) * C
    values = (
        ending[k - 1] * E, ending[k] * F, ending[g] * C, ending[h] * D, word[i - 1] * A, word[j] * B,
        form[k] * F, form[k - 1] * E,
        t0 + tkk, tk + t1, tb + tkk, tk + ta, tag[k - 2] * D + tk, tkk + tag[k + 1] * E * ODD, t0 + tb, t1 + ta,
        gt + tag[i - 1] * A, ht + tag[j] * B, tb + ta,
        word[k - 2] * A, word[k + 1] * B, gw + tkk, tk + hw, gw + distance, hw + distance, distance,
        length_code(k - i) * A + distance, gt + word[k] * F, word[k - 1] * E + ht,
        same, same + parallel * ODD, alike(word[i], word[k]) * C + alike(word[k - 1], word[j - 1]) * B,
        alike(k - i, j - k) * D + parallel * ODD, alike(word[i], word[k - 1]) * C,
        alike(tag[i], tag[k - 1]) * C + alike(tag[k], tag[j - 1]) * D,
        one_mark, other_mark, one_mark + other_mark, one_run, other_run * ODD,
        gt + tag[g + 1] * A, gt + tag[g - 1] * B, ht + tag[h + 1] * A, ht + tag[h - 1] * B,
        gt + ht + tkk, gt + ht + tk, gt + ht + tag[i - 1] * A, gt + ht + tag[j] * B,
    )  # fmt: skip
    return written(values, _RULE, keys, count)


@njit(inline="always")
def wide_edge_buckets(view, left, right, codes, shift, buckets, count):
    """Write more buckets of an edge, from the codes of its parent, of its rule, of what the grammar gives it and
    of whether its rule was seen; how many there are then."""
    above, rule, given, seen = codes
    tag, i, k, j = view.tag, view.first[left] + PAD, view.first[right] + PAD, view.end[right] + PAD
    before, after = odds_code(view.item[left]), odds_code(view.item[right])
    weight = given * A
    values = (
        weight + rule, weight + rule + seen, weight + above + tag[k] * E, weight + above + tag[k - 1] * B,
        weight + above + length_code(k - i) * B, weight + above + length_code(j - k) * C,
        before * A + rule, after * B + rule, before * A + after * B + above,
        before * A + after * B + given * C + above,
    )  # fmt: skip
    return hashed(values, _EDGE, np.uint64(0), shift, buckets, count)
