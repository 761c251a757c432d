"""An arc-factored parser by MIRA (kernels/mira.py): first order, or second order over arcs the first finds likely.

The sentences are divided into folds. Models learned from the other folds

- list the likely arcs of a fold's sentences, as the pruner will on text it has not seen: a pruner is far surer of
  the sentences it was learned from;
- fit the scale of the normalised reading, argmax_s Σ log p_s(right head of a word | sentence), on such sentences.

The relations of arcs are learned apart, from the right trees. Cost: with folds about twice that of one training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from latentgram.arcs.hashed_weights import HashedWeights
from latentgram.arcs.kernels.mira import first_order_pass, second_order_pass
from latentgram.arcs.kernels.pruning import list_likely_heads
from latentgram.arcs.kernels.relations import relation_pass
from latentgram.arcs.model import ArcFactored
from latentgram.arcs.relations import ArcRelations
from latentgram.arcs.settings import MIRAArcs
from latentgram.arcs.symbols import ArcSymbols, EncodedSentences
from latentgram.data.alphabet import Alphabet
from latentgram.data.dependencies import DependencyTree
from latentgram.data.provenance import Provenance
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError
from latentgram.kinds.kind import Context
from latentgram.progress import Progress, Silent

Ints = NDArray[np.int64]
PRUNER_PASSES = 4
RELATION_PASSES = 5
RELATION_BITS = 20
RELATION_STEP = 0.05
SCALE = 2.0
"""The scale of the normalised reading where it cannot be fitted."""
FITTED = 200
"""Sentences that the scale is fitted to, at most."""


@dataclass(frozen=True, eq=False)
class ArcData:
    """A projective treebank in numbers; heads end to end, by places (0 the root)."""

    sentences: EncodedSentences
    heads: Ints
    kept: tuple[Ints, NDArray[np.int32]] | None = None
    """For the second order: the heads that are looked at, word by word, as lists."""

    def __len__(self) -> int:
        return len(self.sentences)

    def select(self, numbers: Ints) -> ArcData:
        """Some of the sentences."""
        offsets = self.sentences.offsets
        words = np.concatenate([np.arange(offsets[n], offsets[n + 1]) for n in numbers])
        kept = None
        if self.kept is not None:
            start, heads = self.kept
            sizes = np.diff(start)[words]
            places = np.concatenate([np.arange(start[word], start[word + 1]) for word in words])
            kept = (np.concatenate([[0], np.cumsum(sizes)]), heads[places])
        return ArcData(self.sentences.select(numbers), self.heads[words], kept)


@dataclass(frozen=True)
class _Training:
    """Learns weights from data; a class, so that worker processes can be sent it."""

    learner: MIRAArcs
    order: int
    passes: int

    def __call__(self, data: ArcData) -> NDArray[np.float32]:
        return self.run(data, Silent(), "", None)[0]

    def run(
        self,
        data: ArcData,
        progress: Progress,
        stage: str,
        rate: Callable[[NDArray[np.float32]], float] | None,
    ) -> tuple[NDArray[np.float32], tuple[dict[str, float], ...]]:
        """The averaged weights, after the pass that `rate` likes best or the last; and one record a pass."""
        weights = np.zeros(1 << self.learner.bits, np.float32)
        summed = np.zeros(len(weights))
        random, clock, trace = np.random.default_rng(self.learner.seed), 0.0, []
        best, best_rating = weights, -np.inf
        for done in range(1, self.passes + 1):
            order = random.permutation(len(data))
            given = (order, data.sentences.symbols, data.sentences.offsets, data.heads)
            rest = (self.learner.step, clock, weights, summed)
            if self.order == 1:
                wrong, clock = first_order_pass(*given, *rest)
            else:
                assert data.kept is not None
                wrong, clock = second_order_pass(*given, *data.kept, *rest)
            record = {"round": float(done), "wrong": wrong / len(data.heads)}
            if rate is not None or done == self.passes:
                averaged = (weights - summed / clock).astype(np.float32)
                rating = float(done) if rate is None else rate(averaged)
                if rate is not None:
                    record["score"] = rating
                if rating > best_rating:
                    best, best_rating = averaged, rating
            trace.append(record)
            progress.step(stage, done, self.passes, **{name: record[name] for name in record if name != "round"})
        return best, tuple(trace)


def learn_arcs(data: Any, learner: MIRAArcs, context: Context) -> ArcFactored:
    """The recipe: a parser of the order that the learner names."""
    bank = cast("Treebank[DependencyTree]", data if isinstance(data, Treebank) else Treebank.of(data))
    if not len(bank):
        raise DataError("there are no trees to learn a parser from")
    projective, lifting = bank.projectivise()
    given = projective.sentences()
    symbols = ArcSymbols.of(given, learner.rare)
    known = ArcData(symbols.encode(given), projective.arrays.heads.astype(np.int64))
    relations = _learn_relations(projective, known, learner)
    # The folds stand one after the other, so that lists made fold by fold are those of the whole.
    numbers = np.arange(len(known))
    known = known.select(np.argsort(numbers % learner.folds, kind="stable"))
    folds = np.array_split(numbers, np.cumsum(np.bincount(numbers % learner.folds))[:-1])
    folds = [fold for fold in folds if len(fold)]
    whole = Provenance(trace=({"words": float(len(known.heads)), "lifted": float(lifting.moved)},))
    blank = ArcFactored(symbols, 1, HashedWeights.of(np.zeros(2)), None, SCALE, learner.floor, relations, whole)
    if learner.order == 1:
        return _learn(known, folds, blank, _Training(learner, 1, learner.passes), context, "MIRA")
    training = _Training(learner, 1, min(PRUNER_PASSES, learner.passes))
    quiet = replace(context, dev_score=None)
    held_out = _jackknifed(known, folds, training, quiet)
    pruner = _learn(known, folds, blank, training, quiet, "pruner", held_out)
    lists = [
        list_likely_heads(*_flat(known.select(fold)), weights, pruner.scale, learner.floor)
        for fold, weights in zip(folds, held_out or [pruner.weights.dense], strict=True)
    ]
    ends = np.cumsum([0, *(start[-1] for start, _ in lists)])
    starts = [[0], *(start[1:] + before for (start, _), before in zip(lists, ends, strict=False))]
    known = replace(known, kept=(np.concatenate(starts), np.concatenate([heads for _, heads in lists])))
    return _learn(
        known,
        folds,
        replace(blank, order=2, pruner=replace(pruner, relations=_no_relations())),
        _Training(learner, 2, learner.passes),
        context,
        "MIRA",
    )


def _flat(data: ArcData) -> tuple[NDArray[np.int32], Ints, Ints]:
    return data.sentences.symbols, data.sentences.offsets, data.heads


def _no_relations() -> ArcRelations:
    """What a pruner is given, which never names an arc."""
    return ArcRelations(Alphabet(("_",)), HashedWeights.of(np.zeros(2)))


def _jackknifed(
    data: ArcData, folds: Sequence[Ints], training: _Training, context: Context
) -> list[NDArray[np.float32]]:
    """For each fold the weights learned from the others; none if there is but one fold."""
    if len(folds) < 2:
        return []
    others = (np.concatenate([fold for fold in folds if fold is not held]) for held in folds)
    return list(context.engine.map(training, (data.select(numbers) for numbers in others)))


def _learn(
    data: ArcData,
    folds: Sequence[Ints],
    blank: ArcFactored,
    training: _Training,
    context: Context,
    stage: str,
    held_out: Sequence[NDArray[np.float32]] | None = None,
) -> ArcFactored:
    """The model `blank` with learned weights and a fitted scale."""
    if held_out is None:
        held_out = _jackknifed(data, folds, training, context)
    samples = []
    for fold, weights in zip(folds, held_out, strict=False):
        model = replace(blank, weights=HashedWeights.of(weights))
        samples += [(model, data.select(fold[:: max(1, len(fold) * len(folds) // FITTED)]))]
    scale = _fitted_scale(samples)
    score = context.dev_score

    def of_weights(weights: NDArray[np.float32]) -> ArcFactored:
        return replace(blank, weights=HashedWeights.of(weights), scale=scale)

    rate = None if score is None else (lambda weights: score(of_weights(weights)))
    weights, trace = training.run(data, context.progress, stage, rate)
    provenance = replace(blank.provenance, trace=(*blank.provenance.trace, *trace))
    return replace(of_weights(weights), provenance=provenance)


def _fitted_scale(samples: Sequence[tuple[ArcFactored, ArcData]]) -> float:
    """The scale under which the right heads of sentences, each scored by its model, are most likely."""
    scored = []
    for model, data in samples:
        for number in range(len(data)):
            begin, end = data.sentences.offsets[number : number + 2]
            scored.append((model.scores(data.sentences[number]), data.heads[begin:end]))
    if not scored:
        return SCALE

    def loss(log_scale: float) -> float:
        total = 0.0
        for scores, heads in scored:
            arcs, roots, _ = scores.marginals(float(np.exp(log_scale)))
            right = np.where(heads == 0, roots, arcs[np.maximum(heads - 1, 0), np.arange(len(heads))])
            total -= float(np.log(np.maximum(right, 1e-9)).sum())
        return total

    found = minimize_scalar(loss, bounds=(np.log(0.1), np.log(100.0)), method="bounded", options={"xatol": 0.05})
    return float(np.exp(found.x))


def _learn_relations(bank: Treebank[DependencyTree], data: ArcData, learner: MIRAArcs) -> ArcRelations:
    names = [name for tree in bank for name in tree.deprels]
    alphabet = Alphabet.of(names)
    weights = np.zeros((1 << RELATION_BITS) + len(alphabet), np.float32)
    summed = np.zeros(len(weights))
    random, clock = np.random.default_rng(learner.seed), 0.0
    if len(alphabet) > 1:
        relations = alphabet.encode(names)
        for _ in range(RELATION_PASSES):
            order = random.permutation(len(data))
            _, clock = relation_pass(
                order, *_flat(data), relations, RELATION_STEP, clock, weights, summed, len(alphabet)
            )
    return ArcRelations(alphabet, HashedWeights.of(weights - summed / max(clock, 1.0)))
