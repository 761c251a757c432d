"""Rules that a treebank never showed: what a grammar gives to a→b c that it has not counted.

What a parent keeps for rules it was never seen with grows with the number of different rules it was seen with
(Witten & Bell), and is spread by what is known of its children one at a time,

    p(a→b c) = ω(a) · p_left(b | a) · p_right(c | a),   ω(a) = min(1, γ · different rules of a / N(a)),
    p_left(b | a) = (N(a→b ·) + κ u(b)) / (N(a) + κ),

with u the distribution of left (right) children of any parent. Intermediate symbols of binarisation stand only
under the labels they belong to. With this every sentence has a parse; parsers turn to it when seen rules have
none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentgram.data.binarisation import Symbol
from latentgram.lpcfg.kernels.chart import Unseen
from latentgram.lpcfg.model import LPCFG

GAMMA = 3.0
"""How many unseen rules each different rule seen stands for."""
KAPPA = 5.0
"""How many rules the distribution over all parents counts for."""


def unseen_rules(grammar: LPCFG) -> Unseen:
    """The unseen rules of a grammar, in factors."""
    parents = np.bincount(grammar.rules[:, 0], grammar.rule_count, len(grammar.interminals))
    different = np.bincount(grammar.rules[:, 0], minlength=len(grammar.interminals))
    kept = np.minimum(GAMMA * different / np.maximum(parents, 1.0), 1.0)
    own = _belongs(grammar)

    def share(side: int) -> NDArray[np.float64]:
        counts = np.zeros((len(grammar.states), len(grammar.interminals)))
        np.add.at(counts, (grammar.rules[:, side], grammar.rules[:, 0]), grammar.rule_count)
        anywhere = counts.sum(1, keepdims=True) * own
        anywhere = anywhere / np.maximum(anywhere.sum(0), 1e-300)
        return np.asarray((counts + KAPPA * anywhere) / (parents + KAPPA))

    return Unseen(1.0, kept * share(1), share(2))


def _belongs(grammar: LPCFG) -> NDArray[np.bool_]:
    """[S, I] whether a symbol may stand under a parent: intermediate ones only under their own label."""
    symbols = [Symbol.read(name) for name in (*grammar.interminals, *grammar.preterminals)]
    label = np.array([symbol.chain[-1] for symbol in symbols], object)
    intermediate = np.array([symbol.intermediate for symbol in symbols])
    return np.asarray(~intermediate[:, None] | (label[:, None] == label[: len(grammar.interminals)][None, :]))
