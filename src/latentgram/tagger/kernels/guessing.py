"""Which tags a word may have by the look of it: its kind, its endings, and how it is written in lower case.

Level l of a word is a key: nothing, its kind, its kind with the last 1 … 5 letters, the word in lower case. With
c_l(t) of the n_l words of training that share the key having the tag t,

    p_l(t) = (c_l(t) + PULL · p_{l−1}(t)) / (n_l + PULL),

a longer ending being trusted as far as words bear it out. A tag is a candidate if p(t) at the last level that
training knows is at least `floor` times the greatest. A word that was counted is left out of its own counts.
O(tags with the same endings) per word, and one pass over all tags.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Codes, Ints, Ints16, Ints32
from latentgram.compiling import njit
from latentgram.tagger.kernels.features import find_row, mix
from latentgram.tagger.kernels.spelling import ENDING, KIND, LONGEST_ENDING, LOWER

LEVELS = LONGEST_ENDING + 3
PULL = 1.0
_TEMPLATE = 100
"""The number of the first level among templates; features of tokens have smaller ones."""


class Endings(NamedTuple):
    """How many words with key f had each tag: `words[start[f] : start[f + 1]]`, for those in `tag`."""

    known: Codes
    slots: Ints32
    start: Ints
    tag: Ints16
    words: Ints32


@njit()
def level_key(form, level):
    """The key of a word at a level, 0 where it is too short for it."""
    none = np.uint64(0)
    if level == 0:
        return mix(_TEMPLATE, none, none)
    if level == 1:
        return mix(_TEMPLATE + 1, form[KIND], none)
    if level == LEVELS - 1:
        return mix(_TEMPLATE + level, form[LOWER], none)
    ending = form[ENDING + level - 2]
    return mix(_TEMPLATE + level, form[KIND], ending) if ending else none


@njit()
def level_keys(forms):
    """[words, LEVELS]"""
    keys = np.empty((len(forms), LEVELS), np.uint64)
    for w in range(len(forms)):
        for level in range(LEVELS):
            keys[w, level] = level_key(forms[w], level)
    return keys


@njit()
def guess(forms, endings, floor, n_tags, seen_start, seen_tag, closed):
    """The candidates of words end to end, and where those of each begin.

    Word w has been seen with `seen_tag[seen_start[w] : seen_start[w + 1]]`, which are candidates whatever it looks
    like; they are all that a closed one has. The words that were seen and are not closed have been counted.
    """
    begin = np.zeros(len(forms) + 1, np.int64)
    room = max(4 * len(forms), 64)
    tags = np.empty(room, np.int16)
    share = np.empty(n_tags)
    own = np.zeros(n_tags, np.bool_)
    number = 0
    for w in range(len(forms)):
        first, last = seen_start[w], seen_start[w + 1]
        for place in range(first, last):
            own[seen_tag[place]] = True
        for t in range(n_tags):
            share[t] = 0.0
        for level in range(0 if closed[w] else LEVELS):
            row = find_row(endings.known, endings.slots, level_key(forms[w], level))
            if row < 0:
                continue
            total = 0.0
            for place in range(endings.start[row], endings.start[row + 1]):
                total += endings.words[place] - own[endings.tag[place]]
            if total <= 0.0:
                continue
            kept = PULL / (total + PULL)
            for t in range(n_tags):
                share[t] *= kept
            for place in range(endings.start[row], endings.start[row + 1]):
                t = endings.tag[place]
                share[t] += (endings.words[place] - own[t]) / (total + PULL)
        least = 0.0
        for t in range(n_tags):
            least = max(least, share[t] * floor)
        if number + n_tags > room:
            room = 2 * room + n_tags
            longer = np.empty(room, np.int16)
            for n in range(number):
                longer[n] = tags[n]
            tags = longer
        for t in range(n_tags):
            if (share[t] > 0.0 and share[t] >= least) or own[t]:
                tags[number] = t
                number += 1
                own[t] = False
        begin[w + 1] = number
    return begin, tags[:number]
