"""What the laws are tried on: every recipe of the registry, with small data and small settings.

A new kind or recipe needs nothing here, if it reads what others read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import latentgram as lg
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.text import Text
from latentgram.kinds.registry import kind_of, kinds, learner_class, recipe_of
from latentgram.kinds.settings import defaults_of


def text() -> Text:
    """The words of a few demo sentences."""
    return Text.of(lg.demo_treebank(80, seed=5).sentences())


DATA: dict[str, Callable[[], Any]] = {
    "phrases": lambda: lg.demo_treebank(80, seed=5),
    "dependencies": lambda: lg.demo_dependencies(80, seed=5),
    "text": text,
    "text or counts": text,
    "contexts": text,
    "tagged": lambda: lg.demo_treebank(80, seed=5).sentences(),
    "trees or tagged": lambda: lg.demo_dependencies(80, seed=5),
    "n-grams": lambda: NGramCounts.of(text(), order=3),
    "counts": lambda: NGramCounts.of(text(), order=3),
}
"""A little data of each form that a recipe may read."""

SMALL: dict[str, Any] = {
    "states": 2,
    "iterations": 2,
    "passes": 1,
    "bits": 14,
    "count": 5,
    "raters": "templates,shag",
}
"""Settings that keep learning short, for the recipes that know them."""


@dataclass(frozen=True)
class Case:
    """One pair of model and learner."""

    model: str
    learner: str

    def __str__(self) -> str:
        return f"{self.model}-{self.learner}"

    @property
    def data(self) -> Any:
        kind, recipe = kind_of(self.model), recipe_of(self.model, self.learner)
        return DATA[(recipe.reads or kind.reads).name]()

    @property
    def by(self) -> Any:
        known = defaults_of(recipe_of(self.model, self.learner).settings_class())
        settings = {name: value for name, value in SMALL.items() if name in known}
        return learner_class(self.model, self.learner)(**settings)

    def fit(self, **options: Any) -> Any:
        return lg.fit(kind_of(self.model).model_class(), self.data, by=self.by, **options)


@cache
def fitted(case: Case) -> Any:
    """The model of a case, learned once for all laws."""
    return case.fit()


CASES = [Case(kind.name, learner) for kind in kinds().values() for learner in kind.recipes]
