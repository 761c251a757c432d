"""The settings of the recipe of `Tagger`, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass

from latentgram.kinds import fields
from latentgram.kinds.settings import Settings


@dataclass(frozen=True, repr=False)
class GradientTagger(Settings):
    """The greatest conditional likelihood of tag sequences."""

    passes: int = fields.PASSES(8)
    step: float = fields.FIRST_STEP(0.3)
    closed: int = fields.CLOSED(10)
    frequent: int = fields.FREQUENT(2)
    feats: bool = fields.FEATS(True)
    seed: int = fields.SEED(0)
