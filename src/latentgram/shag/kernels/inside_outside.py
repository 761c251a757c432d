"""Inside–outside over operator split head-automata grammars (Luque et al. 2012, §4.1), with exact factors.

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

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.compiling import REORDER_AND_DIVIDE, njit

LEFT, RIGHT = 0, 1
LARGE = 1e130
UNIT = np.ones((1, 1, 1))
"""The operators of a grammar without hidden states."""


class HeadWeights(NamedTuple):
    """The weights of all trees of one sentence of N words, as the kernels take them."""

    start: Floats
    """[2, N, n] by direction and head."""
    stop: Floats
    operators: Floats
    """[K, n, n]"""
    step: Ints32
    """[N, N] the operator of each arc head → modifier."""
    arc: Floats
    """[N, N, 1+R] weight of each arc by the state σ before it: 0 is "first", then the R memory classes."""
    halt: Floats
    """[2, N, 1+R] weight of ending a sequence by σ."""
    memory: Ints
    """[N] the class in 0 … R−1 that a modifier leaves behind."""
    root: Floats
    """[N] weight of each word as the root."""

    @classmethod
    def without_states(
        cls,
        arc: Floats,
        root: Floats,
        halt: Floats | None = None,
        memory: Ints | None = None,
    ) -> "HeadWeights":
        """The weights of a grammar that has no hidden states."""
        size = len(root)
        ones = np.ones((2, size, 1))
        return cls(
            ones,
            ones,
            UNIT,
            np.zeros((size, size), np.int32),
            arc,
            np.ones((2, size, 2)) if halt is None else halt,
            np.zeros(size, np.int64) if memory is None else memory,
            root,
        )


class Charts(NamedTuple):
    """What `inside` fills, by direction, head and other end."""

    triangle: Floats
    """[2, N, N, R, n]"""
    trapezoid: Floats
    """[2, N, N, n]"""
    closed: Floats
    """[2, N, N]"""


@njit(inline="always")
def sides(i, j, d):
    """Head, other end and the way from one to the other, of the half-span i … j in a direction."""
    return (i, j, 1) if d == RIGHT else (j, i, -1)


@njit(fastmath=REORDER_AND_DIVIDE)
def _fill(weights, charts, balance):
    """Fill the inside charts; returns 0, or the span length at which numbers grow unsafe, and their size.

    No view of an array is taken inside the loops: the count of its references would cost more than the numbers.
    """
    start, stop, operators, step, arc, halt, memory, _ = weights
    triangle, trapezoid, closed = charts
    _, n_words, _, n_classes, n_states = triangle.shape
    width = n_classes * n_states
    rows_of = triangle.reshape((2, n_words, n_words, width))
    pre, rows = np.empty(n_states), np.empty(width)
    for i in range(n_words):
        for d in range(2):
            total = 0.0
            for q in range(n_states):
                total += stop[d, i, q] * start[d, i, q]
            closed[d, i, i] = total * halt[d, i, 0]
    for length in range(1, n_words):
        largest = 0.0
        for i in range(n_words - length):
            for d in range(2):
                head, mod, towards = sides(i, i + length, d)
                # Eq. 20: the split with an untouched head has σ = first, the others the class of their last word.
                weight = closed[1 - d, mod, head + towards] * arc[head, mod, 0]
                for q in range(n_states):
                    pre[q] = weight * start[d, head, q]
                if length > 1:
                    for cell in range(width):
                        rows[cell] = 0.0
                    for k in range(1, length):
                        end = head + k * towards
                        weight = closed[1 - d, mod, end + towards]
                        for cell in range(width):
                            rows[cell] += weight * rows_of[d, head, end, cell]
                    for c in range(n_classes):
                        weight = arc[head, mod, 1 + c]
                        for q in range(n_states):
                            pre[q] += weight * rows[c * n_states + q]
                number = step[head, mod]
                for q in range(n_states):
                    total = 0.0
                    for p in range(n_states):
                        total += operators[number, q, p] * pre[p]
                    trapezoid[d, head, mod, q] = balance * total
        for i in range(n_words - length):
            for d in range(2):
                head, end, towards = sides(i, i + length, d)
                # Eq. 19
                for cell in range(width):
                    rows_of[d, head, end, cell] = 0.0
                for k in range(1, length + 1):
                    last = head + k * towards
                    weight = closed[d, last, end]
                    c = memory[last]
                    for q in range(n_states):
                        triangle[d, head, end, c, q] += weight * trapezoid[d, head, last, q]
                total = 0.0
                for c in range(n_classes):
                    part = 0.0
                    for q in range(n_states):
                        part += stop[d, head, q] * triangle[d, head, end, c, q]
                    total += part * halt[d, head, 1 + c]
                closed[d, head, end] = total
                largest = max(largest, abs(total))
        if largest > LARGE or 0.0 < largest < 1.0 / LARGE:
            return length, largest
    return 0, 1.0


@njit()
def inside(weights):
    """The inside charts of a sentence, `balance`, and Z · balance^N with its sign."""
    n_words, n_states, n_classes = len(weights.root), weights.start.shape[2], weights.arc.shape[2] - 1
    charts = Charts(
        np.empty((2, n_words, n_words, n_classes, n_states)),
        np.empty((2, n_words, n_words, n_states)),
        np.empty((2, n_words, n_words)),
    )
    balance = 1.0
    for _ in range(n_words):
        length, size = _fill(weights, charts, balance)
        if length == 0:
            break
        balance *= size ** (-1.0 / length)
    total = 0.0
    for r in range(n_words):
        total += weights.root[r] * charts.closed[LEFT, r, 0] * charts.closed[RIGHT, r, n_words - 1]
    return charts, balance, balance * total


@njit()
def log_partition(weights):
    """log |Z| and the sign of Z (0 with −inf when no tree has weight)."""
    _, balance, total = inside(weights)
    if total == 0.0 or not np.isfinite(total):
        return -np.inf, 0.0
    return np.log(abs(total)) - len(weights.root) * np.log(balance), np.sign(total)


@njit(fastmath=REORDER_AND_DIVIDE)
def _pull(weights, charts, balance, total, marginal):
    """The adjoint of `_fill`: writes the marginals of all arcs (head, modifier)."""
    start, stop, operators, step, arc, halt, memory, root = weights
    triangle, trapezoid, closed = charts
    _, n_words, _, n_classes, n_states = triangle.shape
    to_triangle, to_trapezoid, to_closed = np.zeros_like(triangle), np.zeros_like(trapezoid), np.zeros_like(closed)
    width = n_classes * n_states
    rows_of = triangle.reshape((2, n_words, n_words, width))
    to_rows_of = to_triangle.reshape((2, n_words, n_words, width))
    to_pre, rows = np.empty(n_states), np.empty(width)
    for r in range(n_words):
        weight = root[r] * balance / total
        to_closed[LEFT, r, 0] = weight * closed[RIGHT, r, n_words - 1]
        to_closed[RIGHT, r, n_words - 1] = weight * closed[LEFT, r, 0]
    for length in range(n_words - 1, 0, -1):
        for i in range(n_words - length):
            for d in range(2):
                head, end, towards = sides(i, i + length, d)
                weight = to_closed[d, head, end]
                for c in range(n_classes):
                    scale = weight * halt[d, head, 1 + c]
                    for q in range(n_states):
                        to_triangle[d, head, end, c, q] += scale * stop[d, head, q]
                for k in range(1, length + 1):
                    last = head + k * towards
                    weight = closed[d, last, end]
                    c = memory[last]
                    share = 0.0
                    for q in range(n_states):
                        to_trapezoid[d, head, last, q] += weight * to_triangle[d, head, end, c, q]
                        share += to_triangle[d, head, end, c, q] * trapezoid[d, head, last, q]
                    to_closed[d, last, end] += share
        for i in range(n_words - length):
            for d in range(2):
                head, mod, towards = sides(i, i + length, d)
                posterior = 0.0
                for q in range(n_states):
                    posterior += to_trapezoid[d, head, mod, q] * trapezoid[d, head, mod, q]
                marginal[head, mod] = posterior
                for p in range(n_states):
                    to_pre[p] = 0.0
                number = step[head, mod]
                for q in range(n_states):
                    weight = balance * to_trapezoid[d, head, mod, q]
                    for p in range(n_states):
                        to_pre[p] += weight * operators[number, q, p]
                share = 0.0
                for q in range(n_states):
                    share += to_pre[q] * start[d, head, q]
                to_closed[1 - d, mod, head + towards] += share * arc[head, mod, 0]
                for c in range(n_classes):
                    for q in range(n_states):
                        rows[c * n_states + q] = arc[head, mod, 1 + c] * to_pre[q]
                for k in range(1, length):
                    end = head + k * towards
                    weight = closed[1 - d, mod, end + towards]
                    share = 0.0
                    for cell in range(width):
                        to_rows_of[d, head, end, cell] += weight * rows[cell]
                        share += rows[cell] * rows_of[d, head, end, cell]
                    to_closed[1 - d, mod, end + towards] += share


@njit()
def marginals(weights):
    """Posterior of every arc and of every root word, log |Z| and the sign of Z.

    OUT  marginal [N, N] (head, modifier), root marginal [N]: quotients by the signed Z, so each column of the
         former plus the latter sums to 1; all zero when no tree has weight.
    """
    n_words = len(weights.root)
    marginal, root_marginal = np.zeros((n_words, n_words)), np.zeros(n_words)
    charts, balance, total = inside(weights)
    if total == 0.0 or not np.isfinite(total):
        return marginal, root_marginal, -np.inf, 0.0
    for r in range(n_words):
        beside = weights.root[r] * charts.closed[LEFT, r, 0] * charts.closed[RIGHT, r, n_words - 1]
        root_marginal[r] = beside * (balance / total)
    _pull(weights, charts, balance, total, marginal)
    return marginal, root_marginal, np.log(abs(total)) - n_words * np.log(balance), np.sign(total)


@njit()
def tree_weight(weights, heads):
    """log |w(y)| and the sign of one tree, given by its heads (−1 for the root word); it must be projective."""
    n_words = len(heads)
    log_weight, sign = 0.0, 1.0
    for head in range(n_words):
        for d in range(2):
            state = weights.start[d, head].copy()
            memory_state = 0
            word = head + 1 if d == RIGHT else head - 1
            while 0 <= word < n_words:
                if heads[word] == head:
                    operator = weights.operators[weights.step[head, word]]
                    state = operator @ state * weights.arc[head, word, memory_state]
                    size = np.max(np.abs(state))
                    if size == 0.0:
                        return -np.inf, 0.0
                    state /= size
                    log_weight += np.log(size)
                    memory_state = 1 + weights.memory[word]
                word += 1 if d == RIGHT else -1
            value = np.sum(weights.stop[d, head] * state) * weights.halt[d, head, memory_state]
            if heads[head] < 0 and d == RIGHT:
                value *= weights.root[head]
            if value == 0.0:
                return -np.inf, 0.0
            log_weight += np.log(abs(value))
            sign *= np.sign(value)
    return log_weight, sign


@njit()
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
