"""Single trees of head-automata grammars: the scores that lists of the best are made by, and draws.

Where every operator leads to a single state, whatever it came from, the state after modifier s is known, s_, and
the weight of a sequence of modifiers is a product over neighbours,

    f(x₁ … x_T) = F(x₁ | first) F(x₂ | x₁) ⋯ F(x_T | x_{T−1}) E(x_T),
    F(m | s) = arc[h,m,σ_s] A_m[m_, s_],    E(s) = halt[d,h,σ_s] stop[d,h,s_].

Ends are shared out to the arcs, G(m | s) = F(m | s) E(m) / E(s), so that log G (`score_siblings`) is a score of
adjacent siblings and the k best trees are those of numeric/projective.py. Lexicalised grammars and those that
count are of this kind, and so are their products with arc factors. O(N³) for a sentence.

`draw_tree` walks down the inside charts. It carries the functional that will be applied to the state vector of the
head it is at, so hidden states are summed out and trees are drawn exactly; O(N²n) per tree. Where errors of
estimation make a share negative, it counts as nothing. It cannot be the walk of numeric/sampling.py: an item has a
vector over hidden states in place of a value, and the shares depend on what was drawn before.
"""

import numpy as np
from numba import njit

from latentgram.numeric.sampling import draw_place
from latentgram.shag.kernels.inside_outside import LEFT, RIGHT

ROOT = -1
LEAST = 1e-200
"""What stands for a weight of nothing where it is divided by."""


@njit(cache=True)
def score_siblings(weights, after, trees):
    """Fill the siblings of `TreeScores` with log G; `after` [N, N] is the state behind each arc."""
    n_words, offset, modifier, scores = len(weights.root), trees.offset, trees.modifier, trees.sibling
    for source in range(2 * n_words):
        d, head, begin = source // n_words, source % n_words, offset[source]
        start, stop, halt = weights.start[d, head], weights.stop[d, head], weights.halt[d, head]
        none = max(halt[0] * np.sum(stop * start), LEAST)
        for a in range(begin, offset[source + 1]):
            word = modifier[a]
            place = trees.sibling_begin[head, word]
            step = weights.operators[weights.step[head, word], after[head, word]]
            end = max(halt[1 + weights.memory[word]] * stop[after[head, word]], LEAST)
            scores[place] = weights.arc[head, word, 0] * np.sum(step * start) * end / none
            for b in range(begin, a):
                sigma, state = 1 + weights.memory[modifier[b]], after[head, modifier[b]]
                before = max(halt[sigma] * stop[state], LEAST)
                scores[place + 1 + b - begin] = weights.arc[head, word, sigma] * step[state] * end / before
    scores[:] = np.log(scores)


@njit(cache=True)
def draw_tree(weights, charts, uniforms):
    """The heads of a tree drawn from the posterior, given inside charts and 2N uniform numbers."""
    start, stop, operators, step, arc, halt, memory, root = weights
    triangle, trapezoid, closed = charts
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
