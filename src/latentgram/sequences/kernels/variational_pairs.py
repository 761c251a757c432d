"""The variational family with memory (n_q = 2): an arc chooses its tag given the tag chosen before it.

The best φ is (Smith and Eisner 2012, §3.5; footnotes 18 and 21 hold only where a state determines the rest of the
sentence)

    φ_a(t | s) = p(t | s) p(w | t) e^{ρ(g, t)} / Z_a(s),   ρ(h, s) = Σ_a c_a log Z_a(s) + f(h) ρ(b(h), s),

ρ the expected log-weight of what follows, of which only the differences between tags matter. D(g, t) is now the
flow into g that carries tag t. On an automaton with cycles both are fixed points; one sweep each from the last
values is enough in a round of learning.

Where φ is stored, φ_a(t | s) is entry `choice_start[a] + s · K + k`, k numbering the K tags that the word may
have. With r_a(s, t) what the choice earns, log p(t | s) + log p(w | t) − log φ_a(t | s), the expected earnings of
a sentence are Σ D(h, s) c_a φ r, and

    D(g, t) = Σ_{a into g, s} D(h, s) c_a φ_a(t | s) + failures            the flow that brings t, forwards
    V(h, s) = Σ_{a out of h, t} c_a φ_a(t | s) (r_a(s, t) + V(g, t)) + f(h) V(b(h), s)      what follows, backwards

These are the two halves of a sum in the expectation semiring, V being the adjoint of D: one sweep of each gives
the expectation and all its derivatives, for which the semiring alone would take a sum per parameter. A sentence
ends at the boundary: nothing follows there.

O(arcs · K · S) a sweep, S being the tags that the flow to a state brings: those of the word before, of which a tag
dictionary leaves few. Under exact failure arcs what the arc below has is taken back (`Machine`'s uses).
"""

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Floats, Reals
from latentgram.compiling import REORDER, njit

SMALLEST = 1e-300


@njit()
def _carried_tags(carried, h, active):
    """Fill `active` with the tags that flow to state h brings; how many."""
    size = 0
    for s in range(carried.shape[1]):
        if carried[h, s] > 0.0:
            active[size] = s
            size += 1
    return size


@njit()
def _choices(machine, word, emit_prob, arriving, active, size, joint, logs):
    """Fill joint[j, k] = p(t | s) p(w | t) for the j-th tag t of a word, s = active[k]; logs for its only tag."""
    first, last = machine.emit_start[word], machine.emit_start[word + 1]
    for entry in range(first, last):
        tag, prob = machine.emit_tag[entry], emit_prob[entry]
        for k in range(size):
            joint[entry - first, k] = prob * arriving[tag, active[k]]
    if last - first == 1:
        for k in range(size):
            logs[k] = np.log(max(joint[0, k], SMALLEST))


@njit(fastmath=REORDER)
def _normalisers(machine, a, ahead, size, joint, total):
    """Fill total[k] = Z_a(active[k]); `ahead[g, t]` = e^ρ."""
    first = machine.emit_start[machine.tagged[a]]
    last = machine.emit_start[machine.tagged[a] + 1]
    g = machine.target[a]
    for k in range(size):
        total[k] = 0.0
    for entry in range(first, last):
        weight = ahead[g, machine.emit_tag[entry]]
        for k in range(size):
            total[k] += weight * joint[entry - first, k]
    for k in range(size):
        total[k] = max(total[k], SMALLEST)


@njit()
def _state_values(machine, h, emit_prob, arriving, future, ahead, active, size, room, sums):
    """Fill sums[k] = Σ_a c_a log Z_a(active[k]) over the arcs that state h uses.

    `future` is ρ and `ahead` = e^ρ of the states that the arcs lead to; `arriving[t, s]` = p(t | s). A word of one
    tag needs no logarithm per arc: log Z_a(s) = log p(t | s) p(w | t) + ρ(g, t).
    """
    joint, logs, total = room
    word = -1
    sums[:size] = 0.0
    for use in range(machine.use_start[h], machine.use_start[h + 1]):
        a, share = machine.use_arc[use], machine.use_share[use]
        if machine.tagged[a] != word:
            word = machine.tagged[a]
            _choices(machine, word, emit_prob, arriving, active, size, joint, logs)
        if machine.emit_start[word + 1] - machine.emit_start[word] == 1:
            onward = future[machine.target[a], machine.emit_tag[machine.emit_start[word]]]
            for k in range(size):
                sums[k] += share * (logs[k] + onward)
        else:
            _normalisers(machine, a, ahead, size, joint, total)
            for k in range(size):
                sums[k] += share * np.log(total[k])


@njit()
def values(machine, emit_prob, arriving, future, ahead, carried, rho):
    """Add Σ_a c_a log Z_a(s) to rho[h, s] where the flow D(h, s) = `carried[h, s]` is positive.

    All states look at the ρ before, `future`.
    """
    tags = arriving.shape[0]
    room = np.empty((tags, tags)), np.empty(tags), np.empty(tags)
    active, sums = np.empty(tags, np.int64), np.empty(tags)
    for h in range(machine.backoff.size):
        size = _carried_tags(carried, h, active)
        if size > 0:
            _state_values(machine, h, emit_prob, arriving, future, ahead, active, size, room, sums)
            for k in range(size):
                rho[h, active[k]] += sums[k]


@njit()
def values_in_turn(machine, order, emit_prob, arriving, carried, rho, ahead):
    """One pass over the states, the last first, each looking at what those behind it have just been given.

    Overwrites ρ, the best entry of each row at 0, and `ahead` = e^ρ (footnote 21).
    """
    tags = arriving.shape[0]
    room = np.empty((tags, tags)), np.empty(tags), np.empty(tags)
    active, sums = np.empty(tags, np.int64), np.empty(tags)
    for h in order:
        size = _carried_tags(carried, h, active)
        if size == 0:
            continue
        _state_values(machine, h, emit_prob, arriving, rho, ahead, active, size, room, sums)
        if machine.failure[h] > 0.0:
            for k in range(size):
                sums[k] += machine.failure[h] * rho[machine.backoff[h], active[k]]
        for rise in range(machine.rise_start[h], machine.rise_start[h + 1]):
            for k in range(size):
                sums[k] += machine.rise_share[rise] * rho[machine.rise_target[rise], active[k]]
        top = sums[:size].max()
        for k in range(size):
            rho[h, active[k]] = sums[k] - top
            ahead[h, active[k]] = np.exp(sums[k] - top)


@njit()
def _count_pairs(machine, word, active, size, joint, moved, pairs):
    """Add what the arcs of a state moved to the transitions, and begin anew."""
    if word < 0:
        return
    first, last = machine.emit_start[word], machine.emit_start[word + 1]
    for entry in range(first, last):
        tag = machine.emit_tag[entry]
        for k in range(size):
            # A word of one tag takes all of the flow, whatever its probability.
            weight = joint[entry - first, k] if last - first > 1 else 1.0
            pairs[tag, active[k]] += weight * moved[entry - first, k]
            moved[entry - first, k] = 0.0


@njit()
def _take_flow(h, visits, carried, waiting, taken):
    """Let D(h) be what waits at h, brought to its known visits; where nothing waits, D(h) stays."""
    brought = 0.0
    for t in range(waiting.shape[1]):
        brought += max(waiting[h, t], 0.0)
    for t in range(waiting.shape[1]):
        if brought > 0.0:
            carried[h, t] = max(waiting[h, t], 0.0) * visits[h] / brought
        taken[h, t] = waiting[h, t]
        waiting[h, t] = 0.0


@njit()
def _fail_and_rise(machine, h, active, size, flow, waiting):
    """Let the flow to h wait where it leads without a choice, too."""
    for k in range(size):
        if machine.failure[h] > 0.0:
            waiting[machine.backoff[h], active[k]] += machine.failure[h] * flow[k]
        for rise in range(machine.rise_start[h], machine.rise_start[h + 1]):
            waiting[machine.rise_target[rise], active[k]] += machine.rise_share[rise] * flow[k]


class Flow(NamedTuple):
    """The flow `carried` (D, failures included), what it brings `into` states, and what states found `taken`."""

    carried: Reals
    into: Floats
    taken: Floats


class Counts(NamedTuple):
    """Expected transitions from s to t in `pairs[t, s]`, and expected emissions."""

    pairs: Floats
    emitted: Floats


@njit(fastmath=REORDER)
def flows(machine, states, in_turn, visits, emit_prob, arriving, future, ahead, moving, counts):
    """Move the flow one arc on, and count; return Σ flow · log Z.

    All but `moving` and `counts` is as for `values`. Failures of what arrives are for the caller (`spread_down`).
    Or the states pass on the flow `in_turn`: each takes what was brought `into` it since its last turn, failures
    included, so that what comes to a state behind waits for the next pass; `carried` becomes the flow of the
    states in their turn and `taken` what they found.
    """
    tags = arriving.shape[0]
    carried, into, taken = moving
    pairs, emit_count = counts
    total, logs, joint, moved = np.empty(tags), np.empty(tags), np.empty((tags, tags)), np.zeros((tags, tags))
    active, flow = np.empty(tags, np.int64), np.empty(tags)
    bound = 0.0
    for h in states:
        if in_turn:
            _take_flow(h, visits, carried, into, taken)
        size, word = _carried_tags(carried, h, active), -1
        if size == 0:
            continue
        for k in range(size):
            flow[k] = carried[h, active[k]]
        for use in range(machine.use_start[h], machine.use_start[h + 1]):
            a, share = machine.use_arc[use], machine.use_share[use]
            if machine.tagged[a] != word:
                _count_pairs(machine, word, active, size, joint, moved, pairs)
                word = machine.tagged[a]
                _choices(machine, word, emit_prob, arriving, active, size, joint, logs)
            first, last = machine.emit_start[word], machine.emit_start[word + 1]
            g = machine.target[a]
            if last - first == 1:
                onward, brought = future[g, machine.emit_tag[first]], 0.0
                for k in range(size):
                    bound += share * flow[k] * (logs[k] + onward)
                    moved[0, k] += share * flow[k]
                    brought += flow[k]
                into[g, machine.emit_tag[first]] += share * brought
                emit_count[first] += share * brought
                continue
            _normalisers(machine, a, ahead, size, joint, total)
            for k in range(size):
                bound += share * flow[k] * np.log(total[k])
                total[k] = share * flow[k] / total[k]
            for entry in range(first, last):
                factor, brought = ahead[g, machine.emit_tag[entry]], 0.0
                for k in range(size):
                    moved[entry - first, k] += factor * total[k]
                    brought += total[k] * joint[entry - first, k]
                into[g, machine.emit_tag[entry]] += factor * brought
                emit_count[entry] += factor * brought
        _count_pairs(machine, word, active, size, joint, moved, pairs)
        if in_turn:
            _fail_and_rise(machine, h, active, size, flow, into)
    return bound


@njit()
def last_states_first(start, target, root):
    """The states that the root leads to, each behind those it leads to, but for cycles: a depth-first search.

    State h leads to `target[start[h] : start[h + 1]]`.
    """
    states = start.size - 1
    order, path = np.empty(states, np.int64), np.empty(states, np.int64)
    onward, seen = start[:-1].copy(), np.zeros(states, np.bool_)
    found, depth = 0, 1
    path[0] = root
    seen[root] = True
    while depth > 0:
        h = path[depth - 1]
        if onward[h] == start[h + 1]:
            order[found] = h
            found, depth = found + 1, depth - 1
            continue
        g = target[onward[h]]
        onward[h] += 1
        if not seen[g]:
            seen[g] = True
            path[depth] = g
            depth += 1
    return order[:found]


@njit()
def _used(machine, use):
    """From which state a use of an arc leaves, the arc, where it leads, and the tags of its word."""
    h, a = machine.use_state[use], machine.use_arc[use]
    row = machine.emit_start[machine.tagged[a]]
    return h, a, machine.target[a], row, machine.emit_start[machine.tagged[a] + 1] - row


@njit()
def send_flow(machine, choice_start, phi, carried, into):
    """Move the flow D = `carried` one arc on under a stored φ; failures are for the caller (`spread_down`)."""
    for use in range(machine.use_arc.size):
        h, a, g, row, size = _used(machine, use)
        share = machine.use_share[use]
        for s in range(carried.shape[1]):
            flow = share * carried[h, s]
            if flow != 0.0:
                first = choice_start[a] + s * size
                for k in range(size):
                    into[g, machine.emit_tag[row + k]] += flow * phi[first + k]


@njit()
def gather_values(machine, choice_start, phi, earned, ahead, value):
    """Add what the arcs of each state bring to `value`, failures apart; `ahead[g, t]` is what follows."""
    for use in range(machine.use_arc.size):
        h, a, g, row, size = _used(machine, use)
        share = machine.use_share[use]
        for s in range(value.shape[1]):
            first = choice_start[a] + s * size
            total = 0.0
            for k in range(size):
                total += phi[first + k] * (earned[first + k] + ahead[g, machine.emit_tag[row + k]])
            value[h, s] += share * total
