"""The settings of the recipes of `Lemmatiser`, `Segmenter` and `UDParser`, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass

from latentgram.kinds import fields
from latentgram.kinds.groups import Gradual, Seeded


@dataclass(frozen=True, repr=False)
class GradientLemmatiser(Gradual):
    """The greatest conditional likelihood of edit scripts."""

    bits: int = fields.BITS(20)


@dataclass(frozen=True, repr=False)
class GradientSegmenter(Gradual):
    """The greatest conditional likelihood of the ends of tokens and sentences."""


@dataclass(frozen=True, repr=False)
class GradientUD(Seeded):
    """Each part by its own learner: likelihoods of cuts, tags and lemmas, margins of trees."""

    passes: int = fields.PASSES(10)
    folds: int = fields.FOLDS(5)
    bits: int = fields.BITS(22)
    non_projective: bool = fields.NON_PROJECTIVE(False)
    choose_crossing: bool = fields.CHOOSE_CROSSING(False)
