"""Several grammars of one treebank at little more than the cost of one: `fit(Ensemble, trees, by=Combining())`.

Trees are prepared once and the views of their nodes are computed once for each set of features, with the greatest
number of dimensions needed; fewer dimensions are a slice. Members differ in what costs least and matters most: the
features, the number of states, the dimensions that are clustered, the seed of the clusters and, in large
ensembles, the learner. With `noise` they differ only in the features of nodes that are dropped at random
(Narayan and Cohen 2015, where a classifier chooses among the members' trees; here their posteriors are combined).
They share symbols, rules and lexicon, so one chart serves them all (model.py).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace

from latentgram.data.provenance import Provenance
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.kinds.kind import Context
from latentgram.lpcfg.closing import with_closing
from latentgram.lpcfg.clustering import cluster
from latentgram.lpcfg.em_steps import climb
from latentgram.lpcfg.lexicon import LexiconPlan
from latentgram.lpcfg.model import LPCFG, Ensemble
from latentgram.lpcfg.settings import CombiningEnsemble, SpectralLPCFG
from latentgram.lpcfg.spectral import spectral_grammar
from latentgram.lpcfg.statistics import GrammarData
from latentgram.lpcfg.views import NodeViews, ViewSettings, project


@dataclass(frozen=True)
class Member:
    """What one grammar is made from: a set of features, dimensions of the views, and states if they are clustered.

    Both numbers are multiples of the number of states that the user asks for.
    """

    features: str
    dimensions: float
    states: float | None = None


MEMBERS = (
    Member("paper", 1 / 2, 1.0),
    Member("full", 1 / 2, 1.0),
    Member("paper", 3 / 4, 5 / 4),
    Member("full", 3 / 8, 3 / 2),
    Member("paper", 1.0, 1.0),
    Member("full", 3 / 4, 5 / 4),
    Member("paper", 1.0),
    Member("paper", 3 / 8, 3 / 2),
)
"""In the order in which they are worth adding."""


def learn_ensemble(treebank: Treebank[Tree], learner: CombiningEnsemble, context: Context) -> Ensemble:
    """The recipe."""
    data = GrammarData.of(treebank, learner, context.engine)
    chosen = MEMBERS[: learner.members] if learner.noise == 0.0 else MEMBERS[:1] * learner.members
    shared: dict[str, NodeViews] = {}
    grammars = []
    for number, member in enumerate(chosen):
        seed = learner.seed + number
        if learner.noise > 0.0 or member.features not in shared:
            most = max(other.dimensions for other in chosen if other.features == member.features)
            wanted = ViewSettings.under(learner, _dimensions(learner.states, most), member.features)
            shared[member.features] = project(data, replace(wanted, seed=seed), context)
        grammars.append(_learn(data, shared[member.features], member, seed, learner, context))
        context.progress.step("members", number + 1, len(chosen))
    # The first one's closing serves them all: they share the chart.
    return Ensemble((with_closing(grammars[0], treebank, context.engine), *grammars[1:]))


def _learn(
    data: GrammarData,
    views: NodeViews,
    member: Member,
    seed: int,
    learner: CombiningEnsemble,
    context: Context,
) -> LPCFG:
    """One grammar of the ensemble, which remembers how it was learned."""
    states = learner.states
    seen = views.truncated(_dimensions(states, member.dimensions))
    if member.states is None:
        lexicon = LexiconPlan.of(data, learner.pull)
        grammar = spectral_grammar(data, seen, SpectralLPCFG.backoff, lexicon, context.engine)
        return dataclasses.replace(grammar, provenance=Provenance("Spectral", {"features": member.features}))
    quiet = dataclasses.replace(context, dev_score=None)
    clusters = _part(states, member.states)
    grammar = climb(data, cluster(data, seen, clusters, seed, context.engine), learner, quiet)
    fields: dict[str, object] = {"features": member.features, "seed": seed}
    return dataclasses.replace(grammar, provenance=Provenance("Clustering", fields))


def _dimensions(states: int, share: float) -> int:
    """In fewer than four dimensions there is little to tell apart."""
    return max(4, _part(states, share))


def _part(states: int, share: float) -> int:
    return max(1, round(states * share))
