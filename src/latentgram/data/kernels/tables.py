"""Tables of n-grams in compiled code: the counts of lines, and counts that no part of an n-gram falls below."""

import numpy as np

from latentgram.compiling import njit

TAB, LINE, BLANK, COMMA, ZERO, NINE = (np.uint8(ord(sign)) for sign in "\t\n ,09")
MOST_DIGITS = 15
"""Longer numbers may not fit: they are read more slowly."""


@njit()
def _number(data, begin, end):
    """The number between two places, -1 if that is not written in a few digits and nothing else."""
    if not 0 < end - begin <= MOST_DIGITS:
        return np.int64(-1)
    number = np.int64(0)
    for place in range(begin, end):
        if data[place] < ZERO or data[place] > NINE:
            return np.int64(-1)
        number = 10 * number + np.int64(data[place] - ZERO)
    return number


@njit()
def _find(data, sign, begin, end):
    """The first place of a sign, or the end."""
    while begin < end and data[begin] != sign:
        begin += 1
    return begin


@njit()
def _field(data, begin, end):
    """What a field says: `count`, or of `year,count,books` the count."""
    first = _find(data, COMMA, begin, end)
    if first == end:
        return _number(data, begin, end)
    second = _find(data, COMMA, first + 1, end)
    if second == end or _number(data, begin, first) < 0 or _number(data, second + 1, end) < 0:
        return np.int64(-1)
    return _number(data, first + 1, second)


@njit()
def _said(data, begin, end):
    """The count of the fields of a line: one count; year, count and books; or many `year,count,books`."""
    total, second, fields, dated = np.int64(0), np.int64(-1), 0, 0
    while begin <= end:
        stop = _find(data, TAB, begin, end)
        number = _field(data, begin, stop)
        if number < 0:
            return np.int64(-1)
        dated += int(_find(data, COMMA, begin, stop) < stop)
        second = number if fields == 1 else second
        total, fields, begin = total + number, fields + 1, stop + 1
    if dated == fields or fields == 1:
        return total
    return second if fields == 3 and dated == 0 else np.int64(-1)


@njit()
def cut_counts(data, count):
    """Write blanks over all that follows the first tab of a line, and the count that was there into `count`.

    -1 stands for what is not plainly written, or not there at all. Every line ends in a newline.
    """
    place = 0
    for line in range(count.size):
        end = _find(data, LINE, place, data.size)
        tab = _find(data, TAB, place, end)
        count[line] = _said(data, tab + 1, end) if tab < end else -1
        data[tab:end] = BLANK
        place = end + 1


@njit()
def raise_counts(prefix, suffix, words, count):
    """Raise counts to those of longer n-grams, the longest first; how many that were known (not below 0) were."""
    raised = 0
    for longer in range(count.size - 1, words - 1, -1):
        for part in (prefix[longer], suffix[longer]):
            if count[part] < count[longer]:
                raised += int(count[part] >= 0)
                count[part] = count[longer]
    return raised
