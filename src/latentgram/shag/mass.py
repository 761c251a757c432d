"""How much probability the trees of a head-automata grammar have together, by the number of their words.

With S(d, h, k) the probability that head h has k words on side d, all below its modifiers,

    M(h, n) = Σ_{i+j=n−1} S(L, h, i) S(R, h, j),     S(d, h, k) = stop[d,h]ᵀ v(d, h, k),
    v(d, h, 0) = start[d,h],     v(d, h, k) = Σ_{0<j≤k} (Σ_x A_x M(x, j)) v(d, h, k−j),

Σ_h root(h) M(h, n) is the probability of all trees over n words. O(N l² m² + N² l m²) for trees of up to N words,
l symbols and m states.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentgram.shag.model import LEFT, RIGHT, SHAG

Floats = NDArray[np.float64]


def tree_mass(grammar: SHAG, longest: int) -> Floats:
    """[longest] the probability of all trees with 1, 2, … words.

    >>> import latentgram as lg
    >>> mass = tree_mass(lg.fit(lg.SHAG, lg.demo_dependencies(50, seed=0), by=lg.Counting()), 60)
    >>> bool(0.9 < mass.sum() <= 1 + 1e-9)
    True
    """
    steps = grammar.operators[grammar.pair] * grammar.pair_weight[..., None, None]
    heads = len(grammar.root)
    mass = np.zeros((longest + 1, heads))
    state = np.zeros((longest, 2, heads, grammar.states))
    side = np.zeros((longest, 2, heads))
    moves = np.zeros((longest, 2, heads, grammar.states, grammar.states))
    state[0], side[0] = grammar.start, (grammar.start * grammar.stop).sum(2)
    for words in range(1, longest + 1):
        for left in range(words):
            mass[words] += side[left, LEFT] * side[words - 1 - left, RIGHT]
        if words < longest:
            moves[words] = np.einsum("dhxab,x->dhab", steps, mass[words])
            state[words] = np.einsum("jdhab,jdhb->dha", moves[1 : words + 1], state[words - 1 :: -1][:words])
            side[words] = (state[words] * grammar.stop).sum(2)
    return np.asarray(mass[1:] @ grammar.root)
