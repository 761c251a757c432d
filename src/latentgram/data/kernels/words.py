"""Numbering the words of text: a hash table of their bytes.

The hash of a word is taken byte by byte on the way (Fowler, Noll and Vo: h ← (h ⊕ byte) · p), and a slot of the
table holds the hash, the number and where the word's own bytes stand, so that a look-up is a probe and a
comparison. Words are taken in small groups: their slots are touched first, and the processor fetches them side by
side.
"""

from __future__ import annotations

import numpy as np

from latentgram.compiling import njit

GROUP = 32
FREE = -1
LARGEST = 16
_POWERS = 10.0 ** np.arange(LARGEST + 7)
"""Powers of ten, all of them exact."""
_OFFSET, _PRIME = 0xCBF29CE484222325, 0x100000001B3


@njit()
def _hash(data, begin, end):
    value = np.uint64(_OFFSET)
    for i in range(begin, end):
        value = (value ^ np.uint64(data[i])) * np.uint64(_PRIME)
    return np.int64(value)


@njit()
def _slot(key, mask):
    mixed = np.uint64(key)
    return np.int64((mixed ^ (mixed >> np.uint64(29))) & np.uint64(mask))


@njit()
def _probe(data, begin, end, key, slots, pool):
    """The slot of a word, or the free one where it belongs."""
    mask = slots.shape[0] - 1
    place = _slot(key, mask)
    while slots[place, 1] != FREE:
        if slots[place, 0] == key and slots[place, 3] == end - begin:
            own = slots[place, 2]
            same = True
            for i in range(end - begin):
                if pool[own + i] != data[begin + i]:
                    same = False
                    break
            if same:
                break
        place = (place + 1) & mask
    return place


@njit()
def moved(slots, grown):
    """Put all words into a larger table."""
    mask = grown.shape[0] - 1
    for old in range(slots.shape[0]):
        if slots[old, 1] != FREE:
            place = _slot(slots[old, 0], mask)
            while grown[place, 1] != FREE:
                place = (place + 1) & mask
            for k in range(4):
                grown[place, k] = slots[old, k]
    return grown


@njit()
def _fill(data, begin, end, key, place, slots, pool, used):
    """Give a new word its slot and the next number."""
    slots[place, 0], slots[place, 1], slots[place, 2], slots[place, 3] = key, used[0], used[1], end - begin
    for i in range(begin, end):
        pool[used[1]] = data[i]
        used[1] += 1
    used[0] += 1


@njit()
def add_word(word, slots, pool, used):
    """Add a word if it is new; there must be room."""
    key = _hash(word, 0, word.size)
    place = _probe(word, 0, word.size, key, slots, pool)
    if slots[place, 1] == FREE:
        _fill(word, 0, word.size, key, place, slots, pool, used)


@njit()
def find_word(word, slots, pool):
    """The number of a word, or -1."""
    return slots[_probe(word, 0, word.size, _hash(word, 0, word.size), slots, pool), 1]


@njit()
def number_words(data, place, slots, pool, used, tokens, count, newline, grow):
    """Number the words from `place` on until all are done or the table is half full.

    Returns where it stopped and how many `tokens` there are then.
    """
    mask = slots.shape[0] - 1
    begin, end, key = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64), np.empty(GROUP, np.int64)
    touched = np.empty(GROUP, np.int64)
    while place < data.size and 2 * (used[0] + GROUP) <= slots.shape[0]:
        # Words, and ends of lines as words of no bytes.
        size = 0
        while size < GROUP and place < data.size:
            byte = data[place]
            if byte == 32 or (9 <= byte <= 13) or (28 <= byte <= 31):
                if byte == 10:
                    begin[size] = end[size] = place
                    size += 1
                place += 1
                continue
            begin[size] = place
            value = np.uint64(_OFFSET)
            while place < data.size:
                byte = data[place]
                if byte == 32 or (9 <= byte <= 13) or (28 <= byte <= 31):
                    break
                value = (value ^ np.uint64(byte)) * np.uint64(_PRIME)
                place += 1
            end[size], key[size] = place, np.int64(value)
            touched[size] = slots[_slot(key[size], mask), 0]
            size += 1
        for k in range(size):
            if begin[k] == end[k]:
                tokens[count] = newline
            else:
                slot = _probe(data, begin[k], end[k], key[k], slots, pool)
                if slots[slot, 1] == FREE and grow:
                    _fill(data, begin[k], end[k], key[k], slot, slots, pool, used)
                tokens[count] = slots[slot, 1]
            count += 1
    return place, count


@njit()
def write_digits(number, least, out, size):
    """Write a whole number with so many digits at least behind the first `size` bytes; how many there are then."""
    digits, rest = least, number // 10**least
    while rest > 0:
        digits += 1
        rest //= 10
    for place in range(size + digits - 1, size - 1, -1):
        out[place] = 48 + number % 10
        number //= 10
    return size + digits


@njit()
def _write_words(gram, pool, start, out, size):
    """Write words with spaces between them; where they end. Word n is `pool[start[n] : start[n + 1]]`."""
    for column in range(gram.size):
        if column > 0:
            out[size] = 32
            size += 1
        for i in range(start[gram[column]], start[gram[column] + 1]):
            out[size] = pool[i]
            size += 1
    return size


@njit()
def write_rows(grams, counts, pool, start, out):
    """Write lines `w1 w2<TAB>count` as bytes; how many."""
    size = 0
    for row in range(grams.shape[0]):
        size = _write_words(grams[row], pool, start, out, size)
        out[size] = 9
        size = write_digits(counts[row], 1, out, size + 1)
        out[size] = 10
        size += 1
    return size


@njit()
def _write_number(value, out, size):
    """Write a number with seven significant digits, as `%.7g` does; where it ends. At most 13 bytes.

    What is nearer to 0 than 10^-LARGEST is written as 0; it must not be larger than 10^LARGEST.
    """
    if -value * _POWERS[LARGEST] >= 1.0:
        out[size] = 45
        size += 1
    value = abs(value)
    if value * _POWERS[LARGEST] < 1.0:
        out[size] = 48
        return size + 1
    exponent = 0
    while value >= _POWERS[exponent + 1]:
        exponent += 1
    while value * _POWERS[-exponent] < 1.0:
        exponent -= 1
    scale = 6 - exponent
    digits = np.int64(np.rint(value * _POWERS[scale] if scale >= 0 else value / _POWERS[-scale]))
    if digits == 10_000_000:
        digits //= 10
        exponent += 1
    length = 7
    while digits % 10 == 0:
        digits //= 10
        length -= 1
    # The decimal point stands behind `before` digits.
    plain = -5 < exponent < 7
    before = exponent + 1 if plain else 1
    if before < 1:
        out[size], out[size + 1] = 48, 46
        size += 2
        for _ in range(-before):
            out[size] = 48
            size += 1
        size = write_digits(digits, 1, out, size)
    elif before >= length:
        for _ in range(before - length):
            digits *= 10
        size = write_digits(digits, 1, out, size)
    else:
        size = write_digits(digits, 1, out, size)
        for k in range(size, size - length + before, -1):
            out[k] = out[k - 1]
        out[size - length + before] = 46
        size += 1
    if not plain:
        out[size], out[size + 1] = 101, 45 if exponent < 0 else 43
        size += 2
        size = write_digits(abs(exponent), 2, out, size)
    return size


@njit()
def write_entries(grams, logs, weights, weighty, pool, start, out):
    """Write lines `log<TAB>w1 w2`, and `<TAB>weight` behind those that are `weighty`, as bytes; how many."""
    size = 0
    for row in range(grams.shape[0]):
        size = _write_number(logs[row], out, size)
        out[size] = 9
        size = _write_words(grams[row], pool, start, out, size + 1)
        if weighty[row]:
            out[size] = 9
            size = _write_number(weights[row], out, size + 1)
        out[size] = 10
        size += 1
    return size
