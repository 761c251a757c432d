"""Expected counts of operator automata over a trie of sequences: the E-step of EM (000 §5.1).

Node v is a distinct prefix, made from its parent by the operator `step[v]`, and ends `stops[v]` sequences. With
f(v) the forward vector of a prefix and b(v) the adjoint of Σ_v stops[v] log p(v),

    f(v) = A_v f(parent),      p(v) = stopᵀ f(v)
    b(v) = stops[v]/p(v) · stop + Σ_children A_cᵀ b(c)
    E[A_v] += A_v ∘ b(v) f(parent)ᵀ,   E[stop] += stops[v]/p(v) · stop ∘ f(v),   E[start] = start ∘ b(root).

Each prefix is visited twice, however many sequences share it: O(V n²). All numbers are non-negative.
"""

import numpy as np
from numba import njit

from latentgram.numeric.compiling import REORDER_AND_DIVIDE


@njit(cache=True, nogil=True, fastmath=REORDER_AND_DIVIDE)
def forward_vectors(parent, source, step, start, operators):
    """[V, n] the forward vector of every prefix; nodes stand after their parents."""
    n_states = start.shape[1]
    forward = np.empty((len(parent), n_states))
    for v in range(len(parent)):
        if parent[v] < 0:
            forward[v] = start[source[v]]
            continue
        operator, before = operators[step[v]], forward[parent[v]]
        for q in range(n_states):
            total = 0.0
            for p in range(n_states):
                total += operator[q, p] * before[p]
            forward[v, q] = total
    return forward


@njit(cache=True, nogil=True, fastmath=REORDER_AND_DIVIDE)
def expected_counts(parent, source, step, stops, start, stop, operators):
    """Expected counts of start, stop and operators, and the log-likelihood."""
    n_states = start.shape[1]
    forward = forward_vectors(parent, source, step, start, operators)
    backward = np.zeros_like(forward)
    to_start, to_stop, to_operators = np.zeros_like(start), np.zeros_like(stop), np.zeros_like(operators)
    log_likelihood = 0.0
    for v in range(len(parent) - 1, -1, -1):
        s = source[v]
        if stops[v] > 0.0:
            probability = 0.0
            for q in range(n_states):
                probability += stop[s, q] * forward[v, q]
            log_likelihood += stops[v] * np.log(probability)
            weight = stops[v] / probability
            for q in range(n_states):
                backward[v, q] += weight * stop[s, q]
                to_stop[s, q] += weight * stop[s, q] * forward[v, q]
        if parent[v] < 0:
            for q in range(n_states):
                to_start[s, q] += start[s, q] * backward[v, q]
            continue
        operator, expected = operators[step[v]], to_operators[step[v]]
        before, to_before = forward[parent[v]], backward[parent[v]]
        for q in range(n_states):
            weight = backward[v, q]
            for p in range(n_states):
                used = weight * operator[q, p]
                to_before[p] += used
                expected[q, p] += used * before[p]
    return to_start, to_stop, to_operators, log_likelihood
