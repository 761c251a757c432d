"""The settings of the recipes of `LatentTree` and `WordVectors`, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from latentgram.kinds import fields
from latentgram.kinds.groups import STARTS, Iterated
from latentgram.kinds.learners import EM, Spectral
from latentgram.kinds.settings import Settings

if TYPE_CHECKING:
    from latentgram.kinds.word_space import ClusterSpace


@dataclass(frozen=True, repr=False)
class TreeSettings(Settings):
    """Hidden states, what the words of a treebank become, and what is kept for those never seen."""

    states: int = fields.STATES(10)
    symbols: Literal["joined", "upos", "xpos", "words", "forms"] = fields.FORMS("joined")
    valency: int = fields.VALENCY(3)
    smoothing: float = fields.SMOOTHING(0.01)


@dataclass(frozen=True, repr=False)
class EMLatentTree(TreeSettings, Iterated, states=20):
    """EM over hidden Markov trees."""


@dataclass(frozen=True, repr=False)
class SpectralLatentTree(TreeSettings):
    """Dhillon et al. 2012, section 3, corrected or as printed."""

    vectors: ClusterSpace | None = fields.VECTORS(None)
    ridge: float | Literal["auto"] = fields.CHOSEN_RIDGE("auto")
    form: Literal["corrected", "printed"] = fields.FORM("corrected")
    absolute: bool = fields.ABSOLUTE(False)


@dataclass(frozen=True, repr=False)
class SpectralVectors(Settings):
    """Singular vectors of what words are seen with."""

    states: int = fields.SIZE(50)
    least: float = fields.LEAST_STRENGTH(1.0)
    scaling: float = fields.SCALING(5.0)
    view: Literal["context", "singular", "lr-mvl", "tree"] = fields.VIEW("context")


RATERS = {
    "latent-tree": tuple(EM(seed=seed) for seed in range(STARTS)),
    "latent-tree-words": tuple(EM(symbols="words", seed=seed) for seed in range(STARTS)),
    "latent-tree-spectral": (Spectral(),),
    "latent-tree-tags": (Spectral(valency=0),),
    "latent-tree-printed": (Spectral(valency=0, form="printed"),),
    "latent-tree-absolute": (Spectral(valency=0, form="printed", absolute=True),),
}
"""How rerankers learn latent dependency trees, by the names of their features."""
