"""Back-off probabilities of arcs for all arcs of a sentence at once (Luque et al. 2012, §5.2; Collins 1999).

An estimate with C events, U of them different, is trusted by λ = C / (C + 5 U) and the rest is left to the next
coarser one: p = λ c/C + (1 − λ) p_coarser. O(N² R log U) for a sentence of N words and R deterministic states.
"""

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Floats, Ints
from latentgram.compiling import njit
from latentgram.numeric.search import find

LEFT, RIGHT = 0, 1
TRUST = 5.0


class Table(NamedTuple):
    """Counts of events: context c has `event[offset[c] : offset[c+1]]`, sorted, seen `total[c]` times in all."""

    offset: Ints
    event: Ints
    seen: Floats
    total: Floats


class LexicalTables(NamedTuple):
    """Tags by the word (`fine`) or by the tag (`coarse`) of their head, and words by the places of their tags.

    Contexts of tags are the keys ((head · 2 + direction) · states + state), the root being the head after the
    last; STOP is the tag after the last.
    """

    fine_context: Ints
    fine_tags: Table
    fine_words: Table
    coarse_context: Ints
    coarse_tags: Table
    coarse_words: Table
    tag_base: Floats
    """[2, states, tags+1] p(tag or STOP | direction, state)"""


@njit()
def share(table, context, wanted, coarser):
    """The smoothed probability of an event in a context (−1: a context never seen), and its place (or −1)."""
    if context < 0:
        return coarser, -1
    offset, event, seen, total = table
    begin, end = offset[context], offset[context + 1]
    trust = total[context] / (total[context] + TRUST * (end - begin))
    place = find(event, begin, end, wanted)
    among = seen[place] / total[context] if place >= 0 else 0.0
    return trust * among + (1.0 - trust) * coarser, place


@njit()
def lexical_probability(tables, fine, coarse, tag_base, word_base, tag, word):
    """P_A(tag) P_B(word | tag), each backed off from the head's word to its tag and to no head at all.

    `fine` and `coarse` are contexts of the tag tables; the place of a tag in its table is the context of its
    words in the word table.
    """
    _, fine_tags, fine_words, _, coarse_tags, coarse_words, _ = tables
    by_tag, coarse_place = share(coarse_tags, coarse, tag, tag_base)
    by_word, fine_place = share(fine_tags, fine, tag, by_tag)
    if word < 0:
        return by_word
    below, _ = share(coarse_words, coarse_place, word, word_base)
    below, _ = share(fine_words, fine_place, word, below)
    return by_word * below


@njit()
def lexical_weights(tables, tags, words, word_given_tag, n_vocabulary):
    """The arc [N, N, states], halt [2, N, states] and root [N] weights of a sentence.

    IN   tags, words [N] and p(word | tag) of each.
    """
    n_words, n_states, n_tags = len(tags), tables.tag_base.shape[1], tables.tag_base.shape[2] - 1
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
                rest = d * n_states + state
                fine = find(tables.fine_context, 0, len(tables.fine_context), head_word * 2 * n_states + rest)
                coarse = find(tables.coarse_context, 0, len(tables.coarse_context), head_tag * 2 * n_states + rest)
                base = tables.tag_base[d, state]
                if not is_root:
                    halt[d, i, state] = lexical_probability(tables, fine, coarse, base[n_tags], 1.0, n_tags, -1)
                begin, end = (0, n_words) if is_root else ((i + 1, n_words) if d == RIGHT else (0, i))
                for j in range(begin, end):
                    value = lexical_probability(
                        tables, fine, coarse, base[tags[j]], word_given_tag[j], tags[j], words[j]
                    )
                    if is_root:
                        root[j] = value
                    else:
                        arc[i, j, state] = value
    return arc, halt, root
