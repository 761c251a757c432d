"""Flows and values of a variational distribution with memory whose choices are stored (n_q = 2).

Arc a chooses tag t of its word given the tag s chosen before it with probability φ_a(t | s): entry
`choice_start[a] + s · K + k` of φ, k numbering the K tags that the word may have. With r_a(s, t) what the choice
earns, log p(t | s) + log p(w | t) − log φ_a(t | s), the expected earnings of a sentence are Σ D(h, s) c_a φ r, and

    D(g, t) = Σ_{a into g, s} D(h, s) c_a φ_a(t | s) + failures            the flow that brings t, forwards
    V(h, s) = Σ_{a out of h, t} c_a φ_a(t | s) (r_a(s, t) + V(g, t)) + f(h) V(b(h), s)      what follows, backwards

These are the two halves of a sum in the expectation semiring, V being the adjoint of D: one sweep of each gives
the expectation and all its derivatives, for which the semiring alone would take a sum a parameter. Under exact
failure arcs what the arc below has is taken back, as in `variational`. On cycles both are fixed points. A sentence
ends at the boundary: nothing follows there. O(arcs · K · T) a sweep.
"""

from numba import njit


@njit(cache=True)
def _send(machine, a, share, h, emit_start, emit_tag, choice_start, phi, carried, into):
    """Send `share` of the flow through state h along arc a."""
    row = emit_start[machine.tagged[a]]
    size = emit_start[machine.tagged[a] + 1] - row
    g = machine.target[a]
    for s in range(carried.shape[1]):
        flow = share * carried[h, s]
        if flow != 0.0:
            first = choice_start[a] + s * size
            for k in range(size):
                into[g, emit_tag[row + k]] += flow * phi[first + k]


@njit(cache=True)
def send_flow(machine, emit_start, emit_tag, choice_start, phi, carried, into):
    """Move the flow D = `carried` one arc on; failures are for the caller (`spread_down`)."""
    for h in range(machine.backoff.size):
        for a in range(machine.arc_start[h], machine.arc_start[h + 1]):
            _send(machine, a, machine.prob[a], h, emit_start, emit_tag, choice_start, phi, carried, into)
            below = machine.lower[a]
            if below >= 0:
                lost = -machine.failure[h] * machine.prob[below]
                _send(machine, below, lost, h, emit_start, emit_tag, choice_start, phi, carried, into)


@njit(cache=True)
def _gain(machine, a, share, h, emit_start, emit_tag, choice_start, phi, earned, ahead, value):
    """Add to value[h, s] what arc a brings, `share` of it."""
    row = emit_start[machine.tagged[a]]
    size = emit_start[machine.tagged[a] + 1] - row
    g = machine.target[a]
    for s in range(value.shape[1]):
        first = choice_start[a] + s * size
        total = 0.0
        for k in range(size):
            total += phi[first + k] * (earned[first + k] + ahead[g, emit_tag[row + k]])
        value[h, s] += share * total


@njit(cache=True)
def gather_values(machine, emit_start, emit_tag, choice_start, phi, earned, ahead, value):
    """Add what the arcs of each state bring to `value`, failures apart; `ahead[g, t]` is what follows."""
    for h in range(machine.backoff.size):
        for a in range(machine.arc_start[h], machine.arc_start[h + 1]):
            _gain(machine, a, machine.prob[a], h, emit_start, emit_tag, choice_start, phi, earned, ahead, value)
            below = machine.lower[a]
            if below >= 0:
                lost = -machine.failure[h] * machine.prob[below]
                _gain(machine, below, lost, h, emit_start, emit_tag, choice_start, phi, earned, ahead, value)


@njit(cache=True)
def choice_flows(machine, carried, flows):
    """Fill flows[a, s] with how often a sentence comes to arc a with tag s."""
    for h in range(machine.backoff.size):
        for a in range(machine.arc_start[h], machine.arc_start[h + 1]):
            below = machine.lower[a]
            for s in range(carried.shape[1]):
                flows[a, s] += machine.prob[a] * carried[h, s]
                if below >= 0:
                    flows[below, s] -= machine.failure[h] * machine.prob[below] * carried[h, s]
