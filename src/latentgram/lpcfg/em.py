"""Latent-variable PCFGs by EM over observed trees, from random states, spectral coordinates or clusters of views.

Spectral coordinates: by Ω^a = Σᵢ σᵢ uᵢ vᵢᵀ a node with inside view Y and outside view Z is Σᵢ Yᵢ Zᵢ times as
likely as its two halves by themselves. A coordinate may speak against a node, so numbers of a spectral grammar
cannot be expected counts as they are; the node is shared among the coordinates by |Yᵢ Zᵢ|, which no signs
change.

Clusters: what a node looks like from inside and from outside, in the few coordinates in which both agree
(spectral_lpcfg.py), each view scaled to length one; k-means makes hard states of them. Counted and smoothed
they are already a good grammar of probabilities; a few rounds of smoothed EM make it better. The number of
states of a symbol grows with its nodes, eight at least for each state.
"""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
from numpy.typing import NDArray

from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.kinds.kind import Context
from latentgram.lpcfg.expected_states import (
    StateCounts,
    StateGrammar,
    expect,
    finished,
    labelled_counts,
    maximise,
    random_counts,
    shards_of,
    shared_counts,
)
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.settings import EMLPCFG, ClusteringLPCFG, CombiningEnsemble
from latentgram.lpcfg.spectral import NodeViews, ViewSettings, project, spectra_by_name
from latentgram.lpcfg.statistics.data import GrammarData
from latentgram.numeric.em import ascend
from latentgram.numeric.kmeans import kmeans
from latentgram.parallel import Engine, InProcess, within

Floats = NDArray[np.float64]

NODES_A_STATE = 8
"""A symbol gets at most one state for so many of its nodes."""
_LEAST = 1e-6
"""What a coordinate that says nothing of a node counts beside the others."""


def learn_em(treebank: Treebank[Tree], learner: EMLPCFG, context: Context) -> LPCFG:
    """The recipe of `EM`."""
    data = GrammarData.of(treebank, learner, context.engine)
    if learner.start in ("spectral", "clusters"):
        views = project(data, _view_settings(learner, learner.states), context)
        if learner.start == "spectral":
            states, counts = views.states, share_out(data, views)
        else:
            states, counts = cluster(data, views, learner.states, learner.seed, context.engine)
    else:
        states = states_by_count(data, learner.states)
        counts = random_counts(data.derivations, states, np.random.default_rng(learner.seed))
    return climb(data, states, counts, learner, context)


def learn_clusters(treebank: Treebank[Tree], learner: ClusteringLPCFG, context: Context) -> LPCFG:
    """The recipe of `Clustering`."""
    data = GrammarData.of(treebank, learner, context.engine)
    views = project(data, _view_settings(learner, learner.dimensions), context)
    states, counts = cluster(data, views, learner.states, learner.seed, context.engine)
    learned = climb(data, states, counts, learner, context)
    return dataclasses.replace(learned, spectra=spectra_by_name(data, views))


def _view_settings(learner: EMLPCFG | ClusteringLPCFG, dimensions: int) -> ViewSettings:
    return ViewSettings(dimensions, learner.features, learner.scaling)


def climb(
    data: GrammarData,
    states: NDArray[np.int32],
    counts: StateCounts,
    learner: EMLPCFG | ClusteringLPCFG | CombiningEnsemble,
    context: Context,
) -> LPCFG:
    """Rounds of EM from counts; the best on `context.dev_score`, if there is one."""
    d = data.derivations
    shards = shards_of(d)
    make = partial(maximise, d, states, backoff=learner.backoff, pull=learner.pull, engine=context.engine)

    def finish(grammar: StateGrammar) -> LPCFG:
        return finished(data, shards, grammar, learner.pull, context.engine)

    def rate(grammar: StateGrammar) -> float:
        return context.dev_score(finish(grammar)) if context.dev_score else 0.0

    found = ascend(
        make(counts),
        lambda grammar: expect(d, shards, grammar, context.engine),
        make,
        iterations=learner.iterations,
        score=rate if context.dev_score else None,
        progress=context.progress,
    )
    learned = finish(found.model)
    return dataclasses.replace(learned, provenance=dataclasses.replace(learned.provenance, trace=found.trace))


def states_by_count(data: GrammarData, states: int) -> NDArray[np.int32]:
    """How many states each symbol gets."""
    return np.clip(data.derivations.symbol_count // NODES_A_STATE, 1, states).astype(np.int32)


def share_out(data: GrammarData, views: NodeViews) -> StateCounts:
    """Counts in which every node is shared among its coordinates by |Yᵢ Zᵢ|."""
    share = np.abs(views.inside * views.outside) + _LEAST * (
        np.arange(views.inside.shape[1]) < views.states[data.derivations.symbol][:, None]
    )
    return shared_counts(data.derivations, views.states, share / share.sum(1, keepdims=True))


def cluster(
    data: GrammarData, views: NodeViews, states: int, seed: int, engine: Engine | None = None
) -> tuple[NDArray[np.int32], StateCounts]:
    """Hard states by k-means of the views, one symbol after the other, and their counts."""
    d = data.derivations
    label = np.zeros(len(d.symbol), np.int64)
    wanted = states_by_count(data, states)
    order = np.argsort(d.symbol, kind="stable")
    begin = np.searchsorted(d.symbol[order], np.arange(d.symbols + 1))
    used = np.ones(d.symbols, np.int32)

    def divide(symbol: int) -> None:
        nodes, rank = order[begin[symbol] : begin[symbol + 1]], int(views.states[symbol])
        points = np.column_stack(
            (
                _unit(np.take(views.inside, nodes, axis=0)[:, :rank]),
                # Z = Σ⁻¹Vᵀψ magnifies the weakest directions; the distance is taken on Vᵀψ.
                _unit(np.take(views.outside, nodes, axis=0)[:, :rank] * views.spectra[symbol]),
            )
        )
        label[nodes] = kmeans(
            points, np.ones(len(points)), int(wanted[symbol]), np.random.default_rng((seed, symbol)), rounds=20
        )
        used[symbol] = label[nodes].max() + 1

    # The largest first, so that no thread is left alone with one at the end.
    largest_first = np.argsort(-np.diff(begin), kind="stable")
    for _ in within(engine or InProcess()).map(divide, largest_first[wanted[largest_first] > 1].tolist()):
        pass
    return used, labelled_counts(d, used, label)


def _unit(rows: Floats) -> Floats:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, length, out=np.zeros_like(rows), where=length > 0), np.float64)
