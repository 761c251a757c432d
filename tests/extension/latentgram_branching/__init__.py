"""A package of somebody else: a new kind of model, `Branching`, and a new learner of `LPCFG`, `Flattening`."""

from latentgram_branching.model import Branching
from latentgram_branching.settings import Flattening, Guessing

__all__ = ["Branching", "Flattening", "Guessing"]
