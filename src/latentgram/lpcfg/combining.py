"""Several grammars of one treebank at little more than the cost of one: `fit(Ensemble, trees, by=Combining())`.

Trees are prepared once and the views of their nodes are computed once for each set of features, with the greatest
number of dimensions needed; fewer dimensions are a slice. Members differ in what costs least and matters most: the
features, the number of states, the dimensions that are clustered, the seed of the clusters and, in large
ensembles, the learner. With `noise` they differ only in the features of nodes that are dropped at random
(Narayan and Cohen 2015, where a classifier chooses among the members' trees; here their posteriors are combined).
They share symbols, rules and lexicon, so one chart serves them all (model.py).
"""

from __future__ import annotations

from collections.abc import Iterator
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

    @property
    def size(self) -> float:
        """The states of its grammar, as a multiple likewise."""
        return self.dimensions if self.states is None else self.states


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
    # Members of the same views one after the other, so that views are kept for no longer than they are needed, and
    # the largest first: learning takes some times the memory of a grammar, beside those that are there already.
    alike: dict[object, list[int]] = {}
    for number in sorted(range(len(chosen)), key=lambda number: -chosen[number].size):
        alike.setdefault(number if learner.noise > 0.0 else chosen[number].features, []).append(number)
    grammars: dict[int, LPCFG] = {}
    for numbers in alike.values():
        members = {number: chosen[number] for number in numbers}
        for number, grammar in _learn_alike(data, members, learner, context):
            grammars[number] = grammar
            context.progress.step("members", len(grammars), len(chosen))
    first, *others = (grammars[number] for number in range(len(chosen)))
    # The first one's closing serves them all: they share the chart.
    return Ensemble((with_closing(first, treebank, context.engine), *others))


def _learn_alike(
    data: GrammarData, members: dict[int, Member], learner: CombiningEnsemble, context: Context
) -> Iterator[tuple[int, LPCFG]]:
    """Grammars of the ensemble that share their views, with their numbers in it."""
    first, states = min(members), learner.states
    dimensions = _dimensions(states, max(member.dimensions for member in members.values()))
    wanted = ViewSettings.under(learner, dimensions, members[first].features)
    views = project(data, replace(wanted, seed=learner.seed + first), context)
    for number, member in members.items():
        yield number, _learn(data, views, member, learner.seed + number, learner, context)


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
    dimensions = _dimensions(states, member.dimensions)
    if member.states is None:
        lexicon, seen = LexiconPlan.of(data, learner.pull), views.truncated(dimensions)
        grammar = spectral_grammar(data, seen, SpectralLPCFG.backoff, lexicon, context.engine)
        return replace(grammar, provenance=Provenance("Spectral", {"features": member.features}))
    quiet = replace(context, dev_score=None)
    clusters = _part(states, member.states)
    # What begins the climb has no name here, so that it is let go when it is used.
    grammar = climb(
        data, cluster(data, views.truncated(dimensions), clusters, seed, context.engine), learner, quiet
    )
    fields: dict[str, object] = {"features": member.features, "seed": seed}
    return replace(grammar, provenance=Provenance("Clustering", fields))


def _dimensions(states: int, share: float) -> int:
    """In fewer than four dimensions there is little to tell apart."""
    return max(4, _part(states, share))


def _part(states: int, share: float) -> int:
    return max(1, round(states * share))
