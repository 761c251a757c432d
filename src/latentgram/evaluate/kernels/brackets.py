"""Loops over the brackets of sentences: stateless, compiled, arrays in and out.

Sentence s has the brackets ``at[s] … at[s + 1]`` and the words ``word_at[s] … word_at[s + 1]``.
O(gold brackets × output brackets) a sentence.
"""

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Ints
from latentgram.compiling import njit

VALID, ERROR, SKIP = 0, 1, 2
"""States of a sentence, with EVALB's numbers: compared; the words differ; the output has no words (no parse)."""

STATUS, MATCHED, GOLD, OUTPUT, CROSSING, WORDS, TAGS = range(7)
"""Columns of the result."""


@njit()
def _alike(left, right, pairs):
    if left == right:
        return True
    for k in range(len(pairs)):
        if (pairs[k, 0] == left and pairs[k, 1] == right) or (pairs[k, 0] == right and pairs[k, 1] == left):
            return True
    return False


class Side(NamedTuple):
    """The brackets (begin, end, label) and the words (word, tag) of sentences, and where those of each begin."""

    at: Ints
    brackets: Ints
    word_at: Ints
    words: Ints


@njit()
def compare_brackets(gold_side, output_side, equal_labels, equal_tags, equal_words):
    """[sentences, 7] counts; pairs of what is equal are [n, 2]."""
    gold_at, gold, gold_word_at, gold_words = gold_side
    output_at, output, output_word_at, output_words = output_side
    count = len(gold_at) - 1
    rows = np.zeros((count, 7), np.int64)
    for s in range(count):
        words = gold_words[gold_word_at[s] : gold_word_at[s + 1]]
        guesses = output_words[output_word_at[s] : output_word_at[s + 1]]
        if len(guesses) == 0:
            rows[s, STATUS] = SKIP
            continue
        same = len(words) == len(guesses)
        if same:
            for i in range(len(words)):
                if not _alike(words[i, 0], guesses[i, 0], equal_words):
                    same = False
                    break
        if not same:
            rows[s, STATUS] = ERROR
            continue
        rights = gold[gold_at[s] : gold_at[s + 1]]
        tries = output[output_at[s] : output_at[s + 1]]

        # Each gold bracket takes the first free output bracket with its span and an equal label.
        taken = np.zeros(len(tries), np.bool_)
        for i in range(len(rights)):
            for j in range(len(tries)):
                if (
                    not taken[j]
                    and rights[i, 0] == tries[j, 0]
                    and rights[i, 1] == tries[j, 1]
                    and _alike(rights[i, 2], tries[j, 2], equal_labels)
                ):
                    taken[j] = True
                    rows[s, MATCHED] += 1
                    break

        # An output bracket crosses when it overlaps some gold bracket and neither holds the other.
        for j in range(len(tries)):
            begin, end = tries[j, 0], tries[j, 1]
            for i in range(len(rights)):
                left, right = rights[i, 0], rights[i, 1]
                if left < begin < right < end or begin < left < end < right:
                    rows[s, CROSSING] += 1
                    break

        for i in range(len(words)):
            rows[s, TAGS] += _alike(words[i, 1], guesses[i, 1], equal_tags)
        rows[s, GOLD], rows[s, OUTPUT], rows[s, WORDS] = len(rights), len(tries), len(words)
    return rows
