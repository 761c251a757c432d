"""Inside–outside over operator split head-automata grammars (000 §4.1), with exact deterministic factors.

A projective tree y over words 0 … N−1 has one root word r, and every word h generates its left and its right
modifiers head-outwards by an operator automaton. The weight of a tree is

    w(y) = root[r] ∏_{h,d} f_{h,d}(x₁ … x_T),
    f_{h,d} = halt[d,h,σ_{T+1}] · stop[d,h]ᵀ A_{x_T} ⋯ A_{x_1} start[d,h] · ∏_t arc[h,x_t,σ_t].

A_{x} is `operators[step[h,x]]`. σ is the state of a deterministic machine that runs beside the hidden one
(Eq. 21): σ₁ = 0 ("first") and σ_{t+1} = 1 + memory[x_t], so the product of a hidden-state grammar with a
lexicalised one, an arc-length factor or any external arc scores is exact. Everything may be negative.

With vectors at triangles C and trapezoids I, and c[d,h,e] = Σ_σ halt·(stopᵀ C) the weight of a closed triangle
(Eqs. 18–20; the sum in Eq. 20 runs to j−1; L mirrors R):

    C^R_{i,i} = start[R,i]                                                            (18)
    C^R_{i,j}[1+memory[k]] += I^R_{i,k} c[R,k,j]                    for i < k ≤ j     (19)
    I^R_{i,j} = A Σ_σ arc[i,j,σ] Σ_{i≤k<j} C^R_{i,k}[σ] c[L,j,k+1]                    (20)
    Z = Σ_r root[r] c[L,r,0] c[R,r,N−1].

The sum over split points comes before the operator: O(N²n² + N³Rn) time and O(N²Rn) memory for n hidden
states and R memory classes. Outside is the adjoint of inside, seeded with 1/Z, so an outside vector times its
inside vector is a marginal at once (Eq. 17).

Scaling. Every word has exactly one incoming arc, so multiplying all arcs by `balance` multiplies Z by
balance^N and changes no marginal. `inside` chooses it so that charts stay far from overflow and underflow.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from latentgram.numeric.compiling import REORDER_AND_DIVIDE

LEFT, RIGHT = 0, 1
LARGE = 1e130
UNIT = np.ones((1, 1, 1))
"""The operators of a grammar without hidden states."""


class HeadWeights(NamedTuple):
    """The weights of all trees of one sentence of N words, as the kernels take them."""

    start: NDArray[np.float64]
    """[2, N, n] by direction and head."""
    stop: NDArray[np.float64]
    operators: NDArray[np.float64]
    """[K, n, n]"""
    step: NDArray[np.int32]
    """[N, N] the operator of each arc head → modifier."""
    arc: NDArray[np.float64]
    """[N, N, 1+R] weight of each arc by the state σ before it: 0 is "first", then the R memory classes."""
    halt: NDArray[np.float64]
    """[2, N, 1+R] weight of ending a sequence by σ."""
    memory: NDArray[np.int64]
    """[N] the class in 0 … R−1 that a modifier leaves behind."""
    root: NDArray[np.float64]
    """[N] weight of each word as the root."""


@njit(cache=True, fastmath=REORDER_AND_DIVIDE)
def _fill(start, stop, operators, step, arc, halt, memory, balance, triangle, trapezoid, closed):
    """Fill the inside charts; returns 0, or the span length at which numbers grow unsafe, and their size."""
    n_words = step.shape[0]
    n_states = start.shape[2]
    n_classes = arc.shape[2] - 1
    pre = np.empty(n_states)
    rows = np.empty((n_classes, n_states))
    for i in range(n_words):
        for d in range(2):
            total = 0.0
            for q in range(n_states):
                total += stop[d, i, q] * start[d, i, q]
            closed[d, i, i] = total * halt[d, i, 0]
    for length in range(1, n_words):
        largest = 0.0
        for i in range(n_words - length):
            j = i + length
            for d in range(2):
                head, mod = (i, j) if d == RIGHT else (j, i)
                towards = 1 if d == RIGHT else -1
                # Eq. 20: the split with an untouched head has σ = first, the others the class of their last word.
                opposite = closed[1 - d, mod]
                weight = opposite[head + towards] * arc[head, mod, 0]
                for q in range(n_states):
                    pre[q] = weight * start[d, head, q]
                if length > 1:
                    rows[:] = 0.0
                    for k in range(1, length):
                        end = head + k * towards
                        weight = opposite[end + towards]
                        for c in range(n_classes):
                            for q in range(n_states):
                                rows[c, q] += weight * triangle[d, head, end, c, q]
                    for c in range(n_classes):
                        weight = arc[head, mod, 1 + c]
                        for q in range(n_states):
                            pre[q] += weight * rows[c, q]
                operator = operators[step[head, mod]]
                for q in range(n_states):
                    total = 0.0
                    for p in range(n_states):
                        total += operator[q, p] * pre[p]
                    trapezoid[d, head, mod, q] = balance * total
        for i in range(n_words - length):
            j = i + length
            for d in range(2):
                head, end = (i, j) if d == RIGHT else (j, i)
                towards = 1 if d == RIGHT else -1
                # Eq. 19
                cell = triangle[d, head, end]
                cell[:] = 0.0
                for k in range(1, length + 1):
                    last = head + k * towards
                    weight = closed[d, last, end]
                    row = cell[memory[last]]
                    for q in range(n_states):
                        row[q] += weight * trapezoid[d, head, last, q]
                total = 0.0
                for c in range(n_classes):
                    part = 0.0
                    for q in range(n_states):
                        part += stop[d, head, q] * cell[c, q]
                    total += part * halt[d, head, 1 + c]
                closed[d, head, end] = total
                if abs(total) > largest:
                    largest = abs(total)
        if largest > LARGE or 0.0 < largest < 1.0 / LARGE:
            return length, largest
    return 0, 1.0


@njit(cache=True)
def inside(start, stop, operators, step, arc, halt, memory, root):
    """The inside charts of a sentence.

    IN   the fields of `HeadWeights`.
    OUT  triangle [2, N, N, R, n], trapezoid [2, N, N, n], closed [2, N, N] (direction, head, other end),
         balance, and Z · balance^N with its sign.
    """
    n_words = step.shape[0]
    n_states = start.shape[2]
    triangle = np.empty((2, n_words, n_words, arc.shape[2] - 1, n_states))
    trapezoid = np.empty((2, n_words, n_words, n_states))
    closed = np.empty((2, n_words, n_words))
    balance = 1.0
    for _ in range(n_words):
        length, size = _fill(start, stop, operators, step, arc, halt, memory, balance, triangle, trapezoid, closed)
        if length == 0:
            break
        balance *= size ** (-1.0 / length)
    total = 0.0
    for r in range(n_words):
        total += root[r] * closed[LEFT, r, 0] * closed[RIGHT, r, n_words - 1]
    return triangle, trapezoid, closed, balance, balance * total


@njit(cache=True)
def log_partition(start, stop, operators, step, arc, halt, memory, root):
    """log |Z| and the sign of Z (0 with −inf when no tree has weight)."""
    _, _, _, balance, total = inside(start, stop, operators, step, arc, halt, memory, root)
    if total == 0.0 or not np.isfinite(total):
        return -np.inf, 0.0
    return np.log(abs(total)) - step.shape[0] * np.log(balance), np.sign(total)


@njit(cache=True, fastmath=REORDER_AND_DIVIDE)
def _pull(
    start, stop, operators, step, arc, halt, memory, root, balance, total, triangle, trapezoid, closed, marginal
):
    """The adjoint of `_fill`: writes the marginals of all arcs (head, modifier)."""
    n_words = step.shape[0]
    n_states = start.shape[2]
    n_classes = arc.shape[2] - 1
    to_triangle = np.zeros_like(triangle)
    to_trapezoid = np.zeros_like(trapezoid)
    to_closed = np.zeros_like(closed)
    to_pre = np.empty(n_states)
    rows = np.empty((n_classes, n_states))
    for r in range(n_words):
        weight = root[r] * balance / total
        to_closed[LEFT, r, 0] = weight * closed[RIGHT, r, n_words - 1]
        to_closed[RIGHT, r, n_words - 1] = weight * closed[LEFT, r, 0]
    for length in range(n_words - 1, 0, -1):
        for i in range(n_words - length):
            j = i + length
            for d in range(2):
                head, end = (i, j) if d == RIGHT else (j, i)
                towards = 1 if d == RIGHT else -1
                to_cell = to_triangle[d, head, end]
                weight = to_closed[d, head, end]
                for c in range(n_classes):
                    scale = weight * halt[d, head, 1 + c]
                    for q in range(n_states):
                        to_cell[c, q] += scale * stop[d, head, q]
                for k in range(1, length + 1):
                    last = head + k * towards
                    weight = closed[d, last, end]
                    row = to_cell[memory[last]]
                    total_here = 0.0
                    for q in range(n_states):
                        to_trapezoid[d, head, last, q] += weight * row[q]
                        total_here += row[q] * trapezoid[d, head, last, q]
                    to_closed[d, last, end] += total_here
        for i in range(n_words - length):
            j = i + length
            for d in range(2):
                head, mod = (i, j) if d == RIGHT else (j, i)
                towards = 1 if d == RIGHT else -1
                operator = operators[step[head, mod]]
                posterior = 0.0
                for q in range(n_states):
                    posterior += to_trapezoid[d, head, mod, q] * trapezoid[d, head, mod, q]
                marginal[head, mod] = posterior
                to_pre[:] = 0.0
                for q in range(n_states):
                    weight = balance * to_trapezoid[d, head, mod, q]
                    for p in range(n_states):
                        to_pre[p] += weight * operator[q, p]
                opposite = closed[1 - d, mod]
                to_opposite = to_closed[1 - d, mod]
                total_here = 0.0
                for q in range(n_states):
                    total_here += to_pre[q] * start[d, head, q]
                to_opposite[head + towards] += total_here * arc[head, mod, 0]
                for c in range(n_classes):
                    for q in range(n_states):
                        rows[c, q] = arc[head, mod, 1 + c] * to_pre[q]
                for k in range(1, length):
                    end = head + k * towards
                    weight = opposite[end + towards]
                    total_here = 0.0
                    for c in range(n_classes):
                        for q in range(n_states):
                            to_triangle[d, head, end, c, q] += weight * rows[c, q]
                            total_here += rows[c, q] * triangle[d, head, end, c, q]
                    to_opposite[end + towards] += total_here


@njit(cache=True)
def marginals(start, stop, operators, step, arc, halt, memory, root):
    """Posterior of every arc and of every root word, log |Z| and the sign of Z.

    OUT  marginal [N, N] (head, modifier), root marginal [N]: quotients by the signed Z, so each column of the
         former plus the latter sums to 1; all zero when no tree has weight.
    """
    n_words = step.shape[0]
    marginal = np.zeros((n_words, n_words))
    root_marginal = np.zeros(n_words)
    triangle, trapezoid, closed, balance, total = inside(start, stop, operators, step, arc, halt, memory, root)
    if total == 0.0 or not np.isfinite(total):
        return marginal, root_marginal, -np.inf, 0.0
    for r in range(n_words):
        root_marginal[r] = root[r] * closed[LEFT, r, 0] * closed[RIGHT, r, n_words - 1] * (balance / total)
    _pull(
        start,
        stop,
        operators,
        step,
        arc,
        halt,
        memory,
        root,
        balance,
        total,
        triangle,
        trapezoid,
        closed,
        marginal,
    )
    return marginal, root_marginal, np.log(abs(total)) - n_words * np.log(balance), np.sign(total)


@njit(cache=True)
def tree_weight(start, stop, operators, step, arc, halt, memory, root, heads):
    """log |w(y)| and the sign of one tree, given by its heads (−1 for the root word); it must be projective."""
    n_words = len(heads)
    log_weight, sign = 0.0, 1.0
    for head in range(n_words):
        for d in range(2):
            state = start[d, head].copy()
            memory_state = 0
            word = head + 1 if d == RIGHT else head - 1
            while 0 <= word < n_words:
                if heads[word] == head:
                    state = operators[step[head, word]] @ state * arc[head, word, memory_state]
                    size = np.max(np.abs(state))
                    if size == 0.0:
                        return -np.inf, 0.0
                    state /= size
                    log_weight += np.log(size)
                    memory_state = 1 + memory[word]
                word += 1 if d == RIGHT else -1
            value = np.sum(stop[d, head] * state) * halt[d, head, memory_state]
            if heads[head] < 0 and d == RIGHT:
                value *= root[head]
            if value == 0.0:
                return -np.inf, 0.0
            log_weight += np.log(abs(value))
            sign *= np.sign(value)
    return log_weight, sign


@njit(cache=True)
def gather(symbols, start, stop, pair, pair_weight, root, frequency):
    """The per-word arguments of a grammar over symbols, for a sentence of symbols.

    IN   start, stop [2, l, n]; pair [2, l, l] operator of (direction, head, modifier) and its weight; root,
         frequency [l].
    OUT  start, stop [2, N, n], step [N, N], arc [N, N, 2], root [N]. Arcs are divided by the frequency of their
         modifier: Z is divided by the product of all frequencies, which is returned as a logarithm.
    """
    n_words = len(symbols)
    n_states = start.shape[2]
    start_here = np.empty((2, n_words, n_states))
    stop_here = np.empty((2, n_words, n_states))
    step = np.zeros((n_words, n_words), np.int32)
    arc = np.empty((n_words, n_words, 2))
    root_here = np.empty(n_words)
    log_scale = 0.0
    for i in range(n_words):
        head = symbols[i]
        root_here[i] = root[head] / frequency[head]
        log_scale += np.log(frequency[head])
        for d in range(2):
            start_here[d, i] = start[d, head]
            stop_here[d, i] = stop[d, head]
        for j in range(n_words):
            direction = RIGHT if j > i else LEFT
            step[i, j] = pair[direction, head, symbols[j]]
            arc[i, j] = pair_weight[direction, head, symbols[j]] / frequency[symbols[j]]
    return start_here, stop_here, step, arc, root_here, log_scale
