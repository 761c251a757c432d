"""Views of the nodes of trees: what a node looks like from inside and from outside, in a few coordinates.

Features φ of inside trees and ψ of outside trees (features.py) are scaled by their frequency (`whitening`). φ (d
features) and ψ (d' features) are independent given a hidden state of m values, so for each symbol a Ω^a = E[φ ψᵀ]
has rank m, and with its decomposition U Σ Vᵀ

    Y = Uᵀ φ,    Z = Σ⁻¹ Vᵀ ψ,    E[Y Zᵀ] = I

are coordinates of the state seen from inside and from outside (Cohen et al. 2013, §2.2.1).

With `noise` σ each feature of each node is dropped with that probability, or multiplied by 1 + ε with a Gaussian
ε of deviation σ (Narayan and Cohen 2015): grammars of different seeds then make different mistakes, and parse
better together than each of them.

Cost, for N nodes and F features per view: N·F² for Ω, and one truncated decomposition per symbol.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse

from latentgram.arrays import Floats, Integers, Ints32
from latentgram.errors import SettingError
from latentgram.kinds.kind import Context
from latentgram.kinds.word_space import ClusterSpace, checked
from latentgram.lpcfg.features import (
    CLUSTERS,
    FEATURE_SETS,
    INSIDE,
    OUTSIDE,
    Feature,
    Nodes,
    View,
    cluster_features,
    disturbed,
    dropped,
    view,
    word_groups,
)
from latentgram.lpcfg.kernels import moments
from latentgram.lpcfg.settings import Noisy, SpectralLPCFG
from latentgram.lpcfg.statistics import GrammarData
from latentgram.numeric.svd import DENSE_CELLS, truncated_svd
from latentgram.parallel import Engine, for_each, within


@dataclass(frozen=True)
class ViewSettings:
    """What the views of nodes depend on: the features, their scaling, and the bounds on the number of states."""

    states: int
    features: str = "paper"
    scaling: float = 5.0
    growth: float = 1.0
    cutoff: float = 0.0
    vectors: ClusterSpace | None = None
    noise: float = 0.0
    seed: int = 0
    """Of the noise."""
    noise_kind: str = "dropout"

    @classmethod
    def of(cls, settings: SpectralLPCFG) -> ViewSettings:
        """Those of a spectral learner."""
        made = cls.under(settings, settings.states, settings.features)
        return replace(made, growth=settings.growth, cutoff=settings.cutoff)

    @classmethod
    def under(cls, settings: Noisy, dimensions: int, features: str) -> ViewSettings:
        """Views of so many dimensions, scaled and disturbed as a learner says."""
        shared = {name: vars(settings)[name] for name in ("scaling", "vectors", "noise", "seed", "noise_kind")}
        return cls(dimensions, features, **shared)


@dataclass(frozen=True, eq=False)
class NodeViews:
    """`inside` Y and `outside` Z [nodes, m], the `states` [symbols] used, and each symbol's spectrum."""

    inside: Floats
    outside: Floats
    states: Ints32
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
class NodeFeatures:
    """The features of the nodes of one symbol, how many there are, and what their weights depend on."""

    inside: Ints32
    outside: Ints32
    widths: tuple[int, int]
    examples: int
    scaling: float
    dropped: bool = False
    """Whether the last feature of each side stands for those that noise dropped."""
    values: tuple[Floats, Floats] | None = None
    """What noise made of the features of each side, which else are 1."""


@dataclass(frozen=True)
class CrossMoment:
    """Ω of weighted features, and their weights."""

    cross: Floats | scipy.sparse.csr_array | scipy.sparse.csc_array
    inside_weight: Floats
    outside_weight: Floats


@dataclass(frozen=True)
class _Job:
    """The features of the nodes of one symbol, and what bounds its states."""

    features: NodeFeatures
    rank: int
    cutoff: float


@dataclass(frozen=True)
class TwoViews:
    """`inside_map` U [d, r], `outside_map` V Σ⁻¹ [d', r] and the `spectrum` [r]."""

    inside_map: Floats
    outside_map: Floats
    spectrum: Floats


def feature_views(data: GrammarData, settings: ViewSettings, engine: Engine) -> tuple[View, View]:
    """φ and ψ of all nodes."""
    if settings.features not in FEATURE_SETS:
        raise SettingError(f"there is no feature set {settings.features!r}; known: {', '.join(FEATURE_SETS)}")
    nodes, threads = Nodes(data.derivations, data.head), within(engine)
    added: tuple[dict[str, Feature], dict[str, Feature]] = ({}, {})
    if settings.vectors is not None:
        clusters = checked(settings.vectors).clusters(CLUSTERS)
        added = cluster_features(word_groups(clusters, data.vocabulary, data.word))
    inside, outside = (
        view(nodes, (*names, *more), {**table, **more}, threads)
        for names, table, more in zip(FEATURE_SETS[settings.features], (INSIDE, OUTSIDE), added, strict=True)
    )
    if settings.noise == 0.0:
        return inside, outside
    random = np.random.default_rng(settings.seed)
    if settings.noise_kind == "gaussian":
        return disturbed(inside, settings.noise, random), disturbed(outside, settings.noise, random)
    inside = dropped(inside, nodes.symbol, settings.noise, random)
    return inside, dropped(outside, nodes.symbol, settings.noise, random)


def features_of(
    symbol: int, data: GrammarData, settings: ViewSettings, inside: View, outside: View
) -> NodeFeatures:
    """The features of the nodes of a symbol."""
    order, begin = data.derivations.by_symbol
    nodes = order[begin[symbol] : begin[symbol + 1]]
    return NodeFeatures(
        np.take(inside.column, nodes, axis=0),
        np.take(outside.column, nodes, axis=0),
        (int(inside.width[symbol]), int(outside.width[symbol])),
        examples=len(data.derivations) + 1,
        scaling=settings.scaling,
        dropped=settings.noise > 0.0 and settings.noise_kind == "dropout",
        values=None
        if inside.value is None or outside.value is None
        else (inside.value[nodes], outside.value[nodes]),
    )


def project(data: GrammarData, settings: ViewSettings, context: Context) -> NodeViews:
    """The views of all nodes; symbols are independent, so they are mapped over the engine."""
    inside, outside = feature_views(data, settings, context.engine)

    def job(symbol: int) -> _Job:
        features = features_of(symbol, data, settings, inside, outside)
        rank = max(1, min(settings.states, int(len(features.inside) / settings.growth)))
        return _Job(features, rank, settings.cutoff)

    d = data.derivations
    order, begin = d.by_symbol
    y, z = np.zeros((len(d.symbol), settings.states)), np.zeros((len(d.symbol), settings.states))
    spectra = [np.zeros(0)] * d.symbols

    def keep(symbol: int, maps: TwoViews) -> None:
        nodes = order[begin[symbol] : begin[symbol + 1]]
        spectra[symbol] = maps.spectrum
        for side, image, rows in ((inside, maps.inside_map, y), (outside, maps.outside_map, z)):
            if side.value is None:
                moments.project_rows(side.column, nodes, image, rows)
            else:
                features = _sparse(side.column[nodes], side.value[nodes], len(image))
                rows[nodes, : image.shape[1]] = features @ image

    # The largest first, so that no worker is left alone with one at the end.
    largest_first = np.argsort(-np.diff(begin), kind="stable").tolist()
    for done, _ in enumerate(for_each(context.engine, job, _maps_of_symbol, keep, largest_first), 1):
        context.progress.step("views", done, d.symbols)
    states = np.array([len(spectrum) for spectrum in spectra], np.int32)
    return NodeViews(y, z, states, tuple(spectra))


def _maps_of_symbol(job: _Job) -> TwoViews:
    """The maps from the features of one symbol to its views, and its spectrum."""
    views = decompose(cross_moment(job.features), job.rank)
    if not views.spectrum.size:
        raise SettingError("the chosen features are not informative for some symbol: choose another set")
    rank = int(np.sum(views.spectrum >= job.cutoff * views.spectrum[0]))
    return TwoViews(
        np.ascontiguousarray(views.inside_map[:, :rank]),
        np.ascontiguousarray(views.outside_map[:, :rank]),
        views.spectrum[:rank],
    )


def cross_moment(features: NodeFeatures) -> CrossMoment:
    """Ω of the nodes of one symbol, each feature scaled."""
    weights = [
        whitening(np.bincount(part.ravel(), minlength=width), features.examples, features.scaling)
        for part, width in zip((features.inside, features.outside), features.widths, strict=True)
    ]
    if features.dropped:
        for weight in weights:
            weight[-1] = 0.0
    if features.values is None:
        return weighted_moment(features.inside, features.outside, *weights)
    sides = zip((features.inside, features.outside), features.values, weights, strict=True)
    phi, psi = (_sparse(column, value * weight[column], len(weight)) for column, value, weight in sides)
    cross = scipy.sparse.csr_array(phi.T @ psi / len(features.inside))
    dense = cross.shape[0] * cross.shape[1] <= DENSE_CELLS
    return CrossMoment(cross.toarray() if dense else cross, *weights)


def _sparse(column: Ints32, value: Floats, width: int) -> scipy.sparse.csr_array:
    """[N, width] examples that have the features `column` [N, F] with these values."""
    number, count = column.shape
    return scipy.sparse.csr_array(
        (value.ravel(), column.ravel(), np.arange(0, number * count + 1, count)), (number, width)
    )


def whitening(counts: Integers, examples: int, smoothing: float) -> Floats:
    """The weight of each indicator feature from how often it is seen (Cohen et al. 2013, §3.1).

    Canonical correlation whitens both views, φ → C^(-1/2) φ. Of the covariance C of indicators only the diagonal
    is kept, which is each feature's frequency: feature i seen count(i) times in M examples is multiplied by
    sqrt(M / (count(i) + κ)), where κ keeps rare features from ruling.

    >>> whitening(np.array([4, 20]), examples=100, smoothing=5)
    array([3.33333333, 2. ])
    """
    return np.sqrt(examples / (counts + smoothing))


def weighted_moment(inside: Ints32, outside: Ints32, inside_weight: Floats, outside_weight: Floats) -> CrossMoment:
    """Ω of examples of which each has a few features: rows of their numbers, [N, F] and [N, G].

    Features are multiplied by weights [d] and [d'].
    """
    shape = len(inside_weight), len(outside_weight)
    cross: Floats | scipy.sparse.csr_array | scipy.sparse.csc_array
    if shape[0] * shape[1] <= DENSE_CELLS:
        cross = moments.dense_cross(inside, outside, inside_weight, outside_weight)
    elif shape[0] >= shape[1]:
        pointers, columns, values = moments.sparse_cross(inside, outside, inside_weight, outside_weight)
        cross = scipy.sparse.csr_array((values, columns, pointers), shape)
    else:
        pointers, columns, values = moments.sparse_cross(outside, inside, outside_weight, inside_weight)
        cross = scipy.sparse.csc_array((values, columns, pointers), shape)
    return CrossMoment(cross, inside_weight, outside_weight)


def decompose(moment: CrossMoment, rank: int) -> TwoViews:
    """The maps from features to views; their rows are weighted, so that Y is the sum of the rows of an example's
    features (`project_rows`).

    >>> inside = np.array([[0], [0], [1]], np.int32)
    >>> views = decompose(weighted_moment(inside, inside, np.ones(2), np.ones(2)), rank=2)
    >>> views.spectrum
    array([0.66666667, 0.33333333])
    >>> views.inside_map[inside[:, 0]].T @ views.outside_map[inside[:, 0]] / 3
    array([[1., 0.], [0., 1.]])
    """
    svd = truncated_svd(moment.cross, rank)
    return TwoViews(
        moment.inside_weight[:, None] * svd.left,
        moment.outside_weight[:, None] * (svd.right / svd.values),
        svd.values,
    )
