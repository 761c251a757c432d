"""Log-linear probabilities of the events of growing trees, and a pass of stochastic gradient over them.

    p(o | history) = exp s(o) / Σ_o' exp s(o'),    s(o) = Σ over templates t of weights[row of key_t(history), o]

o is the symbol of the next modifier, or the end, the last of the outcomes. Features are known by their keys, in
order; those never learned add nothing. An event costs O(templates · outcomes). The trees of a list share most of
their events, so each different one is computed once.
"""

import numpy as np

from latentgram.arcs.kernels.histories import feature_keys, histories, mixed
from latentgram.compiling import njit

FULL = 0.5
"""A memory of events is emptied when it is filled to this share."""


@njit()
def log_total(rows, weights, scores):
    """Write s(o) into scores [outcomes]; log Σ exp s in double precision. Rows of −1 have no weights."""
    scores[:] = 0.0
    for row in rows:
        if row >= 0:
            scores += weights[row]
    greatest = np.float64(scores.max())
    total = 0.0
    for score in scores:
        total += np.exp(score - greatest)
    return greatest + np.log(total)


@njit()
def gradient_pass(order, rows, outcomes, weights, squares, step):
    """Learn from events in this order; minus the sum of their log-probabilities before they were learned from.

    Each feature has its own step, step / √(sum of the squared lengths of its gradients) (AdaGrad by rows).
    rows [events, templates], outcomes [events], weights [features, outcomes], squares [features].
    """
    scores = np.empty(weights.shape[1], np.float32)
    loss = 0.0
    for event in order:
        total = log_total(rows[event], weights, scores)
        right = outcomes[event]
        loss -= scores[right] - total
        length = np.float32(0.0)
        for outcome in range(len(scores)):
            scores[outcome] = np.exp(scores[outcome] - np.float32(total))
        scores[right] -= np.float32(1.0)
        for error in scores:
            length += error * error
        for row in rows[event]:
            if row >= 0:
                squares[row] += length
                rate = np.float32(step / np.sqrt(squares[row]))
                mine = weights[row]
                for outcome in range(len(scores)):
                    mine[outcome] -= rate * scores[outcome]
    return loss


@njit()
def rows_of(keys, known, rows):
    """Write the places of keys [templates] among the sorted known ones; −1 for others."""
    for t in range(len(keys)):
        place = np.searchsorted(known, keys[t])
        rows[t] = place if place < len(known) and known[place] == keys[t] else -1


@njit()
def all_rows_of(keys, known):
    """The places [events, templates] of the keys of many events."""
    rows = np.empty(keys.shape, np.int32)
    for event in range(len(keys)):
        rows_of(keys[event], known, rows[event])
    return rows


@njit()
def log_probabilities(heads, tags, words, symbols, n_tags, templates, n_atoms, known, weights):
    """log P [trees, 2] of the modifiers and of the ends of each tree of a sentence.

    IN   heads [trees, N]; tags, words, symbols [N]; the rest as above and in kernels/histories.py.
    """
    n_events = 3 * len(tags) + 1
    history, made = np.empty((n_events, n_atoms), np.int64), np.empty(n_events, np.int64)
    keys, rows = np.empty(len(templates), np.uint64), np.empty(len(templates), np.int32)
    scores = np.empty(weights.shape[1], np.float32)
    size = 16
    while size < 16 * n_events:
        size *= 2
    names, values, filled = np.zeros(size, np.uint64), np.empty(size), 0
    logs = np.zeros((len(heads), 2))
    for tree in range(len(heads)):
        for event in range(histories(heads[tree], tags, words, n_tags, history, made)):
            outcome = symbols[made[event] - 1] if made[event] > 0 else weights.shape[1] - 1
            name = mixed(np.uint64(0), outcome + 1)
            for atom in history[event]:
                name = mixed(name, atom)
            name |= np.uint64(1)
            if filled > FULL * size:
                names[:], filled = 0, 0
            place = np.int64((name >> np.uint64(1)) & np.uint64(size - 1))
            while names[place] != 0 and names[place] != name:
                place = (place + 1) & (size - 1)
            if names[place] == 0:
                feature_keys(history[event], templates, keys)
                rows_of(keys, known, rows)
                total = log_total(rows, weights, scores)
                names[place], values[place] = name, scores[outcome] - total
                filled += 1
            logs[tree, 0 if made[event] > 0 else 1] += values[place]
    return logs
