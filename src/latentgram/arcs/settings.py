"""The settings of the recipes of `ArcFactored`, `Reranker` and `TopDown`, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from latentgram.kinds import fields
from latentgram.kinds.settings import Settings


@dataclass(frozen=True, repr=False)
class MIRAArcs(Settings):
    """Margins over arcs and siblings."""

    order: int = fields.ARC_ORDER(2)
    passes: int = fields.PASSES(10)
    step: float = fields.STEP(0.01)
    bits: int = fields.BITS(22)
    best: int = fields.BEST(1)
    rare: int = fields.RARE_UNKNOWN(0)
    folds: int = fields.FOLDS(2)
    floor: float = fields.FLOOR(1e-3)
    non_projective: bool = fields.NON_PROJECTIVE(False)
    seed: int = fields.SEED(0)


@dataclass(frozen=True, repr=False)
class MIRAReranker(Settings):
    """Margins over the trees of n-best lists."""

    passes: int = fields.PASSES(10)
    step: float = fields.STEP(0.003)
    rule: Literal["margin", "perceptron"] = fields.RULE("margin")
    seed: int = fields.SEED(0)
    order: int = fields.ARC_ORDER(2)
    count: int = fields.COUNT(50)
    folds: int = fields.FOLDS(3)
    raters: str = fields.RATERS(
        "templates,shag-spectral,shag-words,shag-words-random,lexical,latent-tree,latent-tree-words,top-down"
    )


@dataclass(frozen=True, repr=False)
class GradientTopDown(Settings):
    """The greatest conditional likelihood of every choice."""

    symbols: Literal["joined", "upos", "xpos", "words"] = fields.SYMBOLS("joined")
    passes: int = fields.PASSES(6)
    step: float = fields.FIRST_STEP(0.2)
    least: int = fields.LEAST_SEEN(2)
    rare: int = fields.RARE_UNKNOWN(1)
    seed: int = fields.SEED(0)
