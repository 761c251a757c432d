"""The spelling of many words as checksums: rows of `COLUMNS` 64-bit numbers, made in one pass over their letters.

A checksum of a string is CRC-32 above Adler-32 of its UTF-8 bytes, 1 where that is 0. Words come as code points
end to end, once as they are written and once in lower case (which may have another number of letters), with what
is to know of each letter. O(letters).
"""

import numpy as np

from latentgram.compiling import njit

WORD, LOWER, ENDING, BEGINNING, SHAPE, KIND = 0, 1, 2, 7, 11, 12
"""Columns: the word, in lower case, 1–5 last letters, 1–4 first letters, shape, kind of letters."""
COLUMNS = 13
LONGEST_ENDING, LONGEST_BEGINNING = SHAPE - BEGINNING + 1, SHAPE - BEGINNING

UPPER, ALPHA, DIGIT, ALNUM, SMALL, SEEN = 1, 2, 4, 8, 16, 32
"""What is known of a letter; `SMALL` keeps a word from being in capitals, `SEEN` says that it was looked at."""
CAPITAL, CAPITALS, INNER, FIGURES, HYPHEN, POINT, QUOTE, SIGNS = (1 << n for n in range(8))
"""What the kind of a word is made of (see `latentgram.tagger.spelling.kind`)."""

_ADLER = np.uint32(65521)


def _crc_table() -> np.ndarray:
    value = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        value = np.where(value & 1, (value >> 1) ^ np.uint32(0xEDB88320), value >> 1).astype(np.uint32)
    return value


_CRC = _crc_table()


@njit()
def _byte(crc, low, high, byte):
    """The state of both checksums after one more byte."""
    crc = _CRC[(crc ^ byte) & np.uint32(255)] ^ (crc >> np.uint32(8))
    low = (low + byte) % _ADLER
    return crc, low, (high + low) % _ADLER


@njit()
def _letter(crc, low, high, code):
    """The state after one more letter, by its bytes in UTF-8."""
    last = np.uint32(128) | (code & np.uint32(63))
    if code < np.uint32(0x80):
        return _byte(crc, low, high, code)
    second = np.uint32(128) | ((code >> np.uint32(6)) & np.uint32(63))
    if code < np.uint32(0x800):
        crc, low, high = _byte(crc, low, high, np.uint32(192) | (code >> np.uint32(6)))
        return _byte(crc, low, high, last)
    third = np.uint32(128) | ((code >> np.uint32(12)) & np.uint32(63))
    if code < np.uint32(0x10000):
        crc, low, high = _byte(crc, low, high, np.uint32(224) | (code >> np.uint32(12)))
    else:
        crc, low, high = _byte(crc, low, high, np.uint32(240) | (code >> np.uint32(18)))
        crc, low, high = _byte(crc, low, high, third)
    crc, low, high = _byte(crc, low, high, second)
    return _byte(crc, low, high, last)


@njit()
def _sum(crc, low, high):
    """The checksum of a state."""
    value = (np.uint64(~crc & np.uint32(0xFFFFFFFF)) << np.uint64(32)) | np.uint64((high << np.uint32(16)) | low)
    return value if value else np.uint64(1)


@njit()
def _checksum(codes, begin, end):
    crc, low, high = np.uint32(0xFFFFFFFF), np.uint32(1), np.uint32(0)
    for i in range(begin, end):
        crc, low, high = _letter(crc, low, high, codes[i])
    return _sum(crc, low, high)


@njit()
def _shape(codes, known, begin, end):
    """The checksum of the letters by case, digits as 9, runs of more than two cut short."""
    crc, low, high = np.uint32(0xFFFFFFFF), np.uint32(1), np.uint32(0)
    last, run = np.uint32(0), 0
    for i in range(begin, end):
        sign = codes[i]
        if known[i] & UPPER:
            sign = np.uint32(ord("A"))
        elif known[i] & ALPHA:
            sign = np.uint32(ord("a"))
        elif known[i] & DIGIT:
            sign = np.uint32(ord("9"))
        run = run + 1 if i > begin and sign == last else 1
        last = sign
        if run <= 2:
            crc, low, high = _letter(crc, low, high, sign)
    return _sum(crc, low, high)


@njit()
def _kind(codes, known, begin, end):
    """Which marks a word has, as bits."""
    kind, upper, small, letters = 0, False, False, False
    for i in range(begin, end):
        code, is_upper = codes[i], known[i] & UPPER
        if is_upper:
            kind |= CAPITAL if i == begin else INNER
            upper = True
        small |= known[i] & SMALL > 0
        letters |= known[i] & ALNUM > 0
        if known[i] & DIGIT:
            kind |= FIGURES
        if code == ord("-") and i > begin:
            kind |= HYPHEN
        elif code == ord("."):
            kind |= POINT
        elif code == ord("'"):
            kind |= QUOTE
    if upper and not small and end - begin > 1:
        kind |= CAPITALS
    return kind if letters else kind | SIGNS


@njit()
def describe_words(codes, known, start, lower, lower_start, kinds):
    """[words, COLUMNS]; 0 where a word is too short for an ending or beginning. `kinds` are sums of all kinds."""
    table = np.zeros((len(start) - 1, COLUMNS), np.uint64)
    for w in range(len(start) - 1):
        row, begin, end = table[w], start[w], start[w + 1]
        row[WORD] = _checksum(codes, begin, end)
        row[SHAPE] = _shape(codes, known, begin, end)
        row[KIND] = kinds[_kind(codes, known, begin, end)]
        begin, end = lower_start[w], lower_start[w + 1]
        row[LOWER] = _checksum(lower, begin, end)
        for n in range(1, LONGEST_ENDING + 1):
            if end - begin > n:
                row[ENDING + n - 1] = _checksum(lower, end - n, end)
        for n in range(1, LONGEST_BEGINNING + 1):
            if end - begin > n:
                row[BEGINNING + n - 1] = _checksum(lower, begin, begin + n)
    return table
