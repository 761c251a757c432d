"""What a conditional random field sees of the items and edges of a packed chart: hashed features, made on the fly.

A feature is a template filled with properties of a few words, of the symbol of an item or of the rule of an edge.
Every property has a random code of 64 bits; the key of a feature is the sum of its codes, each multiplied by the
odd number of its role, and the highest bits of the key are its bucket in the weights. So what depends on the span
only is summed once per span, and each symbol costs one addition per template.

Items (i, j, symbol, head): the words and tags at and beside both borders, one by one and together; the length;
the tags of short spans; endings; the shape of the span; the head with the borders; the form of single words; how
sure the grammar is. Edges (i, k, j, rule): the rule with and without its memory of siblings; lengths, words and
tags at the split and the borders; both heads and their distance; what two parts have in common, for coordinated
ones are alike; whether the rule was ever seen; what the grammar gives it.

Those are the features of every layer; layers of large treebanks have many more, of the same words and tags and of
a few others (wider.py). What is done for each span, item, split and edge is inlined: a view (view.py) is some two
hundred numbers, all of which a call would hand over. Cost: ITEM_FEATURES or EDGE_FEATURES additions and looks into
memory per item and edge.
"""

from __future__ import annotations

import math

import numpy as np

from latentgram.compiling import njit
from latentgram.lpcfg.crf.kernels.view import (
    ENDING,
    FORM,
    LONGEST,
    ODD,
    PAD,
    ROWS,
    SPELLING,
    TEMPLATE,
    WIDE,
    WORD,
    A,
    B,
    C,
    D,
    E,
    F,
    alike,
    hashed,
    length_bin,
    length_code,
    number_code,
    odds_code,
    written,
)
from latentgram.lpcfg.crf.kernels.wider import (
    wide_edge_buckets,
    wide_item_buckets,
    wide_span_keys,
    wide_split_keys,
    wide_word_keys,
)

ITEM_FEATURES = 136
EDGE_FEATURES = 96
"""Room for the buckets of an item and of an edge."""
_ITEM, _WORD, _PHRASE, _RULE, _PARENT, _EDGE = 0, 64, 128, 192, 256, 320
"""Where the templates of items, of items over words and over phrases, and of edges with their rule, with their
parent, and by themselves begin; those of wider.py follow."""
_LEAST = 1e-30


@njit(inline="always")
def span_keys(view, first, end, keys):
    """Write what the features of all items over a span share; how many there are."""
    if end - first == 1:
        return word_keys(view, first, keys)
    word, tag, ending = view.words[WORD], view.tag, view.words[ENDING]
    i, j = first + PAD, end + PAD
    w0, w1, wb, wa = word[i] * A, word[j - 1] * B, word[i - 1] * C, word[j] * D
    t0, t1, tb, ta = tag[i] * A, tag[j - 1] * B, tag[i - 1] * C, tag[j] * D
    tbb, taa = tag[i - 2] * E, tag[j + 1] * F
    length = length_code(end - first)
    inner = t0 + t1 + length
    if end - first <= LONGEST:
        inner = view.sequences[first, end - first - 1]
    values = (
        np.uint64(0), w0, w1, wb, wa, t0, t1, tb, ta,
        tb + t0, t1 + ta, t0 + t1, tb + ta, tb + t0 + t1 + ta,
        tb + t0 + t1, t0 + t1 + ta, tb + t1 + ta, tb + t0 + ta,
        w0 + t1, t0 + w1, wb + t0, tb + w0, w1 + ta, t1 + wa, wb + ta, tb + wa,
        w0 + w1, wb + w0, w1 + wa, wb + wa,
        tbb + tb + t0, t1 + ta + taa,
        length, length + t0, length + t1, length + ta,
        ending[i] * A, ending[j - 1] * B,
        view.shapes[first, end - 1],
        inner,
    )  # fmt: skip
    count = written(values, _ITEM, keys, 0)
    return wide_span_keys(view, first, end, keys, count) if view.symbols.templates >= WIDE else count


@njit(borrows=True)
def word_keys(view, place, keys):
    """Write what the features of all items over a word share, which choose its tag; how many there are."""
    word, tag = view.words[WORD], view.tag
    i = place + PAD
    ending, form = view.words[ENDING], view.words[FORM, i] * B
    w, wb, wa = word[i] * A, word[i - 1] * C, word[i + 1] * D
    t, tb, ta = tag[i] * A, tag[i - 1] * C, tag[i + 1] * D
    values = (
        np.uint64(0), w, wb, wa, t, tb, ta, tb + t, t + ta, tb + ta, tb + t + ta, w + tb, w + ta, wb + w, w + wa,
        wb + t, t + wa, tag[i - 2] * E + tb + t, t + ta + tag[i + 2] * F, wb + ta, tb + wa,
        wb + wa, form, form + t, ending[i - 1] * C + t, ending[i + 1] * D + t,
    )  # fmt: skip
    count = written(values, _WORD, keys, 0)
    for row in range(SPELLING, ROWS):
        keys[count] = view.words[row, i] + TEMPLATE[_WORD + count]
        count += 1
    return wide_word_keys(view, place, keys, count) if view.symbols.templates >= WIDE else count


@njit(inline="always")
def item_buckets(view, some, keys, shared, shift, buckets):
    """Write the buckets of an item, of whose keys the first `shared` are those of its span; how many there are."""
    symbol = view.symbols.code[view.chart.item_symbol[some]] * ODD
    for number in range(shared):
        buckets[number] = (keys[number] + symbol) >> shift
    odds = odds_code(view.item[some])
    i, j, h = view.first[some] + PAD, view.end[some] + PAD, view.head[some] + PAD
    if j - i == 1:
        return hashed((odds,), _PHRASE, symbol, shift, buckets, shared)
    word, tag = view.words[WORD], view.tag
    hw, ht = word[h] * E, tag[h] * E
    values = (
        hw, ht, hw + tag[i - 1] * C, hw + tag[j] * D, ht + tag[i - 1] * C, ht + tag[j] * D,
        ht + word[i - 1] * C, ht + word[j] * D,
        ht + length_code(j - i), view.words[ENDING, h] * E,
        odds,
    )  # fmt: skip
    count = hashed(values, _PHRASE + 1, symbol, shift, buckets, shared)
    if view.symbols.templates >= WIDE:
        return wide_item_buckets(view, some, odds, symbol, shift, buckets, count)
    return count


@njit(inline="always")
def split_keys(view, left, right, keys):
    """Write what the features of all edges at a split share: first those that go with the parent's symbol, then
    those that go with the rule; how many there are of the former and of all."""
    word, tag = view.words[WORD], view.tag
    i, k, j = view.first[left] + PAD, view.first[right] + PAD, view.end[right] + PAD
    g, h = view.head[left] + PAD, view.head[right] + PAD
    wide, narrow = length_bin(k - i), length_bin(j - k)
    before, after = number_code(wide) * A, number_code(narrow) * B
    gw, gt, hw, ht = word[g] * C, tag[g] * C, word[h] * D, tag[h] * D
    distance = length_code(h - g) * E
    tk, tkk = tag[k - 1] * E, tag[k] * F
    wk, wkk = word[k - 1] * E, word[k] * F
    parallel = (
        alike(tag[i], tag[k]) * A + alike(tag[k - 1], tag[j - 1]) * B + alike(tag[g], tag[h]) * C
        + alike(wide, narrow) * D
    )  # fmt: skip
    with_rule = (
        before, after, before + after,
        wk, wkk, word[i] * A, word[j - 1] * B, tk, tkk, tag[i] * A, tag[j - 1] * B,
        tag[i - 1] * C, tag[j] * D, tk + tkk, gt + ht, gt + ht + distance, gw, hw, parallel,
    )  # fmt: skip
    with_parent = (
        wk + wkk, wk + tkk, tk + wkk,
        gw + hw, gw + ht, gt + hw, gt + ht + distance, gw + wkk, gt + wkk, hw + distance, gw + distance,
        tk + tkk + tag[i - 1] * C + tag[j] * D,
    )  # fmt: skip
    first = written(with_parent, _PARENT, keys, 0)
    count = written(with_rule, _RULE, keys, first)
    if view.symbols.templates >= WIDE:
        count = wide_split_keys(view, left, right, keys, count)
    return first, count


@njit(inline="always")
def edge_buckets(view, number, entry, left, right, keys, shared, shift, buckets):
    """Write the buckets of an edge, of whose keys the first are those of its split; how many there are."""
    chart, symbols = view.chart, view.symbols
    parent = chart.parent_item[entry]
    a, b, c = chart.item_symbol[parent], chart.item_symbol[left], chart.item_symbol[right]
    above = symbols.code[a] * ODD
    rule = above + symbols.code[b] * E + symbols.code[c] * F
    first, count = shared
    for place in range(first):
        buckets[place] = (keys[place] + above) >> shift
    for place in range(first, count):
        buckets[place] = (keys[place] + rule) >> shift
    whole = symbols.full[a] * A + symbols.full[b] * B + symbols.full[c] * C
    share = max(abs(np.float64(view.edge[number])), _LEAST) / max(abs(np.float64(view.item[parent])), _LEAST)
    given = number_code(max(math.floor(math.log(share)), -9))
    seen = number_code(1 if chart.parent_rule[entry] >= 0 else 2)
    values = (rule, whole, above + seen, above + given, given * A + seen)
    count = hashed(values, _EDGE, np.uint64(0), shift, buckets, count)
    if symbols.templates >= WIDE:
        return wide_edge_buckets(view, left, right, (above, rule, given, seen), shift, buckets, count)
    return count
