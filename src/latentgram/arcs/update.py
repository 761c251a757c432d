"""A few more trees for an arc-factored parser: MIRA is an online learner, so learning simply continues.

Each tree that is not yet parsed with a margin moves the weights by the smallest step that would achieve it, at
most `step` long (kernels/mira.py), repeatedly until nothing is wrong or `PASSES` are over. The pruner of a
second-order parser is updated likewise, so that correct arcs are considered, and so are the relations. The steps
are small, so what was learned from other trees is kept; weights are averaged over the whole training again when
the parser is retrained. Cost: a few parses, and some passes over the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from latentgram.arcs.factor import ArcWeights
from latentgram.arcs.kernels.mira import mira_pass
from latentgram.arcs.kernels.pruning import list_likely_heads
from latentgram.arcs.kernels.relations import relation_pass
from latentgram.arcs.mira import RELATION_STEP
from latentgram.arcs.model import ArcFactored, ArcRelations, HashedWeights
from latentgram.arcs.symbols import EncodedTrees, projective_treebank
from latentgram.arrays import Floats, Floats32
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
    new_trees = list(trees)
    if not new_trees:
        return model
    bank, _ = projective_treebank(new_trees, model.projective)
    heads = bank.arrays.heads.astype(np.int64)
    data = model.symbols.encode(bank.sentences())._replace(heads=heads)
    told = model.provenance.fields.get("step")
    step = told if isinstance(told, float) and told else STEP
    pruner = model.pruner and replace(model.pruner, weights=_moved(model.pruner, data, step))
    grown = replace(model, pruner=pruner)
    trace = (*model.provenance.trace, {"updated": float(len(bank))})
    return replace(
        grown,
        weights=_moved(grown, data, step),
        relations=_named(model.relations, bank, data),
        provenance=replace(model.provenance, trace=trace),
    )


def _moved(model: ArcFactored, data: EncodedTrees, step: float) -> HashedWeights:
    """The weights after some passes over more trees."""
    order, crossing = np.arange(data.size), not model.projective
    if model.pruner is not None:
        pruner = model.pruner
        start, head = list_likely_heads(data, pruner.weights.dense, pruner.scale, model.floor, crossing)
        data = data._replace(kept_start=start, kept_head=head)
    return _passes(
        model.weights,
        lambda weights, summed: mira_pass(order, data, step, 0.0, weights, summed, crossing)[0],
    )


def _named(relations: ArcRelations, bank: Treebank[DependencyTree], data: EncodedTrees) -> ArcRelations:
    """Trees with a name that the parser does not know teach it no names."""
    numbers = [relations.names.encode(tree.deprels) for tree in bank]
    known = np.array([bool((of != ABSENT).all()) for of in numbers])
    size = len(relations.names)
    if size < 2 or not known.any():
        return relations
    kept = data.select(np.flatnonzero(known))
    label = np.concatenate([of for of, used in zip(numbers, known, strict=True) if used])
    order = np.arange(kept.size)
    weights = _passes(
        relations.weights,
        lambda *weights: relation_pass(order, kept, label, size, RELATION_STEP, 0.0, *weights)[0],
    )
    return replace(relations, weights=weights)


def _passes(begin: HashedWeights, learn: Callable[[Floats32, Floats], int]) -> HashedWeights:
    """Weights after passes that go on until nothing is wrong."""
    weights = begin.dense.copy()
    summed = np.zeros(len(weights))
    for _ in range(PASSES):
        if not learn(weights, summed):
            break
    return HashedWeights.of(weights)


def update_factor(factor: ArcWeights, trees: Iterable[DependencyTree]) -> ArcWeights:
    """The factor of a parser that has learned from more trees."""
    return replace(factor, parser=update(factor.parser, trees))
