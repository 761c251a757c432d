"""The features of a tagger: 64-bit keys made of the forms of a word and of its neighbours.

`forms[w]` is the row of word w (spelling.py). Feature f of token i is one key; a key that training has seen
has a row of weights, found in a hash table. O(features) per token.
"""

import numpy as np

from latentgram.compiling import njit
from latentgram.tagger.kernels.spelling import BEGINNING, ENDING, KIND, LOWER, SHAPE, WORD

FEATURES = 29
"""Features of a token."""
_EDGE = np.uint64(0x9E3779B97F4A7C15)


@njit()
def mix(template, first, second):
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
def feature_keys(forms, words, i, begin, end, row):
    """Fill `row` [FEATURES] with the keys of token i of the sentence begin … end − 1; 0 for none."""
    none = np.uint64(0)
    form = forms[words[i]]
    before2 = _neighbour(forms, words, i - 2, begin, end, LOWER)
    before = _neighbour(forms, words, i - 1, begin, end, LOWER)
    after = _neighbour(forms, words, i + 1, begin, end, LOWER)
    after2 = _neighbour(forms, words, i + 2, begin, end, LOWER)
    row[0] = mix(0, form[WORD], none)
    row[1] = mix(1, form[LOWER], none)
    f = 2
    for n in range(5):
        row[f] = mix(f, form[ENDING + n], none) if form[ENDING + n] else none
        f += 1
    for n in range(4):
        row[f] = mix(f, form[BEGINNING + n], none) if form[BEGINNING + n] else none
        f += 1
    row[11] = mix(11, form[SHAPE], none)
    row[12] = mix(12, form[KIND], np.uint64(i == begin))
    row[13] = mix(13, before, none)
    row[14] = mix(14, after, none)
    row[15] = mix(15, before2, none)
    row[16] = mix(16, after2, none)
    row[17] = mix(17, before, form[LOWER])
    row[18] = mix(18, form[LOWER], after)
    row[19] = mix(19, before, after)
    row[20] = mix(20, before2, before)
    row[21] = mix(21, after, after2)
    row[22] = mix(22, _neighbour(forms, words, i - 1, begin, end, ENDING + 2), none)
    row[23] = mix(23, _neighbour(forms, words, i + 1, begin, end, ENDING + 2), none)
    row[24] = mix(24, _neighbour(forms, words, i - 1, begin, end, SHAPE), form[SHAPE])
    row[25] = mix(25, form[SHAPE], _neighbour(forms, words, i + 1, begin, end, SHAPE))
    row[26] = mix(26, form[ENDING + 2], before)
    row[27] = mix(27, form[ENDING + 2], after)
    row[28] = mix(28, form[KIND], form[ENDING + 1])


@njit()
def index_features(known):
    """A hash table of the places of the known keys, −1 for none."""
    size = 16
    while size < 2 * len(known):
        size *= 2
    slots = np.full(size, -1, np.int32)
    mask = np.uint64(size - 1)
    for row in range(len(known)):
        slot = known[row] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = row
    return slots


@njit()
def find_row(known, slots, key):
    """The place of a key among the known ones, or −1."""
    mask = np.uint64(len(slots) - 1)
    slot = key & mask
    while slots[slot] >= 0 and known[slots[slot]] != key:
        slot = (slot + np.uint64(1)) & mask
    return slots[slot]


@njit()
def keys_of(forms, words, start, wanted):
    """[wanted tokens, FEATURES] the keys of the tokens that are wanted, in order."""
    count = 0
    for i in range(len(wanted)):
        count += wanted[i]
    keys = np.zeros((count, FEATURES), np.uint64)
    place = 0
    for s in range(len(start) - 1):
        for i in range(start[s], start[s + 1]):
            if wanted[i]:
                feature_keys(forms, words, i, start[s], start[s + 1], keys[place])
                place += 1
    return keys
