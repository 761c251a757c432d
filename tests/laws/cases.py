"""What the laws are tried on: every recipe of the registry, with small data and small settings.

A new kind or recipe needs nothing here, if it reads what others read.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import latentgram as lg
from latentgram.kinds.kind import kind_of, kinds, recipe_of
from latentgram.parser.trials import small_data, small_learner


@dataclass(frozen=True)
class Case:
    """One pair of model and learner."""

    model: str
    learner: str

    def __str__(self) -> str:
        return f"{self.model}-{self.learner}"

    @property
    def data(self) -> Any:
        return small_data(kind_of(self.model), recipe_of(self.model, self.learner))

    @property
    def by(self) -> Any:
        return small_learner(kind_of(self.model), self.learner)

    def fit(self, **options: Any) -> Any:
        return lg.fit(kind_of(self.model).model_class(), self.data, by=self.by, **options)


@cache
def fitted(case: Case) -> Any:
    """The model of a case, learned once for all laws."""
    return case.fit()


ODD_BANKS = ("one tree", "one-word trees", "unary chains", "one label", "all tags unique")


@cache
def odd(case: Case, bank: str) -> Any:
    """The model of an odd treebank; None where its recipe says in a sentence that it cannot learn from it."""
    from fuzz.odd_data import BANKS, data_for

    with suppress(lg.LatentgramError):
        return lg.fit(kind_of(case.model).model_class(), data_for(case, BANKS[bank]), by=case.by)
    return None


CASES = [Case(kind.name, learner) for kind in kinds().values() for learner in kind.recipes]
