"""Single trees of head-automata grammars: the best one, and draws from the posterior.

`best_path` is the recurrence of `latentgram.shag.kernels.inside_outside` with max for sum, in logarithms: the best
tree together with its path through the hidden states. For a deterministic grammar a tree has one path, so it is
the best tree. O(N²n² + N³Rn). All weights must be non-negative.

`draw_tree` walks down the inside charts. It carries the functional that will be applied to the state vector of the
head it is at, so hidden states are summed out and trees are drawn exactly; O(N²n) a tree. Where errors of
estimation make a share negative, it counts as nothing. It cannot be the walk of numeric/sampling.py: an item has a
vector over hidden states in place of a value, and the shares depend on what was drawn before.
"""

import numpy as np
from numba import njit

from latentgram.numeric.sampling import draw_place

LEFT, RIGHT = 0, 1
ROOT = -1


@njit(cache=True)
def best_path(start, stop, operators, step, arc, halt, memory, root):
    """The heads (−1 for the root word) of the best path, and the logarithm of its weight."""
    n_words, n_states, n_classes = step.shape[0], start.shape[2], arc.shape[2] - 1
    start, stop, arc, halt, root = np.log(start), np.log(stop), np.log(arc), np.log(halt), np.log(root)
    triangle = np.full((2, n_words, n_words, n_classes, n_states), -np.inf)
    last_of = np.zeros((2, n_words, n_words, n_classes, n_states), np.int32)
    trapezoid = np.full((2, n_words, n_words, n_states), -np.inf)
    state_of = np.zeros((2, n_words, n_words, n_states), np.int32)
    split_of = np.zeros((2, n_words, n_words, n_states, 2), np.int32)
    closed = np.full((2, n_words, n_words), -np.inf)
    close_of = np.zeros((2, n_words, n_words, 2), np.int32)
    pre = np.empty(n_states)
    for i in range(n_words):
        for d in range(2):
            for q in range(n_states):
                value = start[d, i, q] + stop[d, i, q] + halt[d, i, 0]
                closed[d, i, i] = max(closed[d, i, i], value)
    for length in range(1, n_words):
        for i in range(n_words - length):
            j = i + length
            for d in range(2):
                head, mod = (i, j) if d == RIGHT else (j, i)
                towards = 1 if d == RIGHT else -1
                for q in range(n_states):
                    pre[q] = start[d, head, q] + arc[head, mod, 0] + closed[1 - d, mod, head + towards]
                    split_of[d, head, mod, q, 0], split_of[d, head, mod, q, 1] = head, 0
                for k in range(1, length):
                    end = head + k * towards
                    for c in range(n_classes):
                        weight = arc[head, mod, 1 + c] + closed[1 - d, mod, end + towards]
                        for q in range(n_states):
                            value = triangle[d, head, end, c, q] + weight
                            if value > pre[q]:
                                pre[q] = value
                                split_of[d, head, mod, q, 0], split_of[d, head, mod, q, 1] = end, 1 + c
                operator = np.log(operators[step[head, mod]])
                for q in range(n_states):
                    for p in range(n_states):
                        value = operator[q, p] + pre[p]
                        if value > trapezoid[d, head, mod, q]:
                            trapezoid[d, head, mod, q] = value
                            state_of[d, head, mod, q] = p
        for i in range(n_words - length):
            j = i + length
            for d in range(2):
                head, end = (i, j) if d == RIGHT else (j, i)
                towards = 1 if d == RIGHT else -1
                for k in range(1, length + 1):
                    last = head + k * towards
                    c = memory[last]
                    for q in range(n_states):
                        value = trapezoid[d, head, last, q] + closed[d, last, end]
                        if value > triangle[d, head, end, c, q]:
                            triangle[d, head, end, c, q] = value
                            last_of[d, head, end, c, q] = last
                for c in range(n_classes):
                    for q in range(n_states):
                        value = triangle[d, head, end, c, q] + stop[d, head, q] + halt[d, head, 1 + c]
                        if value > closed[d, head, end]:
                            closed[d, head, end] = value
                            close_of[d, head, end, 0], close_of[d, head, end, 1] = c, q
    heads = np.full(n_words, ROOT)
    best, top = -np.inf, 0
    for r in range(n_words):
        value = root[r] + closed[LEFT, r, 0] + closed[RIGHT, r, n_words - 1]
        if value > best:
            best, top = value, r
    if best == -np.inf:
        return heads, best
    stack = [(LEFT, top, 0), (RIGHT, top, n_words - 1)]
    while len(stack) > 0:
        d, head, end = stack.pop()
        towards = 1 if d == RIGHT else -1
        c, q = close_of[d, head, end, 0], close_of[d, head, end, 1]
        while end != head:
            last = last_of[d, head, end, c, q]
            heads[last] = head
            stack.append((d, last, end))
            q = state_of[d, head, last, q]
            end, sigma = split_of[d, head, last, q, 0], split_of[d, head, last, q, 1]
            stack.append((1 - d, last, end + towards))
            c = sigma - 1
    return heads, best


@njit(cache=True)
def draw_tree(start, stop, operators, step, arc, halt, memory, root, triangle, trapezoid, closed, uniforms):
    """The heads of a tree drawn from the posterior, given inside charts and 2N uniform numbers."""
    n_words, n_classes = step.shape[0], arc.shape[2] - 1
    shares = np.empty(1 + n_words * n_classes)
    heads = np.full(n_words, ROOT)
    drawn = 0
    for r in range(n_words):
        shares[r] = root[r] * closed[LEFT, r, 0] * closed[RIGHT, r, n_words - 1]
    # Only quotients matter, and Z itself may be negative.
    if np.sum(shares[:n_words]) < 0.0:
        shares[:n_words] *= -1.0
    top = draw_place(shares[:n_words], uniforms[drawn])
    stack = [(LEFT, top, 0), (RIGHT, top, n_words - 1)]
    ahead = np.empty((n_classes, start.shape[2]))
    while len(stack) > 0:
        d, head, end = stack.pop()
        towards = 1 if d == RIGHT else -1
        sign = 1.0 if closed[d, head, end] >= 0.0 else -1.0
        for c in range(n_classes):
            ahead[c] = sign * halt[d, head, 1 + c] * stop[d, head]
        while end != head:
            length = abs(end - head)
            for k in range(length):
                last = head + (k + 1) * towards
                value = np.sum(ahead[memory[last]] * trapezoid[d, head, last])
                shares[k] = value * closed[d, last, end]
            drawn += 1
            last = head + (draw_place(shares[:length], uniforms[drawn]) + 1) * towards
            heads[last] = head
            stack.append((d, last, end))
            before = operators[step[head, last]].T @ ahead[memory[last]]
            length = abs(last - head)
            shares[0] = np.sum(before * start[d, head]) * arc[head, last, 0] * closed[1 - d, last, head + towards]
            for k in range(1, length):
                split = head + k * towards
                weight = closed[1 - d, last, split + towards]
                for c in range(n_classes):
                    value = np.sum(before * triangle[d, head, split, c]) * arc[head, last, 1 + c] * weight
                    shares[1 + (k - 1) * n_classes + c] = value
            drawn += 1
            place = draw_place(shares[: 1 + (length - 1) * n_classes], uniforms[drawn])
            end = head if place == 0 else head + ((place - 1) // n_classes + 1) * towards
            stack.append((1 - d, last, end + towards))
            ahead[:] = 0.0
            if place > 0:
                ahead[(place - 1) % n_classes] = before * arc[head, last, 1 + (place - 1) % n_classes]
    return heads
