"""Spectral learning of latent-variable PCFGs (003 §7–8, 004 §2.2 and §3).

1. Features φ of inside trees and ψ of outside trees, scaled (statistics/features.py, numeric/scaling.py).
2. For each symbol a the decomposition of Ω^a = E[φ ψᵀ], and with it the views Y = Uᵀφ and Z = Σ⁻¹Vᵀψ of every
   node (views.py).
3. Moments over **all nodes of all trees** (003's one node a tree would make inside and outside dependent),
   smoothed by back-off (kernels/moments.py):

       t(a→b c) = count(a→b c)/count(a) · E[Z ⊗ Y_b ⊗ Y_c | a→b c],   π(a) = E[Y of the root, root = a]

4. The lexicon from Z at the leaves (grammar_lexicon.py).

The number of states is fixed, or bounded for each symbol by its spectrum (`cutoff`) or its number of nodes
(`growth`), or searched on held-out trees (state_search.py). Cost, for N nodes, F features a view and m states:
N·F² for Ω, one truncated decomposition a symbol, N·m³ for the moments at the speed of matrix products. No
iteration, no local optima.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import SettingError
from latentgram.kinds.kind import Context
from latentgram.lpcfg.kernels.moments import view_moments
from latentgram.lpcfg.layout import rule_layout
from latentgram.lpcfg.lexicon import LexiconPlan
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.parts import assemble, back_off_weight, nodes_by_rule, symbol_means
from latentgram.lpcfg.settings import SpectralLPCFG
from latentgram.lpcfg.state_search import search_states
from latentgram.lpcfg.statistics.data import GrammarData
from latentgram.lpcfg.statistics.features import FEATURE_SETS, INSIDE, OUTSIDE, view
from latentgram.lpcfg.views import TwoViews, join_views
from latentgram.numeric.scaling import whitening
from latentgram.numeric.sparse import project_rows
from latentgram.parallel import Engine, InProcess, beside, for_each, run_pieces, within

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NodeViews:
    """`inside` Y and `outside` Z [nodes, m], the `states` [symbols] used, and each symbol's spectrum."""

    inside: Floats
    outside: Floats
    states: NDArray[np.int32]
    spectra: tuple[Floats, ...]

    def truncated(self, dimensions: int) -> NodeViews:
        """The leading dimensions."""
        return NodeViews(
            np.ascontiguousarray(self.inside[:, :dimensions]),
            np.ascontiguousarray(self.outside[:, :dimensions]),
            np.minimum(self.states, dimensions).astype(np.int32),
            tuple(spectrum[:dimensions] for spectrum in self.spectra),
        )


def spectra_by_name(data: GrammarData, views: NodeViews) -> dict[str, tuple[float, ...]]:
    """The singular values of each symbol under its name."""
    names = (*data.derivations.interminals, *data.derivations.preterminals)
    return {name: tuple(values.tolist()) for name, values in zip(names, views.spectra, strict=True)}


def learn_spectral(treebank: Treebank[Tree], learner: SpectralLPCFG, context: Context) -> LPCFG:
    """The recipe."""
    if learner.search and context.dev_score is None:
        raise SettingError("a search for the number of states needs held-out trees to score candidates on")
    data = GrammarData.of(treebank, learner, context.engine)
    lexicon = beside(context.engine, lambda: LexiconPlan.of(data, learner.pull))
    views = project(data, ViewSettings.of(learner), context)
    grammar = spectral_grammar(data, views, learner.backoff, learner.pull, context.engine, lexicon())
    if not learner.search or context.dev_score is None:
        return grammar
    found, trace = search_states(grammar, context.dev_score, learner.search, progress=context.progress)
    return dataclasses.replace(found, provenance=dataclasses.replace(found.provenance, trace=trace))


@dataclass(frozen=True)
class ViewSettings:
    """What the views of nodes depend on: the features, their scaling, and the bounds on the number of states."""

    states: int
    features: str = "paper"
    scaling: float = 5.0
    growth: float = 1.0
    cutoff: float = 0.0

    @classmethod
    def of(cls, settings: SpectralLPCFG) -> ViewSettings:
        """Those of a spectral learner."""
        return cls(settings.states, settings.features, settings.scaling, settings.growth, settings.cutoff)


@dataclass(frozen=True)
class _Job:
    """The features of the nodes of one symbol, how many there are, and what to do with them."""

    inside: NDArray[np.int32]
    outside: NDArray[np.int32]
    widths: tuple[int, int]
    rank: int
    cutoff: float
    examples: int
    scaling: float


def project(data: GrammarData, settings: ViewSettings, context: Context) -> NodeViews:
    """The views of all nodes; symbols are independent, so they are mapped over the engine."""
    d = data.derivations
    if settings.features not in FEATURE_SETS:
        raise SettingError(f"there is no feature set {settings.features!r}; there are {', '.join(FEATURE_SETS)}")
    inside_names, outside_names = FEATURE_SETS[settings.features]
    threads = within(context.engine)
    inside, outside = (
        view(data.nodes, inside_names, INSIDE, threads.map),
        view(data.nodes, outside_names, OUTSIDE, threads.map),
    )
    order = np.argsort(d.symbol, kind="stable")
    begin = np.searchsorted(d.symbol[order], np.arange(d.symbols + 1))

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

    def keep(symbol: int, found: TwoViews) -> None:
        nodes = order[begin[symbol] : begin[symbol + 1]]
        spectra[symbol] = found.spectrum
        project_rows(inside.column, nodes, found.inside_map, y)
        project_rows(outside.column, nodes, found.outside_map, z)

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
    views = views.truncated(int(np.sum(views.spectrum >= job.cutoff * views.spectrum[0])))
    return TwoViews(
        *(np.ascontiguousarray(part) for part in (views.inside_map, views.outside_map, views.spectrum))
    )


def spectral_grammar(
    data: GrammarData,
    views: NodeViews,
    backoff: float,
    pull: float,
    engine: Engine | None = None,
    lexicon: LexiconPlan | None = None,
) -> LPCFG:
    """The grammar of the moments of the views; `lexicon` is its plan, if it is there already."""
    d, states = data.derivations, views.states
    order, group = nodes_by_rule(d)
    threads = within(engine or InProcess())
    mean_outside_view, mean_inside_view = threads.map(partial(symbol_means, d), (views.outside, views.inside))
    offset = rule_layout(d.rules, states)
    tensor, weight = np.empty(offset[-1]), back_off_weight(d.rule_count, backoff)
    share = d.rule_count / d.symbol_count[d.rules[:, 0]]

    def moments(first: int, last: int) -> None:
        view_moments(
            first, last, order, group, d.left, d.right, d.rules, states, offset, weight,
            views.outside, views.inside, mean_outside_view, mean_inside_view, tensor,
        )  # fmt: skip
        tensor[offset[first] : offset[last]] *= np.repeat(share[first:last], np.diff(offset[first : last + 1]))

    run_pieces(threads, moments, np.diff(offset) * (1 + np.diff(group)))
    root = np.zeros((d.symbols, views.inside.shape[1]))
    np.add.at(root, d.symbol[d.root], np.take(views.inside, d.root, axis=0) / len(d))
    lexicon = lexicon or LexiconPlan.of(data, pull)
    vector = lexicon.vectors(views.outside, data.leaf, engine)
    grammar = assemble(
        data, states, tensor, root, mean_outside_view, mean_inside_view, lexicon, vector, nonnegative=False
    )
    return dataclasses.replace(grammar, spectra=spectra_by_name(data, views))
