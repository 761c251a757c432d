"""Whether arcs may cross, chosen on trees that were not learned from.

Two parsers of the same order are compared: one of projective trees, in which the names of relations may tell which
arcs cross (crossing.py; Nivre and Nilsson 2005), and one whose arcs may cross: in the second order by rearranging
(McDonald and Pereira 2006), in the first as maximum spanning trees. If they are equally good it is the projective
one, which has n-best lists and posteriors in both orders.

With a `dev_score` both are learned from the whole treebank, and it decides: twice the cost of learning one.
Otherwise every fifth tree is held out, LAS on these trees decides, and the better one is learned again from the
whole treebank: two and a half times the cost. Nothing is compared where no arcs cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from latentgram.arcs.mira import learn_arcs
from latentgram.arcs.model import ArcFactored
from latentgram.arcs.parse import ArcBackend
from latentgram.arcs.settings import MIRAArcs
from latentgram.data.dependencies import DependencyTree
from latentgram.errors import SettingError
from latentgram.evaluate.attachment import score_attachment
from latentgram.kinds.kind import Context

HELD_OUT = 5
"""One tree in so many is held out where no others are given to choose on."""


def learn_chosen(trees: Sequence[DependencyTree], learner: MIRAArcs, context: Context) -> ArcFactored:
    """The recipe: a parser as the learner describes it, or the better one of two."""
    if not learner.choose_crossing:
        return learn_arcs(trees, learner, context)
    if learner.non_projective or learner.best > 1:
        other = "non_projective" if learner.non_projective else "k-best MIRA (best above 1)"
        raise SettingError(f"choose_crossing compares parsers with and without crossing arcs: leave out {other}")
    numbers = range(len(trees))
    if len(trees) < HELD_OUT or all(trees[number].is_projective for number in numbers):
        return learn_arcs(trees, learner, context)
    choice = {"projective": learner, "crossing": replace(learner, non_projective=True)}
    if (score := context.dev_score) is not None:
        learned = {name: learn_arcs(trees, each, context) for name, each in choice.items()}
        rates = {name: score(model) for name, model in learned.items()}
        return _told(learned[_better(rates)], rates)
    rest = [trees[number] for number in numbers if number % HELD_OUT]
    held_out = [trees[number] for number in numbers[::HELD_OUT]]
    rates = {name: _las(learn_arcs(rest, each, context), held_out) for name, each in choice.items()}
    return _told(learn_arcs(trees, choice[_better(rates)], context), rates)


def _better(rates: dict[str, float]) -> str:
    return "crossing" if rates["crossing"] > rates["projective"] else "projective"


def _las(model: ArcFactored, trees: Sequence[DependencyTree]) -> float:
    parses = ArcBackend(model).parse([tree.sentence for tree in trees])
    return score_attachment(trees, [cast(DependencyTree, parse.tree) for parse in parses], punctuation="none").las


def _told(model: ArcFactored, rates: dict[str, float]) -> ArcFactored:
    """The model, which says what it was chosen by."""
    return replace(model, provenance=replace(model.provenance, trace=(*model.provenance.trace, rates)))
