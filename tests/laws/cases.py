"""What the laws are tried on: every pair of `RECIPES`, with small data and small settings.

A new model adds its data here; a new recipe of a known model needs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import latentgram as lg
from latentgram.data.ngram_counts import NGramCounts
from latentgram.data.text import Text
from latentgram.kinds import learners
from latentgram.kinds.recipes import RECIPES


def text() -> Text:
    """The words of a few demo sentences."""
    return Text.of(lg.demo_treebank(80, seed=5).sentences())


DATA: dict[str | tuple[str, str], Callable[[], Any]] = {
    "BackoffNGram": lambda: NGramCounts.of(text(), order=3),
    "HMM": lambda: lg.demo_treebank(80, seed=5).sentences(),
    ("HMM", "Variational"): lambda: NGramCounts.of(text(), order=3),
    "OperatorAutomaton": text,
    ("OperatorAutomaton", "Counting"): lambda: lg.demo_treebank(80, seed=5).sentences(),
    "Ensemble": lambda: lg.demo_treebank(80, seed=5),
    "LPCFG": lambda: lg.demo_treebank(80, seed=5),
    "SHAG": lambda: lg.demo_dependencies(80, seed=5),
    "WordVectors": text,
    "Tagger": lambda: lg.demo_dependencies(80, seed=5),
    "LatentTree": lambda: lg.demo_dependencies(80, seed=5),
    "TopDown": lambda: lg.demo_dependencies(80, seed=5),
    "LexicalSHAG": lambda: lg.demo_dependencies(80, seed=5),
    "ProductSHAG": lambda: lg.demo_dependencies(80, seed=5),
    "ArcFactored": lambda: lg.demo_dependencies(40, seed=5),
    "Reranker": lambda: lg.demo_dependencies(40, seed=5),
    "ArcDistance": lambda: lg.demo_dependencies(80, seed=5),
}
"""A little data for each model, or for a pair that wants other data."""

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
        return DATA.get((self.model, self.learner), DATA[self.model])()

    @property
    def by(self) -> Any:
        known = RECIPES[self.model, self.learner].defaults
        settings = {name: value for name, value in SMALL.items() if name in known}
        return getattr(learners, self.learner)(**settings)

    def fit(self, **options: Any) -> Any:
        return lg.fit(_class(self.model), self.data, by=self.by, **options)


def _class(name: str) -> type:
    from latentgram.store import STORABLE

    module, attribute = STORABLE[name].split(":")
    return getattr(__import__(module, fromlist=[attribute]), attribute)


@cache
def fitted(case: Case) -> Any:
    """The model of a case, learned once for all laws."""
    return case.fit()


CASES = [Case(*pair) for pair in RECIPES if pair[0] in DATA]
