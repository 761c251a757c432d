"""`TopDown` by stochastic gradient ascent on the conditional likelihood of every choice.

The events of a treebank are visited in random order, in several passes with decreasing steps. Overfitting is
limited by the small number of passes and by leaving out features seen in fewer than `least` events. O(passes ·
events · templates · outcomes); keys take 8 bytes per event and template.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from latentgram.arcs.kernels.histories import TEMPLATE_ATOMS, all_feature_keys
from latentgram.arcs.kernels.top_down import all_rows_of, gradient_pass
from latentgram.arcs.settings import GradientTopDown
from latentgram.arcs.symbols import normal_form, projective_treebank
from latentgram.arcs.top_down import TopDown
from latentgram.arrays import Floats32, Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.dependencies import DependencyTree
from latentgram.data.dependency_symbols import WordSymbols
from latentgram.data.provenance import Provenance
from latentgram.kinds.kind import Context

SHARES = 8
"""Parts of a pass, each with shorter steps than the one before."""


def learn_top_down(trees: Sequence[DependencyTree], learner: GradientTopDown, context: Context) -> TopDown:
    """The recipe: trees that are not projective are lifted first."""
    projective, _ = projective_treebank(trees)
    sentences = projective.sentences()
    seen = Counter(normal_form(word) for sentence in sentences for word in sentence.words)
    symbols = (
        WordSymbols.of(sentences),
        Alphabet.of(word for word, count in seen.items() if count > learner.rare),
        WordSymbols.of(sentences, learner.symbols),
    )
    empty = TopDown(*symbols, np.zeros(0, np.uint64), np.zeros((0, 0), np.float16))
    events = [empty.events(tree) for tree in projective]
    outcomes = np.concatenate([outcome for _, outcome in events])
    keys = all_feature_keys(np.concatenate([history for history, _ in events]), TEMPLATE_ATOMS)
    different, count = np.unique(keys, return_counts=True)
    known = different[count >= learner.least]
    rows = all_rows_of(keys, known)
    weights = np.zeros((len(known), len(empty.outcomes.alphabet) + 1), np.float32)
    trace = _descend(weights, rows, outcomes, learner, context)
    return TopDown(*symbols, known, weights.astype(np.float16), Provenance(trace=trace))


def _descend(
    weights: Floats32,
    rows: Ints32,
    outcomes: Ints,
    learner: GradientTopDown,
    context: Context,
) -> tuple[dict[str, float], ...]:
    """Learn the weights; what each pass lost, in nats per event."""
    squares = np.ones(len(weights), np.float32)
    random, passes = np.random.default_rng(learner.seed), learner.passes
    trace = []
    for done in range(passes):
        loss = 0.0
        for part, chosen in enumerate(np.array_split(random.permutation(len(outcomes)), SHARES)):
            left = 1.0 - (done + part / SHARES) / passes
            loss += gradient_pass(chosen, rows, outcomes, weights, squares, learner.step * left)
        trace.append({"loss": loss / len(outcomes)})
        context.progress.step("passes", done + 1, passes)
    return tuple(trace)
