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

O(arcs · K · T) a sweep. Under exact failure arcs what the arc below has is taken back (`Machine`'s uses).
"""

import numpy as np

from latentgram.compiling import REORDER, njit

SMALLEST = 1e-300


@njit(fastmath=REORDER)
def _normalisers(machine, a, emit_prob, arriving, ahead, total):
    """Fill total[s] = Z_a(s); `arriving[t, s]` = p(t | s), `ahead[g, t]` = e^ρ."""
    total[:] = 0.0
    word = machine.tagged[a]
    g = machine.target[a]
    for entry in range(machine.emit_start[word], machine.emit_start[word + 1]):
        tag = machine.emit_tag[entry]
        weight = emit_prob[entry] * ahead[g, tag]
        for s in range(total.size):
            total[s] += weight * arriving[tag, s]
    for s in range(total.size):
        total[s] = max(total[s], SMALLEST)


@njit()
def values(machine, emit_prob, arriving, ahead, carried, rho):
    """Add Σ_a c_a log Z_a(s) to rho[h, s] where the flow D(h, s) = `carried[h, s]` is positive."""
    total = np.empty(arriving.shape[0])
    for use in range(machine.use_arc.size):
        h, share = machine.use_state[use], machine.use_share[use]
        _normalisers(machine, machine.use_arc[use], emit_prob, arriving, ahead, total)
        for s in range(total.size):
            if carried[h, s] > 0.0:
                rho[h, s] += share * np.log(total[s])


@njit()
def flows(machine, emit_prob, arriving, ahead, carried, into, pairs, emit_count):
    """Move the flow `carried` (D, failures included) one arc on, and count; return Σ flow · log Z.

    `pairs[t, s]` gathers expected transitions from s to t.
    """
    total = np.empty(arriving.shape[0])
    logs = 0.0
    for use in range(machine.use_arc.size):
        h, a, share = machine.use_state[use], machine.use_arc[use], machine.use_share[use]
        _normalisers(machine, a, emit_prob, arriving, ahead, total)
        for s in range(total.size):
            flow = share * carried[h, s]
            if flow != 0.0:
                logs += flow * np.log(total[s])
            total[s] = flow / total[s]
        word, g = machine.tagged[a], machine.target[a]
        for entry in range(machine.emit_start[word], machine.emit_start[word + 1]):
            tag = machine.emit_tag[entry]
            factor = emit_prob[entry] * ahead[g, tag]
            reached = 0.0
            for s in range(total.size):
                moved = total[s] * arriving[tag, s] * factor
                pairs[tag, s] += moved
                reached += moved
            into[g, tag] += reached
            emit_count[entry] += reached
    return logs


@njit()
def send_flow(machine, choice_start, phi, carried, into):
    """Move the flow D = `carried` one arc on under a stored φ; failures are for the caller (`spread_down`)."""
    for use in range(machine.use_arc.size):
        h, a, share = machine.use_state[use], machine.use_arc[use], machine.use_share[use]
        row = machine.emit_start[machine.tagged[a]]
        size = machine.emit_start[machine.tagged[a] + 1] - row
        g = machine.target[a]
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
        h, a, share = machine.use_state[use], machine.use_arc[use], machine.use_share[use]
        row = machine.emit_start[machine.tagged[a]]
        size = machine.emit_start[machine.tagged[a] + 1] - row
        g = machine.target[a]
        for s in range(value.shape[1]):
            first = choice_start[a] + s * size
            total = 0.0
            for k in range(size):
                total += phi[first + k] * (earned[first + k] + ahead[g, machine.emit_tag[row + k]])
            value[h, s] += share * total
