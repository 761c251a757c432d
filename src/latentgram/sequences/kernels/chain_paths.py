"""Paths through the lattices of `chain`: the best, the k best, and samples from the posterior.

Viterbi's recurrence is, in logarithms, best_{i+1}(k') = e_{i+1}(k') + max_k best_i(k) + p(k' | k); ties go to the
earlier tag. The k best paths are those of numeric/kbest.py over these numbers, and samples those of
numeric/sampling.py over the forward sums. O(Σ K_i K_{i+1}) for m = 1, and what these say.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.compiling import by_type, grown, njit
from latentgram.numeric.hypergraph import NOTHING, list_edges
from latentgram.numeric.kbest import k_best
from latentgram.numeric.sampling import draw
from latentgram.numeric.semiring import Max, Real, one, times
from latentgram.sequences.kernels.chain import Chain, column_starts, forward, tag_before


class _Paths(NamedTuple):
    """The lattice of a sentence as a hypergraph: an item is a node, made of one of the column before."""

    semiring: Any
    transition: Floats
    emit_start: Ints
    emit_tag: Ints32
    emission: Floats
    tokens: Ints
    starts: Ints
    """[tokens + 1] where the nodes of each column begin."""


def _list_edges(paths, node, edges):
    semiring, transition, emit_start, emit_tag, emission, tokens, starts = paths
    tags = transition.shape[1]
    memory = 1 if transition.shape[0] == tags else 2
    i, tag, weight, first, stride = len(tokens), np.int64(0), one(semiring), 0, 1
    if node < starts[-1]:
        i = np.searchsorted(starts, node, side="right") - 1
        low, high = emit_start[tokens[i]], emit_start[tokens[i] + 1]
        place = low + (node - starts[i]) % (high - low)
        tag, weight = np.int64(emit_tag[place]), emission[place]
        if memory == 2:
            first = (node - starts[i]) // (high - low)
            stride = emit_start[tokens[i - 1] + 1] - emit_start[tokens[i - 1]]
    low, high = emit_start[tokens[i - 1]], emit_start[tokens[i - 1] + 1]
    for n in range(first, starts[i] - starts[i - 1], stride):
        state = np.int64(emit_tag[low + n % (high - low)])
        if memory == 2:
            state += tags * tag_before(tokens, 0, i - 1, n // (high - low), emit_start, emit_tag, 0)
        edges.append((starts[i - 1] + n, NOTHING, times(semiring, transition[state, tag], weight)))


by_type(list_edges, {_Paths: _list_edges})


@register_jitable
def _tag_of(node, i, tokens, emit_start, emit_tag, starts):
    """The tag of a node of column i."""
    low, high = emit_start[tokens[i]], emit_start[tokens[i] + 1]
    return emit_tag[low + (node - starts[i]) % (high - low)]


MOST_WORDS = 10_000
"""The longest sentence that is drawn."""


@njit()
def _best_sums(log_transition, emit_start, emit_tag, log_emit, tokens, starts):
    """The score of the best path to each node and to the end behind all, and the node before it there."""
    tags, length = log_transition.shape[1], len(tokens)
    memory = 1 if log_transition.shape[0] == tags else 2
    best, source = np.full(starts[-1] + 1, -np.inf), np.full(starts[-1] + 1, -1, np.int64)
    low, high = emit_start[tokens[0]], emit_start[tokens[0] + 1]
    for n in range(high - low):
        best[n] = log_transition[0, emit_tag[low + n]] + log_emit[low + n]
    for i in range(length):
        low, high = emit_start[tokens[i]], emit_start[tokens[i] + 1]
        here = high - low
        for node in range(starts[i], starts[i + 1]):
            if best[node] == -np.inf:
                continue
            state = np.int64(emit_tag[low + (node - starts[i]) % here])
            if memory == 2:
                state += tags * tag_before(tokens, 0, i, (node - starts[i]) // here, emit_start, emit_tag, 0)
            if i + 1 == length:
                value = best[node] + log_transition[state, 0]
                if value > best[-1]:
                    best[-1], source[-1] = value, node
                continue
            next_low, next_high = emit_start[tokens[i + 1]], emit_start[tokens[i + 1] + 1]
            target = starts[i + 1]
            if memory == 2:
                target += (node - starts[i]) % here * (next_high - next_low)
            for place in range(next_low, next_high):
                value = best[node] + (log_transition[state, emit_tag[place]] + log_emit[place])
                if value > best[target]:
                    best[target], source[target] = value, node
                target += 1
    return best, source


@njit()
def best_paths(log_transition, emit_start, emit_tag, log_emit, tokens, begin, end):
    """The best tags of the tokens of all sentences."""
    memory = 1 if log_transition.shape[0] == log_transition.shape[1] else 2
    tags = np.zeros(tokens.size, np.int32)
    for s in range(begin.size):
        here = tokens[begin[s] : end[s]]
        starts = column_starts(here, 0, len(here), emit_start, memory)
        _, source = _best_sums(log_transition, emit_start, emit_tag, log_emit, here, starts)
        node = source[-1]
        for i in range(len(here) - 1, -1, -1):
            if node < 0:
                break
            tags[begin[s] + i] = _tag_of(node, i, here, emit_start, emit_tag, starts)
            node = source[node]
    return tags


@njit()
def k_best_paths(log_transition, emit_start, emit_tag, log_emit, tokens, k):
    """The tags [at most k, tokens] of the best paths of a sentence, best first."""
    memory = 1 if log_transition.shape[0] == log_transition.shape[1] else 2
    starts = column_starts(tokens, 0, len(tokens), emit_start, memory)
    best, _ = _best_sums(log_transition, emit_start, emit_tag, log_emit, tokens, starts)
    paths = _Paths(Max(), log_transition, emit_start, emit_tag, log_emit, tokens, starts)
    nodes, begin, _ = k_best(paths, best[:-1], starts[1], k)
    return _in_rows(nodes, len(begin) - 1, tokens, emit_start, emit_tag, starts)


@njit()
def sample_paths(transition, emit_start, emit_tag, emit_prob, tokens, uniform):
    """Tag sequences of one sentence drawn from the posterior, one for each row of `uniform` [samples, tokens].

    The numbers of a row are used from its end. None if the sentence has the probability 0.
    """
    memory = 1 if transition.shape[0] == transition.shape[1] else 2
    length = tokens.size
    starts = column_starts(tokens, 0, length, emit_start, memory)
    alpha, scale = np.empty(starts[length]), np.empty(length)
    chain = Chain(transition, emit_start, emit_tag, emit_prob)
    if forward(chain, tokens, 0, length, 0, starts, alpha, scale) == -np.inf:
        return np.empty((0, length), np.int32)
    paths = _Paths(Real(), transition, emit_start, emit_tag, emit_prob, tokens, starts)
    backwards = np.ascontiguousarray(uniform[:, ::-1])
    nodes, begin = draw(Real(), paths, alpha, starts[1], backwards, True)
    return _in_rows(nodes, len(begin) - 1, tokens, emit_start, emit_tag, starts)


@register_jitable
def _in_rows(nodes, paths, tokens, emit_start, emit_tag, starts):
    """The tags of paths, one a row, from nodes that stand last first."""
    length = len(tokens)
    tags = np.empty((paths, length), np.int32)
    for path in range(paths):
        for i in range(length):
            node = nodes[(path + 1) * length - 1 - i]
            tags[path, i] = _tag_of(node, i, tokens, emit_start, emit_tag, starts)
    return tags


@njit()
def sample_sentences(reach, first, word_of, mass, sentences, seed):
    """Words and tags of sentences drawn from a model, a boundary (0) after each.

    `reach` are the transitions summed along their rows; the words that tag t may emit are
    `word_of[first[t] : first[t + 1]]`, and `mass`, one entry longer, their summed probabilities. Sentences that
    would not end are cut.
    """
    np.random.seed(seed)
    tags = reach.shape[1]
    words = np.empty(1 << 12, np.int32)
    drawn = np.empty(1 << 12, np.int32)
    size = 0
    for _ in range(sentences):
        state, length = 0, 0
        while True:
            if size == words.size:
                words, drawn = grown(words, size + 1), grown(drawn, size + 1)
            tag = np.searchsorted(reach[state], np.random.random() * reach[state, -1], side="right")
            tag = min(tag, tags - 1) if length < MOST_WORDS else 0
            length += 1
            drawn[size] = tag
            words[size] = 0
            if tag > 0:
                low, high = first[tag], first[tag + 1]
                aim = mass[low] + np.random.random() * (mass[high] - mass[low])
                place = low + np.searchsorted(mass[low : high + 1], aim, side="right") - 1
                words[size] = word_of[min(place, high - 1)]
            size += 1
            if tag == 0:
                break
            state = (state * tags + tag) % reach.shape[0]
    return words[:size].copy(), drawn[:size].copy()
