"""Tagging by memory: one walk through an n-gram automaton, one look-up a word."""

import numpy as np
from numba import njit

from latentgram.sequences.kernels.backoff import find_arc


@njit(cache=True)
def walk_tags(
    initial, backoff, arc_start, arc_word, arc_target, arc_tag, arc_sure, word_tag, word_sure, word_state, lag,
    tokens,
):  # fmt: skip
    """Tag and confidence of every token; `tokens` begins and ends with the boundary 0, unknown words are -1.

    A word whose n-gram the automaton lacks at every order gets the tag it has most often.
    """
    tag = np.zeros(tokens.size, np.int32)
    sure = np.zeros(tokens.size)
    state = initial
    for i in range(1, tokens.size):
        word = tokens[i]
        arc = np.int64(-1)
        if word >= 0:
            arc = find_arc(arc_start, arc_word, state, word)
            while arc < 0 and state > 0:
                state = backoff[state]
                arc = find_arc(arc_start, arc_word, state, word)
        place = i - lag
        current = tokens[place]
        # With lag 1 an arc of the empty history does not know which word it tags.
        if arc >= 0 and current >= 0 and (lag == 0 or state > 0):
            tag[place], sure[place] = arc_tag[arc], arc_sure[arc]
        else:
            tag[place], sure[place] = word_tag[current], word_sure[current]
        state = arc_target[arc] if arc >= 0 else word_state[word]
        if word == 0:
            state = initial
    return tag, sure
