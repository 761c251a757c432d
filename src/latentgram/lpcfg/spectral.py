"""Spectral learning of latent-variable PCFGs (Cohen et al. 2012, §7–8; Cohen et al. 2013, §2.2 and §3).

1. Features φ of inside trees and ψ of outside trees (features.py), scaled by their frequency (`whitening`).
2. For each symbol a the views of every node. φ (d features) and ψ (d' features) are independent given a hidden
   state of m values, so Ω^a = E[φ ψᵀ] has rank m, and with its decomposition U Σ Vᵀ

       Y = Uᵀ φ,    Z = Σ⁻¹ Vᵀ ψ,    E[Y Zᵀ] = I

   are coordinates of the state seen from inside and from outside (Cohen et al. 2013, §2.2.1).
3. Moments over **all nodes of all trees** (one node per tree, as in Cohen et al. 2012, would make inside and
   outside dependent), smoothed by back-off (kernels/moments.py):

       t(a→b c) = count(a→b c)/count(a) · E[Z ⊗ Y_b ⊗ Y_c | a→b c],   π(a) = E[Y of the root, root = a]

4. The lexicon from Z at the leaves (lexicon.py).

The number of states is fixed, or bounded for each symbol by its spectrum (`cutoff`) or its number of nodes
(`growth`), or searched on held-out trees (`search_states`). Cost, for N nodes, F features per view and m states:
N·F² for Ω, one truncated decomposition per symbol, N·m³ for the moments at the speed of matrix products. No
iteration, no local optima.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import SettingError
from latentgram.kinds.kind import Context
from latentgram.kinds.word_space import WordSpace, checked
from latentgram.lpcfg.features import (
    CLUSTERS,
    FEATURE_SETS,
    INSIDE,
    OUTSIDE,
    Feature,
    Nodes,
    cluster_features,
    view,
    word_groups,
)
from latentgram.lpcfg.kernels import moments
from latentgram.lpcfg.lexicon import Lexicon, LexiconPlan, assemble
from latentgram.lpcfg.model import LPCFG, rule_layout, truncated
from latentgram.lpcfg.printed_lexicon import PrintedLexicon
from latentgram.lpcfg.settings import SpectralLPCFG
from latentgram.lpcfg.statistics import GrammarData, sums_by
from latentgram.numeric.svd import DENSE_CELLS, truncated_svd
from latentgram.parallel.local import Engine
from latentgram.parallel.threads import beside, for_each, run_pieces, within
from latentgram.progress import Progress

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


def learn_spectral(treebank: Treebank[Tree], learner: SpectralLPCFG, context: Context) -> LPCFG:
    """The recipe."""
    if learner.search and context.dev_score is None:
        raise SettingError("a search for the number of states needs held-out trees to score candidates on")
    data = GrammarData.of(treebank, learner, context.engine)
    lexicon = beside(context.engine, lambda: lexicon_of(data, learner))
    views = project(data, ViewSettings.of(learner), context)
    grammar = spectral_grammar(data, views, learner.backoff, lexicon(), context.engine)
    if not learner.search or context.dev_score is None:
        return grammar
    best, trace = search_states(grammar, context.dev_score, learner.search, context.progress)
    return dataclasses.replace(best, provenance=dataclasses.replace(best.provenance, trace=trace))


def lexicon_of(data: GrammarData, learner: SpectralLPCFG) -> Lexicon:
    """The lexicon that is asked for."""
    if learner.lexicon == "printed":
        return PrintedLexicon(data, learner.lexical_share, learner.lexical_cutoff)
    return LexiconPlan.of(data, learner.pull)


@dataclass(frozen=True)
class ViewSettings:
    """What the views of nodes depend on: the features, their scaling, and the bounds on the number of states."""

    states: int
    features: str = "paper"
    scaling: float = 5.0
    growth: float = 1.0
    cutoff: float = 0.0
    vectors: WordSpace | None = None

    @classmethod
    def of(cls, settings: SpectralLPCFG) -> ViewSettings:
        """Those of a spectral learner."""
        return cls(
            settings.states,
            settings.features,
            settings.scaling,
            settings.growth,
            settings.cutoff,
            settings.vectors,
        )


@dataclass(frozen=True, eq=False)
class NodeViews:
    """`inside` Y and `outside` Z [nodes, m], the `states` [symbols] used, and each symbol's spectrum."""

    inside: Floats
    outside: Floats
    states: Ints
    spectra: tuple[Floats, ...]

    def truncated(self, dimensions: int) -> NodeViews:
        """The leading dimensions."""
        return NodeViews(
            np.ascontiguousarray(self.inside[:, :dimensions]),
            np.ascontiguousarray(self.outside[:, :dimensions]),
            np.minimum(self.states, dimensions).astype(np.int32),
            tuple(spectrum[:dimensions] for spectrum in self.spectra),
        )


@dataclass(frozen=True)
class _Job:
    """The features of the nodes of one symbol, how many there are, and what to do with them."""

    inside: Ints
    outside: Ints
    widths: tuple[int, int]
    rank: int
    cutoff: float
    examples: int
    scaling: float


@dataclass(frozen=True)
class TwoViews:
    """`inside_map` U [d, r], `outside_map` V Σ⁻¹ [d', r] and the `spectrum` [r]."""

    inside_map: Floats
    outside_map: Floats
    spectrum: Floats


def project(data: GrammarData, settings: ViewSettings, context: Context) -> NodeViews:
    """The views of all nodes; symbols are independent, so they are mapped over the engine."""
    d = data.derivations
    if settings.features not in FEATURE_SETS:
        raise SettingError(f"there is no feature set {settings.features!r}; there are {', '.join(FEATURE_SETS)}")
    nodes, threads = Nodes(d, data.head), within(context.engine)
    space = checked(settings.vectors)
    added: tuple[dict[str, Feature], dict[str, Feature]] = ({}, {})
    if space is not None:
        added = cluster_features(word_groups(space.clusters(CLUSTERS), data.vocabulary, data.word))
    inside, outside = (
        view(nodes, (*names, *more), {**table, **more}, threads)
        for names, table, more in zip(FEATURE_SETS[settings.features], (INSIDE, OUTSIDE), added, strict=True)
    )
    order, begin = d.by_symbol

    def job(symbol: int) -> _Job:
        nodes = order[begin[symbol] : begin[symbol + 1]]
        return _Job(
            np.take(inside.column, nodes, axis=0),
            np.take(outside.column, nodes, axis=0),
            (int(inside.width[symbol]), int(outside.width[symbol])),
            rank=max(1, min(settings.states, int(len(nodes) / settings.growth))),
            cutoff=settings.cutoff,
            examples=len(d) + 1,
            scaling=settings.scaling,
        )

    y, z = np.zeros((len(d.symbol), settings.states)), np.zeros((len(d.symbol), settings.states))
    spectra = [np.zeros(0)] * d.symbols

    def keep(symbol: int, maps: TwoViews) -> None:
        nodes = order[begin[symbol] : begin[symbol + 1]]
        spectra[symbol] = maps.spectrum
        moments.project_rows(inside.column, nodes, maps.inside_map, y)
        moments.project_rows(outside.column, nodes, maps.outside_map, z)

    # The largest first, so that no worker is left alone with one at the end.
    largest_first = np.argsort(-np.diff(begin), kind="stable").tolist()
    for done, _ in enumerate(for_each(context.engine, job, _maps_of_symbol, keep, largest_first), 1):
        context.progress.step("views", done, d.symbols)
    states = np.array([len(spectrum) for spectrum in spectra], np.int32)
    return NodeViews(y, z, states, tuple(spectra))


def _maps_of_symbol(job: _Job) -> TwoViews:
    """The maps from the features of one symbol to its views, and its spectrum."""
    inside_weight, outside_weight = (
        whitening(np.bincount(part.ravel(), minlength=width), job.examples, job.scaling)
        for part, width in zip((job.inside, job.outside), job.widths, strict=True)
    )
    views = join_views(job.inside, job.outside, inside_weight, outside_weight, job.rank)
    if not views.spectrum.size:
        raise SettingError("the features chosen say nothing about some symbol: choose another set")
    rank = int(np.sum(views.spectrum >= job.cutoff * views.spectrum[0]))
    return TwoViews(
        np.ascontiguousarray(views.inside_map[:, :rank]),
        np.ascontiguousarray(views.outside_map[:, :rank]),
        views.spectrum[:rank],
    )


def whitening(counts: NDArray[np.integer], examples: int, smoothing: float) -> Floats:
    """The weight of each indicator feature from how often it is seen (Cohen et al. 2013, §3.1).

    Canonical correlation whitens both views, φ → C^(-1/2) φ. Of the covariance C of indicators only the diagonal
    is kept, which is each feature's frequency: feature i seen count(i) times in M examples is multiplied by
    sqrt(M / (count(i) + κ)), where κ keeps rare features from ruling.

    >>> whitening(np.array([4, 20]), examples=100, smoothing=5)
    array([3.33333333, 2. ])
    """
    return np.sqrt(examples / (counts + smoothing))


def join_views(inside: Ints, outside: Ints, inside_weight: Floats, outside_weight: Floats, rank: int) -> TwoViews:
    """Learn the maps from examples of which each has a few features: rows of their numbers, [N, F] and [N, G].

    Features are multiplied by weights [d] and [d'], and so are the rows of the maps: Y is the sum of the rows of
    an example's features (`project_rows`). Compiled, but for what LAPACK does.

    >>> inside = np.array([[0], [0], [1]], np.int32)
    >>> views = join_views(inside, inside, np.ones(2), np.ones(2), rank=2)
    >>> views.spectrum
    array([0.66666667, 0.33333333])
    >>> views.inside_map[inside[:, 0]].T @ views.outside_map[inside[:, 0]] / 3
    array([[1., 0.], [0., 1.]])
    """
    shape = len(inside_weight), len(outside_weight)
    if shape[0] * shape[1] <= DENSE_CELLS:
        svd = truncated_svd(moments.dense_cross(inside, outside, inside_weight, outside_weight), rank)
    elif shape[0] >= shape[1]:
        pointers, columns, values = moments.sparse_cross(inside, outside, inside_weight, outside_weight)
        svd = truncated_svd(scipy.sparse.csr_array((values, columns, pointers), shape), rank)
    else:
        pointers, columns, values = moments.sparse_cross(outside, inside, outside_weight, inside_weight)
        svd = truncated_svd(scipy.sparse.csc_array((values, columns, pointers), shape), rank)
    return TwoViews(
        inside_weight[:, None] * svd.left, outside_weight[:, None] * (svd.right / svd.values), svd.values
    )


def spectral_grammar(
    data: GrammarData, views: NodeViews, backoff: float, lexicon: Lexicon, engine: Engine
) -> LPCFG:
    """The grammar of the moments of the views."""
    d, states, threads = data.derivations, views.states, within(engine)

    def means(rows: Floats) -> Floats:
        """The mean of the nodes' rows for each symbol: [symbols, m]."""
        return np.asarray(sums_by(d.symbol, rows, d.symbols) / d.symbol_count[:, None], np.float64)

    mean_outside_view, mean_inside_view = threads.map(means, (views.outside, views.inside))
    rules = moments.Rules(d.rules, states, rule_layout(d.rules, states))
    nodes = moments.RuleNodes(*d.by_rule, d.left, d.right)
    both = moments.Views(views.outside, views.inside, mean_outside_view, mean_inside_view)
    offset, weight = rules.offset, moments.back_off_weight(d.rule_count, backoff)
    tensor, share = np.empty(offset[-1]), d.rule_count / d.symbol_count[d.rules[:, 0]]

    def work(first: int, last: int) -> None:
        moments.view_moments(first, last, rules, nodes, both, weight, tensor)
        tensor[offset[first] : offset[last]] *= np.repeat(share[first:last], np.diff(offset[first : last + 1]))

    run_pieces(threads, work, np.diff(offset) * (1 + np.diff(nodes.group)))
    root = np.zeros((d.symbols, views.inside.shape[1]))
    np.add.at(root, d.symbol[d.root], np.take(views.inside, d.root, axis=0) / len(d))
    vector = lexicon.vectors(views.outside, d.leaf, engine)
    grammar = assemble(
        data, states, tensor, root, mean_outside_view, mean_inside_view, lexicon, vector, nonnegative=False
    )
    return dataclasses.replace(grammar, spectra=spectra_by_name(data, views))


def spectra_by_name(data: GrammarData, views: NodeViews) -> dict[str, tuple[float, ...]]:
    """The singular values of each symbol under its name."""
    names = (*data.derivations.interminals, *data.derivations.preterminals)
    return {name: tuple(values.tolist()) for name, values in zip(names, views.spectra, strict=True)}


def search_states(
    grammar: LPCFG, score: Callable[[LPCFG], float], budget: int, progress: Progress
) -> tuple[LPCFG, tuple[dict[str, float], ...]]:
    """The best grammar among slices of `grammar` within `budget` scored candidates, and what was tried.

    Narayan and Cohen (2016) found that numbers of states chosen symbol by symbol on the accuracy of the whole
    parser beat any rule that looks at one symbol's spectrum. A spectral grammar with fewer states is a slice of
    one with more, so a candidate costs no learning, only a parse of the held-out trees. The search is greedy and
    begins at half of the most states that any symbol has: symbols come in the order of their frequency, each is
    tried at half and at twice its states (within what was learned), and a change that scores better is kept;
    rounds go on until the budget of candidates is spent or a round changes nothing.
    """
    most = grammar.states
    states = np.minimum(most, max(1, int(most.max()) // 2)).astype(np.int32)
    best = truncated(grammar, states)
    best_score = score(best)
    trace = [{"symbol": -1.0, "states": float(states.max()), "score": best_score}]
    order = np.argsort(-grammar.symbol_count, kind="stable")
    spent, changed = 1, True
    while changed and spent < budget:
        changed = False
        for symbol in order:
            for wanted in (states[symbol] // 2, states[symbol] * 2):
                few = int(np.clip(wanted, 1, most[symbol]))
                if few == states[symbol] or spent >= budget:
                    continue
                tried = states.copy()
                tried[symbol] = few
                candidate = truncated(grammar, tried)
                reached = score(candidate)
                spent += 1
                trace.append({"symbol": float(symbol), "states": float(few), "score": reached})
                if reached > best_score:
                    best, best_score, states, changed = candidate, reached, tried, True
                progress.step("states", spent, budget, score=best_score)
    return best, tuple(trace)
