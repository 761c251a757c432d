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

Words are seen with their most probable tags, so that a sentence without tags has the same features. The head of
an item is that of its most probable edge (heads.py). What is done for each span, item, split and edge is inlined:
a view is some two hundred numbers, all of which a call would hand over. Cost: ITEM_FEATURES or EDGE_FEATURES
additions and looks into memory per item and edge.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from latentgram.arrays import Codes, Flags, Floats32, Ints16, Ints32
from latentgram.compiling import njit
from latentgram.lpcfg.kernels.chart import PackedChart

PAD = 2
"""Places on either side of the words of a sentence."""
ITEM_FEATURES = 56
EDGE_FEATURES = 56
"""Room for the buckets of an item and of an edge."""
_LEAST = 1e-30


ROWS = 11
WORD, ENDING, FORM, SHAPE, SPELLING = range(5)
"""The rows of the codes of words, [ROWS, words + 2 · PAD]; those from `SPELLING` on tell the tags of words."""


class Symbols(NamedTuple):
    """What the symbols of a grammar are to features and to heads."""

    code: Codes
    """[S] without the siblings that binarisation remembers."""
    full: Codes
    """[S] with them."""
    tag: Codes
    """[S] that of the tag of a preterminal."""
    top: Ints32
    """[S] the label that a symbol shows to its parent; -1 where binarisation put it in."""
    bottom: Ints32
    """[S] the label that it shows to its children."""
    rank: Ints16
    """[labels, labels] of a parent and a child: how early head rules ask for the child."""
    from_right: Flags
    """[labels, labels] whether of two such children the right one is the head."""


class View(NamedTuple):
    """A chart with the grammar's posteriors, and all that features are made of."""

    chart: PackedChart
    item: Floats32
    edge: Floats32
    words: Codes
    symbols: Symbols
    tag: Codes
    """[words + 2 · PAD]"""
    first: Ints32
    """[items] the first word of each item, counted from 0."""
    end: Ints32
    head: Ints32
    """[items] the head word."""
    shapes: Codes
    """[n, n] of the span from a word to another."""
    sequences: Codes
    """[n, LONGEST] of the tags of the spans that begin at a word."""


LONGEST = 6
"""Longer spans are not seen as sequences of tags."""


def _odd_numbers(count: int) -> tuple[np.uint64, ...]:
    """Random-looking odd numbers (SplitMix64)."""
    state, numbers, mask = 0x2545F4914F6CDD1D, [], (1 << 64) - 1
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & mask
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
        numbers.append(np.uint64((mixed ^ (mixed >> 31)) | 1))
    return tuple(numbers)


_A, _B, _C, _D, _E, _F, _ODD, _STEP = _odd_numbers(8)
_TEMPLATE = np.array(_odd_numbers(512)[8:], np.uint64)
"""Of each template."""
_ITEM, _WORD, _PHRASE, _RULE, _PARENT, _EDGE = 0, 64, 128, 192, 256, 320
"""Where the templates of items, of items over words and over phrases, and of edges with their rule, with their
parent, and by themselves begin."""


@njit(inline="always")
def _number(value):
    """The code of a small number."""
    x = np.uint64(value + 77) * _ODD
    return (x ^ (x >> np.uint64(29))) * _STEP


@njit(inline="always")
def _length_bin(length):
    """1 … 5, then wider and wider."""
    if length <= 5:
        return length
    if length <= 7:
        return 6
    if length <= 10:
        return 7
    if length <= 14:
        return 8
    if length <= 20:
        return 9
    if length <= 30:
        return 10
    return 11


@njit()
def likely_tags(chart, item, symbols):
    """The most probable tag of each word, with places for what is outside."""
    tag = np.ones(chart.length + 2 * PAD, np.uint64)
    for word in range(chart.length):
        best = -1.0
        for some in range(chart.cell_begin[word], chart.cell_begin[word + 1]):
            total, code = 0.0, symbols.tag[chart.item_symbol[some]]
            for other in range(chart.cell_begin[word], chart.cell_begin[word + 1]):
                if symbols.tag[chart.item_symbol[other]] == code:
                    total += abs(item[other])
            if total > best:
                best, tag[word + PAD] = total, code
    return tag


@njit()
def _spans(chart):
    """The first word of each item, and one past its last."""
    items = chart.item_symbol.shape[0]
    first, end = np.empty(items, np.int32), np.empty(items, np.int32)
    cell = 0
    for width in range(1, chart.length + 1):
        for begin in range(chart.length - width + 1):
            for some in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
                first[some], end[some] = begin, begin + width
            cell += 1
    return first, end


@njit()
def head_words(chart, edge, symbols, first):
    """The head word of each item by its most probable edge.

    Of two children the head is the one that the head rules of the parent's label ask for earlier. A symbol that
    binarisation put in shows its parent the label of the child that is its head so far.
    """
    items = chart.item_symbol.shape[0]
    head, shown, best = first.copy(), np.empty(items, np.int32), np.full(items, -1.0)
    for some in range(items):
        shown[some] = max(symbols.top[chart.item_symbol[some]], 0)
    for group in range(chart.split_begin.shape[0] - 1):
        number = chart.edge_begin[group]
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            parent = chart.parent_item[entry]
            label = symbols.bottom[chart.item_symbol[parent]]
            for split in range(chart.split_begin[group], chart.split_begin[group + 1]):
                if abs(edge[number]) > best[parent]:
                    best[parent] = abs(edge[number])
                    left, right = chart.split_left[split], chart.split_right[split]
                    before, after = symbols.rank[label, shown[left]], symbols.rank[label, shown[right]]
                    from_right = after < before or (after == before and symbols.from_right[label, shown[left]])
                    chosen = right if from_right else left
                    head[parent] = head[chosen]
                    if symbols.top[chart.item_symbol[parent]] < 0:
                        shown[parent] = shown[chosen]
                number += 1
    return head


@njit()
def view_of(chart, item, edge, words, symbols):
    """All that the features of a chart are made of."""
    length = chart.length
    tag = likely_tags(chart, item, symbols)
    first, end = _spans(chart)
    head = head_words(chart, edge, symbols, first)
    shapes, sequences = np.empty((length, length), np.uint64), np.empty((length, LONGEST), np.uint64)
    for begin in range(length):
        shape, last = np.uint64(0), np.uint64(0)
        sequence = np.uint64(0)
        for place in range(begin, length):
            here = words[SHAPE, place + PAD]
            if here != last:  # runs of equal words count once
                shape = (shape + here) * _STEP
                last = here
            shapes[begin, place] = shape
            if place - begin < LONGEST:
                sequence = (sequence + tag[place + PAD]) * _STEP
                sequences[begin, place - begin] = sequence
    return View(chart, item, edge, words, symbols, tag, first, end, head, shapes, sequences)


@njit(inline="always")
def span_keys(view, first, end, keys):
    """Write what the features of all items over a span share; how many there are."""
    if end - first == 1:
        return word_keys(view, first, keys)
    word, tag, ending = view.words[WORD], view.tag, view.words[ENDING]
    i, j = first + PAD, end + PAD
    w0, w1, wb, wa = word[i] * _A, word[j - 1] * _B, word[i - 1] * _C, word[j] * _D
    t0, t1, tb, ta = tag[i] * _A, tag[j - 1] * _B, tag[i - 1] * _C, tag[j] * _D
    tbb, taa = tag[i - 2] * _E, tag[j + 1] * _F
    length = _number(_length_bin(end - first))
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
        ending[i] * _A, ending[j - 1] * _B,
        view.shapes[first, end - 1],
        inner,
    )  # fmt: skip
    for number in range(len(values)):
        keys[number] = values[number] + _TEMPLATE[_ITEM + number]
    return len(values)


@njit(borrows=True)
def word_keys(view, place, keys):
    """Write what the features of all items over a word share, which choose its tag; how many there are."""
    word, tag = view.words[WORD], view.tag
    i = place + PAD
    ending, form = view.words[ENDING], view.words[FORM, i] * _B
    w, wb, wa = word[i] * _A, word[i - 1] * _C, word[i + 1] * _D
    t, tb, ta = tag[i] * _A, tag[i - 1] * _C, tag[i + 1] * _D
    values = (
        np.uint64(0), w, wb, wa, t, tb, ta, tb + t, t + ta, tb + ta, tb + t + ta, w + tb, w + ta, wb + w, w + wa,
        wb + t, t + wa, tag[i - 2] * _E + tb + t, t + ta + tag[i + 2] * _F, wb + ta, tb + wa,
        wb + wa, form, form + t, ending[i - 1] * _C + t, ending[i + 1] * _D + t,
    )  # fmt: skip
    for number in range(len(values)):
        keys[number] = values[number] + _TEMPLATE[_WORD + number]
    count = len(values)
    for number in range(ROWS - SPELLING):
        keys[count + number] = view.words[SPELLING + number, i] + _TEMPLATE[_WORD + count + number]
    return count + ROWS - SPELLING


@njit(inline="always")
def item_buckets(view, some, keys, shared, shift, buckets):
    """Write the buckets of an item, of whose keys the first `shared` are those of its span; how many there are."""
    symbol = view.symbols.code[view.chart.item_symbol[some]] * _ODD
    for number in range(shared):
        buckets[number] = (keys[number] + symbol) >> shift
    posterior = min(max(abs(np.float64(view.item[some])), 1e-4), 1.0 - 1e-4)
    odds = _number(math.floor(math.log(posterior / (1.0 - posterior))))
    i, j, h = view.first[some] + PAD, view.end[some] + PAD, view.head[some] + PAD
    if j - i == 1:
        buckets[shared] = (odds + _TEMPLATE[_PHRASE] + symbol) >> shift
        return shared + 1
    word, tag = view.words[WORD], view.tag
    hw, ht = word[h] * _E, tag[h] * _E
    values = (
        hw, ht, hw + tag[i - 1] * _C, hw + tag[j] * _D, ht + tag[i - 1] * _C, ht + tag[j] * _D,
        ht + word[i - 1] * _C, ht + word[j] * _D,
        ht + _number(_length_bin(j - i)), view.words[ENDING, h] * _E,
        odds,
    )  # fmt: skip
    for number in range(len(values)):
        buckets[shared + number] = (values[number] + _TEMPLATE[_PHRASE + 1 + number] + symbol) >> shift
    return shared + len(values)


@njit(inline="always")
def _alike(one, other):
    return np.uint64(2) if one == other else np.uint64(1)


@njit(inline="always")
def split_keys(view, left, right, keys):
    """Write what the features of all edges at a split share: first those that go with the rule, then those that
    go with the parent's symbol; how many there are of each."""
    word, tag = view.words[WORD], view.tag
    i, k, j = view.first[left] + PAD, view.first[right] + PAD, view.end[right] + PAD
    g, h = view.head[left] + PAD, view.head[right] + PAD
    wide, narrow = _length_bin(k - i), _length_bin(j - k)
    before, after = _number(wide) * _A, _number(narrow) * _B
    gw, gt, hw, ht = word[g] * _C, tag[g] * _C, word[h] * _D, tag[h] * _D
    distance = _number(_length_bin(h - g)) * _E
    tk, tkk = tag[k - 1] * _E, tag[k] * _F
    wk, wkk = word[k - 1] * _E, word[k] * _F
    parallel = (
        _alike(tag[i], tag[k]) * _A + _alike(tag[k - 1], tag[j - 1]) * _B + _alike(tag[g], tag[h]) * _C
        + _alike(wide, narrow) * _D
    )  # fmt: skip
    with_rule = (
        before, after, before + after,
        wk, wkk, word[i] * _A, word[j - 1] * _B, tk, tkk, tag[i] * _A, tag[j - 1] * _B,
        tag[i - 1] * _C, tag[j] * _D, tk + tkk, gt + ht, gt + ht + distance, gw, hw, parallel,
    )  # fmt: skip
    with_parent = (
        wk + wkk, wk + tkk, tk + wkk,
        gw + hw, gw + ht, gt + hw, gt + ht + distance, gw + wkk, gt + wkk, hw + distance, gw + distance,
        tk + tkk + tag[i - 1] * _C + tag[j] * _D,
    )  # fmt: skip
    for number in range(len(with_rule)):
        keys[number] = with_rule[number] + _TEMPLATE[_RULE + number]
    for number in range(len(with_parent)):
        keys[len(with_rule) + number] = with_parent[number] + _TEMPLATE[_PARENT + number]
    return len(with_rule), len(with_parent)


@njit(inline="always")
def edge_buckets(view, number, entry, left, right, keys, shared, shift, buckets):
    """Write the buckets of an edge, of whose keys the first are those of its split; how many there are."""
    chart, symbols = view.chart, view.symbols
    parent = chart.parent_item[entry]
    a, b, c = chart.item_symbol[parent], chart.item_symbol[left], chart.item_symbol[right]
    above = symbols.code[a] * _ODD
    rule = above + symbols.code[b] * _E + symbols.code[c] * _F
    with_rule, with_parent = shared
    for place in range(with_rule):
        buckets[place] = (keys[place] + rule) >> shift
    for place in range(with_rule, with_rule + with_parent):
        buckets[place] = (keys[place] + above) >> shift
    whole = symbols.full[a] * _A + symbols.full[b] * _B + symbols.full[c] * _C
    share = max(abs(np.float64(view.edge[number])), _LEAST) / max(abs(np.float64(view.item[parent])), _LEAST)
    given = _number(max(math.floor(math.log(share)), -9))
    seen = _number(1 if chart.parent_rule[entry] >= 0 else 2)
    count = with_rule + with_parent
    buckets[count] = (rule + _TEMPLATE[_EDGE]) >> shift
    buckets[count + 1] = (whole + _TEMPLATE[_EDGE + 1]) >> shift
    buckets[count + 2] = (above + seen + _TEMPLATE[_EDGE + 2]) >> shift
    buckets[count + 3] = (above + given + _TEMPLATE[_EDGE + 3]) >> shift
    buckets[count + 4] = (given * _A + seen + _TEMPLATE[_EDGE + 4]) >> shift
    return count + 5
