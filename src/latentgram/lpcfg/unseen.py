"""What a grammar keeps for what its treebank never showed: rules for phrases, words for tags.

Rules that a treebank never showed have what a parent keeps for rules it was never seen with, which grows with the
number of different rules it was seen with (Witten & Bell), spread by what is known of its children one at a time:

    ω(a) = min(1, γ · different rules of a / N(a)),    p_left(b | a) = (N(a→b ·) + κ u(b)) / (N(a) + κ),

with u the distribution of left (right) children of any parent. Intermediate symbols of binarisation stand only
under the labels they belong to. With this every sentence has a parse. Let V(a) = Σ p_left(b | a) p_right(c | a)
over the pairs that a was *not* seen with. All rules of a are divided by 1 + ω(a) V(a), so that they sum to one:

    unseen(a)   = ω V / (1 + ω V)                             the share of rules never seen, all together,
    p(a→b c)    = (1 − unseen(a)) · N(a→b c)/N(a)             for a rule that was seen,
    p(a→b c)    = unseen(a)/V(a) · p_left(b | a) p_right(c | a)   for any other.

With hidden states the tensor of a rule never seen is p(a→b c) · mean_inside(a) ⊗ mean_outside(b) ⊗ mean_outside(c)
(Cohen et al. 2013, §3.2), which sums to p(a→b c) in every state of a where numbers are probabilities: the same
factor 1 − unseen(a) discounts the tensors of all its rules. A plain PCFG has only the rules that it was seen with.

A word never seen with its tag t counts as seen with it half a time: a preterminal s of the tag has, with
η = ½/(N(t) + 1),

    unseen(s)   = η / (1 + η)                                 the probability of a word never seen with its tag,

where the lexicon has no symbol for such words; a smoothed one has (lexicon.py), and these keep nothing more.
Cost: two dense matrices of symbols by phrase symbols.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT
from latentgram.data.binarisation import Symbol
from latentgram.lpcfg.kernels.chart import Unseen
from latentgram.lpcfg.model import LPCFG

Array = NDArray[np.float64]

GAMMA = 3.0
"""How many unseen rules each different rule seen stands for."""
KAPPA = 5.0
"""How many rules the distribution over all parents counts for."""
HALF = 0.5
"""How often a word counts as seen with a tag when it was not."""
_TINY = 1e-300
_NOTHING = 1e-9
"""Less room than this for rules never seen is none: it is what rounding leaves."""


def discounted(grammar: LPCFG) -> LPCFG:
    """The distribution that keeps something for what was never seen, from a grammar that keeps nothing."""
    rules = np.zeros(len(grammar.interminals))
    if not grammar.plain:
        left, right, weight = _factors(grammar)
        kept = weight * _room(grammar, left, right)
        rules = kept / (1.0 + kept)
    half = HALF / (grammar.tag_count + 1.0)
    words = np.where(grammar.tag_word == ABSENT, half / (1.0 + half), 0.0)
    return _rescaled(grammar, np.concatenate((rules, words)))


def undiscounted(grammar: LPCFG) -> LPCFG:
    """The inverse of `discounted`; what keeps nothing stays as it is."""
    return _rescaled(grammar, np.zeros(0)) if grammar.unseen.size else grammar


def _rescaled(grammar: LPCFG, unseen: Array) -> LPCFG:
    """The grammar with other shares for rules that were never seen."""
    size, seen = len(grammar.interminals), np.ones(len(grammar.interminals))
    seen = (1.0 - unseen[:size] if unseen.size else seen) / (
        1.0 - grammar.unseen[:size] if grammar.unseen.size else seen
    )
    # Rule by rule: a factor for every number would take as much memory again, and longer than the products.
    tensor, begin = np.empty(grammar.rule_tensor.shape), grammar.rule_offset.tolist()
    for number, factor in enumerate(seen[grammar.rules[:, 0]]):
        place = slice(begin[number], begin[number + 1])
        np.multiply(grammar.rule_tensor[place], factor, out=tensor[place])
    return dataclasses.replace(grammar.whole, rule_tensor=tensor, unseen=unseen)


def unseen_rules(grammar: LPCFG) -> Unseen:
    """The unseen rules of a grammar, in factors."""
    left, right, weight = _factors(grammar)
    if grammar.unseen.size:
        room = _room(grammar, left, right)
        share = grammar.unseen[: len(grammar.interminals)]
        weight = np.divide(share, room, out=np.zeros_like(room), where=room > 0.0)
    return Unseen(1.0, weight * left, right)


def _factors(grammar: LPCFG) -> tuple[Array, Array, Array]:
    """p_left and p_right [S, I], and ω [I]."""
    parents = np.bincount(grammar.rules[:, 0], grammar.rule_count, len(grammar.interminals))
    different = np.bincount(grammar.rules[:, 0], minlength=len(grammar.interminals))
    symbols = [Symbol.read(name) for name in (*grammar.interminals, *grammar.preterminals)]
    label = np.array([symbol.chain[-1] for symbol in symbols], object)
    intermediate = np.array([symbol.intermediate for symbol in symbols])
    # [S, I] whether a symbol may stand under a parent
    own = ~intermediate[:, None] | (label[:, None] == label[: len(grammar.interminals)][None, :])

    def share(side: int) -> Array:
        counts = np.zeros((len(grammar.states), len(grammar.interminals)))
        np.add.at(counts, (grammar.rules[:, side], grammar.rules[:, 0]), grammar.rule_count)
        anywhere = counts.sum(1, keepdims=True) * own
        anywhere = anywhere / np.maximum(anywhere.sum(0), _TINY)
        return np.asarray((counts + KAPPA * anywhere) / (parents + KAPPA))

    return share(1), share(2), np.minimum(GAMMA * different / np.maximum(parents, 1.0), 1.0)


def _room(grammar: LPCFG, left: Array, right: Array) -> Array:
    """V [I]: what p_left and p_right give to pairs of children that a parent was never seen with."""
    parent, first, second = grammar.rules.T
    seen = np.bincount(parent, left[first, parent] * right[second, parent], len(grammar.interminals))
    room = left.sum(0) * right.sum(0) - seen
    return np.where(room > _NOTHING, room, 0.0)
