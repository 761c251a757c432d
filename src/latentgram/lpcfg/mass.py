"""How much probability the trees of a grammar have together, by the number of their words.

With p the rules, seen and unseen, as a parser uses them (projection.py), and Σ_x q(a→x) what the lexicon holds,

    M(a, 1) = Σ_x q(a→x),    M(a, n) = Σ_{a→b c} t(a→b c)( · , Σ_{0<k<n} M(b, k) ⊗ M(c, n−k)),

Σ_a π(a) · M(a, n) is the probability of all trees over n words: with numbers that are probabilities, the sums over
n stay at most one. The words are those of the lexicon, its forms and tag symbols, and the unknown word. Signed
numbers are summed as they are. Cost: N²/2 outer products and N contractions per rule, for trees of up to N words.
"""

from __future__ import annotations

import numpy as np

from latentgram.arrays import Floats
from latentgram.errors import SettingError
from latentgram.lpcfg.kernels.chart import NONE_UNSEEN
from latentgram.lpcfg.kernels.mass import fill_mass
from latentgram.lpcfg.model import LPCFG, Ensemble
from latentgram.lpcfg.projection import unseen_rules


def tree_mass(grammar: LPCFG | Ensemble, longest: int) -> Floats:
    """[longest] the probability of all trees with 1, 2, … words; of an ensemble the mean of its grammars'.

    >>> import latentgram as lg
    >>> mass = tree_mass(lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Clustering(states=2)), 40)
    >>> bool(0.9 < mass.sum() <= 1 + 1e-9)
    True
    """
    if longest < 1:
        raise SettingError(f"trees have at least one word, not {longest}")
    if isinstance(grammar, Ensemble):
        return np.asarray(np.mean([tree_mass(each, longest) for each in grammar.grammars], axis=0), np.float64)
    unseen = NONE_UNSEEN if grammar.plain else unseen_rules(grammar)
    first = grammar.root_offset[len(grammar.interminals)]
    mass = np.zeros((longest + 1, int(grammar.root_offset[-1])))
    mass[1] = np.bincount(grammar.lexicon_places, grammar.lexicon_vector, mass.shape[1])
    if grammar.unseen.size:
        kept = np.repeat(grammar.unseen[len(grammar.interminals) :], grammar.states[len(grammar.interminals) :])
        # Relative frequencies are discounted where they are used (projection.py), by what is kept for other words.
        mass[1, first:] *= 1.0 - kept if grammar.plain else 1.0
        mass[1, first:] += kept * grammar.mean_inside[first:]
    fill_mass(
        mass,
        grammar.rules,
        grammar.states,
        grammar.double_tensor,
        grammar.rule_offset,
        grammar.root_offset,
        grammar.mean_inside,
        grammar.mean_outside,
        unseen,
    )
    return np.asarray(mass[1:] @ grammar.root_vector, np.float64)
