"""Expectations under an n-gram automaton and a variational distribution over the tags of its arcs.

Smith and Eisner 2012, §3.

Every arc a, from state h(a) to g(a), is taken e_a times per sentence and chooses the tag of one word (its own, or
with lag 1 the last word of h), from φ_a: the entries `phi_start[a] : phi_start[a + 1]` of φ, in the order of the
word's emissions. Tags of successive arcs are independent given the path (n_q = 1), so

    n(h, t) = Σ_{a out of h} c_a φ_a(t)                    what h itself emits
    m(h, t) = n(h, t) + f(h) m(b(h), t)                    … and its failure arc, short histories first
    D(g, t) = Σ_{a into g} e_a φ_a(t) + Σ_{b(h) = g} f(h) D(h, t)              long histories first
    Ξ = Dᵀ n                                               expected transitions per sentence

With exact failure arcs, the arc below a = (h, w), that is (b(h), w), is shut for who comes from h; its share is
taken back: n(h, t) loses f(h) c_{lower(a)} φ_{lower(a)}(t) for every arc a of h. One pass costs
O(arcs · K + states · T), with K tags per word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentgram.compiling import REORDER, njit


class Machine(NamedTuple):
    """An automaton as arrays; see `latentgram.sequences.ngram.BackoffNGram` for their meaning.

    A *use* is an arc with a state that takes it, and its share: c_a for its own state and, under exact failure
    arcs, −f(h) c_a for every state h above that has an arc for the same word.
    """

    arc_start: np.ndarray
    target: np.ndarray
    prob: np.ndarray
    flow: np.ndarray
    backoff: np.ndarray
    failure: np.ndarray
    tagged: np.ndarray
    """The word whose tag each arc chooses."""
    emit_start: np.ndarray
    emit_tag: np.ndarray
    """The tags that word w may have are `emit_tag[emit_start[w] : emit_start[w + 1]]`."""
    use_start: np.ndarray
    """The uses of state h are `use_start[h] : use_start[h + 1]`."""
    use_state: np.ndarray
    use_arc: np.ndarray
    use_share: np.ndarray
    rise_start: np.ndarray
    rise_source: np.ndarray
    rise_target: np.ndarray
    rise_share: np.ndarray
    """Arcs that choose no tag (delay.py), from states that no longer history backs off to."""


@njit()
def _add_row(table, to, weight, source):
    """Add a row of a table to another one, times a weight."""
    if weight > 0.0:
        for t in range(table.shape[1]):
            table[to, t] += weight * table[source, t]


@njit()
def spread_down(machine, down):
    """D(b(h)) += f(h) D(h), long histories first; and along the arcs that choose no tag."""
    for h in range(machine.backoff.size - 1, 0, -1):
        _add_row(down, machine.backoff[h], machine.failure[h], h)
    for k in range(machine.rise_source.size):
        _add_row(down, machine.rise_target[k], machine.rise_share[k], machine.rise_source[k])


@njit()
def gather_up(machine, up):
    """m(h) += f(h) m(b(h)), short histories first; and along the arcs that choose no tag."""
    for h in range(1, machine.backoff.size):
        _add_row(up, h, machine.failure[h], machine.backoff[h])
    for k in range(machine.rise_source.size):
        _add_row(up, machine.rise_source[k], machine.rise_share[k], machine.rise_target[k])


@njit()
def accumulate(machine, phi_start, phi, own, into, emit_count):
    """Add n to `own`, the arcs' part of D to `into`, and expected emissions to `emit_count`, for a given φ."""
    for use in range(machine.use_arc.size):
        h, a, share = machine.use_state[use], machine.use_arc[use], machine.use_share[use]
        row = machine.emit_start[machine.tagged[a]] - phi_start[a]
        for k in range(phi_start[a], phi_start[a + 1]):
            own[h, machine.emit_tag[row + k]] += share * phi[k]
    for a in range(machine.target.size):
        g, row = machine.target[a], machine.emit_start[machine.tagged[a]] - phi_start[a]
        for k in range(phi_start[a], phi_start[a + 1]):
            taken = machine.flow[a] * phi[k]
            into[g, machine.emit_tag[row + k]] += taken
            emit_count[row + k] += taken


@njit()
def arc_scores(machine, phi_start, before, after, scores):
    """Fill `scores` with what the tags around an arc say of its tag: ∂(Σ Ξ log p)/∂φ_a(t) / e_a.

    `before[h, t]` = Σ_s D(h, s) log p(t | s) and `after[g, t]` = Σ_s m(g, s) log p(s | t).
    """
    for use in range(machine.use_arc.size):
        h, a, share = machine.use_state[use], machine.use_arc[use], machine.use_share[use]
        row = machine.emit_start[machine.tagged[a]] - phi_start[a]
        for k in range(phi_start[a], phi_start[a + 1]):
            scores[k] += share * before[h, machine.emit_tag[row + k]]
    for a in range(machine.target.size):
        row = machine.emit_start[machine.tagged[a]] - phi_start[a]
        for k in range(phi_start[a], phi_start[a + 1]):
            inner = scores[k] / machine.flow[a] if machine.flow[a] > 0.0 else 0.0
            scores[k] = inner + after[machine.target[a], machine.emit_tag[row + k]]


@njit()
def best_response(machine, phi_start, emit_prob, scores, phi):
    """φ_a(t) ∝ p(w | t) exp(score), the optimum of each block when the others stand still (§3.5)."""
    for a in range(machine.target.size):
        row = machine.emit_start[machine.tagged[a]]
        first, last = phi_start[a], phi_start[a + 1]
        top = -np.inf
        for k in range(first, last):
            if emit_prob[row + k - first] > 0.0:
                top = max(top, scores[k])
        total = 0.0
        for k in range(first, last):
            phi[k] = emit_prob[row + k - first] * np.exp(scores[k] - top) if top > -np.inf else 1.0
            total += phi[k]
        for k in range(first, last):
            phi[k] /= total


@njit(fastmath=REORDER)
def _open_arc(emission, before, after, prob, flow, weight, emitted, received, counted):
    """`fused_update` of an arc whose word may have every tag: no look-ups, so the loops vectorise."""
    size = emission.size
    total = 0.0
    for t in range(size):
        weight[t] = emission[t] * before[t] * after[t]
        total += weight[t]
    inverse = 1.0 / total if total > 0.0 else 0.0
    outward, onward = prob * inverse, flow * inverse
    if not total > 0.0:
        weight[:size] = 1.0
        outward, onward = prob / size, flow / size
    for t in range(size):
        emitted[t] += weight[t] * outward
    for t in range(size):
        received[t] += weight[t] * onward
    for t in range(size):
        counted[t] += weight[t] * onward
    return total


@njit(fastmath=REORDER)
def fused_update(machine, emit_prob, before, after, own, into, emit_count, normaliser):
    """The same best response and its `accumulate` in one pass, φ never stored; for arcs that shut no other.

    `before` = exp S(h, t) and `after` = exp U(g, t), each scaled by a constant a state, so
    φ_a(t) = p(w | t) before[h, t] after[g, t] / normaliser[a].
    """
    emit_start, emit_tag = machine.emit_start, machine.emit_tag
    weight = np.empty(before.shape[1])
    for h in range(machine.backoff.size):
        source, emitted = before[h], own[h]
        for a in range(machine.arc_start[h], machine.arc_start[h + 1]):
            word = machine.tagged[a]
            row = emit_start[word]
            size = emit_start[word + 1] - row
            g = machine.target[a]
            flow = machine.flow[a]
            if size == 1:
                tag = emit_tag[row]
                normaliser[a] = emit_prob[row] * source[tag] * after[g, tag]
                emitted[tag] += machine.prob[a]
                into[g, tag] += flow
                emit_count[row] += flow
                continue
            target, received = after[g], into[g]
            total = 0.0
            if size == before.shape[1] - 1:
                normaliser[a] = _open_arc(
                    emit_prob[row : row + size], source[1:], target[1:], machine.prob[a], flow, weight,
                    emitted[1:], received[1:], emit_count[row : row + size],
                )  # fmt: skip
                continue
            for k in range(size):
                tag = emit_tag[row + k]
                weight[k] = emit_prob[row + k] * source[tag] * target[tag]
                total += weight[k]
            normaliser[a] = total
            if not total > 0.0:
                for k in range(size):
                    weight[k] = 1.0
                total = size
            inverse = 1.0 / total
            outward = machine.prob[a] * inverse
            inverse *= flow
            for k in range(size):
                tag = emit_tag[row + k]
                share = weight[k] * inverse
                emitted[tag] += weight[k] * outward
                received[tag] += share
                emit_count[row + k] += share
