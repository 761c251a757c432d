"""The settings of the recipes of `ArcFactored`, `Reranker` and `TopDown`, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from latentgram.kinds import fields
from latentgram.kinds.groups import Gradual, Seeded, TagSymbols
from latentgram.kinds.learners import Gradient


@dataclass(frozen=True, repr=False)
class Margins(Seeded):
    """Margins of trees over others, learned online; trees to rate come from models of the other folds."""

    order: int = fields.ARC_ORDER(2)
    passes: int = fields.PASSES(10)
    step: float = fields.STEP(0.01)
    folds: int = fields.FOLDS(2)


@dataclass(frozen=True, repr=False)
class MIRAArcs(Margins):
    """Margins over arcs and siblings."""

    bits: int = fields.BITS(22)
    best: int = fields.BEST(1)
    rare: int = fields.RARE_UNKNOWN(0)
    floor: float = fields.FLOOR(1e-3)
    non_projective: bool = fields.NON_PROJECTIVE(False)
    choose_crossing: bool = fields.CHOOSE_CROSSING(False)


@dataclass(frozen=True, repr=False)
class MIRAReranker(Margins, step=0.003, folds=3):
    """Margins over the trees of n-best lists."""

    rule: Literal["margin", "perceptron"] = fields.RULE("margin")
    count: int = fields.COUNT(50)
    raters: str = fields.RATERS(
        "templates,shag-spectral,shag-words,shag-words-random,lexical,latent-tree,latent-tree-words,top-down"
    )


@dataclass(frozen=True, repr=False)
class GradientTopDown(TagSymbols, Gradual, passes=6, step=0.2):
    """The greatest conditional likelihood of every choice."""

    least: int = fields.LEAST_SEEN(2)
    rare: int = fields.RARE_UNKNOWN(1)


RATERS = {"top-down": (Gradient(),)}
"""How rerankers learn top-down models, by the names of their features."""
