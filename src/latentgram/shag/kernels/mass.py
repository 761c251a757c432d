"""The weight of all trees of a head-automata grammar by the number of their words; equations in `shag/mass.py`."""

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Floats, Ints
from latentgram.compiling import REORDER, njit
from latentgram.shag.kernels.inside_outside import LEFT, RIGHT


class KindWeights(NamedTuple):
    """The weights of words by their kinds, of which there are l; else as `HeadWeights`."""

    start: Floats
    """[2, l, n]"""
    stop: Floats
    operators: Floats
    """[K, n, n]"""
    step: Ints
    """[2, l, l] by direction, head and modifier."""
    arc: Floats
    """[2, l, l, 1+R]"""
    halt: Floats
    """[2, l, 1+R]"""
    memory: Ints
    root: Floats
    unigram: Floats
    """[l] what each word is worth by itself."""


class Between(NamedTuple):
    """What an arc is worth by its length and by what stands between its ends."""

    factor: Floats
    """[2, l, l, B, C] by the bucket of the length and the class of what is between."""
    bucket: Ints
    """[N] of the lengths 0, 1, …"""
    after: Ints
    """[C, l] the class of words of a class and one more."""
    both: Ints
    """[C, C] the class of words of two classes."""


@njit(fastmath=REORDER)
def _add_arcs(weights, between, state, side, length, arcs):
    """Write what arcs of this length have, [2, l, l, C, n] by direction, head and modifier, the modifier in C.

    Σ_{k+i=length−1} v(d, h, k, σ) S(−d, x, i), then the arc and its operator.
    """
    _, _, operators, step, arc, _, _, _, unigram = weights
    n_kinds, n_between, width = state.shape[2:]
    n_states = operators.shape[1]
    rows, pre = np.empty((n_between, width)), np.empty(n_states)
    for d in range(2):
        for head in range(n_kinds):
            for modifier in range(n_kinds):
                for c in range(n_between):
                    for cell in range(width):
                        rows[c, cell] = 0.0
                for k in range(length):
                    for inner in range(n_between):
                        closed = side[length - 1 - k, 1 - d, modifier, inner]
                        if closed != 0.0:
                            for c in range(n_between):
                                joined = between.both[c, inner]
                                for cell in range(width):
                                    rows[joined, cell] += closed * state[k, d, head, c, cell]
                number = step[d, head, modifier]
                for c in range(n_between):
                    for p in range(n_states):
                        total = 0.0
                        for sigma in range(width // n_states):
                            total += arc[d, head, modifier, sigma] * rows[c, sigma * n_states + p]
                        pre[p] = total
                    weight = unigram[modifier] * between.factor[d, head, modifier, between.bucket[length], c]
                    for q in range(n_states):
                        total = 0.0
                        for p in range(n_states):
                            total += operators[number, q, p] * pre[p]
                        arcs[d, head, modifier, between.after[c, modifier], q] += weight * total


@njit(fastmath=REORDER)
def _add_state(memory, both, arcs, side, count, state):
    """Write v(d, h, count, σ): Σ over arcs of a length, and what the modifier has on its other side."""
    n_kinds, n_between, n_states = arcs.shape[3:]
    for length in range(1, count + 1):
        for d in range(2):
            for head in range(n_kinds):
                for modifier in range(n_kinds):
                    first = (1 + memory[modifier]) * n_states
                    for outer in range(n_between):
                        closed = side[count - length, d, modifier, outer]
                        if closed != 0.0:
                            for c in range(n_between):
                                joined = both[c, outer]
                                for q in range(n_states):
                                    state[count, d, head, joined, first + q] += (
                                        closed * arcs[length, d, head, modifier, c, q]
                                    )


@njit()
def mass_by_words(weights, between, longest):
    """[longest] the weight of all trees of 1, 2, … words."""
    start, stop, _, _, arc, halt, memory, root, unigram = weights
    n_kinds, n_states, n_sigma, n_between = len(root), start.shape[2], arc.shape[3], len(between.both)
    state = np.zeros((longest, 2, n_kinds, n_between, n_sigma * n_states))
    side = np.zeros((longest, 2, n_kinds, n_between))
    arcs = np.zeros((longest, 2, n_kinds, n_kinds, n_between, n_states))
    for d in range(2):
        for head in range(n_kinds):
            for q in range(n_states):
                state[0, d, head, 0, q] = start[d, head, q]
    mass = np.zeros(longest)
    closed = np.zeros((longest, 2, n_kinds))
    for count in range(longest):
        if count > 0:
            _add_arcs(weights, between, state, side, count, arcs[count])
            _add_state(memory, between.both, arcs, side, count, state)
        for d in range(2):
            for head in range(n_kinds):
                for c in range(n_between):
                    total = 0.0
                    for sigma in range(n_sigma):
                        for q in range(n_states):
                            weight = halt[d, head, sigma] * stop[d, head, q]
                            total += weight * state[count, d, head, c, sigma * n_states + q]
                    side[count, d, head, c] = total
                    closed[count, d, head] += total
        for head in range(n_kinds):
            for left in range(count + 1):
                both = closed[left, LEFT, head] * closed[count - left, RIGHT, head]
                mass[count] += root[head] * unigram[head] * both
    return mass
