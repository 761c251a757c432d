"""Learning a `ChartCRF`: `fit(ChartCRF, trees, by=Gradient())`.

Charts are jackknifed (charts.py); then all of them are gone through in random order, a few times, one step per
chart (kernels/learning.py), and the weights are the mean over all moments of learning. The grammar that the layer
is for is learned from all trees, and so is the tagger of a small treebank. Head rules are learned from the
treebank where no table fits it, so nothing is said of a language. If there is raw text, its trees are added to
those that grammars are learned from (raw_text.py).

Cost: that of jackknifing, and passes · charts · features; weights, their squares, drift and derivatives take
4 · 2^bits numbers of 4 bytes.
"""

from __future__ import annotations

import dataclasses
import math
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
from latentgram.lpcfg.crf.kernels.view import NARROW, WIDE
from latentgram.lpcfg.crf.model import ChartCRF
from latentgram.lpcfg.crf.raw_text import annotated, checked, together
from latentgram.lpcfg.model import LPCFG, Ensemble
from latentgram.lpcfg.settings import ClusteringLPCFG, CombiningEnsemble, GradientChartCRF
from latentgram.tagger.learning import learn_tagger
from latentgram.tagger.model import Tagger
from latentgram.tagger.settings import GradientTagger

WEIGHTS_PER_WORD = 8
LEAST_BITS, MOST_BITS = 20, 22
"""Of the number of weights, where it is not said: fewer would not make files much smaller, more slow learning."""
WIDE_FROM = 50_000
"""Words of the smallest treebank for wide features: with fewer they lose as much as they gain with more."""
MOST_TAGS = 256
"""A tagger of more tags takes longer than all the rest."""


def learn_chart_crf(treebank: Treebank[Tree], learner: GradientChartCRF, context: Context) -> ChartCRF:
    """The recipe."""
    return learn_layer(treebank, learner, context, annotated_text(treebank, learner, context))


def annotated_text(treebank: Treebank[Tree], learner: GradientChartCRF, context: Context) -> Treebank[Tree] | None:
    """The trees of the raw text, if there is any, by a layer that is learned from the treebank alone."""
    text = checked(learner.text)
    return None if text is None else annotated(text, learn_layer(treebank, learner, context), context)


def learn_layer(
    treebank: Treebank[Tree], learner: GradientChartCRF, context: Context, more: Treebank[Tree] | None = None
) -> ChartCRF:
    """A layer for the trees of a treebank, over grammars of these and of some more trees."""
    heads = fitting_rules(treebank.forest)
    quiet = Context()
    forest = treebank.forest
    words, tags = int(np.count_nonzero(forest.is_tag)), len(np.unique(forest.label[forest.is_tag]))
    tagged = words <= learner.tagger_up_to and tags <= MOST_TAGS
    templates = WIDE if words >= WIDE_FROM else NARROW

    def grammar_of(part: Treebank[Tree]) -> LPCFG | Ensemble:
        return learn_grammar(together(part, more), learner, quiet)

    def tagger_of(part: Treebank[Tree]) -> Tagger | None:
        return learn_tagger(part, GradientTagger(), quiet) if tagged else None

    lessons = jackknifed(treebank, learner.folds, grammar_of, heads, context, tagger_of, templates)
    state = new_state(bits_for(words) if learner.bits == "auto" else learner.bits)
    trace = descend(lessons, state, learner, context)
    grammar = learn_grammar(together(treebank, more), learner, dataclasses.replace(context, dev_score=None))
    return ChartCRF(
        grammar,
        heads,
        state.weights - state.drift,
        state.squares,
        float(state.trust[0] - state.trust[2]),
        Provenance(trace=trace),
        tagger_of(treebank),
        templates,
    )


def bits_for(words: int) -> int:
    """The logarithm of the number of weights for a treebank of so many words: at least eight for each word.

    >>> [bits_for(words) for words in (1_000, 75_000, 180_000, 375_000, 10_000_000)]
    [20, 20, 21, 22, 22]
    """
    return min(max(LEAST_BITS, math.ceil(math.log2(WEIGHTS_PER_WORD * max(words, 1)))), MOST_BITS)


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
