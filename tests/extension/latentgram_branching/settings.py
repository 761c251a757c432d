"""The settings of both learners: a class is learner and settings at once where one model is learned."""

from dataclasses import dataclass
from typing import Literal

from latentgram.kinds.settings import Field, Settings


@dataclass(frozen=True, repr=False)
class Guessing(Settings):
    """Counts tags; the side is not learned."""

    side: Literal["left", "right"] = Field("where trees branch", choices=("left", "right"))("right")


@dataclass(frozen=True, repr=False)
class Flattening(Settings):
    """A PCFG of counts raised to a power: rare rules become less rare."""

    power: float = Field("power of the counts", above=0, at_most=1)(0.5)
