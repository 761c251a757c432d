"""The variational family with memory (n_q = 2): an arc chooses its tag given the tag chosen before it.

The best φ is (002 §3.5; footnotes 18 and 21 hold only where a state determines the rest of the sentence)

    φ_a(t | s) = p(t | s) p(w | t) e^{ρ(g, t)} / Z_a(s),   ρ(h, s) = Σ_a c_a log Z_a(s) + f(h) ρ(b(h), s),

ρ the expected log-weight of what follows, of which only the differences between tags matter. D(g, t) is now the
flow into g that carries tag t. On an automaton with cycles both are fixed points; one sweep each from the last
values is enough in a round of learning. O(arcs · K · T) a sweep. Exact failure arcs as in `variational`.
"""

import numpy as np
from numba import njit

SMALLEST = 1e-300


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def _normalisers(machine, a, emit_start, emit_tag, emit_prob, arriving, ahead, total):
    """Fill total[s] = Z_a(s); `arriving[t, s]` = p(t | s), `ahead[g, t]` = e^ρ."""
    total[:] = 0.0
    word = machine.tagged[a]
    g = machine.target[a]
    for entry in range(emit_start[word], emit_start[word + 1]):
        tag = emit_tag[entry]
        weight = emit_prob[entry] * ahead[g, tag]
        for s in range(total.size):
            total[s] += weight * arriving[tag, s]


@njit(cache=True)
def values(machine, emit_start, emit_tag, emit_prob, arriving, ahead, carried, rho):
    """Add Σ_a c_a log Z_a(s) to rho[h, s] where the flow D(h, s) = `carried[h, s]` is positive."""
    total = np.empty(arriving.shape[0])
    for h in range(machine.backoff.size):
        for a in range(machine.arc_start[h], machine.arc_start[h + 1]):
            _normalisers(machine, a, emit_start, emit_tag, emit_prob, arriving, ahead, total)
            for s in range(total.size):
                if carried[h, s] > 0.0:
                    rho[h, s] += machine.prob[a] * np.log(max(total[s], SMALLEST))
            below = machine.lower[a]
            if below >= 0 and machine.failure[h] > 0.0:
                _normalisers(machine, below, emit_start, emit_tag, emit_prob, arriving, ahead, total)
                lost = machine.failure[h] * machine.prob[below]
                for s in range(total.size):
                    if carried[h, s] > 0.0:
                        rho[h, s] -= lost * np.log(max(total[s], SMALLEST))


@njit(cache=True)
def _send(machine, a, weight, emit_start, emit_tag, emit_prob, arriving, ahead, total, into, pairs, emit_count):
    """Send the flow `weight[s]` through arc a; return Σ_s weight[s] log Z_a(s)."""
    _normalisers(machine, a, emit_start, emit_tag, emit_prob, arriving, ahead, total)
    logs = 0.0
    for s in range(total.size):
        if weight[s] != 0.0:
            safe = max(total[s], SMALLEST)
            logs += weight[s] * np.log(safe)
            weight[s] /= safe
    word = machine.tagged[a]
    g = machine.target[a]
    for entry in range(emit_start[word], emit_start[word + 1]):
        tag = emit_tag[entry]
        factor = emit_prob[entry] * ahead[g, tag]
        reached = 0.0
        for s in range(total.size):
            share = weight[s] * arriving[tag, s] * factor
            pairs[tag, s] += share
            reached += share
        into[g, tag] += reached
        emit_count[entry] += reached
    return logs


@njit(cache=True)
def flows(machine, emit_start, emit_tag, emit_prob, arriving, ahead, carried, into, pairs, emit_count):
    """Move the flow `carried` (D, failures included) one arc on, and count; return Σ flow · log Z.

    `pairs[t, s]` gathers expected transitions from s to t.
    """
    total = np.empty(arriving.shape[0])
    weight = np.empty(arriving.shape[0])
    logs = 0.0
    for h in range(machine.backoff.size):
        for a in range(machine.arc_start[h], machine.arc_start[h + 1]):
            for s in range(weight.size):
                weight[s] = machine.prob[a] * carried[h, s]
            logs += _send(
                machine,
                a,
                weight,
                emit_start,
                emit_tag,
                emit_prob,
                arriving,
                ahead,
                total,
                into,
                pairs,
                emit_count,
            )
            below = machine.lower[a]
            if below >= 0 and machine.failure[h] > 0.0:
                for s in range(weight.size):
                    weight[s] = -machine.failure[h] * machine.prob[below] * carried[h, s]
                logs += _send(
                    machine, below, weight, emit_start, emit_tag, emit_prob, arriving, ahead, total,
                    into, pairs, emit_count,
                )  # fmt: skip
    return logs
