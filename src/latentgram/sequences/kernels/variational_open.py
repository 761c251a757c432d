"""The round of `variational` where any tag may stand anywhere (no dictionary, lag 1): sparse matrix products.

All arcs out of a state h tag the same word, the last one of h, so with A(h, t) = p(w_h | t) e^{S(h, t)} and
B(g, t) = e^{U(g, t)} an arc from h to g has φ_a(t) = A(h, t) B(g, t) / Z_a, and φ need not be computed at all:

    Z_a = A(h) · B(g),   n(h) = A(h) ∘ Σ_{a out of h} c_a / Z_a B(g),   D(g) = B(g) ∘ Σ_{a into g} e_a / Z_a A(h).

One scalar product and two sums of rows an arc: O(arcs · T), in the precision of the tables.
"""

from latentgram.compiling import REORDER, njit


@njit(fastmath=REORDER | {"nnan"})
def shift_rows(table, width):
    """Subtract from each row its greatest entry among the first `width`."""
    for row in range(table.shape[0]):
        top = table[row, 0]
        for t in range(1, width):
            top = max(top, table[row, t])
        for t in range(width):
            table[row, t] -= top


@njit(fastmath=REORDER)
def pass_arcs(machine, before, after, own, into, normaliser):
    """Add Σ c_a / Z_a B(g) to own[h] and Σ e_a / Z_a A(h) to into[g]; fill `normaliser` with Z_a."""
    width = before.shape[1]
    for h in range(machine.backoff.size):
        for a in range(machine.arc_start[h], machine.arc_start[h + 1]):
            g = machine.target[a]
            total = before.dtype.type(0.0)
            for t in range(width):
                total += before[h, t] * after[g, t]
            normaliser[a] = total
            if not total > 0.0:
                continue
            outward = before.dtype.type(machine.prob[a] / total)
            onward = before.dtype.type(machine.flow[a] / total)
            for t in range(width):
                own[h, t] += outward * after[g, t]
            for t in range(width):
                into[g, t] += onward * before[h, t]


@njit(fastmath=REORDER)
def finish_states(before, after, before_log, after_log, visits, last_word, own, into, emit_count):
    """Make n of `own` and D, failures apart, of `into`; count emissions [words, T - 1].

    Returns Σ_h W n · S + Σ_g D · U.
    """
    width = before.shape[1]
    total = 0.0
    for h in range(before.shape[0]):
        first = before.dtype.type(0.0)
        second = before.dtype.type(0.0)
        for t in range(width):
            own[h, t] *= before[h, t]
            first += own[h, t] * before_log[h, t]
            into[h, t] *= after[h, t]
            second += into[h, t] * after_log[h, t]
        weight = visits[h]
        total += weight * first + second
        if last_word[h] > 0:
            for t in range(emit_count.shape[1]):
                emit_count[last_word[h], t] += weight * own[h, t + 1]
    return total
