"""The settings of the recipes of `LPCFG`, `Ensemble`, `ChartCRF` and `Committee`, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from latentgram.kinds import fields
from latentgram.kinds.groups import Gradual, Iterated, Seeded
from latentgram.kinds.settings import Settings

if TYPE_CHECKING:
    from latentgram.data.text import Text
    from latentgram.kinds.word_space import ClusterSpace


@dataclass(frozen=True, repr=False)
class Trees(Settings):
    """How a treebank becomes binary trees over known words."""

    direction: Literal["left", "right", "head"] = fields.DIRECTION("left")
    horizontal: int = fields.HORIZONTAL(0)
    vertical: int = fields.VERTICAL(1)
    rare: int = fields.RARE(5)
    heads: Literal["learned", "collins", "english"] = fields.HEADS("learned")


@dataclass(frozen=True, repr=False)
class CountingLPCFG(Trees):
    """A PCFG: relative frequencies."""

    pull: float = fields.PULL(100.0)


@dataclass(frozen=True, repr=False)
class Latent(Trees, horizontal=1):
    """What grammars with hidden states share."""

    states: int = fields.STATES(16)
    vectors: ClusterSpace | None = fields.VECTORS_OR_CLUSTERS(None)
    backoff: float = fields.BACKOFF(10.0)
    pull: float = fields.PULL(5.0)
    scaling: float = fields.SCALING(5.0)


@dataclass(frozen=True, repr=False)
class Noisy(Latent, Seeded):
    """Noise on the features of nodes, by which grammars of different seeds differ."""

    noise: float = fields.NOISE(0.0)
    noise_kind: Literal["dropout", "gaussian"] = fields.NOISE_KIND("dropout")


@dataclass(frozen=True, repr=False)
class SpectralLPCFG(Noisy, backoff=20.0):
    """Cohen et al. 2012, 2013."""

    features: str = fields.FEATURES("paper")
    cutoff: float = fields.CUTOFF(0.0)
    growth: float = fields.GROWTH(1.0)
    search: int = fields.SEARCH(0)
    lexicon: Literal["forms", "printed"] = fields.LEXICON("forms")
    lexical_share: float = fields.LEXICAL_SHARE(0.6)
    lexical_cutoff: int = fields.LEXICAL_CUTOFF(5)
    rank: int = fields.RANK(0)


@dataclass(frozen=True, repr=False)
class EMLPCFG(Latent, Iterated, iterations=20):
    """EM over observed trees."""

    features: str = fields.FEATURES("paper")
    start: Literal["random", "spectral", "clusters"] = fields.START("random")


@dataclass(frozen=True, repr=False)
class Clustered(Latent):
    """Clusters of spectral views, then a few steps of EM."""

    iterations: int = fields.STEPS_AFTER(6)


@dataclass(frozen=True, repr=False)
class ClusteringLPCFG(Clustered, Noisy):
    """A clustered grammar."""

    features: str = fields.FEATURES("paper")
    dimensions: int = fields.DIMENSIONS(8)


@dataclass(frozen=True, repr=False)
class CombiningEnsemble(Clustered, Noisy):
    """Several of them."""

    members: int = fields.MEMBERS(5)


@dataclass(frozen=True, repr=False)
class GradientChartCRF(Clustered, Gradual, passes=6, step=0.015):
    """A conditional random field over charts of clustered grammars."""

    members: int = fields.MEMBERS(1)
    folds: int = fields.FOLDS(5)
    margin: float = fields.MARGIN(0.3)
    bits: int | Literal["auto"] = fields.LAYER_BITS("auto")
    tagger_up_to: int = fields.TAGGER_UP_TO(20_000)
    text: Text | None = fields.RAW_TEXT(None)


@dataclass(frozen=True, repr=False)
class GradientCommittee(GradientChartCRF):
    """Several of them, over grammars of different binarisations and seeds."""

    layers: int = fields.LAYERS(3)
