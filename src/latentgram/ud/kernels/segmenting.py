"""Where tokens end among characters: a chain of log-linear decisions, from left to right.

    p(a token ends behind character i | text, before) = σ(Σ_f w[f(text, i, where the token began)])

Features are the characters and their kinds around i, the pieces from the last blank and to the next one, the token
so far and its outline, and known words that end or begin there. Between characters that training has rarely seen
side by side, there is also what rules that know no language say (data/tokenise.py). O(characters).

A blank is code 32; paragraph p has the characters `start[p] … start[p + 1]`.
"""

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Flags, Ints
from latentgram.compiling import njit
from latentgram.data.tokenise import NEVER
from latentgram.numeric.hashing import mixed
from latentgram.numeric.search import find
from latentgram.ud.kernels.learning import move, score, sigmoid

BLANK = 32
KEYS = 72
"""Room for the features of a decision."""
REACH = 5
"""Characters on each side that are looked at one by one."""
_LONGEST_PIECE = 24
_LONGEST_WORD = 6
_OUTSIDE = -1
NOWHERE = -1
"""Where a token began, for weights that were learned without that."""
FIRST_BLOCK = 16
"""Kinds from here on are letters without case, by their block, and the characters of addresses."""
KINDS_APART = 3, 4, 5, 6, 15
"""Digits, blanks, apostrophes, hyphens and marks: each is a class of its own."""
OUTLINES = 2
"""Of `classes`: features know the outline of the token so far, too."""
FAMILIAR = 0
"""Of `ruled`: the two characters are often seen together, and nothing is said of what rules say."""
_AHEAD = 12
"""Characters of an outline of what follows."""
_OTHER = 2
"""The class of signs that are in no word."""
_FIRST_OTHER = 1000
"""In outlines each of them has its own number, from here on."""


@njit()
def at(values, i, begin, end):
    """A value of those from `begin` to `end`; one for all places beyond."""
    return values[i] if begin <= i < end else _OUTSIDE


@njit()
def word_codes(sign, start):
    """The codes of strings, as `character_keys` makes them of parts of a text."""
    codes = np.empty(len(start) - 1, np.uint64)
    for w in range(len(start) - 1):
        code = np.uint64(5)
        for i in range(start[w], start[w + 1]):
            code = mixed(code, sign[i])
        codes[w] = code
    return codes


@njit()
def _longest_behind(sign, i, end, words):
    """The longest known word that begins behind character i."""
    code, longest = np.uint64(5), 0
    for k in range(1, _LONGEST_WORD + 1):
        if i + k >= end or sign[i + k] == BLANK:
            break
        code = mixed(code, sign[i + k])
        if find(words, 0, len(words), code) >= 0:
            longest = k
    return longest


@njit()
def _longest_before(sign, i, begin, words):
    """The longest known word that ends with character i."""
    longest = 0
    for k in range(1, _LONGEST_WORD + 1):
        if i - k + 1 < begin or sign[i - k + 1] == BLANK:
            break
        code = np.uint64(5)
        for j in range(i - k + 1, i + 1):
            code = mixed(code, sign[j])
        if find(words, 0, len(words), code) >= 0:
            longest = k
    return longest


@njit()
def character_keys(sign, kind, ruled, begin, end, i, token, classes, words, keys):
    """Fill the features of the place behind character i of a paragraph; how many there are.

    The token that i belongs to began at `token`; if that is `NOWHERE`, features do not speak of it. Where
    `classes` is not 0 there are features of wider kinds, too, which know what to do with a sign that training has
    not seen; where it is `OUTLINES`, features of outlines as well. `ruled[i]`: what rules say of the place, if it
    is not `FAMILIAR`.
    """
    size = 0
    for k in range(-REACH + 1, REACH + 1):
        keys[size] = mixed(np.uint64(10 + k), at(sign, i + k, begin, end))
        size += 1
    for k in range(-3, 4):  # pairs and triples around the place
        pair = mixed(mixed(np.uint64(30 + k), at(sign, i + k, begin, end)), at(sign, i + k + 1, begin, end))
        keys[size] = pair
        keys[size + 1] = mixed(pair, at(sign, i + k + 2, begin, end))
        size += 2
    code = np.uint64(50)
    for k in range(4):  # kinds, in growing windows
        code = mixed(mixed(code, at(kind, i - k, begin, end)), at(kind, i + 1 + k, begin, end))
        keys[size] = code
        keys[size + 1] = mixed(mixed(code, at(sign, i, begin, end)), at(sign, i + 1, begin, end))
        size += 2
    left, right, first = np.uint64(60), np.uint64(61), i
    for k in range(_LONGEST_PIECE):
        if i - k < begin or sign[i - k] == BLANK:
            break
        first = i - k
        left = mixed(left, sign[i - k])
        if k < 5:
            keys[size] = mixed(left, k)
            size += 1
    for k in range(1, _LONGEST_PIECE):
        if i + k >= end or sign[i + k] == BLANK:
            break
        right = mixed(right, sign[i + k])
        if k < 5:
            keys[size] = mixed(right, k)
            size += 1
    keys[size] = mixed(left, 100)
    keys[size + 1] = mixed(right, 100)
    keys[size + 2] = mixed(left, right)
    keys[size + 3] = mixed(mixed(np.uint64(62), min(i - first, 8)), at(kind, i + 1, begin, end))
    size += 4
    if token != NOWHERE:
        size = _so_far_keys(sign, kind, begin, end, i, token, right, keys, size)
    if classes:
        size = _class_keys(kind, begin, end, i, token, keys, size)
    if classes == OUTLINES:
        size = _outline_keys(sign, kind, begin, end, i, token, keys, size)
    if ruled[i] != FAMILIAR:
        rule = mixed(np.uint64(71), ruled[i])
        keys[size] = rule
        keys[size + 1] = mixed(mixed(rule, _class(kind[i])), _class(at(kind, i + 1, begin, end)))
        keys[size + 2] = mixed(mixed(rule, kind[i]), at(kind, i + 1, begin, end))
        size += 3
    if len(words):
        before, behind = _longest_before(sign, i, begin, words), _longest_behind(sign, i, end, words)
        keys[size] = mixed(np.uint64(63), before)
        keys[size + 1] = mixed(np.uint64(64), behind)
        keys[size + 2] = mixed(mixed(np.uint64(65), before), behind)
        size += 3
    return size


@njit()
def _so_far_keys(sign, kind, begin, end, i, token, right, keys, size):
    """Add features of the token so far, which began at `token`, and of what is before it; how many there are."""
    so_far = np.uint64(66)
    for j in range(token, min(i + 1, token + _LONGEST_PIECE)):
        so_far = mixed(so_far, sign[j])
    length = min(i + 1 - token, 8)
    before = at(kind, token - 1, begin, end)
    here, behind = at(sign, i, begin, end), at(sign, i + 1, begin, end)
    kinds = mixed(mixed(np.uint64(67), at(kind, i, begin, end)), at(kind, i + 1, begin, end))
    keys[size] = mixed(so_far, behind)
    keys[size + 1] = mixed(mixed(so_far, at(kind, i + 1, begin, end)), 1)
    keys[size + 2] = mixed(so_far, right)
    keys[size + 3] = mixed(mixed(so_far, before), 2)
    keys[size + 4] = mixed(mixed(kinds, before), length)
    keys[size + 5] = mixed(mixed(mixed(np.uint64(68), before), here), behind)
    return size + 6


@njit()
def _class(kind):
    """Letters, digits, what joins them within words, and all other signs."""
    if kind in (1, 2) or kind >= FIRST_BLOCK:
        return 1
    return kind if kind in (_OUTSIDE, *KINDS_APART) else _OTHER


@njit()
def _class_keys(kind, begin, end, i, token, keys, size):
    """Add features of the classes of characters around the place; how many there are."""
    here, behind = _class(kind[i]), _class(at(kind, i + 1, begin, end))
    both = mixed(mixed(np.uint64(69), here), behind)
    keys[size] = both
    keys[size + 1] = mixed(mixed(both, _class(at(kind, i - 1, begin, end))), 1)
    keys[size + 2] = mixed(mixed(both, _class(at(kind, i + 2, begin, end))), 2)
    keys[size + 3] = mixed(mixed(both, 1 if token == i else 0), 3)
    return size + 4


@njit()
def _outlined(sign, kind, first, last):
    """The classes of characters, runs of one written once; signs that are in no word stand for themselves."""
    code, before = np.uint64(70), 0
    for j in range(first, last):
        here = _class(kind[j])
        if here == _OTHER:
            here = _FIRST_OTHER + sign[j]
        if here != before:
            code, before = mixed(code, here), here
    return code


@njit()
def _outline_keys(sign, kind, begin, end, i, token, keys, size):
    """Add features of what the token so far and the rest of the piece look like; how many there are."""
    last = i + 1
    while last < min(end, i + _AHEAD) and sign[last] != BLANK:
        last += 1
    first = max(token, i + 1 - _LONGEST_PIECE)
    left, right = _outlined(sign, kind, first, i + 1), _outlined(sign, kind, i + 1, last)
    behind = _outlined(sign, kind, i + 1, min(i + 2, last))
    keys[size] = mixed(left, behind)
    keys[size + 1] = mixed(mixed(left, right), 1)
    keys[size + 2] = mixed(mixed(_outlined(sign, kind, i, i + 1), behind), 2)
    return size + 3


class Places(NamedTuple):
    """Places in texts where a token may end: where the text and the token begin, and whether it does."""

    place: Ints
    begin: Ints
    end: Ints
    token: Ints
    gold: Flags


@njit()
def learn_ends(order, places, sign, kind, ruled, words, step, moment, weights, bits):
    """One pass over such places, the tokens they are in being known; Σ −log p."""
    keys = np.empty(KEYS, np.uint64)
    loss = 0.0
    for n in order:
        moment += 1.0
        begin, end, gold = places.begin[n], places.end[n], places.gold[n]
        i, token = places.place[n], places.token[n]
        size = character_keys(sign, kind, ruled, begin, end, i, token, OUTLINES, words, keys)
        p = sigmoid(score(keys[:size], weights.value, bits))
        loss -= np.log(max(p if gold else 1.0 - p, 1e-300))
        gradient = (1.0 if gold else 0.0) - p
        if abs(gradient) > 1e-4:
            move(keys[:size], gradient, step, moment, weights, bits)
    return loss


@njit()
def token_ends(sign, kind, ruled, joins, chained, classes, words, weights, bits):
    """For each character of a paragraph, the probability that a token ends behind it; −1 for blanks.

    Tokens end before blanks for sure, unless the treebank `joins` words over them, and not where rules say `NEVER`
    of characters that are not `FAMILIAR`. `chained`: weights know where a
    token began; `classes`: and wider kinds of characters, or outlines too.
    """
    probability = np.full(len(sign), -1.0)
    keys = np.empty(KEYS, np.uint64)
    token = 0
    for i in range(len(sign)):
        if sign[i] == BLANK:
            token += 1 if i == token else 0
            continue
        last = i + 1 == len(sign)
        if last or (sign[i + 1] == BLANK and not joins):
            probability[i] = 1.0
        elif ruled[i] == NEVER:
            probability[i] = 0.0
        else:
            began = token if chained else NOWHERE
            size = character_keys(sign, kind, ruled, 0, len(sign), i, began, classes, words, keys)
            probability[i] = sigmoid(score(keys[:size], weights, bits))
        if probability[i] >= 0.5:
            token = i + 1
    return probability
