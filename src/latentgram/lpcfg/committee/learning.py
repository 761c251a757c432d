"""Learning a `Committee`: `fit(Committee, trees, by=Gradient(layers=3))`, one `ChartCRF` after the other.

The layers differ in the binarisation of their grammars, and so in symbols, charts and most features; further
layers differ in the seed of the clusters and of the order of the training sentences. Two layers with the same
binarisation make much the same mistakes, and together would outvote a third. Cost: that of as many `ChartCRF`s.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from latentgram.data.provenance import Provenance
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.kinds.kind import Context
from latentgram.kinds.learners import Direction
from latentgram.lpcfg.committee.model import Committee
from latentgram.lpcfg.crf.learning import annotated_text, learn_layer
from latentgram.lpcfg.crf.model import ChartCRF
from latentgram.lpcfg.crf.update import update as update_layer
from latentgram.lpcfg.settings import GradientChartCRF, GradientCommittee

DIRECTIONS: tuple[Direction, ...] = "left", "right", "head"


def learn_committee(treebank: Treebank[Tree], learner: GradientCommittee, context: Context) -> Committee:
    """The recipe."""
    layers: list[ChartCRF] = []
    more = annotated_text(treebank, learner, context)
    for settings in settings_of(learner):
        crf = learn_layer(treebank, settings, context, more)
        how = Provenance("Gradient", settings.plain(), trace=crf.provenance.trace)
        layers.append(dataclasses.replace(crf, provenance=how))
        context.progress.step("layers", len(layers), learner.layers)
    return Committee(tuple(layers))


def settings_of(learner: GradientCommittee) -> list[GradientChartCRF]:
    """What each layer is learned by, in the order in which they are worth adding.

    >>> [(layer.direction, layer.seed) for layer in settings_of(GradientCommittee(layers=4))]
    [('left', 0), ('right', 0), ('head', 0), ('left', 1)]
    """
    said = {name: value for name, value in vars(learner).items() if name != "layers"}
    directions = sorted(DIRECTIONS, key=lambda direction: direction != learner.direction)
    return [
        GradientChartCRF(**{**said, "direction": directions[number % 3], "seed": learner.seed + number // 3})
        for number in range(learner.layers)
    ]


def update(model: Committee, trees: Iterable[Tree]) -> Committee:
    """The committee after each layer has learned from more trees.

    >>> import latentgram as lg
    >>> bank = lg.demo_treebank(40, seed=0)
    >>> committee = lg.fit(lg.Committee, bank[:30], by=lg.Gradient(layers=2, states=2, passes=1, bits=12))
    >>> [int(crf.grammars[0].root_count.sum()) for crf in update(committee, bank[30:]).layers]
    [40, 40]
    """
    more = list(trees)
    if not more:
        return model
    trace = (*model.provenance.trace, {"absorbed": float(len(more))})
    return dataclasses.replace(
        model,
        layers=tuple(update_layer(crf, more) for crf in model.layers),
        provenance=dataclasses.replace(model.provenance, trace=trace),
    )
