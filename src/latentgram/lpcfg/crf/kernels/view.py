"""What a conditional random field looks at in a packed chart, and the codes that its features are made of.

Of a chart with the grammar's posteriors a `View` has the span, the head and the symbol of each item, the codes of
the words, their most probable tags, and the shapes, tags and marks of all spans. Words are seen with their most
probable tags, so that a sentence without tags has the same features. The head of an item is that of its most
probable edge. O(items + edges + words²).
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
ROWS = 12
WORD, ENDING, FORM, SHAPE, MARK, SPELLING = range(6)
"""The rows of the codes of words, [ROWS, words + 2 · PAD]; those from `SPELLING` on tell the tags of words.
A word with a letter or a digit is no mark and has 0 there."""
NARROW, WIDE = 1, 2
"""The features of layers of small treebanks, and of all in files of an earlier version; those and many more
(wider.py)."""


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
    templates: int
    """`NARROW` or `WIDE`: which features there are."""


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
    marks: Codes
    """[n, n] of the marks in the span from a word to another."""
    runs: Codes
    """[n, n] of its tags, runs of equal ones written once."""


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


A, B, C, D, E, F, ODD, STEP = _odd_numbers(8)
"""Of the roles of properties."""
TEMPLATE = np.array(_odd_numbers(776)[8:], np.uint64)
"""Of each template."""


@njit(inline="always")
def number_code(value):
    """The code of a small number."""
    x = np.uint64(value + 77) * ODD
    return (x ^ (x >> np.uint64(29))) * STEP


@njit(inline="always")
def written(values, slot, keys, count):
    """Write values as keys of the templates from a slot on; how many keys there are then."""
    for number in range(len(values)):
        keys[count + number] = values[number] + TEMPLATE[slot + number]
    return count + len(values)


@njit(inline="always")
def hashed(values, slot, common, shift, buckets, count):
    """Write the buckets of values with what they have in common; how many buckets there are then."""
    for number in range(len(values)):
        buckets[count + number] = (values[number] + TEMPLATE[slot + number] + common) >> shift
    return count + len(values)


@njit(inline="always")
def odds_code(posterior):
    """The code of the log odds of a posterior, rounded down."""
    p = min(max(abs(np.float64(posterior)), 1e-4), 1.0 - 1e-4)
    return number_code(math.floor(math.log(p / (1.0 - p))))


@njit(inline="always")
def alike(one, other):
    """The code of whether two things are the same."""
    return np.uint64(2) if one == other else np.uint64(1)


@njit(inline="always")
def length_code(length):
    """The code of a length."""
    return number_code(length_bin(length))


@njit(inline="always")
def length_bin(length):
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
    marks, runs = np.empty((length, length), np.uint64), np.empty((length, length), np.uint64)
    for begin in range(length):
        shape, mark, run = np.uint64(0), np.uint64(0), np.uint64(0)
        last_shape, last_tag, sequence = np.uint64(0), np.uint64(0), np.uint64(0)
        for place in range(begin, length):
            word = place + PAD
            if words[SHAPE, word] != last_shape:
                last_shape = words[SHAPE, word]
                shape = (shape + last_shape) * STEP
            if tag[word] != last_tag:
                last_tag = tag[word]
                run = (run + last_tag) * STEP
            if words[MARK, word] != 0:
                mark = (mark + words[MARK, word]) * STEP
            shapes[begin, place], runs[begin, place], marks[begin, place] = shape, run, mark
            if place - begin < LONGEST:
                sequence = (sequence + tag[word]) * STEP
                sequences[begin, place - begin] = sequence
    return View(chart, item, edge, words, symbols, tag, first, end, head, shapes, sequences, marks, runs)
