"""Head automata that forget all but the last modifier, as scores of adjacent siblings: exact lists of trees.

Where every operator leads to a single state, whatever it came from, the state after modifier s is known, s_, and
the weight of a sequence of modifiers is a product over neighbours,

    f(x₁ … x_T) = F(x₁ | first) F(x₂ | x₁) ⋯ F(x_T | x_{T−1}) E(x_T),
    F(m | s) = arc[h,m,σ_s] A_m[m_, s_],    E(s) = halt[d,h,σ_s] stop[d,h,s_].

Ends are shared out to the arcs, G(m | s) = F(m | s) E(m) / E(s), so that log G is a score of adjacent siblings and
the k best trees are those of numeric/projective.py. Lexicalised grammars and those of one hidden state are of
this kind, and so are their products with arc factors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentgram.numeric.projective import k_best_heads, second_order
from latentgram.shag.kernels.inside_outside import LEFT, RIGHT, HeadWeights

Floats = NDArray[np.float64]

_LEAST = 1e-200
"""What stands for a weight of nothing where it is divided by."""


def k_best_trees(weights: HeadWeights, count: int) -> list[tuple[float, NDArray[np.int64]]] | None:
    """The heaviest trees with the logarithms of their weights, but for a constant; None if states stay hidden."""
    operators = weights.operators
    rows = (operators != 0).any(2)
    if (rows.sum(1) > 1).any() or min(operators.min(), weights.arc.min(), weights.start.min()) < 0:
        return None
    row = rows.argmax(1)[weights.step]  # [N, N] the state after each arc
    length = len(weights.root)
    scores = second_order(weights.arc.any(2) & ~np.eye(length, dtype=bool))
    for source in range(2 * length):
        direction, head = (LEFT, RIGHT)[source // length], source % length
        start, stop = weights.start[direction, head], weights.stop[direction, head]
        below = scores.modifier[scores.offset[source] : scores.offset[source + 1]]
        state, sigma = row[head, below], 1 + weights.memory[below]
        ends = np.maximum(weights.halt[direction, head, sigma] * stop[state], _LEAST)
        none = max(float(weights.halt[direction, head, 0] * (stop @ start)), _LEAST)
        for rank, word in enumerate(below):
            step = operators[weights.step[head, word]][row[head, word]]
            first = weights.arc[head, word, 0] * (step @ start) * ends[rank] / none
            later = weights.arc[head, word, sigma[:rank]] * step[state[:rank]] * ends[rank] / ends[:rank]
            place = scores.sibling_begin[head, word]
            scores.sibling[place : place + rank + 1] = [first, *later]
    with np.errstate(divide="ignore"):
        logs = scores._replace(sibling=np.log(scores.sibling), root=np.log(weights.root))
    heads, merits = k_best_heads(logs, count)
    return list(zip(merits.tolist(), heads, strict=True))
