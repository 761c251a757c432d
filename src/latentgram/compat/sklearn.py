"""scikit-learn: a model and a learner as an estimator, so that `GridSearchCV` finds their settings.

    from latentgram.compat.sklearn import ParserEstimator
    search = GridSearchCV(ParserEstimator(lg.LPCFG, lg.Counting()), {"vertical": [1, 2]}, cv=3).fit(trees)

X is a list of trees; there is no y. The settings of the learner are parameters of the estimator under their names.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from latentgram.data.treebank import Treebank
from latentgram.errors import SettingError
from latentgram.learn.fit import fit
from latentgram.parser.parser import Parser

try:
    from sklearn.base import BaseEstimator
except ModuleNotFoundError:
    raise SettingError("latentgram.compat.sklearn needs scikit-learn: pip install 'latentgram[compat]'") from None


class ParserEstimator(BaseEstimator):  # type: ignore[misc]
    """Learns a parser from trees, and is scored by F1 or UAS in [0, 1].

    >>> from latentgram import LPCFG, Counting, demo_treebank
    >>> trees = list(demo_treebank(30, seed=1))
    >>> estimator = ParserEstimator(LPCFG, Counting()).set_params(vertical=2).fit(trees[:20])
    >>> 0 < estimator.score(trees[20:]) <= 1
    True
    """

    def __init__(
        self, model: Any = None, learner: Any = None, decoder: Any = None, gold_tags: bool = False
    ) -> None:
        self.model = model
        self.learner = learner
        self.decoder = decoder
        self.gold_tags = gold_tags

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The estimator's parameters and, `deep`, the settings of the learner."""
        own = {name: getattr(self, name) for name in ("model", "learner", "decoder", "gold_tags")}
        return {**(self._settings() if deep else {}), **own}

    def set_params(self, **params: Any) -> ParserEstimator:
        """Set parameters of the estimator or settings of the learner."""
        for name in ("model", "learner", "decoder", "gold_tags"):
            if name in params:
                setattr(self, name, params.pop(name))
        unknown = sorted(set(params) - set(self._settings()))
        if unknown:
            raise SettingError(f"{type(self.learner).__name__} has no setting {unknown[0]!r}")
        if params:
            self.learner = dataclasses.replace(self.learner, **params)
        return self

    def _settings(self) -> dict[str, Any]:
        if self.learner is None:
            return {}
        return {field.name: getattr(self.learner, field.name) for field in dataclasses.fields(self.learner)}

    def fit(self, X: Sequence[Any], y: Any = None) -> ParserEstimator:
        """Learn from trees."""
        self.parser_ = Parser(fit(self.model, Treebank.of(X), by=self.learner), self.decoder)
        return self

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """The trees of sentences, or of the words of trees."""
        questions = [tree.sentence if self.gold_tags else tree.sentence.without_tags() for tree in X]
        return [parse.tree for parse in self.parser_.parse_many(questions)]

    def score(self, X: Sequence[Any], y: Any = None) -> float:
        """The headline figure, F1 or UAS, as a share."""
        return float(self.parser_.evaluate(Treebank.of(X), gold_tags=self.gold_tags).headline) / 100
