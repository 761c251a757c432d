"""The features of a tagger: 64-bit keys made of the forms of a word and of its neighbours.

`forms[w]` is the row of word w (spelling.py). Feature f of token i is one key; a key that training has seen
has a row of weights, found by binary search in the sorted `known`. O(features · log known) a token.
"""

import numpy as np

from latentgram.compiling import njit
from latentgram.tagger.spelling import BEGINNING, ENDING, KIND, LOWER, SHAPE, WORD

FEATURES = 29
"""Features of a token."""
_EDGE = np.uint64(0x9E3779B97F4A7C15)


@njit()
def _mix(template, first, second):
    """One key from a template's number and two numbers (the finaliser of splitmix64)."""
    key = np.uint64(template) * np.uint64(0xD1342543DE82EF95) + first
    key = (key ^ (key >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + second
    key = (key ^ (key >> np.uint64(31))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(32))


@njit()
def _neighbour(forms, words, i, begin, end, column):
    """A column of the word at i, or a mark where the sentence is over."""
    if i < begin or i >= end:
        return _EDGE
    return forms[words[i], column]


@njit()
def feature_keys(forms, words, begin, end, out):
    """Fill `out` [n, FEATURES] with the keys of the tokens begin … end − 1 of a sentence; 0 for none."""
    none = np.uint64(0)
    for i in range(begin, end):
        row = out[i - begin]
        form = forms[words[i]]
        before2 = _neighbour(forms, words, i - 2, begin, end, LOWER)
        before = _neighbour(forms, words, i - 1, begin, end, LOWER)
        after = _neighbour(forms, words, i + 1, begin, end, LOWER)
        after2 = _neighbour(forms, words, i + 2, begin, end, LOWER)
        row[0] = _mix(0, form[WORD], none)
        row[1] = _mix(1, form[LOWER], none)
        f = 2
        for n in range(5):
            row[f] = _mix(f, form[ENDING + n], none) if form[ENDING + n] else none
            f += 1
        for n in range(4):
            row[f] = _mix(f, form[BEGINNING + n], none) if form[BEGINNING + n] else none
            f += 1
        row[11] = _mix(11, form[SHAPE], none)
        row[12] = _mix(12, form[KIND], np.uint64(i == begin))
        row[13] = _mix(13, before, none)
        row[14] = _mix(14, after, none)
        row[15] = _mix(15, before2, none)
        row[16] = _mix(16, after2, none)
        row[17] = _mix(17, before, form[LOWER])
        row[18] = _mix(18, form[LOWER], after)
        row[19] = _mix(19, before, after)
        row[20] = _mix(20, before2, before)
        row[21] = _mix(21, after, after2)
        row[22] = _mix(22, _neighbour(forms, words, i - 1, begin, end, ENDING + 2), none)
        row[23] = _mix(23, _neighbour(forms, words, i + 1, begin, end, ENDING + 2), none)
        row[24] = _mix(24, _neighbour(forms, words, i - 1, begin, end, SHAPE), form[SHAPE])
        row[25] = _mix(25, form[SHAPE], _neighbour(forms, words, i + 1, begin, end, SHAPE))
        row[26] = _mix(26, form[ENDING + 2], before)
        row[27] = _mix(27, form[ENDING + 2], after)
        row[28] = _mix(28, form[KIND], form[ENDING + 1])


@njit()
def find_row(known, key):
    """The place of a key among the sorted known ones, or −1."""
    low, high = 0, len(known)
    while low < high:
        middle = (low + high) >> 1
        if known[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(known) and known[low] == key else -1


@njit()
def find_rows(known, forms, words, start):
    """[N, FEATURES] the rows of all features of many sentences; −1 for keys that are not known."""
    rows = np.empty((len(words), FEATURES), np.int32)
    longest = 1
    for s in range(len(start) - 1):
        longest = max(longest, start[s + 1] - start[s])
    keys = np.empty((longest, FEATURES), np.uint64)
    for s in range(len(start) - 1):
        feature_keys(forms, words, start[s], start[s + 1], keys)
        for i in range(start[s], start[s + 1]):
            for f in range(FEATURES):
                rows[i, f] = find_row(known, keys[i - start[s], f])
    return rows


@njit()
def all_keys(forms, words, start):
    """[N, FEATURES] the keys themselves, as training wants them."""
    keys = np.zeros((len(words), FEATURES), np.uint64)
    for s in range(len(start) - 1):
        feature_keys(forms, words, start[s], start[s + 1], keys[start[s] : start[s + 1]])
    return keys
