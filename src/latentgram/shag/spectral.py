"""`SHAG` by spectral learning: operators from the singular vectors of substring statistics (Luque et al. 2012).

Algorithm 1 of section 3, regularised (sequences/operators.py), for the automata of all heads and directions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from latentgram.arrays import Floats
from latentgram.kinds.kind import Context
from latentgram.parallel import Engine, within
from latentgram.sequences.spectral import spectral_operators
from latentgram.sequences.statistics import SequenceCounts
from latentgram.shag.automata import Automata, by_direction, grammar_of, smoothed
from latentgram.shag.model import SHAG
from latentgram.shag.settings import Basis, SpectralSHAG
from latentgram.shag.statistics import HeadCounts, Trees


def learn_spectral(trees: Trees, learner: SpectralSHAG, context: Context) -> SHAG:
    """The recipe.

    With a `dev_score` the number of states is chosen among powers of two up to `states` and `states` itself: a
    grammar of fewer states is a part of one of more, so this costs no further decomposition.
    """
    statistics = HeadCounts.of(trees, learner.rule)
    automata, values = spectral_automata(statistics.counts, learner, context.engine)

    def of_states(states: int) -> SHAG:
        leading = of_leading_states(statistics.counts, automata, values, states, learner)
        return replace(grammar_of(statistics, leading, nonnegative=False), spectrum=by_direction(values))

    if context.dev_score is None:
        return of_states(learner.states)
    sizes = [size for size in (2**power for power in range(20)) if size < learner.states]
    grammars = [of_states(size) for size in (*sizes, learner.states)]
    return max(grammars, key=context.dev_score)


def spectral_automata(counts: SequenceCounts, learner: Basis, engine: Engine) -> tuple[Automata, Floats]:
    """Spectral automata of all sources, and their singular values."""
    solved = spectral_operators(
        counts,
        learner.states,
        history=learner.history,
        future=learner.future,
        power=learner.power,
        ridge=learner.ridge,
        each=within(engine).map,
    )
    return Automata(solved.start, solved.stop, solved.pairs, solved.operators), solved.values


def of_leading_states(
    counts: SequenceCounts, automata: Automata, values: Floats, states: int, learner: SpectralSHAG
) -> Automata:
    """Spectral automata with the first `states` of their states only, smoothed.

    Those with a singular value below `least` go too; states that no source keeps are cut off.
    """
    kept = (np.arange(automata.start.shape[1]) < states) & (values >= learner.least)
    kept[:, 0] = True
    n = int(np.flatnonzero(kept.any(0)).max()) + 1
    kept = kept[:, :n]
    of_pair = kept[automata.pairs // counts.n_symbols]
    leading = Automata(
        automata.start[:, :n] * kept,
        automata.stop[:, :n] * kept,
        automata.pairs,
        automata.operators[:, :n, :n] * of_pair[:, :, None] * of_pair[:, None, :],
    )
    return smoothed(counts, leading, learner.smoothing)
