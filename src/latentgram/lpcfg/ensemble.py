"""`Ensemble`: several L-PCFGs of one treebank that parse together.

Grammars learned from the same trees with other numbers of states, other features, another learner or another
seed make different mistakes. They share symbols, rules and lexicon, so they can look at the same chart; a parser
combines the marginals of edges by their geometric mean,

    μ(e) = ∏_g |μ_g(e)|^(1/G),

and decodes once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from latentgram.data.provenance import Provenance, Summarised
from latentgram.errors import SettingError
from latentgram.lpcfg.model import LPCFG

_SHARED = ("interminals", "preterminals", "words", "rare_words", "binarisation")
_SHARED_ARRAYS = ("rules", "lexicon")


@dataclass(frozen=True, repr=False)
class Ensemble(Summarised):
    """L-PCFGs with the same symbols, rules, lexicon and treatment of rare words.

    >>> Ensemble(())
    Traceback (most recent call last):
    latentgram.errors.SettingError: an ensemble needs at least one grammar
    """

    grammars: tuple[LPCFG, ...]
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        if not self.grammars:
            raise SettingError("an ensemble needs at least one grammar")
        first = self.grammars[0]
        for number, other in enumerate(self.grammars[1:], 2):
            differing = [name for name in _SHARED if getattr(first, name) != getattr(other, name)]
            differing += [
                name for name in _SHARED_ARRAYS if not np.array_equal(getattr(first, name), getattr(other, name))
            ]
            if differing:
                raise SettingError(
                    f"grammar {number} of the ensemble has other {' and '.join(differing)} than the first;"
                    " learn all of them from the same trees, binarised alike, with the same rare words"
                )

    def summary(self) -> str:
        """What the ensemble is made of, in one line: learners, each with the most states of a symbol."""
        members = (f"{g.provenance.learner or 'unknown'} {int(g.states.max())}" for g in self.grammars)
        return f"ensemble of {len(self.grammars)} grammars ({', '.join(members)})"
