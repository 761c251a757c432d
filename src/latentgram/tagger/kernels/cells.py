"""Which weights a tagger learns: for each feature the parts of tags that it may speak for or against."""

import numpy as np

from latentgram.compiling import njit


@njit()
def cells(features, count, tokens, start, tag, gold, parts, frequent):
    """The parts of every feature, sorted, end to end, and where those of each begin.

    `features` [tokens, FEATURES] are those of the tokens numbered in `tokens`, −1 for none. A feature seen
    `frequent` times has the parts of all candidates, a rarer one those of the right tags. O(features · parts of
    candidates).
    """
    n_features = len(count)
    begin = np.zeros(n_features + 1, np.int64)
    for f in range(n_features):
        begin[f + 1] = begin[f] + count[f]
    place = begin.copy()
    where = np.empty(begin[n_features], np.int32)
    for n in range(len(features)):
        for f in range(features.shape[1]):
            row = features[n, f]
            if row >= 0:
                where[place[row]] = n
                place[row] += 1
    stamp = np.full(parts.number, -1, np.int64)
    row_start = np.zeros(n_features + 1, np.int64)
    row_part = np.empty(0, np.int16)
    for filling in range(2):
        for p in range(parts.number):
            stamp[p] = -1
        for row in range(n_features):
            number = row_start[row]
            for n in range(begin[row], begin[row + 1]):
                i = tokens[where[n]]
                for k in range(start[i], start[i + 1]):
                    if count[row] < frequent and tag[k] != gold[i]:
                        continue
                    for p in range(parts.start[tag[k]], parts.start[tag[k] + 1]):
                        part = parts.part[p]
                        if stamp[part] != row:
                            stamp[part] = row
                            if filling:
                                row_part[number] = part
                            number += 1
            if filling:
                _sort(row_part, row_start[row], number)
            else:
                row_start[row + 1] = number
        if not filling:
            row_part = np.empty(row_start[n_features], np.int16)
    return row_start, row_part


@njit()
def _sort(values, begin, end):
    """Sort a short stretch of values in place."""
    for i in range(begin + 1, end):
        value, j = values[i], i
        while j > begin and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value
