"""Paths through the lattices of `chain`: the k best, and samples from the posterior.

The k best paths into a node are among the k best into its predecessors, each by its rank (the lists are merged):
Viterbi is k = 1. Ties go to the earlier tag. O(k² Σ K_i K_{i+1}). Samples are drawn backwards from the forward
weights: O(Σ K_i) a sample after one forward pass.
"""

import numpy as np
from numba import njit

from latentgram.sequences.kernels.chain import _tag_before, column_starts, forward


@njit(cache=True)
def enter_path(score, source, node, value, origin):
    """Put a path into the sorted list of its node; an equal one already there stays in front."""
    k = score.shape[1]
    if not value > score[node, k - 1]:
        return
    place = k - 1
    while place > 0 and value > score[node, place - 1]:
        score[node, place] = score[node, place - 1]
        source[node, place] = source[node, place - 1]
        place -= 1
    score[node, place] = value
    source[node, place] = origin


@njit(cache=True)
def k_best(log_transition, emit_start, emit_tag, log_emit, tokens, begin, end, k):
    """The k best tag sequences of each sentence: tags [k, tokens] and log-probabilities [sentences, k].

    Ranks that do not exist have log-probability -inf.
    """
    tags = log_transition.shape[1]
    memory = 1 if log_transition.shape[0] == tags else 2
    found = np.zeros((k, tokens.size), np.int32)
    logs = np.full((begin.size, k), -np.inf)
    for s in range(begin.size):
        first, last = begin[s], end[s]
        length = last - first
        starts = column_starts(tokens, first, last, emit_start, memory)
        # A path is known by its last node and its rank there: node · k + rank.
        score = np.full((starts[length] + 1, k), -np.inf)
        source = np.full((starts[length] + 1, k), -1, np.int64)
        low, high = emit_start[tokens[first]], emit_start[tokens[first] + 1]
        for n in range(high - low):
            score[n, 0] = log_transition[0, emit_tag[low + n]] + log_emit[low + n]
        for i in range(length):
            low, high = emit_start[tokens[first + i]], emit_start[tokens[first + i] + 1]
            here = high - low
            for node in range(starts[i], starts[i + 1]):
                before, tag = (node - starts[i]) // here, (node - starts[i]) % here
                state = np.int64(emit_tag[low + tag])
                if memory == 2:
                    state += tags * _tag_before(tokens, first, i, before, emit_start, emit_tag, 0)
                for rank in range(k):
                    value = score[node, rank]
                    if value == -np.inf:
                        break
                    if i + 1 == length:
                        enter_path(
                            score, source, starts[length], value + log_transition[state, 0], node * k + rank
                        )
                        continue
                    next_low = emit_start[tokens[first + i + 1]]
                    next_width = emit_start[tokens[first + i + 1] + 1] - next_low
                    target = starts[i + 1] + (tag * next_width if memory == 2 else 0)
                    for u in range(next_width):
                        edge = log_transition[state, emit_tag[next_low + u]] + log_emit[next_low + u]
                        enter_path(score, source, target + u, value + edge, node * k + rank)
        for rank in range(k):
            logs[s, rank] = score[starts[length], rank]
            if logs[s, rank] == -np.inf:
                break
            path = source[starts[length], rank]
            for i in range(length - 1, -1, -1):
                low, high = emit_start[tokens[first + i]], emit_start[tokens[first + i] + 1]
                found[rank, first + i] = emit_tag[low + (path // k - starts[i]) % (high - low)]
                path = source[path // k, path % k]
    return found, logs


@njit(cache=True)
def sample_paths(transition, emit_start, emit_tag, emit_prob, tokens, uniform):
    """Tag sequences of one sentence drawn from the posterior, one for each row of `uniform` [samples, tokens]."""
    tags = transition.shape[1]
    memory = 1 if transition.shape[0] == tags else 2
    length = tokens.size
    starts = column_starts(tokens, 0, length, emit_start, memory)
    alpha, scale = np.empty(starts[length]), np.empty(length)
    drawn = np.zeros(uniform.shape, np.int32)
    if forward(transition, emit_start, emit_tag, emit_prob, tokens, 0, length, 0, starts, alpha, scale) == -np.inf:
        return drawn, False
    for sample in range(uniform.shape[0]):
        follower = 0
        wanted = -1
        for i in range(length - 1, -1, -1):
            low, high = emit_start[tokens[i]], emit_start[tokens[i] + 1]
            here = high - low
            weight = np.zeros(starts[i + 1] - starts[i])
            for n in range(weight.size):
                # With memory 2 the node after has already fixed this tag.
                if memory == 2 and wanted >= 0 and n % here != wanted:
                    continue
                state = np.int64(emit_tag[low + n % here])
                if memory == 2:
                    state += tags * _tag_before(tokens, 0, i, n // here, emit_start, emit_tag, 0)
                weight[n] = alpha[starts[i] + n] * transition[state, follower]
            threshold = uniform[sample, i] * weight.sum()
            chosen = -1
            for n in range(weight.size):
                if weight[n] > 0.0:
                    chosen = n
                    threshold -= weight[n]
                    if threshold < 0.0:
                        break
            if chosen < 0:
                return drawn, False
            follower = emit_tag[low + chosen % here]
            drawn[sample, i] = follower
            wanted = chosen // here
    return drawn, True


@njit(cache=True)
def sample_sentences(reach, first, word_of, mass, sentences, seed):
    """Words and tags of sentences drawn from a model, a boundary (0) after each.

    `reach` are the transitions summed along their rows; the words that tag t may emit are
    `word_of[first[t] : first[t + 1]]`, and `mass`, one entry longer, their summed probabilities.
    """
    np.random.seed(seed)
    tags = reach.shape[1]
    words = np.empty(1 << 12, np.int32)
    found = np.empty(1 << 12, np.int32)
    size = 0
    for _ in range(sentences):
        state = 0
        while True:
            if size == words.size:
                words = np.concatenate((words, np.empty_like(words)))
                found = np.concatenate((found, np.empty_like(found)))
            tag = np.searchsorted(reach[state], np.random.random() * reach[state, -1], side="right")
            tag = min(tag, tags - 1)
            found[size] = tag
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
    return words[:size].copy(), found[:size].copy()
