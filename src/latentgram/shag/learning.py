"""Head automata by any learner of hidden states and, where that is asked for, as deterministic ones.

`learner.deterministic` is the number of clusters of prefixes that `determinise` makes states of; 0 keeps the
hidden states. A `dev_score` then chooses among hidden states by the deterministic automata that they become.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from latentgram.kinds.kind import Context
from latentgram.shag.clustering import learn_clusters
from latentgram.shag.determinise import determinise
from latentgram.shag.em import learn_em
from latentgram.shag.model import SHAG
from latentgram.shag.settings import EMSHAG, ClusteringSHAG, SpectralSHAG
from latentgram.shag.spectral import learn_spectral
from latentgram.shag.statistics import Trees


def learn_automata(trees: Trees, learner: SpectralSHAG | EMSHAG | ClusteringSHAG, context: Context) -> SHAG:
    """The recipe.

    >>> import latentgram as lg
    >>> bank = lg.demo_dependencies(50, seed=1)
    >>> shag = lg.fit(lg.SHAG, bank, by=lg.Spectral(states=3, deterministic=4))
    >>> shag.deterministic, shag.states
    (True, 5)
    """
    clusters, score = learner.deterministic, context.dev_score
    if not clusters:
        return _learn_hidden(trees, learner, context)
    if score is not None:
        context = replace(context, dev_score=lambda hidden: score(determinise(cast(SHAG, hidden), clusters)))
    return determinise(_learn_hidden(trees, learner, context), clusters)


def _learn_hidden(trees: Trees, learner: SpectralSHAG | EMSHAG | ClusteringSHAG, context: Context) -> SHAG:
    if isinstance(learner, SpectralSHAG):
        return learn_spectral(trees, learner, context)
    if isinstance(learner, EMSHAG):
        return learn_em(trees, learner, context)
    return learn_clusters(trees, learner, context)
