"""Learning a `ChartCRF`: `fit(ChartCRF, trees, by=Gradient())`.

Charts are jackknifed (charts.py); then all of them are gone through in random order, a few times, one step per
chart (kernels/learning.py), and the weights are the mean over all moments of learning. The grammar that the layer
is for is learned from all trees. Head rules are learned from the treebank where no
table fits it, so nothing is said of a language.

Cost: that of jackknifing, and passes · charts · features; weights, their squares, drift and derivatives take
4 · 2^bits numbers of 4 bytes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from latentgram.data.heads import fitting_rules
from latentgram.data.provenance import Provenance
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.kinds.kind import Context
from latentgram.lpcfg.clustering import learn_clusters
from latentgram.lpcfg.combining import learn_ensemble
from latentgram.lpcfg.crf.charts import jackknifed
from latentgram.lpcfg.crf.kernels.learning import Lesson, State, learn_chart
from latentgram.lpcfg.crf.model import ChartCRF
from latentgram.lpcfg.model import LPCFG, Ensemble
from latentgram.lpcfg.settings import ClusteringLPCFG, CombiningEnsemble, GradientChartCRF


def learn_chart_crf(treebank: Treebank[Tree], learner: GradientChartCRF, context: Context) -> ChartCRF:
    """The recipe."""
    heads = fitting_rules(treebank.forest)
    quiet = Context()
    lessons = jackknifed(treebank, learner.folds, lambda part: learn_grammar(part, learner, quiet), heads, context)
    state = new_state(learner.bits)
    trace = descend(lessons, state, learner, context)
    grammar = learn_grammar(treebank, learner, dataclasses.replace(context, dev_score=None))
    return ChartCRF(
        grammar,
        heads,
        state.weights - state.drift,
        state.squares,
        float(state.trust[0] - state.trust[2]),
        Provenance(trace=trace),
    )


def learn_grammar(treebank: Treebank[Tree], learner: GradientChartCRF, context: Context) -> LPCFG | Ensemble:
    """The grammar below the layer: a clustered one, or an ensemble of them."""
    said = {name: value for name, value in vars(learner).items() if name in CombiningEnsemble.__dataclass_fields__}
    if learner.members > 1:
        return learn_ensemble(treebank, CombiningEnsemble(**said), context)
    del said["members"]
    return learn_clusters(treebank, ClusteringLPCFG(**said), context)


def new_state(bits: int) -> State:
    """No weights yet, and full trust in the grammar."""
    weights, squares, drift, gradient = np.zeros((4, 1 << bits), np.float32)
    squares[:] = 1.0
    return State(weights, squares, drift, gradient, np.array([1.0, 1.0, 0.0]))


def descend(
    lessons: Sequence[Lesson], state: State, learner: GradientChartCRF, context: Context
) -> tuple[dict[str, float], ...]:
    """Learn from all lessons in random order, again and again; the loss per lesson of each pass."""
    random, passes, size = np.random.default_rng(learner.seed), learner.passes, len(lessons)
    trace = []
    for done in range(passes):
        loss = 0.0
        for place, number in enumerate(random.permutation(size).tolist()):
            time = (done + place / size) / passes
            loss += learn_chart(lessons[number], state, learner.step, learner.margin, time)
        trace.append({"pass": float(done + 1), "loss": loss / max(size, 1), "trust": float(state.trust[0])})
        context.progress.step("passes", done + 1, passes, loss=trace[-1]["loss"])
    return tuple(trace)
