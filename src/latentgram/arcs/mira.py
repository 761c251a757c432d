"""An arc-factored parser by MIRA (kernels/mira.py): first order, or second order over likely arcs.

The sentences are divided into folds. Models learned from the other folds

- list the likely arcs of the sentences of a fold, as the pruner will on new text: a pruner is far more confident
  about the sentences it was learned from;
- fit the scale of the scores, argmax_s Σ log p_s(correct head of a word | sentence), on such sentences, for which
  one fold is enough.

With `best` = k > 1 it is k-best MIRA (kernels/k_best_mira.py), with which McDonald (2006) learns the base parser
of Dhillon et al. 2012.

With `non_projective` trees are learned from as they are and their rivals may have crossing arcs: maximum spanning
trees in the first order, rearranged projective ones in the second (numeric/spanning.py, numeric/rearranging.py).
There the pruner gives the posteriors, so its scale is that of the model.

The relations of arcs are learned separately, from the gold trees; the scale of their probabilities is fitted on
half of the sentences after learning from the other half. The same halves decide whether lifted arcs are encoded in
the names of relations (crossing.py). Cost: with folds about one and a half times that of a single training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import eq

import numpy as np
from scipy.optimize import minimize_scalar

from latentgram.arcs.crossing import LIFTED, lowered, marked_names
from latentgram.arcs.kernels.k_best_mira import k_best_pass
from latentgram.arcs.kernels.mira import mira_pass
from latentgram.arcs.kernels.pruning import list_likely_heads
from latentgram.arcs.kernels.relations import losses_by_scale, relation_pass
from latentgram.arcs.model import ArcFactored, ArcRelations, HashedWeights
from latentgram.arcs.settings import MIRAArcs
from latentgram.arcs.symbols import ArcSymbols, EncodedTrees, projective_treebank
from latentgram.arrays import Flags, Floats32, Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.dependencies import DependencyTree
from latentgram.data.provenance import Provenance
from latentgram.data.treebank import Treebank
from latentgram.errors import SettingError
from latentgram.kinds.kind import Context
from latentgram.progress import Progress, Silent

Weights = Floats32
PRUNER_PASSES = 4
PRUNER_BITS = 18
"""A pruner need not be as good as a parser, and fewer weights stay in the processor's cache."""
RELATION_PASSES = 5
RELATION_BITS = 22
RELATION_STEP = 0.05
RELATION_SCALE = 5.0
"""The scale of the probabilities of relations where it cannot be fitted."""
LEAST_LIFTED = 0.002
"""Where fewer arcs than this share are lifted, names do not tell of it: there is as little to gain."""
RELATION_SCALES = np.geomspace(0.5, 100.0, 54)
SCALE = 2.0
"""The scale of the normalised reading where it cannot be fitted."""
FITTED = 200
"""Sentences that the scale is fitted to, at most."""
FITTED_CUBES = FITTED * 150.0**3
"""The sum of the cubes of their lengths, at most: to go through them takes so long, and is done many times."""


@dataclass(frozen=True)
class _Training:
    """Learns weights from data; a class, so that worker processes can be sent it."""

    learner: MIRAArcs
    passes: int

    def __call__(self, data: EncodedTrees) -> Weights:
        return self.run(data, Silent(), "", None)[0]

    def run(
        self, data: EncodedTrees, progress: Progress, stage: str, rate: Callable[[Weights], float] | None
    ) -> tuple[Weights, tuple[dict[str, float], ...]]:
        """The averaged weights, after the pass that `rate` likes best or the last; and one record per pass."""
        weights = np.zeros(1 << self.learner.bits, np.float32)
        summed = np.zeros(len(weights))
        random, clock, trace = np.random.default_rng(self.learner.seed), 0.0, []
        kept, best_rating = weights, -np.inf
        for done in range(1, self.passes + 1):
            order = random.permutation(data.size)
            if self.learner.best == 1:
                crossing = self.learner.non_projective
                wrong, clock = mira_pass(order, data, self.learner.step, clock, weights, summed, crossing)
            else:
                best, step = self.learner.best, self.learner.step
                wrong, clock = k_best_pass(order, data, best, step, clock, weights, summed)
            record = {"round": float(done), "wrong": wrong / len(data.heads)}
            if rate is not None or done == self.passes:
                averaged = (weights - summed / clock).astype(np.float32)
                rating = float(done) if rate is None else rate(averaged)
                if rate is not None:
                    record["score"] = rating
                if rating > best_rating:
                    kept, best_rating = averaged, rating
            trace.append(record)
            progress.step(stage, done, self.passes, **{name: record[name] for name in record if name != "round"})
        return kept, tuple(trace)


def learn_arcs(trees: Sequence[DependencyTree], learner: MIRAArcs, context: Context) -> ArcFactored:
    """The recipe: a parser of the order that the learner names."""
    if learner.non_projective and learner.best > 1:
        raise SettingError("k-best MIRA (best above 1) works only with projective trees: leave out non_projective")
    bank, lifting = projective_treebank(trees, not learner.non_projective)
    sentences = bank.sentences()
    symbols = ArcSymbols.of(sentences, learner.rare)
    data = symbols.encode(sentences)._replace(heads=bank.arrays.heads.astype(np.int64))
    relations = _learn_relations(bank, trees, data, learner.seed)
    # The folds stand one after the other, so that lists made fold by fold are those of the whole.
    numbers = np.arange(data.size)
    data = data.select(np.argsort(numbers % learner.folds, kind="stable"))
    folds = np.array_split(numbers, np.cumsum(np.bincount(numbers % learner.folds))[:-1])
    folds = [fold for fold in folds if len(fold)]
    whole = Provenance(trace=({"words": float(len(data.heads)), "lifted": float(lifting.moved)},))
    unlearned, projective = HashedWeights.of(np.zeros(2)), not learner.non_projective
    blank = ArcFactored(symbols, 1, unlearned, None, SCALE, learner.floor, relations, whole, projective)
    if learner.order == 1:
        return _learn(data, folds, blank, _Training(learner, learner.passes), context, "MIRA")
    coarse = replace(learner, bits=min(PRUNER_BITS, learner.bits))
    training = _Training(coarse, min(PRUNER_PASSES, learner.passes))
    quiet = replace(context, dev_score=None)
    held_out = _jackknifed(data, folds, training, quiet)
    pruner = _learn(data, folds, blank, training, quiet, "pruner", held_out)
    data = _with_likely_heads(data, folds, held_out or [pruner.weights.dense], pruner)
    unnamed = ArcRelations(Alphabet(("_",)), HashedWeights.of(np.zeros(2)))  # a pruner never names an arc
    blank = replace(blank, order=2, pruner=replace(pruner, relations=unnamed))
    return _learn(data, folds, blank, _Training(learner, learner.passes), context, "MIRA")


def _with_likely_heads(
    data: EncodedTrees, folds: Sequence[Ints], held_out: Sequence[Weights], pruner: ArcFactored
) -> EncodedTrees:
    """Trees with lists of the heads that are likely by the weights that have not seen their fold."""
    lists = [
        list_likely_heads(data.select(fold), weights, pruner.scale, pruner.floor, not pruner.projective)
        for fold, weights in zip(folds, held_out, strict=True)
    ]
    ends = np.cumsum([0, *(start[-1] for start, _ in lists)])
    starts = [[0], *(start[1:] + before for (start, _), before in zip(lists, ends, strict=False))]
    return data._replace(
        kept_start=np.concatenate(starts), kept_head=np.concatenate([heads for _, heads in lists])
    )


def _jackknifed(
    data: EncodedTrees, folds: Sequence[Ints], training: _Training, context: Context, first: int | None = None
) -> list[Weights]:
    """For each fold, or the first ones, the weights learned from the others; none if there is but one fold."""
    if len(folds) < 2:
        return []
    others = (np.concatenate([fold for fold in folds if fold is not held]) for held in folds[:first])
    return list(context.engine.map(training, (data.select(numbers) for numbers in others)))


def _learn(
    data: EncodedTrees,
    folds: Sequence[Ints],
    blank: ArcFactored,
    training: _Training,
    context: Context,
    stage: str,
    held_out: Sequence[Weights] | None = None,
) -> ArcFactored:
    """The model `blank` with learned weights and a fitted scale."""
    if blank.pruner is not None and not blank.projective:
        return _weighed(data, blank, training, context, stage, blank.pruner.scale)
    if held_out is None:
        held_out = _jackknifed(
            data, folds, training, context, first=1
        )  # enough for the scale, which is one number
    samples = []
    for fold, weights in zip(folds, held_out, strict=False):
        model = replace(blank, weights=HashedWeights.of(weights))
        chosen = fold[:: max(1, len(fold) * len(held_out) // FITTED)]
        samples += [(model, data.select(chosen[_short_enough(np.diff(data.offsets)[chosen])]))]
    return _weighed(data, blank, training, context, stage, _fitted_scale(samples))


def _weighed(
    data: EncodedTrees, blank: ArcFactored, training: _Training, context: Context, stage: str, scale: float
) -> ArcFactored:
    """The model `blank` with learned weights and a scale."""
    score = context.dev_score

    def of_weights(weights: Weights) -> ArcFactored:
        return replace(blank, weights=HashedWeights.of(weights), scale=scale)

    rate = None if score is None else (lambda weights: score(of_weights(weights)))
    weights, trace = training.run(data, context.progress, stage, rate)
    provenance = replace(blank.provenance, trace=(*blank.provenance.trace, *trace))
    return replace(of_weights(weights), provenance=provenance)


def _short_enough(lengths: Ints) -> Flags:
    """Which sentences the scale is fitted to: all, but for the longest of those that would take too long."""
    order = np.argsort(lengths, kind="stable")
    short = np.empty(len(lengths), np.bool_)
    short[order] = np.cumsum(lengths[order].astype(np.float64) ** 3) <= FITTED_CUBES
    return short


def _fitted_scale(samples: Sequence[tuple[ArcFactored, EncodedTrees]]) -> float:
    """The scale under which the right heads of sentences, each scored by its model, are most likely."""
    scored = []
    for model, data in samples:
        for number in range(data.size):
            begin, end = data.offsets[number : number + 2]
            scored.append((model.scores(data.sentence(number)), data.heads[begin:end]))
    if not scored:
        return SCALE

    def loss(log_scale: float) -> float:
        total = 0.0
        for scores, heads in scored:
            arcs, roots, _ = scores.marginals(float(np.exp(log_scale)))
            right = np.where(heads == 0, roots, arcs[np.maximum(heads - 1, 0), np.arange(len(heads))])
            total -= float(np.log(np.maximum(right, 1e-9)).sum())
        return total

    least = minimize_scalar(loss, bounds=(np.log(0.1), np.log(100.0)), method="bounded", options={"xatol": 0.05})
    return float(np.exp(least.x))


def _learn_relations(
    bank: Treebank[DependencyTree], trees: Sequence[DependencyTree], data: EncodedTrees, seed: int
) -> ArcRelations:
    """The names of arcs of a bank made of some trees, by lifting their arcs or as they are."""
    half, held_out = np.arange(0, data.size, 2), np.arange(1, data.size, 2)
    learning = _Naming(data, half, seed)
    names = learning.names([name for tree in bank for name in tree.deprels])
    if len(names.alphabet) == 1:
        return ArcRelations(names.alphabet, HashedWeights.of(np.zeros(2)))
    if not len(held_out):
        return ArcRelations(names.alphabet, learning.all_weights(names), RELATION_SCALE)
    marked = marked_names(trees, bank)
    if sum(LIFTED in name for name in marked) >= LEAST_LIFTED * len(marked):
        gold = [trees[number] for number in held_out.tolist()]
        telling = learning.names(marked)
        with_marks, without = (learning.right(each, held_out, gold) for each in (telling, names))
        gained, lost = (with_marks & ~without).sum(), (without & ~with_marks).sum()
        if gained - lost > 2.0 * np.sqrt(gained + lost):  # by a sign test, surely and not by chance
            names = telling
    held_out = held_out[:: max(1, len(held_out) // FITTED)]
    words = np.concatenate([np.arange(*data.offsets[number : number + 2]) for number in held_out])
    size = len(names.alphabet)
    losses = losses_by_scale(data.select(held_out), names.number[words], names.weights, size, RELATION_SCALES)
    scale = float(RELATION_SCALES[np.argmin(losses)])
    return ArcRelations(names.alphabet, learning.all_weights(names), scale)


@dataclass(frozen=True, eq=False)
class _Names:
    """Names of arcs, those of all words as numbers, and the weights that half of the sentences have taught."""

    alphabet: Alphabet
    number: Ints32
    weights: Weights


@dataclass(frozen=True, eq=False)
class _Naming:
    """Learns to name arcs from all sentences or from half of them."""

    data: EncodedTrees
    half: Ints
    seed: int

    def names(self, names: list[str]) -> _Names:
        """Names of all words, with what half of the sentences teaches of them."""
        alphabet = Alphabet.of(names)
        number = alphabet.encode(names)
        if len(alphabet) == 1:
            return _Names(alphabet, number, np.zeros(2, np.float32))
        return _Names(alphabet, number, self._weights(self.half, number, len(alphabet)))

    def all_weights(self, names: _Names) -> HashedWeights:
        """What all sentences teach."""
        return HashedWeights.of(self._weights(np.arange(self.data.size), names.number, len(names.alphabet)))

    def _weights(self, numbers: Ints, names: Ints32, size: int) -> Weights:
        return _relation_weights(self.data, numbers, names, size, self.seed)

    def right(self, names: _Names, numbers: Ints, gold: Sequence[DependencyTree]) -> Flags:
        """Which words of some sentences get the right head and relation, lifted heads being given."""
        relations = ArcRelations(names.alphabet, HashedWeights.of(names.weights))
        right: list[bool] = []
        for number, tree in zip(numbers.tolist(), gold, strict=True):
            begin, end = self.data.offsets[number : number + 2]
            heads = self.data.heads[begin:end]
            named, _ = relations.predict(self.data.sentence(number), heads)
            output = zip(*lowered(heads.tolist(), named), strict=True)
            right += map(eq, output, zip(tree.heads, tree.deprels, strict=True))
        return np.array(right, np.bool_)


def _relation_weights(data: EncodedTrees, numbers: Ints, relations: Ints32, size: int, seed: int) -> Weights:
    """The averaged weights of names, learned from the sentences with these numbers."""
    weights = np.zeros((1 << RELATION_BITS) + size, np.float32)
    summed = np.zeros(len(weights))
    random, clock = np.random.default_rng(seed), 0.0
    for _ in range(RELATION_PASSES):
        order = numbers[random.permutation(len(numbers))]
        _, clock = relation_pass(order, data, relations, size, RELATION_STEP, clock, weights, summed)
    return (weights - summed / clock).astype(np.float32)
