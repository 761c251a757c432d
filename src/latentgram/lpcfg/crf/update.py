"""A few more trees for a `ChartCRF`: gradient steps are made one by one, so learning simply continues.

The charts are those of the grammar before it has seen the trees, as in learning; after that the grammar counts
them (lpcfg/update.py), and the tagger, if there is one, learns their tags (tagger/update.py). The sums of squares
are kept, so weights with many updates change little and new ones change a lot. Cost: two parses and `PASSES` steps
per tree, and the update of the grammar.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np

from latentgram.data.forest import Forest
from latentgram.data.tree import Tree
from latentgram.kinds.settings import defaults_of
from latentgram.lpcfg.crf.charts import Teacher
from latentgram.lpcfg.crf.kernels.learning import State, learn_chart
from latentgram.lpcfg.crf.model import ChartCRF
from latentgram.lpcfg.settings import GradientChartCRF
from latentgram.lpcfg.update import update as update_grammar
from latentgram.tagger.update import update as update_tagger

PASSES = 4


def update(model: ChartCRF, trees: Iterable[Tree]) -> ChartCRF:
    """The layer and its grammar after learning from more trees.

    >>> import latentgram as lg
    >>> bank = lg.demo_treebank(40, seed=0)
    >>> crf = lg.fit(lg.ChartCRF, bank[:30], by=lg.Gradient(states=2, passes=1, bits=12))
    >>> int(update(crf, bank[30:]).grammar.root_count.sum())
    40
    """
    forest = Forest.of(list(trees))
    if not len(forest):
        return model
    told = {**defaults_of(GradientChartCRF), **model.provenance.fields}
    step, margin = (float(rate) for name in ("step", "margin") if isinstance(rate := told[name], int | float))
    drift, gradient = np.zeros((2, len(model.weights)), np.float32)
    # The trust in the grammar stays: a sum of squares without end lets it make no step.
    trust = np.array([model.trust, np.inf, 0.0])
    state = State(model.weights.copy(), model.squares.copy(), drift, gradient, trust)
    lessons = list(Teacher(model.grammar, model.heads, model.tagger, model.templates).lessons(forest))
    for _ in range(PASSES):
        for lesson in lessons:
            learn_chart(lesson, state, step, margin, 0.0)
    trace = (*model.provenance.trace, {"absorbed": float(len(forest))})
    return dataclasses.replace(
        model,
        grammar=update_grammar(model.grammar, forest),
        weights=state.weights,
        squares=state.squares,
        tagger=None if model.tagger is None else update_tagger(model.tagger, forest.sentences()),
        provenance=dataclasses.replace(model.provenance, trace=trace),
    )
