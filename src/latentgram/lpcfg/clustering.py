"""Latent-variable PCFGs by clustering: `fit(LPCFG, trees, by=Clustering())`.

Each node is represented by its inside and outside views, in the few coordinates that are correlated (spectral.py),
each view scaled to length one; k-means turns them into hard states, symbol by symbol. Counted and smoothed they
are already a good grammar of probabilities; a few rounds of smoothed EM (em_steps.py) improve it. The number of
states of a symbol grows with its nodes, with at least eight for each state. Cost: that of the views, and 20 rounds
of N·k·2d for the N nodes of a symbol, k states and d dimensions.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.kinds.kind import Context
from latentgram.lpcfg.closing import with_closing
from latentgram.lpcfg.em_steps import StateCounts, climb
from latentgram.lpcfg.model import LPCFG, Layout
from latentgram.lpcfg.settings import ClusteringLPCFG
from latentgram.lpcfg.spectral import spectra_by_name
from latentgram.lpcfg.statistics import Derivations, GrammarData
from latentgram.lpcfg.views import NodeViews, ViewSettings, project
from latentgram.numeric.kmeans import kmeans
from latentgram.parallel import Engine, within

NODES_PER_STATE = 8
"""A symbol gets at most one state for so many of its nodes."""


def learn_clusters(treebank: Treebank[Tree], learner: ClusteringLPCFG, context: Context) -> LPCFG:
    """The recipe."""
    data = GrammarData.of(treebank, learner, context.engine)
    views = project(data, ViewSettings.under(learner, learner.dimensions, learner.features), context)
    learned = climb(data, cluster(data, views, learner.states, learner.seed, context.engine), learner, context)
    learned = dataclasses.replace(learned, spectra=spectra_by_name(data, views))
    return with_closing(learned, treebank, context.engine)


def states_by_count(data: GrammarData, states: int) -> Ints32:
    """How many states each symbol gets."""
    return np.clip(data.derivations.symbol_count // NODES_PER_STATE, 1, states).astype(np.int32)


def cluster(
    data: GrammarData, views: NodeViews, states: int, seed: int, engine: Engine
) -> tuple[Ints32, StateCounts]:
    """Hard states by k-means of the views, one symbol after the other, and their counts."""
    d = data.derivations
    label = np.zeros(len(d.symbol), np.int64)
    wanted, used = states_by_count(data, states), np.ones(d.symbols, np.int32)
    order, begin = d.by_symbol

    def divide(symbol: int) -> None:
        nodes, rank = order[begin[symbol] : begin[symbol + 1]], int(views.states[symbol])
        points = np.column_stack(
            (
                _unit(np.take(views.inside, nodes, axis=0)[:, :rank]),
                # Z = Σ⁻¹Vᵀψ magnifies the weakest directions; the distance is taken on Vᵀψ.
                _unit(np.take(views.outside, nodes, axis=0)[:, :rank] * views.spectra[symbol]),
            )
        )
        random = np.random.default_rng((seed, symbol))
        label[nodes] = kmeans(points, np.ones(len(points)), int(wanted[symbol]), random, rounds=20)
        used[symbol] = label[nodes].max() + 1

    # The largest first, so that no thread is left alone with one at the end.
    largest_first = np.argsort(-np.diff(begin), kind="stable")
    for _ in within(engine).map(divide, largest_first[wanted[largest_first] > 1].tolist()):
        pass
    return used, labelled_counts(d, used, label)


def _unit(rows: Floats) -> Floats:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, length, out=np.zeros_like(rows), where=length > 0), np.float64)


def labelled_counts(derivations: Derivations, states: Ints32, label: Ints) -> StateCounts:
    """The counts when the state of every node is known."""
    d = derivations
    offset = Layout.of(d.rules, d.lexicon, states)
    inner = np.flatnonzero(d.rule >= 0)
    used = d.rule[inner]
    middle, right = states[d.rules[used, 1]].astype(np.int64), states[d.rules[used, 2]].astype(np.int64)
    place = (label[inner] * middle + label[d.left[inner]]) * right + label[d.right[inner]]
    root = np.zeros((d.symbols, int(states.max())))
    np.add.at(root, (d.symbol[d.root], label[d.root]), 1.0)
    return StateCounts(
        np.bincount(offset.rules[used] + place, minlength=offset.rules[-1]).astype(np.float64),
        np.bincount(offset.lexicon[d.entry[d.leaf]] + label[d.leaf], minlength=offset.lexicon[-1]).astype(
            np.float64
        ),
        root,
    )
