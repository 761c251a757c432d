"""How much probability the sentences of a model have together, by their lengths.

Of an automaton, and of a hidden Markov model with T the transitions and e what all words of each tag have,

    stopᵀ (Σ_a A_a)ⁿ start,        T[0] (diag(e) T)ⁿ [boundary].

Of a back-off n-gram model V(h) is the weight of being in history h before the next word, by arcs and by failures;
arcs that end a sentence give its mass, the others lead to the histories before the next word:

    V(h) = arrived(h) + Σ_{h': b(h')=h} failure(h') V(h'),    taken(a) = c_a (V(h) − shut(a)),

where shut(a), of the failure reading alone, is failure(h') V(h') of those who came from histories h' that have an
arc of the same word. O(n · arcs).
"""

from __future__ import annotations

import numpy as np

from latentgram.arrays import Floats
from latentgram.data.text import BOUNDARY
from latentgram.sequences.automaton import OperatorAutomaton
from latentgram.sequences.hmm import HMM
from latentgram.sequences.ngram import BackoffNGram


def string_mass(automaton: OperatorAutomaton, longest: int) -> Floats:
    """[longest] the probability of all strings of 1, 2, … symbols.

    >>> coin = OperatorAutomaton.of("ht", start=[1.0], stop=[0.5], step={"h": [[0.25]], "t": [[0.25]]})
    >>> string_mass(coin, 3)
    array([0.25  , 0.125 , 0.0625])
    """
    step, state, mass = automaton.step.sum(0), automaton.start, []
    for _ in range(longest):
        state = step @ state
        mass.append(automaton.stop @ state)
    return np.array(mass)


def tagged_mass(hmm: HMM, longest: int) -> Floats:
    """[longest] that of all sentences of 1, 2, … words, those never seen together being one.

    >>> import latentgram as lg
    >>> hmm = lg.fit(lg.HMM, [[("a", "A")], [("a", "A"), ("b", "B")]], by=lg.Counting(unknown="class"))
    >>> bool(0.99 < tagged_mass(hmm, 100).sum() <= 1 + 1e-9)
    True
    """
    tags = len(hmm.tags)
    emitted = np.bincount(hmm.emit_tag, hmm.emit_prob, tags) + hmm.unknown
    emitted[BOUNDARY] = 0.0
    state, mass = np.eye(len(hmm.transition))[BOUNDARY], []
    for _ in range(longest):
        # State p·T + u mod T^m follows state p by tag u, as in `HMM.next_words`.
        state = (state[:, None] * hmm.transition * emitted).reshape(tags, -1).sum(0)
        mass.append(state @ hmm.transition[:, BOUNDARY])
    return np.array(mass)


def ngram_mass(model: BackoffNGram, longest: int) -> Floats:
    """[longest] that of all sentences of 1, 2, … words.

    >>> import latentgram as lg
    >>> counts = lg.NGramCounts.of(lg.Text.of(["a b", "a c", "a b b"]), order=2)
    >>> bool(0.99 < ngram_mass(lg.fit(lg.BackoffNGram, counts, by=lg.Counting()), 100).sum() <= 1 + 1e-9)
    True
    """
    ends, mass = model.arc_word == BOUNDARY, []
    lower = model.arc_lower >= 0
    arrived = np.eye(model.states)[model.initial]
    for _ in range(longest + 1):
        visits, failed = arrived.copy(), arrived
        while failed.any():
            failed = np.bincount(model.backoff[1:], (failed * model.failure)[1:], minlength=model.states)
            visits += failed
        open_to = visits[model.source]
        if model.reading == "failure":
            shut = (model.failure * visits)[model.source[lower]]
            open_to = open_to - np.bincount(model.arc_lower[lower], shut, minlength=model.arcs)
        taken = model.arc_prob * open_to
        mass.append(taken[ends].sum())
        arrived = np.bincount(model.arc_target[~ends], taken[~ends], minlength=model.states)
    return np.array(mass[1:])
