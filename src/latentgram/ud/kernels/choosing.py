"""The choice of an edit script for a word: candidates, features, probabilities, learning.

A word's candidates Y(x) are the scripts that training has seen with the word itself and with its longest endings,
under the same tags and then under the same coarse tag, up to `MOST`. Of these

    p(y | x) = exp Σ_f w[f(x), y] / Σ_{y' in Y(x)} exp Σ_f w[f(x), y'],

with weights of hashed pairs of feature and script. Features are endings and beginnings of the word with its tags,
the word itself, its shape, what stands around it, and, of the result of a script, its ending and of how many other
words training has made it. O(candidates · features) a word.

A word is given by its number among distinct lower-case forms.
"""

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Codes, Flags, Ints, Ints32
from latentgram.compiling import njit
from latentgram.numeric.hashing import mixed
from latentgram.numeric.search import find
from latentgram.ud.kernels.learning import move, score

MOST = 8
"""Candidates of a word, at most."""
ENDINGS, BEGINNINGS = 8, 4
"""The longest endings and beginnings that features tell apart."""
LEVELS = 2 + 2 * (ENDINGS + 1) + BEGINNINGS
"""Keys under which candidates are looked up, the most telling first."""
KEYS = 64
"""Room for the features of a word."""
OUTCOME = 5
"""Features of the result of a script."""
_NONE = np.uint64(0)


class Forms(NamedTuple):
    """Distinct words in lower case: the letters of word w are `letters[start[w] : start[w + 1]]`."""

    letters: Ints
    start: Ints
    codes: Codes


class Words(NamedTuple):
    """Words to choose for: their forms, codes of their tags, of their case and of what stands around them."""

    form: Ints
    tag: Codes
    coarse: Codes
    shape: Ints
    around: Codes


class Scripts(NamedTuple):
    """What scripts do: letters off the front (−1: all) and off the end, and what comes there.

    `letters[start[2 y] : start[2 y + 1]]` come before the word, those up to `start[2 y + 2]` behind it.
    """

    front: Ints32
    back: Ints32
    letters: Ints
    start: Ints
    shortest: Ints32
    """The length of the shortest word that each can be applied to."""


class Known(NamedTuple):
    """What training has seen: scripts by the keys of words, endings and beginnings; and the results of scripts.

    `result` are codes of results with a coarse tag, sorted, `times` of how many words each was made.
    """

    key: Codes
    start: Ints
    script: Ints32
    by_beginning: bool
    result: Codes
    times: Ints32


class Tables(NamedTuple):
    """What candidates and their features are made from."""

    forms: Forms
    scripts: Scripts
    known: Known


class Lesson(NamedTuple):
    """The right script of each word, and whether the word is taken as never seen."""

    gold: Ints32
    hidden: Flags


@njit()
def form_codes(letters, start):
    """[forms, 2 + ENDINGS + BEGINNINGS] the codes of whole words, of endings of 0, 1, … letters and of beginnings.

    0 stands for an ending or a beginning that is longer than the word.
    """
    codes = np.zeros((len(start) - 1, 2 + ENDINGS + BEGINNINGS), np.uint64)
    for w in range(len(start) - 1):
        begin, end = start[w], start[w + 1]
        code = np.uint64(1)
        for i in range(begin, end):
            code = mixed(code, letters[i])
            if i - begin < BEGINNINGS:
                codes[w, 2 + ENDINGS + i - begin] = code
        codes[w, 0] = code
        code = np.uint64(2)
        codes[w, 1] = code
        for k in range(min(ENDINGS, end - begin)):
            code = mixed(code, letters[end - 1 - k])
            codes[w, 2 + k] = code
    return codes


@njit()
def lookup_keys(code, tag, coarse, by_beginning, keys):
    """The keys of a word's candidates: the word, its endings from long to short, and its beginnings."""
    keys[0] = mixed(mixed(np.uint64(100), code[0]), tag)
    keys[1] = mixed(mixed(np.uint64(101), code[0]), coarse)
    place = 2
    for kind in range(2):
        context = tag if kind == 0 else coarse
        for k in range(ENDINGS, -1, -1):
            known = code[1 + k] != _NONE
            keys[place] = mixed(mixed(np.uint64(110 + 10 * kind + k), code[1 + k]), context) if known else _NONE
            place += 1
    for k in range(BEGINNINGS):
        known = by_beginning and code[2 + ENDINGS + k] != _NONE
        keys[place] = mixed(np.uint64(130 + k), code[2 + ENDINGS + k]) if known else _NONE
        place += 1


@njit()
def all_lookup_keys(forms, words, by_beginning):
    """[words, LEVELS] the keys of many words."""
    keys = np.zeros((len(words.form), LEVELS), np.uint64)
    for i in range(len(words.form)):
        lookup_keys(forms.codes[words.form[i]], words.tag[i], words.coarse[i], by_beginning, keys[i])
    return keys


@njit()
def candidates(known, shortest, length, keys, first, chosen):
    """Fill `chosen` with the scripts of a word of some length; how many there are.

    `first` is the first key that is asked: 0, or 2 where the word is taken as one that was never seen.
    `shortest[y]` is the length of the shortest word that script y can be applied to.
    """
    many = 0
    for level in range(first, LEVELS):
        if keys[level] == _NONE:
            continue
        row = find(known.key, 0, len(known.key), keys[level])
        if row < 0:
            continue
        for place in range(known.start[row], known.start[row + 1]):
            script = known.script[place]
            if shortest[script] > length:
                continue
            fresh = True
            for c in range(many):
                if chosen[c] == script:
                    fresh = False
                    break
            if fresh:
                chosen[many] = script
                many += 1
                if many == MOST:
                    return many
    return many


@njit()
def feature_keys(code, tag, coarse, shape, around, seen, keys):
    """Fill `keys` with the features of a word, its own code among them if it is `seen`; how many there are."""
    size = 0
    keys[size] = mixed(np.uint64(1), tag)
    keys[size + 1] = mixed(np.uint64(2), coarse)
    keys[size + 2] = mixed(mixed(np.uint64(3), shape), coarse)
    keys[size + 3] = mixed(mixed(np.uint64(4), shape), tag)
    size += 4
    for k in range(1, ENDINGS + 1):
        if code[1 + k] == _NONE:
            break
        keys[size] = mixed(mixed(np.uint64(10 + k), code[1 + k]), coarse)
        keys[size + 1] = mixed(mixed(np.uint64(20 + k), code[1 + k]), tag)
        size += 2
    for k in range(BEGINNINGS):
        if code[2 + ENDINGS + k] == _NONE:
            break
        keys[size] = mixed(mixed(np.uint64(30 + k), code[2 + ENDINGS + k]), tag)
        size += 1
    ending = code[4] if code[4] != _NONE else code[0]
    keys[size] = mixed(mixed(mixed(np.uint64(40), ending), shape), coarse)
    size += 1
    for j in range(len(around)):
        keys[size] = mixed(mixed(mixed(np.uint64(50 + j), ending), around[j]), coarse)
        size += 1
    if seen:
        keys[size] = mixed(np.uint64(60), code[0])
        keys[size + 1] = mixed(mixed(np.uint64(61), code[0]), coarse)
        keys[size + 2] = mixed(mixed(np.uint64(62), code[0]), tag)
        keys[size + 3] = mixed(mixed(mixed(np.uint64(63), code[0]), shape), tag)
        size += 4
        for j in range(len(around)):
            keys[size] = mixed(mixed(np.uint64(70 + j), code[0]), around[j])
            size += 1
    return size


@njit()
def _letter(forms, w, scripts, y, i):
    """Letter i of what script y makes of form w."""
    front, before = scripts.front[y], scripts.start[2 * y]
    size = scripts.start[2 * y + 1] - before
    if i < size:
        return scripts.letters[before + i]
    middle = 0 if front < 0 else forms.start[w + 1] - forms.start[w] - front - scripts.back[y]
    if i < size + middle:
        return forms.letters[forms.start[w] + front + i - size]
    return scripts.letters[scripts.start[2 * y + 1] + i - size - middle]


@njit()
def _length(forms, w, scripts, y):
    front = scripts.front[y]
    middle = 0 if front < 0 else forms.start[w + 1] - forms.start[w] - front - scripts.back[y]
    return scripts.start[2 * y + 2] - scripts.start[2 * y] + middle


@njit()
def result_code(forms, w, scripts, y, coarse):
    """The code of what script y makes of form w, under a coarse tag."""
    code = np.uint64(1)
    for i in range(_length(forms, w, scripts, y)):
        code = mixed(code, _letter(forms, w, scripts, y, i))
    return mixed(code, coarse)


@njit()
def result_codes(forms, words, scripts, script):
    """The codes of the results of one script for each word."""
    codes = np.empty(len(script), np.uint64)
    for i in range(len(script)):
        codes[i] = result_code(forms, words.form[i], scripts, script[i], words.coarse[i])
    return codes


@njit()
def _pair_keys(keys, tables, w, y, coarse, own, pairs):
    """Fill `pairs` with the features of a word paired with a script, and those of the result; how many there are.

    `own`: training has seen the word with this script, and so made the result of it too.
    """
    forms, scripts, known = tables
    size = len(keys)
    for k in range(size):
        pairs[k] = mixed(keys[k], y + 1000)
    place = find(known.result, 0, len(known.result), result_code(forms, w, scripts, y, coarse))
    others = (known.times[place] if place >= 0 else 0) - (1 if own else 0)
    pairs[size] = mixed(mixed(np.uint64(80), min(max(others, 0), 3)), coarse)
    length = _length(forms, w, scripts, y)
    pairs[size + 1] = mixed(mixed(np.uint64(81), min(length, 6)), coarse)
    size += 2
    code = np.uint64(3)
    for k in range(1, OUTCOME - 1):
        code = mixed(code, _letter(forms, w, scripts, y, length - k) if k <= length else 0)
        pairs[size] = mixed(mixed(np.uint64(82), code), coarse)
        size += 1
    return size


@njit()
def _is_own(known, key, y):
    """Whether training has seen a word, given by its key, with script y."""
    row = find(known.key, 0, len(known.key), key)
    if row < 0:
        return False
    seen = False
    for place in range(known.start[row], known.start[row + 1]):
        seen |= known.script[place] == y
    return seen


@njit()
def _posterior(keys, tables, w, coarse, own_key, chosen, weights, bits, pairs, share):
    """Fill p(y | x) of the chosen candidates, and `pairs` with the features of each; how many each has."""
    many = len(chosen)
    best = -np.inf
    for c in range(many):
        own = _is_own(tables.known, own_key, chosen[c])
        paired = _pair_keys(keys, tables, w, chosen[c], coarse, own, pairs[c])
        share[c] = score(pairs[c, :paired], weights, bits)
        best = max(best, share[c])
    total = 0.0
    for c in range(many):
        share[c] = np.exp(share[c] - best)
        total += share[c]
    for c in range(many):
        share[c] /= total
    return paired


@njit()
def choose(tables, words, weights, bits):
    """For each word its candidates [words, MOST], −1 beyond the last, and their probabilities."""
    forms, scripts, known = tables
    chosen = np.full((len(words.form), MOST), -1, np.int32)
    probability = np.zeros((len(words.form), MOST))
    look, keys = np.empty(LEVELS, np.uint64), np.empty(KEYS, np.uint64)
    pairs = np.empty((MOST, KEYS + OUTCOME), np.uint64)
    for i in range(len(words.form)):
        w, tag, coarse = words.form[i], words.tag[i], words.coarse[i]
        lookup_keys(forms.codes[w], tag, coarse, known.by_beginning, look)
        many = candidates(known, scripts.shortest, forms.start[w + 1] - forms.start[w], look, 0, chosen[i])
        if many == 1:
            probability[i, 0] = 1.0
        if many > 1:
            size = feature_keys(forms.codes[w], tag, coarse, words.shape[i], words.around[i], True, keys)
            found, share = chosen[i, :many], probability[i]
            _posterior(keys[:size], tables, w, coarse, look[1], found, weights, bits, pairs, share)
    return chosen, probability


@njit()
def learn_pass(order, tables, words, lesson, step, moment, weights, bits):
    """One pass over the words in an order; Σ −log p(gold | x)."""
    forms, scripts, known = tables
    chosen = np.empty(MOST + 1, np.int32)
    share = np.empty(MOST + 1)
    look, keys = np.empty(LEVELS, np.uint64), np.empty(KEYS, np.uint64)
    pairs = np.empty((MOST + 1, KEYS + OUTCOME), np.uint64)
    loss = 0.0
    for i in order:
        moment += 1.0
        w, tag, coarse = words.form[i], words.tag[i], words.coarse[i]
        gold, hidden = lesson.gold[i], lesson.hidden[i]
        lookup_keys(forms.codes[w], tag, coarse, known.by_beginning, look)
        length = forms.start[w + 1] - forms.start[w]
        many = candidates(known, scripts.shortest, length, look, 2 * hidden, chosen)
        right = -1
        for c in range(many):
            if chosen[c] == gold:
                right = c
                break
        if right < 0:
            chosen[many] = gold
            right = many
            many += 1
        if many == 1:
            continue
        size = feature_keys(forms.codes[w], tag, coarse, words.shape[i], words.around[i], not hidden, keys)
        found = chosen[:many]
        paired = _posterior(keys[:size], tables, w, coarse, look[1], found, weights.value, bits, pairs, share)
        loss -= np.log(max(share[right], 1e-300))
        for c in range(many):
            gradient = (1.0 if c == right else 0.0) - share[c]
            if abs(gradient) > 1e-4:
                move(pairs[c, :paired], gradient, step, moment, weights, bits)
    return loss
