"""scikit-learn: a model and a learner as an estimator, so that `GridSearchCV` finds their settings.

    from latentgram.compat.sklearn import ParserEstimator
    search = GridSearchCV(ParserEstimator(lg.LPCFG, lg.Counting()), {"vertical": [1, 2]}, cv=3).fit(trees)

X is a list of trees; there is no y. The settings of the learner are parameters of the estimator, under their
names. The estimator passes those of scikit-learn's own checks that concern parameters; the others use tables of
numbers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import cast

from latentgram.data.treebank import Treebank
from latentgram.errors import SettingError
from latentgram.kinds.protocols import AnyTree, Decoder, Model
from latentgram.kinds.settings import Settings
from latentgram.learn.fit import fit
from latentgram.parser.parser import Parser
from latentgram.parser.pipeline import Trees

try:
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_is_fitted
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
        self,
        model: type[Model] | None = None,
        learner: Settings | None = None,
        decoder: Decoder | None = None,
        gold_tags: bool = False,
    ) -> None:
        self.model = model
        self.learner = learner
        self.decoder = decoder
        self.gold_tags = gold_tags

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """The estimator's parameters and, `deep`, the settings of the learner."""
        own = {name: getattr(self, name) for name in ("model", "learner", "decoder", "gold_tags")}
        return {**(self._settings() if deep else {}), **own}

    def set_params(self, **params: object) -> ParserEstimator:
        """Set parameters of the estimator or settings of the learner."""
        for name in ("model", "learner", "decoder", "gold_tags"):
            if name in params:
                setattr(self, name, params.pop(name))
        unknown = sorted(set(params) - set(self._settings()))
        if unknown:
            raise SettingError(f"{type(self.learner).__name__} has no setting {unknown[0]!r}")
        if params and self.learner is not None:
            self.learner = dataclasses.replace(self.learner, **params)
        return self

    def _settings(self) -> dict[str, object]:
        if not isinstance(self.learner, Settings):  # which `fit` refuses
            return {}
        return {field.name: getattr(self.learner, field.name) for field in dataclasses.fields(self.learner)}

    def fit(self, X: Sequence[AnyTree], y: None = None) -> ParserEstimator:
        """Learn from trees."""
        if self.model is None or not isinstance(self.learner, Settings):
            raise SettingError("an estimator is made of a model and a learner: ParserEstimator(LPCFG, Counting())")
        self.parser_ = Parser(fit(self.model, Treebank.of(X), by=self.learner), self.decoder)
        return self

    def predict(self, X: Sequence[AnyTree]) -> list[AnyTree]:
        """The trees of sentences, or of the words of trees."""
        check_is_fitted(self)
        questions = [tree.sentence if self.gold_tags else tree.sentence.without_tags() for tree in X]
        return [parse.tree for parse in self.parser_.parse_many(questions)]

    def score(self, X: Sequence[AnyTree], y: None = None) -> float:
        """The headline figure, F1 or UAS, as a share."""
        check_is_fitted(self)
        trees = cast(Trees, Treebank.of(X))
        return self.parser_.evaluate(trees, gold_tags=self.gold_tags).headline / 100
