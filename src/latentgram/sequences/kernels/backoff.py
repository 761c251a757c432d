"""Walks through back-off n-gram automata.

State 0 is the empty history and `backoff[h]` the state with the first word of h dropped; state 0 has none. The
arcs of state h are `arc_start[h] : arc_start[h + 1]`, sorted by word. `failure[h]` is the weight of the arc from h
to `backoff[h]`. Under the *failure* reading it may only be taken when h has no arc for the next word, so a string
has one path; under the *epsilon* reading always, so the paths of a string are summed. Either way the states that
can be reached after a word are suffixes of one another: at most `order` of them. An arc is found in O(log arcs),
or where n-grams are scored by the million, in O(1): few arcs are looked through, those of wide states stand in a
hash table (open addressing, at most half full; `wide_table`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentgram.compiling import grown, njit
from latentgram.data.kernels.words import write_digits
from latentgram.numeric.hashing import bucket
from latentgram.numeric.search import find

MOST = 8
"""More than the states that can be held at once: the order of the model at most."""

NEWLINE = -2
"""Ends an n-gram in a list of them."""
TOGETHER = 32
"""N-grams that are scored side by side."""
NARROW = 8
"""Arcs of a state up to which they are looked through; the arcs of wider states are in the hash table."""
LINE = 24
"""Bytes that a number may take where it is written."""
TRIES = 100_000
"""Draws of a word after which one that should have been refused is taken."""


class Memory(NamedTuple):
    """What a tagger remembers of arcs and of words; see `latentgram.sequences.ngram_tagger.NGramTagger`."""

    arc_tag: np.ndarray
    arc_sure: np.ndarray
    word_tag: np.ndarray
    word_sure: np.ndarray
    word_state: np.ndarray


class Scoring(NamedTuple):
    """A model under the failure reading; see `latentgram.sequences.ngram.BackoffNGram` for the arrays."""

    initial: int
    backoff: np.ndarray
    failure: np.ndarray
    arc_start: np.ndarray
    arc_word: np.ndarray
    arc_prob: np.ndarray
    arc_target: np.ndarray
    arc_of_word: np.ndarray
    """[words] the arc of the empty history for each word, or -1."""
    wide: np.ndarray
    """[2^bits, 2] state and word of an arc of a wide state as one number, and the arc; -1 where there is none."""
    bits: int


@njit()
def find_arc(arc_start, arc_word, state, word):
    """The arc of a state for a word, or -1."""
    return find(arc_word, arc_start[state], arc_start[state + 1], word)


@njit()
def _key(state, word):
    return (np.int64(state) << 32) | np.int64(word)


@njit()
def wide_table(arc_start, arc_word, bits):
    """The hash table of the arcs of wide states; 2^bits must be more than they are, best twice as many."""
    table = np.full((1 << bits, 2), -1, np.int64)
    last = (1 << bits) - 1
    for state in range(1, arc_start.size - 1):
        if arc_start[state + 1] - arc_start[state] > NARROW:
            for arc in range(arc_start[state], arc_start[state + 1]):
                key = _key(state, arc_word[arc])
                slot = bucket(np.uint64(key), bits)
                while table[slot, 0] >= 0:
                    slot = (slot + 1) & last
                table[slot, 0], table[slot, 1] = key, arc
    return table


@njit()
def _arc(model, state, word):
    """The arc of a state for a word, or -1; not of the empty history."""
    begin, end = model.arc_start[state], model.arc_start[state + 1]
    if end - begin > NARROW:
        key = _key(state, word)
        slot = bucket(np.uint64(key), model.bits)
        while model.wide[slot, 0] >= 0:
            if model.wide[slot, 0] == key:
                return model.wide[slot, 1]
            slot = (slot + 1) & (model.wide.shape[0] - 1)
        return np.int64(-1)
    for arc in range(begin, end):
        if model.arc_word[arc] == word:
            return np.int64(arc)
    return np.int64(-1)


@njit()
def _follow(model, state, word):
    """The arc for a word from a state or one that it backs off to (-1: none), and the weight of backing off.

    Of the empty history, which has an arc for nearly every word, the arc is looked up by the word's number.
    """
    weight = 1.0
    if word < 0:
        return np.int64(-1), weight
    while state > 0:
        arc = _arc(model, state, word)
        if arc >= 0:
            return arc, weight
        weight *= model.failure[state]
        state = model.backoff[state]
    return np.int64(model.arc_of_word[word]), weight


@njit()
def score_failure(model, tokens):
    """log p of each token given those before it; `tokens` begins and ends with the boundary 0."""
    logs = np.zeros(tokens.size)
    state = model.initial
    for i in range(1, tokens.size):
        arc, weight = _follow(model, state, tokens[i])
        if arc < 0:
            logs[i] = -np.inf
            state = model.initial if tokens[i] == 0 else 0
        else:
            logs[i] = np.log(weight * model.arc_prob[arc])
            state = model.arc_target[arc]
    return logs


@njit()
def score_grams(model, tokens, logs):
    """log p of the last word of each n-gram given those before it, under the failure reading.

    N-grams end with `NEWLINE`. -1 are words that the automaton lacks: before the last one they bring it to the
    empty history. Fills `logs` and returns their number, or -1 - n where n-gram n has no words.

    What a step reads is anywhere in memory, so some n-grams go side by side, a look into one state at a time: what
    they will read is touched first, and the processor fetches it together. What is done makes room for the next.
    """
    place, state = np.empty(TOGETHER, np.int64), np.empty(TOGETHER, np.int64)
    weight, row = np.empty(TOGETHER), np.empty(TOGETHER, np.int64)
    begin, end = np.empty(TOGETHER, np.int64), np.empty(TOGETHER, np.int64)
    touched = np.zeros(1, np.int64)
    ahead = 0
    rows = 0
    size = 0
    while True:
        while size < TOGETHER and ahead < tokens.size:
            if tokens[ahead] == NEWLINE:
                return -1 - rows
            place[size], state[size], weight[size], row[size] = ahead, 0, 1.0, rows
            size += 1
            rows += 1
            while tokens[ahead] != NEWLINE:
                ahead += 1
            ahead += 1
        if size == 0:
            return rows
        for k in range(size):
            begin[k], end[k] = model.arc_start[state[k]], model.arc_start[state[k] + 1]
        for k in range(size):
            if state[k] > 0 and end[k] - begin[k] > NARROW:
                slot = bucket(np.uint64(_key(state[k], tokens[place[k]])), model.bits)
                touched[0] ^= model.wide[slot, 0]
            elif end[k] > begin[k]:
                touched[0] ^= model.arc_word[begin[k]]
        k = 0
        while k < size:
            word = tokens[place[k]]
            last = tokens[place[k] + 1] == NEWLINE
            arc = np.int64(-1)
            if word >= 0:
                if word == 0 and not last:
                    state[k] = model.initial
                    weight[k] = 1.0
                    place[k] += 1
                    k += 1
                    continue
                if state[k] > 0:
                    arc = _arc(model, state[k], word)
                    if arc < 0:
                        weight[k] *= model.failure[state[k]]
                        state[k] = model.backoff[state[k]]
                        k += 1
                        continue
                else:
                    arc = np.int64(model.arc_of_word[word])
            if last:
                logs[row[k]] = np.log(weight[k] * model.arc_prob[arc]) if arc >= 0 else -np.inf
                size -= 1
                place[k], state[k], weight[k], row[k] = place[size], state[size], weight[size], row[size]
            else:
                state[k] = model.arc_target[arc] if arc >= 0 else 0
                weight[k] = 1.0
                place[k] += 1
                k += 1


@njit()
def write_logs(logs, out):
    """Write numbers with five digits after the point, one per line, as bytes of at most `LINE` each; how many."""
    size = 0
    for log in logs:
        if log < 0.0:
            out[size] = 45
            size += 1
        if np.isinf(log):
            out[size], out[size + 1], out[size + 2] = 105, 110, 102
            size += 3
        else:
            number = np.int64(np.rint(abs(log) * 1e5))
            size = write_digits(number // 100_000, 1, out, size)
            out[size] = 46
            size = write_digits(number % 100_000, 5, out, size + 1)
        out[size] = 10
        size += 1
    return size


@njit()
def score_epsilon(initial, backoff, failure, arc_start, arc_word, arc_prob, arc_target, tokens):
    """The same when failure arcs are free: `held` are the states and their shares, longest history first."""
    logs = np.zeros(tokens.size)
    held, share = np.zeros(MOST, np.int64), np.zeros(MOST)
    fresh, fresh_share = np.zeros(MOST, np.int64), np.zeros(MOST)
    held[0], share[0], size = initial, 1.0, 1
    for i in range(1, tokens.size):
        total = 0.0
        fresh_size = 0
        state, mass, place = held[0], share[0], 1
        while True:
            arc = find_arc(arc_start, arc_word, state, tokens[i])
            if arc >= 0 and mass > 0.0:
                value = mass * arc_prob[arc]
                total += value
                if fresh_size and fresh[fresh_size - 1] == arc_target[arc]:
                    fresh_share[fresh_size - 1] += value
                else:
                    fresh[fresh_size], fresh_share[fresh_size] = arc_target[arc], value
                    fresh_size += 1
            if state == 0:
                break
            mass *= failure[state]
            state = backoff[state]
            # A shorter history that was held as well joins in.
            if place < size and held[place] == state:
                mass += share[place]
                place += 1
        if total > 0.0:
            logs[i] = np.log(total)
            size = fresh_size
            for k in range(size):
                held[k], share[k] = fresh[k], fresh_share[k] / total
        else:
            logs[i] = -np.inf
            held[0], share[0], size = initial if tokens[i] == 0 else 0, 1.0, 1
        if tokens[i] == 0:
            held[0], share[0], size = initial, 1.0, 1
    return logs


@njit()
def sample_walks(initial, backoff, arc_start, arc_word, cumulative, arc_target, exact, count, seed, most):
    """Tokens of `count` sentences, each followed by a 0; `cumulative` sums the probabilities within a state.

    With `exact` failure arcs a word that the state before could have emitted is drawn again. A sentence is cut
    at `most` words.
    """
    np.random.seed(seed)
    tokens = np.empty(1024, np.int32)
    size = 0
    for _ in range(count):
        state = initial
        length = 0
        while True:
            failed = -1
            arc = -1
            tries = 0
            while arc < 0:
                first, last = arc_start[state], arc_start[state + 1]
                draw = np.random.random()
                mass = cumulative[last - 1] if last > first else 0.0
                if draw < mass or (state == 0 and last > first):
                    if state == 0:
                        draw *= mass
                    arc = first + np.searchsorted(cumulative[first:last], draw, side="right")
                    arc = min(arc, last - 1)
                    # Where failing has weight but no word is left for it, the draws would never end.
                    if exact and failed >= 0 and find_arc(arc_start, arc_word, failed, arc_word[arc]) >= 0:
                        tries += 1
                        arc = arc if tries > TRIES else -1
                elif state == 0:
                    break
                else:
                    failed = state
                    state = backoff[state]
            if size == tokens.size:
                tokens = grown(tokens, size + 1)
            length += 1
            if arc < 0 or arc_word[arc] == 0 or length > most:
                tokens[size] = 0
                size += 1
                break
            tokens[size] = arc_word[arc]
            size += 1
            state = arc_target[arc]
    return tokens[:size].copy()


@njit()
def walk_tags(initial, backoff, arc_start, arc_word, arc_target, memory, lag, tokens):
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
            tag[place], sure[place] = memory.arc_tag[arc], memory.arc_sure[arc]
        else:
            tag[place], sure[place] = memory.word_tag[current], memory.word_sure[current]
        state = arc_target[arc] if arc >= 0 else memory.word_state[word]
        if word == 0:
            state = initial
    return tag, sure
