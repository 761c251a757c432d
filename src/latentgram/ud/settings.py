"""The settings of the recipes of `Lemmatiser`, `Segmenter` and `UDParser`, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass

from latentgram.kinds import fields
from latentgram.kinds.settings import Settings


@dataclass(frozen=True, repr=False)
class GradientLemmatiser(Settings):
    """The greatest conditional likelihood of edit scripts."""

    passes: int = fields.PASSES(8)
    step: float = fields.FIRST_STEP(0.3)
    bits: int = fields.BITS(20)
    seed: int = fields.SEED(0)


@dataclass(frozen=True, repr=False)
class GradientSegmenter(Settings):
    """The greatest conditional likelihood of the ends of tokens and sentences."""

    passes: int = fields.PASSES(8)
    step: float = fields.FIRST_STEP(0.3)
    seed: int = fields.SEED(0)


@dataclass(frozen=True, repr=False)
class GradientUD(Settings):
    """Each part by its own learner: likelihoods of cuts, tags and lemmas, margins of trees."""

    passes: int = fields.PASSES(10)
    folds: int = fields.FOLDS(5)
    bits: int = fields.BITS(22)
    seed: int = fields.SEED(0)
