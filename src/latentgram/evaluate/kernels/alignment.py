"""Which word of one segmentation of a text is which word of another: loops, stateless and compiled.

Words are given by the characters they cover, `start` to `end`, blanks not counted; words of a multiword token all
cover its characters. A word that is a token is the same as another if both cover the same characters. Around a
multiword token of either side the smallest stretch of text is taken that no multiword token crosses, and in it the
words that form a longest common subsequence are the same, by their forms:

    L[g, s] = 1 + L[g+1, s+1] if form_g = form_s, else max(L[g+1, s], L[g, s+1])

O(words), and O(g · s) for a stretch of g and s words.
"""

import numpy as np

from latentgram.compiling import njit


@njit()
def _beyond(start, end, multiword, i, limit):
    """Whether word i is not in the stretch that ends at `limit`."""
    if i >= len(start):
        return True
    return start[i] >= limit if multiword[i] else end[i] > limit


@njit()
def _common(gold_form, form, gold_first, gold_end, first, end, matched):
    """Match a longest common subsequence of two stretches of words, as early as possible in the gold ones."""
    rows, columns = gold_end - gold_first, end - first
    longest = np.zeros((rows + 1, columns + 1), np.int32)
    for g in range(rows - 1, -1, -1):
        for s in range(columns - 1, -1, -1):
            if gold_form[gold_first + g] == form[first + s]:
                longest[g, s] = 1 + longest[g + 1, s + 1]
            else:
                longest[g, s] = max(longest[g + 1, s], longest[g, s + 1])
    g = s = 0
    while g < rows and s < columns:
        if gold_form[gold_first + g] == form[first + s]:
            matched[first + s] = gold_first + g
            g += 1
            s += 1
        elif longest[g, s] == longest[g + 1, s]:
            g += 1
        else:
            s += 1


@njit()
def align(gold_start, gold_end, gold_multiword, gold_form, start, end, multiword, form):
    """For each output word the number of the gold word that it is, or −1."""
    matched = np.full(len(start), -1, np.int64)
    g = s = 0
    while g < len(gold_start) and s < len(start):
        if not gold_multiword[g] and not multiword[s]:
            if gold_start[g] == start[s] and gold_end[g] == end[s]:
                matched[s] = g
                g += 1
                s += 1
            elif gold_start[g] <= start[s]:
                g += 1
            else:
                s += 1
            continue
        if gold_multiword[g]:
            limit = gold_end[g]
            if not multiword[s] and start[s] < gold_start[g]:  # a word that begins before the stretch is not in it
                s += 1
        else:
            limit = end[s]
            if gold_start[g] < start[s]:
                g += 1
        gold_first, first = g, s
        while True:
            gold_over = _beyond(gold_start, gold_end, gold_multiword, g, limit)
            over = _beyond(start, end, multiword, s, limit)
            if gold_over and over:
                break
            if g < len(gold_start) and (s >= len(start) or gold_start[g] <= start[s]):
                if gold_multiword[g] and gold_end[g] > limit:
                    limit = gold_end[g]
                g += 1
            else:
                if multiword[s] and end[s] > limit:
                    limit = end[s]
                s += 1
        _common(gold_form, form, gold_first, g, first, s, matched)
    return matched
