"""How much probability the trees of a grammar have together, by the number of their words.

With p the rules, seen and unseen, as a parser uses them (unseen.py), and Σ_x q(a→x) what the lexicon holds,

    M(a, 1) = Σ_x q(a→x),    M(a, n) = Σ_{a→b c} t(a→b c)( · , Σ_{0<k<n} M(b, k) ⊗ M(c, n−k)),

Σ_a π(a) · M(a, n) is the probability of all trees over n words: with numbers that are probabilities, the sums over
n stay at most one. The words are those of the lexicon, its forms and tag symbols, and the unknown word. Signed
numbers are summed as they are. Cost: N²/2 outer products and N contractions per rule, for trees of up to N words.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from latentgram.errors import SettingError
from latentgram.lpcfg.kernels.chart import NONE_UNSEEN
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.unseen import unseen_rules

Floats = NDArray[np.float64]


def tree_mass(grammar: LPCFG, longest: int) -> Floats:
    """[longest] the probability of all trees with 1, 2, … words.

    >>> import latentgram as lg
    >>> mass = tree_mass(lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Clustering(states=2)), 40)
    >>> bool(0.9 < mass.sum() <= 1 + 1e-9)
    True
    """
    if longest < 1:
        raise SettingError(f"trees have at least one word, not {longest}")
    unseen = NONE_UNSEEN if grammar.plain else unseen_rules(grammar)
    first = grammar.root_offset[len(grammar.interminals)]
    mass = np.zeros((longest + 1, int(grammar.root_offset[-1])))
    mass[1] = np.bincount(grammar.lexicon_places, grammar.lexicon_vector, mass.shape[1])
    if grammar.unseen.size and grammar.plain:
        # Relative frequencies are discounted where they are used (leaves.py), by what is kept for other words.
        kept = grammar.unseen[len(grammar.interminals) :]
        mass[1, first:] = (1.0 - kept) * mass[1, first:] + kept
    _fill(
        mass,
        grammar.rules,
        grammar.states,
        grammar.rule_tensor,
        grammar.rule_offset,
        grammar.root_offset,
        grammar.mean_inside,
        grammar.mean_outside,
        unseen,
    )
    return np.asarray(mass[1:] @ grammar.root_vector, np.float64)


@njit(cache=True)
def _fill(mass, rules, states, tensor, tensor_begin, symbol_begin, mean_inside, mean_outside, unseen):
    """M(a, n) of all symbols for 2 … N words."""
    longest, symbols = mass.shape[0] - 1, states.shape[0]
    smooth = unseen.weight > 0.0
    interminals = unseen.left.shape[1]
    # Of unseen rules a child counts with its mean outside vector only: [n, a] Σ_b left(b, a) F(b) · M(b, n).
    left_sum, right_sum = np.zeros((longest + 1, interminals)), np.zeros((longest + 1, interminals))
    scalar = np.zeros((longest + 1, symbols))
    outer = np.empty(states.max() * states.max())
    for n in range(1, longest + 1):
        for rule in range(rules.shape[0] if n > 1 else 0):
            a, b, c = rules[rule]
            left, right = symbol_begin[b], symbol_begin[c]
            size, place, seen_less = states[b] * states[c], tensor_begin[rule], 0.0
            outer[:size] = 0.0
            for k in range(1, n):
                cell = 0
                for h in range(states[b]):
                    for g in range(states[c]):
                        outer[cell] += mass[k, left + h] * mass[n - k, right + g]
                        cell += 1
                if smooth:
                    seen_less += scalar[k, b] * scalar[n - k, c]
            seen_less *= unseen.left[b, a] * unseen.right[c, a] if smooth else 0.0
            for h in range(symbol_begin[a], symbol_begin[a + 1]):
                total = 0.0
                for cell in range(size):
                    total += tensor[place] * outer[cell]
                    place += 1
                mass[n, h] += total - seen_less * mean_inside[h]
        for a in range(interminals if n > 1 else 0):
            total = 0.0
            for k in range(1, n):
                total += left_sum[k, a] * right_sum[n - k, a]
            for h in range(symbol_begin[a], symbol_begin[a + 1]):
                mass[n, h] += total * mean_inside[h]
        for b in range(symbols if smooth else 0):
            for h in range(symbol_begin[b], symbol_begin[b + 1]):
                scalar[n, b] += mean_outside[h] * mass[n, h]
            for a in range(interminals):
                left_sum[n, a] += unseen.left[b, a] * scalar[n, b]
                right_sum[n, a] += unseen.right[b, a] * scalar[n, b]
