"""Absorb a few more trees into an arc-factored parser at once: MIRA is an online learner, so it simply goes on.

Each tree that is not yet parsed with a margin moves the weights by the smallest step that would make it so, at
most `step` long (kernels/mira.py), again and again until nothing is wrong or `PASSES` have gone by. The pruner of
a second-order parser learns likewise, so that right arcs are looked at, and so do the names of arcs. What all
other trees have taught stays, for the steps are small; the average over the whole learning is taken anew when the
parser is learned anew. Cost: a few parses, and some passes over the weights.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.arcs.factor import ArcWeights
from latentgram.arcs.hashed_weights import HashedWeights
from latentgram.arcs.kernels.mira import first_order_pass, second_order_pass
from latentgram.arcs.kernels.pruning import list_likely_heads
from latentgram.arcs.kernels.relations import relation_pass
from latentgram.arcs.mira import RELATION_STEP, ArcData
from latentgram.arcs.model import ArcFactored
from latentgram.arcs.relations import ArcRelations
from latentgram.data.alphabet import ABSENT
from latentgram.data.dependencies import DependencyTree
from latentgram.data.treebank import Treebank

PASSES = 10
STEP = 0.01
"""The step of a model that does not tell the one it was learned with."""


def update(model: ArcFactored, trees: Iterable[DependencyTree]) -> ArcFactored:
    """The parser after learning from more trees.

    >>> import latentgram as lg
    >>> bank = lg.demo_dependencies(40, seed=0)
    >>> model = lg.fit(lg.ArcFactored, bank[:30], by=lg.MIRA(order=1, passes=1))
    >>> update(model, bank[30:]).order
    1
    """
    given = list(trees)
    if not given:
        return model
    bank: Treebank[Any] = Treebank.of(given)
    projective, _ = bank.projectivise()
    heads = projective.arrays.heads.astype(np.int64)
    data = ArcData(model.symbols.encode(projective.sentences()), heads)
    told: Any = model.provenance.fields.get("step")
    step = float(told or STEP)
    pruner = model.pruner and replace(model.pruner, weights=_moved(model.pruner, data, step))
    grown = replace(model, pruner=pruner)
    return replace(
        grown,
        weights=_moved(grown, data, step),
        relations=_named(model.relations, projective, data),
        provenance=replace(
            model.provenance, trace=(*model.provenance.trace, {"absorbed": float(len(projective))})
        ),
    )


def _moved(model: ArcFactored, data: ArcData, step: float) -> HashedWeights:
    weights = model.weights.dense.copy()
    summed = np.zeros(len(weights))
    flat = (data.sentences.symbols, data.sentences.offsets, data.heads)
    given = (np.arange(len(data)), *flat)
    if model.pruner is not None:
        start, head = list_likely_heads(*flat, model.pruner.weights.dense, model.pruner.scale, model.floor)
    for _ in range(PASSES):
        if model.pruner is None:
            wrong, _ = first_order_pass(*given, step, 0.0, weights, summed)
        else:
            wrong, _ = second_order_pass(*given, start, head, step, 0.0, weights, summed)
        if not wrong:
            break
    return HashedWeights.of(weights)


def _named(relations: ArcRelations, bank: Treebank[DependencyTree], data: ArcData) -> ArcRelations:
    """Trees with a name that the parser does not know teach it no names."""
    numbers = [relations.names.encode(tree.deprels) for tree in bank]
    known = np.array([bool((of != ABSENT).all()) for of in numbers])
    if len(relations.names) < 2 or not known.any():
        return relations
    kept = data.select(np.flatnonzero(known))
    label: NDArray[np.int32] = np.concatenate([of for of, used in zip(numbers, known, strict=True) if used])
    weights = relations.weights.dense.copy()
    summed = np.zeros(len(weights))
    given = (np.arange(len(kept)), kept.sentences.symbols, kept.sentences.offsets, kept.heads, label)
    for _ in range(PASSES):
        wrong, _ = relation_pass(*given, RELATION_STEP, 0.0, weights, summed, len(relations.names))
        if not wrong:
            break
    return replace(relations, weights=HashedWeights.of(weights))


def update_factor(factor: ArcWeights, trees: Iterable[DependencyTree]) -> ArcWeights:
    """The factor of a parser that has learned from more trees."""
    return replace(factor, parser=update(factor.parser, trees))
