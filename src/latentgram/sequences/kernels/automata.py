"""Products of operators along strings and over tries of strings.

    f(x₁ … x_T) = stopᵀ A_{x_T} ⋯ A_{x_1} start,  in ℝ with exact scaling

The vectors may be negative, so no logarithms inside: after each symbol the vector is divided by its largest
absolute entry and the logarithms of the divisors are added up. O(T n²).

Expected counts, the E-step of EM (Luque et al. 2012, §5.1): node v of a trie is a distinct prefix, made from its
parent by the operator `step[v]`, and ends `stops[v]` sequences. With f(v) the forward vector of a prefix and b(v)
the adjoint of Σ_v stops[v] log p(v),

    f(v) = A_v f(parent),      p(v) = stopᵀ f(v)
    b(v) = stops[v]/p(v) · stop + Σ_children A_cᵀ b(c)
    E[A_v] += A_v ∘ b(v) f(parent)ᵀ,   E[stop] += stops[v]/p(v) · stop ∘ f(v),   E[start] = start ∘ b(root).

Each prefix is visited twice, however many sequences share it: O(V n²). All numbers are non-negative.
"""

import numpy as np

from latentgram.compiling import REORDER_AND_DIVIDE, njit


@njit()
def string_values(start, stop, step, tokens, offset):
    """Sign and log |f| of each string `tokens[offset[i] : offset[i + 1]]`; a symbol below 0 gives f = 0."""
    size = start.size
    sign = np.zeros(offset.size - 1)
    log_size = np.full(offset.size - 1, -np.inf)
    state = np.empty(size)
    moved = np.empty(size)
    for string in range(offset.size - 1):
        for h in range(size):
            state[h] = start[h]
        scale = 0.0
        known = True
        for place in range(offset[string], offset[string + 1]):
            symbol = tokens[place]
            if symbol < 0:
                known = False
                break
            largest = 0.0
            for j in range(size):
                total = 0.0
                for k in range(size):
                    total += step[symbol, j, k] * state[k]
                moved[j] = total
                largest = max(largest, abs(total))
            if largest == 0.0:
                known = False
                break
            for j in range(size):
                state[j] = moved[j] / largest
            scale += np.log(largest)
        if known:
            value = 0.0
            for j in range(size):
                value += stop[j] * state[j]
            sign[string] = np.sign(value)
            if value != 0.0:
                log_size[string] = np.log(abs(value)) + scale
    return sign, log_size


@njit()
def scaled_states(start, step, tokens):
    """[T + 1, n] the state before the first symbol and after each, divided by its largest entry; [T + 1] the logs.

    The logarithms are those of all divisors so far; a state that is zero, or follows a symbol below 0, has -inf.
    """
    size = start.size
    states = np.zeros((tokens.size + 1, size))
    logs = np.full(tokens.size + 1, -np.inf)
    largest = np.max(np.abs(start))
    if largest > 0.0:
        states[0] = start / largest
        logs[0] = np.log(largest)
    for place in range(tokens.size):
        symbol = tokens[place]
        if symbol < 0 or logs[place] == -np.inf:
            break
        largest = 0.0
        for j in range(size):
            total = 0.0
            for k in range(size):
                total += step[symbol, j, k] * states[place, k]
            states[place + 1, j] = total
            largest = max(largest, abs(total))
        if largest == 0.0:
            break
        for j in range(size):
            states[place + 1, j] /= largest
        logs[place + 1] = logs[place] + np.log(largest)
    return states, logs


@njit()
def sample_strings(start, stop, step, mass, uniform, longest):
    """Strings drawn symbol by symbol: p(a | state) ∝ massᵀ A_a state, p(end | state) ∝ stopᵀ state, 0 if below.

    `uniform` [strings, longest] are the draws. Returns the symbols laid end to end and where each string ends.
    """
    tokens = np.empty(uniform.shape[0] * longest, np.int32)
    ends = np.empty(uniform.shape[0], np.int64)
    ahead = np.empty((step.shape[0], start.size))
    for symbol in range(step.shape[0]):
        ahead[symbol] = mass @ step[symbol]
    weight = np.empty(step.shape[0] + 1)
    used = 0
    for string in range(uniform.shape[0]):
        state = start.copy()
        for place in range(longest + 1):
            for symbol in range(step.shape[0]):
                weight[symbol] = max(np.sum(ahead[symbol] * state), 0.0)
            weight[-1] = max(np.sum(stop * state), 0.0)
            total = np.sum(weight)
            if place == longest or total <= 0.0:
                break
            draw = uniform[string, place] * total
            chosen = 0
            while chosen < step.shape[0] and draw >= weight[chosen]:
                draw -= weight[chosen]
                chosen += 1
            if chosen == step.shape[0]:
                break
            tokens[used] = chosen
            used += 1
            state = step[chosen] @ state
            state = state / np.max(np.abs(state))
        ends[string] = used
    return tokens[:used].copy(), ends


@njit(fastmath=REORDER_AND_DIVIDE)
def forward_vectors(parent, source, step, start, operators, unit):
    """[V, n] the forward vector of every prefix, of length one if `unit`; nodes stand after their parents."""
    n_states = start.shape[1]
    forward = np.empty((len(parent), n_states))
    for v in range(len(parent)):
        if parent[v] < 0:
            forward[v] = start[source[v]]
        else:
            operator, before = operators[step[v]], forward[parent[v]]
            for q in range(n_states):
                total = 0.0
                for p in range(n_states):
                    total += operator[q, p] * before[p]
                forward[v, q] = total
        if unit:
            size = np.sqrt(np.sum(forward[v] ** 2))
            if size > 0.0:
                forward[v] /= size
    return forward


@njit(fastmath=REORDER_AND_DIVIDE)
def expected_counts(parent, source, step, stops, start, stop, operators):
    """Expected counts of start, stop and operators, and the log-likelihood."""
    n_states = start.shape[1]
    forward = forward_vectors(parent, source, step, start, operators, False)
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
