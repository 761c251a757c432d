"""Where sentences end among tokens: a chain of log-linear decisions, summed over, and the sentences to expect.

    p(a sentence ends behind token t | tokens, its first token f) = σ(Σ_k v[k(tokens, t, f)])

Features are the forms and shapes around t, how long the sentence is, whether brackets or quotes are open in it,
in `wide` models what tokens farther away look like: the last sign, the next one, and the case of words; and, where
`wide` is `GAPS`, whether a blank follows the next token, which tells the dash of a list from that of a word.

*Sums.* With α(f) the probability that a sentence begins with token f, α(0) = 1,

    p(f … t is a sentence) = α(f) · Π_{f ≤ s < t} (1 − p(end behind s | f)) · p(end behind t | f),
    α(t + 1) = Σ_f p(f … t is a sentence).

The shares of the places where the sentence of a token may begin add up to 1. Those below `NEGLIGIBLE` are left
out, and the others share what they had: at most 1 / NEGLIGIBLE are alive, mostly one or two.

*Choice.* Of all ways to cut a paragraph into sentences S the one with the greatest expected F1 of sentences,

    argmax_S 2 Σ_{s ∈ S} p(s) / (E + |S|),    E = Σ_t α(t + 1) the number of sentences to expect.

For λ = half the F1 of the best S it is argmax_S Σ_{s ∈ S} (p(s) − λ), so λ is found by iteration (Dinkelbach
1967). O(tokens).
"""

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Flags, Ints
from latentgram.compiling import njit
from latentgram.numeric.hashing import mixed
from latentgram.ud.kernels.learning import move, score, sigmoid
from latentgram.ud.kernels.segmenting import at

KEYS = 64
"""Room for the features of a decision."""
NEGLIGIBLE = 0.01
FAR = 40
"""So many tokens are searched for a sign, in each direction."""
SMALL, CAPITAL, CAPITALS, MIXED, CASELESS, NUMBER, OTHER = range(7)
"""What tokens look like; a sign has the code of its last character."""
FIRST_SIGN, COLON, SEMICOLON = 33, ord(":"), ord(";")
ITERATIONS = 20
GAPS = 2
"""Of `wide`: features know of blanks behind the next token, too."""


class Tokens(NamedTuple):
    """Tokens: codes of forms, of forms in lower case and of shapes; blanks behind them, case, brackets, looks."""

    form: Ints
    low: Ints
    shape: Ints
    space: Flags
    usual: Ints
    """1 for a token with a capital that is usually written small, 2 for another with a capital, else 0."""
    bracket: Ints
    """1 for one that opens, 2 for one that closes, 3 for a quote, else 0."""
    look: Ints


@njit()
def token_keys(tokens, begin, end, first, t, opened, quoted, wide, keys):
    """Fill the features of the place behind token t of a sentence that began at `first`; how many there are."""
    form, low, shape, space, usual, _, _ = tokens
    here, after, after2 = at(low, t, begin, end), at(low, t + 1, begin, end), at(low, t + 2, begin, end)
    before, before2 = at(low, t - 1, begin, end), at(low, t - 2, begin, end)
    s0, s1, s2 = at(shape, t, begin, end), at(shape, t + 1, begin, end), at(shape, t + 2, begin, end)
    s_1 = at(shape, t - 1, begin, end)
    blank = 1 if space[t] else 0
    length = t - first + 1
    if length > 4:
        length = 4 + min((length - 4) // 4, 8)
    small = usual[t + 1] if t + 1 < end else 3
    next_form = at(form, t + 1, begin, end)
    pair = mixed(mixed(np.uint64(1), here), blank)
    keys[0] = pair
    keys[1] = mixed(pair, s1)
    keys[2] = mixed(pair, after)
    keys[3] = mixed(pair, before)
    keys[4] = mixed(mixed(pair, before), s1)
    keys[5] = mixed(mixed(pair, s1), small)
    keys[6] = mixed(mixed(pair, s1), s2)
    keys[7] = mixed(mixed(pair, length), s1)
    keys[8] = mixed(mixed(mixed(pair, opened), quoted), s1)
    keys[9] = mixed(mixed(pair, next_form), 1)
    keys[10] = mixed(mixed(np.uint64(2), next_form), blank)
    keys[11] = mixed(mixed(np.uint64(3), next_form), s0)
    keys[12] = mixed(mixed(np.uint64(4), after), after2)
    keys[13] = mixed(mixed(mixed(np.uint64(5), s0), s1), blank)
    keys[14] = mixed(mixed(mixed(np.uint64(6), s_1), s0), s1)
    keys[15] = mixed(mixed(mixed(np.uint64(7), s0), s1), s2)
    keys[16] = mixed(mixed(mixed(np.uint64(8), s0), s1), small)
    keys[17] = mixed(mixed(mixed(mixed(np.uint64(9), s0), s1), length), small)
    keys[18] = mixed(np.uint64(10), length)
    keys[19] = mixed(mixed(mixed(np.uint64(11), opened), quoted), s0)
    keys[20] = mixed(mixed(np.uint64(12), before2), before)
    keys[21] = mixed(mixed(mixed(np.uint64(13), at(low, first, begin, end)), length), s1)
    keys[22] = mixed(mixed(mixed(np.uint64(14), before), here), after)
    keys[23] = mixed(mixed(np.uint64(15), at(shape, first, begin, end)), s1)
    keys[24] = mixed(mixed(np.uint64(16), s_1), mixed(pair, s1))
    keys[25] = mixed(mixed(np.uint64(17), blank), small)
    size = _wide_keys(tokens, begin, end, first, t, pair, keys, 26) if wide else 26
    return _gap_keys(tokens, begin, end, t, pair, keys, size) if wide == GAPS else size


@njit()
def _wide_keys(tokens, begin, end, first, t, pair, keys, size):
    """Add features of how tokens farther away look; how many there are."""
    look, low = tokens.look, tokens.low
    here, after = look[t], at(look, t + 1, begin, end)
    code = np.uint64(18)
    for k in range(4):  # looks, in growing windows
        code = mixed(mixed(code, at(look, t - k, begin, end)), at(look, t + 1 + k, begin, end))
        keys[size] = mixed(code, k)
        keys[size + 1] = mixed(code, pair)
        size += 2
    small, capitals, colon, semicolons, same, last, far = 0, 0, 0, 0, 0, 0, 0
    for s in range(t, max(first, t - FAR) - 1, -1):  # the sentence so far, from its end
        small = 1 if look[s] == SMALL else small
        capitals = 1 if look[s] == CAPITALS else capitals
        colon = 1 if look[s] == COLON else colon
        semicolons += 1 if look[s] == SEMICOLON else 0
        same += 1 if s < t and low[s] == low[t] else 0
        if last == 0:
            far += 1
            last = look[s] if look[s] >= FIRST_SIGN else 0
    state = small + 2 * capitals + 4 * colon + 8 * min(semicolons, 2)
    behind = mixed(mixed(np.uint64(19), _rounded(far)), last)
    keys[size] = mixed(mixed(pair, state), after)
    keys[size + 1] = mixed(mixed(np.uint64(20), state), after)
    keys[size + 2] = mixed(mixed(mixed(np.uint64(21), state), here), after)
    keys[size + 3] = mixed(behind, after)
    keys[size + 4] = mixed(mixed(behind, here), after)
    upcoming, far = 0, 0
    for s in range(t + 1, min(end, t + FAR)):  # the text behind it
        far += 1
        if look[s] >= FIRST_SIGN:
            upcoming = look[s]
            break
    ahead = mixed(mixed(np.uint64(22), _rounded(far)), upcoming)
    keys[size + 5] = mixed(ahead, pair)
    keys[size + 6] = mixed(mixed(ahead, here), after)
    keys[size + 7] = mixed(mixed(mixed(np.uint64(23), pair), min(same, 2)), after)
    return size + 8


@njit()
def _gap_keys(tokens, begin, end, t, pair, keys, size):
    """Add features of the blanks behind this token and the next; how many there are."""
    here, after = tokens.look[t], at(tokens.look, t + 1, begin, end)
    gap = (2 if tokens.space[t + 1] else 1) if t + 1 < end else 0
    gaps = mixed(mixed(np.uint64(24), gap), 1 if tokens.space[t] else 0)
    keys[size] = mixed(gaps, after)
    keys[size + 1] = mixed(mixed(gaps, after), here)
    keys[size + 2] = mixed(mixed(pair, gap), after)
    keys[size + 3] = mixed(mixed(gaps, at(tokens.low, t + 1, begin, end)), 1)
    return size + 4


@njit()
def _rounded(distance):
    """A distance, to eights where it is long."""
    return distance if distance < 5 else 5 + min(distance // 8, 4)


@njit()
def _after(opened, quoted, bracket):
    """What is open behind a token: brackets, and whether a quote is."""
    if bracket == 1:
        return min(opened + 1, 2), quoted
    if bracket == 2:
        return max(opened - 1, 0), quoted
    return (opened, 1 - quoted) if bracket == 3 else (opened, quoted)


@njit()
def learn_sentences(order, start, tokens, gold, step, moment, weights, bits):
    """One pass over paragraphs of tokens whose sentences are known; Σ −log p. `gold[t]`: one ends behind t."""
    keys = np.empty(KEYS, np.uint64)
    loss = 0.0
    for p in order:
        first, opened, quoted = start[p], 0, 0
        for t in range(start[p], start[p + 1] - 1):  # with the paragraph a sentence ends in any case
            moment += 1.0
            opened, quoted = _after(opened, quoted, tokens.bracket[t])
            size = token_keys(tokens, start[p], start[p + 1], first, t, opened, quoted, GAPS, keys)
            share = sigmoid(score(keys[:size], weights.value, bits))
            loss -= np.log(max(share if gold[t] else 1.0 - share, 1e-300))
            gradient = (1.0 if gold[t] else 0.0) - share
            if abs(gradient) > 1e-4:
                move(keys[:size], gradient, step, moment, weights, bits)
            if gold[t]:
                first, opened, quoted = t + 1, 0, 0
    return loss


@njit()
def sentence_spans(tokens, wide, weights, bits):
    """The first tokens of likely sentences of a paragraph, those behind them, p of each, and how many to expect.

    They stand in the order of their ends, and every one that begins within the text has one that ends before it.
    """
    length, room = len(tokens.form), int(1.0 / NEGLIGIBLE) + 2
    keys = np.empty(KEYS, np.uint64)
    first, opened, quoted = np.zeros(room, np.int64), np.zeros(room, np.int64), np.zeros(room, np.int64)
    alive, share, expected = 1, np.ones(room), 0.0
    begins, ends, probabilities = [0], [0], [0.0]
    for t in range(length):
        ended, left, kept = 0.0, 0.0, 0
        for h in range(alive):
            open_here, quote_here = _after(opened[h], quoted[h], tokens.bracket[t])
            p = 1.0
            if t + 1 < length:
                size = token_keys(tokens, 0, length, first[h], t, open_here, quote_here, wide, keys)
                p = sigmoid(score(keys[:size], weights, bits))
            if share[h] * p >= 0.5 * NEGLIGIBLE**2:
                begins.append(first[h])
                ends.append(t + 1)
                probabilities.append(share[h] * p)
            ended += share[h] * p
            rest = share[h] * (1.0 - p)
            last = h + 1 == alive and kept == 0 and ended < NEGLIGIBLE  # one has to live on
            if rest >= NEGLIGIBLE or last:
                first[kept], opened[kept], quoted[kept], share[kept] = first[h], open_here, quote_here, rest
                left += rest
                kept += 1
        expected += ended
        if ended >= NEGLIGIBLE:
            first[kept], opened[kept], quoted[kept], share[kept] = t + 1, 0, 0, ended
            left += ended
            kept += 1
        alive = kept
        for h in range(alive):
            share[h] /= left
    return np.array(begins[1:]), np.array(ends[1:]), np.array(probabilities[1:]), expected


@njit()
def best_sentences(begin, end, probability, expected):
    """The numbers of the sentences, in order, that cut a paragraph with the greatest expected F1."""
    length = end[-1]
    half_f1 = 0.0
    chosen = np.empty(0, np.int64)
    for _ in range(ITERATIONS):
        best = np.full(length + 1, -np.inf)
        link = np.full(length + 1, -1)
        best[0] = 0.0
        for s in range(len(begin)):
            value = best[begin[s]] + probability[s] - half_f1
            if value > best[end[s]]:
                best[end[s]], link[end[s]] = value, s
        count, place = 0, length
        while place > 0:
            count += 1
            place = begin[link[place]]
        chosen = np.empty(count, np.int64)
        place, right = length, 0.0
        for number in range(count - 1, -1, -1):
            chosen[number] = link[place]
            right += probability[link[place]]
            place = begin[link[place]]
        before, half_f1 = half_f1, right / (expected + count)
        if half_f1 == before:
            break
    return chosen
