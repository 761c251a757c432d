"""Back-off probabilities of arcs for all arcs of a sentence at once (000 §5.2; Collins 1999).

Counts stand in sorted flat arrays: context c holds the events `event[offset[c] : offset[c+1]]`. An estimate with
C events, U of them different, is trusted by λ = C / (C + 5 U) and the rest is left to the next coarser one:
p = λ c/C + (1 − λ) p_coarser. O(N² R log U) for a sentence of N words and R deterministic states.
"""

import numpy as np
from numba import njit

LEFT, RIGHT = 0, 1
TRUST = 5.0


@njit(cache=True)
def find(values, begin, end, wanted):
    """The place of a number in sorted values[begin:end], or −1."""
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and values[low] == wanted else -1


@njit(cache=True)
def share(table, context, wanted, coarser):
    """The smoothed probability of an event in a context (−1: a context never seen), and its place (or −1)."""
    if context < 0:
        return coarser, -1
    offset, event, count, total = table
    begin, end = offset[context], offset[context + 1]
    trust = total[context] / (total[context] + TRUST * (end - begin))
    place = find(event, begin, end, wanted)
    seen = count[place] / total[context] if place >= 0 else 0.0
    return trust * seen + (1.0 - trust) * coarser, place


@njit(cache=True)
def lexical_probability(
    fine, coarse, fine_tags, fine_words, coarse_tags, coarse_words, tag_base, word_base, tag, word
):
    """P_A(tag) P_B(word | tag), each backed off from the head's word to its tag and to no head at all.

    `fine` and `coarse` are contexts of the tag tables; the place of a tag in its table is the context of its
    words in the word table.
    """
    by_tag, coarse_place = share(coarse_tags, coarse, tag, tag_base)
    by_word, fine_place = share(fine_tags, fine, tag, by_tag)
    if word < 0:
        return by_word
    below, _ = share(coarse_words, coarse_place, word, word_base)
    below, _ = share(fine_words, fine_place, word, below)
    return by_word * below


@njit(cache=True)
def lexical_weights(
    tags,
    words,
    fine_context,
    fine_tags,
    fine_words,
    coarse_context,
    coarse_tags,
    coarse_words,
    tag_base,
    word_given_tag,
    n_states,
    n_tags,
    n_vocabulary,
):
    """The arc, halt and root weights of a sentence.

    IN   tags, words [N]; contexts [C] of the keys ((head · 2 + direction) · states + state) with head a word or a
         tag, root = the number after the last; tables (offset, event, count, total) of tags (`n_tags` is STOP) and
         of words; tag_base [2, states, tags+1] p(tag | direction, state); word_given_tag [N] of this sentence.
    OUT  arc [N, N, states], halt [2, N, states], root [N].
    """
    n_words = len(tags)
    arc = np.ones((n_words, n_words, n_states))
    halt = np.empty((2, n_words, n_states))
    root = np.empty(n_words)
    for i in range(n_words + 1):
        is_root = i == n_words
        head_word = n_vocabulary if is_root else words[i]
        head_tag = n_tags if is_root else tags[i]
        for d in range(2):
            for state in range(n_states):
                if is_root and (d == LEFT or state > 0):
                    continue
                fine_key = (head_word * 2 + d) * n_states + state
                coarse_key = (head_tag * 2 + d) * n_states + state
                fine = find(fine_context, 0, len(fine_context), fine_key)
                coarse = find(coarse_context, 0, len(coarse_context), coarse_key)
                if not is_root:
                    halt[d, i, state] = lexical_probability(
                        fine,
                        coarse,
                        fine_tags,
                        fine_words,
                        coarse_tags,
                        coarse_words,
                        tag_base[d, state, n_tags],
                        1.0,
                        n_tags,
                        -1,
                    )
                begin, end = (0, n_words) if is_root else ((i + 1, n_words) if d == RIGHT else (0, i))
                for j in range(begin, end):
                    value = lexical_probability(
                        fine,
                        coarse,
                        fine_tags,
                        fine_words,
                        coarse_tags,
                        coarse_words,
                        tag_base[d, state, tags[j]],
                        word_given_tag[j],
                        tags[j],
                        words[j],
                    )
                    if is_root:
                        root[j] = value
                    else:
                        arc[i, j, state] = value
    return arc, halt, root
