"""Expectations for HMMs of order 3 under an n-gram automaton whose arcs choose tags one by one.

Smith and Eisner 2012, §3, with n_p = 3 and n_q = 1. Tags of successive arcs are independent given the path, so
what comes to a state carries a pair of tags and what follows it brings one: with P(h, s) = D(h, s)/W(h) the last
tag of who is at h, and n, m, D as in variational.py,

    B(g, s, t) = Σ_{a into g} e_a P(h, s) φ_a(t) + Σ_{b(h) = g} f(h) B(h, s, t)         the last two tags at g
    M(g, t, u) = Σ_{a out of g} c_a φ_a(t) m(g(a), u) + f(g) M(b(g), t, u)              the next two tags after g
    Ξ(s, t, u) = Σ_h B(h, s, t) n(h, u)                                                 expected transitions

The tables have T² columns: a pass costs O(arcs · K · T + states · T³), memory 24 · states · T² bytes.
"""

from __future__ import annotations

from latentgram.compiling import njit


@njit()
def carry_pairs(machine, phi_start, phi, last, into, own, up):
    """Add the arcs' part of B to `into` and of M to `own`; `last` = P, `up` = m; (s, t) has column s · T + t."""
    tags = last.shape[1]
    for h in range(machine.backoff.size):
        for a in range(machine.arc_start[h], machine.arc_start[h + 1]):
            g, row = machine.target[a], machine.emit_start[machine.tagged[a]] - phi_start[a]
            for k in range(phi_start[a], phi_start[a + 1]):
                tag = machine.emit_tag[row + k]
                taken, share = machine.flow[a] * phi[k], machine.prob[a] * phi[k]
                for s in range(tags):
                    into[g, s * tags + tag] += taken * last[h, s]
                    own[h, tag * tags + s] += share * up[g, s]


@njit()
def triple_scores(machine, phi_start, last, before, middle, after, scores):
    """Fill `scores` with ∂(Σ Ξ log p)/∂φ_a(x) / e_a: x as third, as second and as first tag of a triple.

    `before[h, x]` = Σ B(h, s, t) log p(x | s, t) / W(h), `middle[g, s · T + x]` = Σ_u m(g, u) log p(u | s, x) and
    `after[g, x]` = Σ M(g, t, u) log p(u | x, t).
    """
    tags = last.shape[1]
    for h in range(machine.backoff.size):
        for a in range(machine.arc_start[h], machine.arc_start[h + 1]):
            g, row = machine.target[a], machine.emit_start[machine.tagged[a]] - phi_start[a]
            for k in range(phi_start[a], phi_start[a + 1]):
                tag = machine.emit_tag[row + k]
                total = before[h, tag] + after[g, tag]
                for s in range(tags):
                    total += last[h, s] * middle[g, s * tags + tag]
                scores[k] = total
