"""Where tokens end among characters, and sentences among tokens: two chains of decisions, each log-linear.

    p(a token ends behind character i | text, before)   = σ(Σ_f w[f(text, i, where the token began)])
    p(a sentence ends behind token t | tokens, before)  = σ(Σ_f v[f(tokens, t, where the sentence began)])

Features of characters are the characters and their kinds around i, the pieces from the last blank and to the next
one, the token so far, and known words that end or begin there. Features of tokens are the forms and shapes around
t, how long the sentence is, and whether brackets or quotes are open in it. Both are found from left to right.
O(characters).

A blank is code 32; paragraph p has the characters `start[p] … start[p + 1]`.
"""

import numpy as np

from latentgram.compiling import njit
from latentgram.numeric.hashing import mixed
from latentgram.numeric.search import find
from latentgram.ud.kernels.learning import move, score, sigmoid

BLANK = 32
KEYS = 64
"""Room for the features of a decision."""
REACH = 5
"""Characters on each side that are looked at one by one."""
_LONGEST_PIECE = 24
_LONGEST_WORD = 6
_OUTSIDE = -1
NOWHERE = -1
"""Where a token began, for weights that were learned without that."""


@njit()
def _at(values, i, begin, end):
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
def character_keys(sign, kind, begin, end, i, token, words, keys):
    """Fill the features of the place behind character i of a paragraph; how many there are.

    The token that i belongs to began at `token`; if that is `NOWHERE`, features do not speak of it.
    """
    size = 0
    for k in range(-REACH + 1, REACH + 1):
        keys[size] = mixed(np.uint64(10 + k), _at(sign, i + k, begin, end))
        size += 1
    for k in range(-3, 4):  # pairs and triples around the place
        pair = mixed(mixed(np.uint64(30 + k), _at(sign, i + k, begin, end)), _at(sign, i + k + 1, begin, end))
        keys[size] = pair
        keys[size + 1] = mixed(pair, _at(sign, i + k + 2, begin, end))
        size += 2
    code = np.uint64(50)
    for k in range(4):  # kinds, in growing windows
        code = mixed(mixed(code, _at(kind, i - k, begin, end)), _at(kind, i + 1 + k, begin, end))
        keys[size] = code
        keys[size + 1] = mixed(mixed(code, _at(sign, i, begin, end)), _at(sign, i + 1, begin, end))
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
    keys[size + 3] = mixed(mixed(np.uint64(62), min(i - first, 8)), _at(kind, i + 1, begin, end))
    size += 4
    if token != NOWHERE:
        size = _so_far_keys(sign, kind, begin, end, i, token, right, keys, size)
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
    before = _at(kind, token - 1, begin, end)
    here, behind = _at(sign, i, begin, end), _at(sign, i + 1, begin, end)
    kinds = mixed(mixed(np.uint64(67), _at(kind, i, begin, end)), _at(kind, i + 1, begin, end))
    keys[size] = mixed(so_far, behind)
    keys[size + 1] = mixed(mixed(so_far, _at(kind, i + 1, begin, end)), 1)
    keys[size + 2] = mixed(so_far, right)
    keys[size + 3] = mixed(mixed(so_far, before), 2)
    keys[size + 4] = mixed(mixed(kinds, before), length)
    keys[size + 5] = mixed(mixed(mixed(np.uint64(68), before), here), behind)
    return size + 6


@njit()
def learn_ends(order, place, begin, end, token, gold, sign, kind, words, step, moment,
               weights, squares, drift, bits):  # fmt: skip
    """One pass over places in texts where a token may end, the tokens they are in being known; Σ −log p."""
    keys = np.empty(KEYS, np.uint64)
    loss = 0.0
    for n in order:
        moment += 1.0
        size = character_keys(sign, kind, begin[n], end[n], place[n], token[n], words, keys)
        p = sigmoid(score(keys, size, weights, bits))
        loss -= np.log(max(p if gold[n] else 1.0 - p, 1e-300))
        gradient = (1.0 if gold[n] else 0.0) - p
        if abs(gradient) > 1e-4:
            move(keys, size, gradient, step, moment, weights, squares, drift, bits)
    return loss


@njit()
def token_ends(sign, kind, joins, chained, words, weights, bits):
    """For each character of a paragraph, the probability that a token ends behind it; −1 for blanks.

    Tokens end before blanks for sure, unless the treebank `joins` words over them. `chained`: weights know where a
    token began.
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
        else:
            size = character_keys(sign, kind, 0, len(sign), i, token if chained else NOWHERE, words, keys)
            probability[i] = sigmoid(score(keys, size, weights, bits))
        if probability[i] >= 0.5:
            token = i + 1
    return probability


@njit()
def token_keys(form, low, shape, space, usual, begin, end, first, t, opened, quoted, keys):
    """Fill the features of the place behind token t of a sentence that began at `first`; how many there are."""
    here, after, after2 = _at(low, t, begin, end), _at(low, t + 1, begin, end), _at(low, t + 2, begin, end)
    before, before2 = _at(low, t - 1, begin, end), _at(low, t - 2, begin, end)
    s0, s1, s2 = _at(shape, t, begin, end), _at(shape, t + 1, begin, end), _at(shape, t + 2, begin, end)
    s_1 = _at(shape, t - 1, begin, end)
    blank = 1 if space[t] else 0
    length = t - first + 1
    if length > 4:
        length = 4 + min((length - 4) // 4, 8)
    small = usual[t + 1] if t + 1 < end else 3
    next_form = _at(form, t + 1, begin, end)
    pair = mixed(mixed(np.uint64(1), here), blank)
    keys[0] = pair
    keys[1] = mixed(pair, s1)
    keys[2] = mixed(pair, after)
    keys[3] = mixed(pair, before)
    keys[4] = mixed(mixed(pair, before), s1)
    keys[5] = mixed(mixed(pair, s1), small)
    keys[6] = mixed(mixed(pair, s1), s2)
    keys[7] = mixed(mixed(pair, length), s1)
    keys[8] = mixed(mixed(mixed(pair, opened), quoted), s1)
    keys[9] = mixed(mixed(pair, next_form), 1)
    keys[10] = mixed(mixed(np.uint64(2), next_form), blank)
    keys[11] = mixed(mixed(np.uint64(3), next_form), s0)
    keys[12] = mixed(mixed(np.uint64(4), after), after2)
    keys[13] = mixed(mixed(mixed(np.uint64(5), s0), s1), blank)
    keys[14] = mixed(mixed(mixed(np.uint64(6), s_1), s0), s1)
    keys[15] = mixed(mixed(mixed(np.uint64(7), s0), s1), s2)
    keys[16] = mixed(mixed(mixed(np.uint64(8), s0), s1), small)
    keys[17] = mixed(mixed(mixed(mixed(np.uint64(9), s0), s1), length), small)
    keys[18] = mixed(np.uint64(10), length)
    keys[19] = mixed(mixed(mixed(np.uint64(11), opened), quoted), s0)
    keys[20] = mixed(mixed(np.uint64(12), before2), before)
    keys[21] = mixed(mixed(mixed(np.uint64(13), _at(low, first, begin, end)), length), s1)
    keys[22] = mixed(mixed(mixed(np.uint64(14), before), here), after)
    keys[23] = mixed(mixed(np.uint64(15), _at(shape, first, begin, end)), s1)
    keys[24] = mixed(mixed(np.uint64(16), s_1), mixed(pair, s1))
    keys[25] = mixed(mixed(np.uint64(17), blank), small)
    return 26


@njit()
def _after(opened, quoted, sign):
    """What is open behind a token: brackets, and whether a quote is."""
    if sign == 1:
        return min(opened + 1, 2), quoted
    if sign == 2:
        return max(opened - 1, 0), quoted
    return (opened, 1 - quoted) if sign == 3 else (opened, quoted)


@njit()
def learn_sentences(order, start, form, low, shape, space, usual, sign, gold, step, moment,
                    weights, squares, drift, bits):  # fmt: skip
    """One pass over paragraphs of tokens whose sentences are known; Σ −log p. `gold[t]`: one ends behind t."""
    keys = np.empty(KEYS, np.uint64)
    loss = 0.0
    for p in order:
        first, opened, quoted = start[p], 0, 0
        for t in range(start[p], start[p + 1] - 1):  # with the paragraph a sentence ends in any case
            moment += 1.0
            opened, quoted = _after(opened, quoted, sign[t])
            size = token_keys(
                form, low, shape, space, usual, start[p], start[p + 1], first, t, opened, quoted, keys
            )
            share = sigmoid(score(keys, size, weights, bits))
            loss -= np.log(max(share if gold[t] else 1.0 - share, 1e-300))
            gradient = (1.0 if gold[t] else 0.0) - share
            if abs(gradient) > 1e-4:
                move(keys, size, gradient, step, moment, weights, squares, drift, bits)
            if gold[t]:
                first, opened, quoted = t + 1, 0, 0
    return loss


@njit()
def sentence_ends(form, low, shape, space, usual, sign, weights, bits):
    """For each token of a paragraph the probability that a sentence ends behind it; 1 for the last."""
    probability = np.ones(len(form))
    keys = np.empty(KEYS, np.uint64)
    first, opened, quoted = 0, 0, 0
    for t in range(len(form) - 1):
        opened, quoted = _after(opened, quoted, sign[t])
        size = token_keys(form, low, shape, space, usual, 0, len(form), first, t, opened, quoted, keys)
        probability[t] = sigmoid(score(keys, size, weights, bits))
        if probability[t] >= 0.5:
            first, opened, quoted = t + 1, 0, 0
    return probability
