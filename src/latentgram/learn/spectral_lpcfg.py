"""Spectral learning of latent-variable PCFGs (003 §7–8, 004 §2.2 and §3).

1. Features φ of inside trees and ψ of outside trees, scaled (stats/features.py, spectral/scaling.py).
2. For each symbol a the decomposition of Ω^a = E[φ ψᵀ], and with it the views Y = Uᵀφ and Z = Σ⁻¹Vᵀψ of every
   node (spectral/views.py).
3. Moments over **all nodes of all trees** (003's one node a tree would make inside and outside dependent),
   smoothed by back-off (dp/rule_moments.py):

       t(a→b c) = count(a→b c)/count(a) · E[Z ⊗ Y_b ⊗ Y_c | a→b c],   π(a) = E[Y of the root, root = a]

4. The lexicon from Z at the leaves (grammar_lexicon.py).

Since moments are taken coordinate by coordinate, a grammar with fewer states is a slice of one with more
(`truncated`). Cost, for N nodes, F features a view and m states: N·F² for Ω, one truncated decomposition a
symbol, N·m³ for the moments at the speed of matrix products. No iteration, no local optima.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.dp.rule_moments import view_moments
from latentgram.errors import SettingError
from latentgram.learn.grammar_data import GrammarData
from latentgram.learn.grammar_parts import (
    assemble,
    back_off_weight,
    layout,
    nodes_by_rule,
    rule_layout,
    symbol_means,
)
from latentgram.learn.learners import Spectral
from latentgram.learn.recipes import Context
from latentgram.models.lpcfg import LPCFG
from latentgram.spectral.scaling import scale_columns, whitening
from latentgram.spectral.svd import one_thread
from latentgram.spectral.views import TwoViews, join_views
from latentgram.stats.features import FEATURE_SETS, INSIDE, OUTSIDE, view

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


def learn_spectral(treebank: Treebank[Tree], learner: Spectral, context: Context) -> LPCFG:
    """The recipe."""
    data = GrammarData.of(treebank, learner)
    views = project(data, learner, context)
    return spectral_grammar(data, views, learner.backoff or 0.0, learner.pull or 0.0)


def project(data: GrammarData, learner: Any, context: Context) -> NodeViews:
    """The views of all nodes; symbols are independent, so they are mapped over the engine."""
    d = data.derivations
    if learner.features not in FEATURE_SETS:
        raise SettingError(f"there is no feature set {learner.features!r}; there are {', '.join(FEATURE_SETS)}")
    inside_names, outside_names = FEATURE_SETS[learner.features]
    inside, outside = view(data.nodes, inside_names, INSIDE), view(data.nodes, outside_names, OUTSIDE)
    order = np.argsort(d.symbol, kind="stable")
    begin = np.searchsorted(d.symbol[order], np.arange(d.symbols + 1))

    def symbols() -> Iterator[tuple[Any, Any, int, int, float]]:
        for symbol in range(d.symbols):
            nodes = order[begin[symbol] : begin[symbol + 1]]
            rank = min(learner.states, len(nodes))
            examples = len(d) + 1
            yield inside.matrix(symbol, nodes), outside.matrix(symbol, nodes), rank, examples, learner.scaling

    y, z = np.zeros((len(d.symbol), learner.states)), np.zeros((len(d.symbol), learner.states))
    spectra = []
    for symbol, (inner, outer, spectrum) in enumerate(context.engine.map(_views_of_symbol, symbols())):
        nodes = order[begin[symbol] : begin[symbol + 1]]
        y[nodes, : len(spectrum)] = inner
        z[nodes, : len(spectrum)] = outer
        spectra.append(spectrum)
        context.progress.step("views", symbol + 1, d.symbols)
    states = np.array([len(spectrum) for spectrum in spectra], np.int32)
    return NodeViews(y, z, states, tuple(spectra))


def _views_of_symbol(job: tuple[Any, Any, int, int, float]) -> tuple[Floats, Floats, Floats]:
    """Y, Z and the spectrum of one symbol from its indicators."""
    inside, outside, rank, examples, smoothing = job
    phi, psi = (
        scale_columns(part, whitening(np.asarray(part.sum(0)).ravel(), examples, smoothing))
        for part in (inside, outside)
    )
    views: TwoViews = join_views(phi, psi, rank)
    if not views.spectrum.size:
        raise SettingError("the features chosen say nothing about some symbol: choose another set")
    return phi @ views.inside_map, psi @ views.outside_map, views.spectrum


def spectral_grammar(data: GrammarData, views: NodeViews, backoff: float, pull: float) -> LPCFG:
    """The grammar of the moments of the views."""
    d, states = data.derivations, views.states
    order, group = nodes_by_rule(d)
    mean_outside_view = symbol_means(d, views.outside)
    mean_inside_view = symbol_means(d, views.inside)
    offset = rule_layout(d.rules, states)
    with one_thread():
        tensor = view_moments(
            order,
            group,
            d.left,
            d.right,
            d.rules,
            states,
            offset,
            back_off_weight(d.rule_count, backoff),
            views.outside,
            views.inside,
            mean_outside_view,
            mean_inside_view,
        )
    tensor *= np.repeat(d.rule_count / d.symbol_count[d.rules[:, 0]], np.diff(offset))
    root = np.zeros((d.symbols, views.inside.shape[1]))
    np.add.at(root, d.symbol[d.root], views.inside[d.root] / len(d))
    return assemble(
        data,
        states,
        tensor,
        root,
        mean_outside_view,
        mean_inside_view,
        views.outside[data.leaf],
        pull=pull,
        nonnegative=False,
    )


def truncated(grammar: LPCFG, states: NDArray[np.integer]) -> LPCFG:
    """The spectral grammar that keeps only the leading `states[s]` coordinates of each symbol."""
    fewer = np.minimum(grammar.states, states).astype(np.int32)

    def cut(values: Floats, offset: NDArray[np.int64], symbols: NDArray[np.int32]) -> Floats:
        """The leading coordinates of pieces that belong to tuples of symbols [pieces, axes]."""
        within = np.arange(offset[-1]) - np.repeat(offset[:-1], np.diff(offset))
        piece = np.repeat(np.arange(len(symbols)), np.diff(offset))
        kept = np.ones(len(values), bool)
        for axis in range(symbols.shape[1] - 1, -1, -1):
            owner = symbols[piece, axis]
            within, coordinate = np.divmod(within, grammar.states[owner])
            kept &= coordinate < fewer[owner]
        return values[kept]

    everyone = np.arange(len(fewer), dtype=np.int32)[:, None]
    preterminal = grammar.lexicon[:, :1]
    return dataclasses.replace(
        grammar,
        states=fewer,
        rule_offset=rule_layout(grammar.rules, fewer),
        rule_tensor=cut(grammar.rule_tensor, grammar.rule_offset, grammar.rules),
        lexicon_offset=layout(fewer[preterminal[:, 0]]),
        lexicon_vector=cut(grammar.lexicon_vector, grammar.lexicon_offset, preterminal),
        root_offset=layout(fewer),
        root_vector=cut(grammar.root_vector, grammar.root_offset, everyone),
        mean_inside=cut(grammar.mean_inside, grammar.root_offset, everyone),
        mean_outside=cut(grammar.mean_outside, grammar.root_offset, everyone),
    )
