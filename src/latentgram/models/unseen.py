"""Rules that a treebank never showed: what a grammar gives to a→b c that it has not counted.

The mass of all unseen rules is the share of rules counted once (Good & Turing). It is spread by what is known of
the children of a one at a time,

    p(a→b c) = ω · p_left(b | a) · p_right(c | a),   p_left(b | a) = (n(a→b ·) + κ u(b)) / (n(a) + κ),

with u the distribution of left (right) children of any parent. Intermediate symbols of binarisation stand only
under the labels they belong to. With this every sentence has a parse; parsers turn to it when seen rules have
none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentgram.data.symbols import Symbol
from latentgram.dp.packed_chart import Unseen
from latentgram.models.lpcfg import LPCFG

KAPPA = 5.0
"""How many rules the distribution over all parents counts for."""


def unseen_rules(grammar: LPCFG) -> Unseen:
    """The unseen rules of a grammar, in factors."""
    parents = np.bincount(grammar.rules[:, 0], grammar.rule_count, len(grammar.interminals))
    total = float(parents.sum())
    once = float(grammar.rule_count[grammar.rule_count < 1.5].sum())
    own = _belongs(grammar)

    def share(side: int) -> NDArray[np.float64]:
        counts = np.zeros((len(grammar.states), len(grammar.interminals)))
        np.add.at(counts, (grammar.rules[:, side], grammar.rules[:, 0]), grammar.rule_count)
        anywhere = counts.sum(1, keepdims=True) * own
        anywhere = anywhere / np.maximum(anywhere.sum(0), 1e-300)
        return np.asarray((counts + KAPPA * anywhere) / (parents + KAPPA))

    return Unseen(max(once, 1.0) / max(total, 1.0), share(1), share(2))


def _belongs(grammar: LPCFG) -> NDArray[np.bool_]:
    """[S, I] whether a symbol may stand under a parent: intermediate ones only under their own label."""
    symbols = [Symbol.read(name) for name in (*grammar.interminals, *grammar.preterminals)]
    label = np.array([symbol.chain[-1] for symbol in symbols], object)
    intermediate = np.array([symbol.intermediate for symbol in symbols])
    return np.asarray(~intermediate[:, None] | (label[:, None] == label[: len(grammar.interminals)][None, :]))
