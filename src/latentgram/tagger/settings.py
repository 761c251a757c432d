"""The settings of the recipe of `Tagger`, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass

from latentgram.kinds import fields
from latentgram.kinds.groups import Gradual


@dataclass(frozen=True, repr=False)
class GradientTagger(Gradual):
    """The greatest conditional likelihood of tag sequences."""

    closed: int = fields.CLOSED(10)
    frequent: int = fields.FREQUENT(2)
    feats: bool = fields.FEATS(True)
