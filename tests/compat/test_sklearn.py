"""A parser as an estimator: parameters, cloning, scores, a grid search."""

from __future__ import annotations

import pytest

import latentgram as lg
from latentgram.errors import SettingError

pytest.importorskip("sklearn", reason="scikit-learn is not installed")


def test_grid_search_finds_settings() -> None:
    from sklearn.model_selection import GridSearchCV

    from latentgram.compat.sklearn import ParserEstimator

    trees = list(lg.demo_treebank(60, seed=1))
    search = GridSearchCV(ParserEstimator(lg.LPCFG, lg.Counting()), {"vertical": [1, 2], "rare": [0, 5]}, cv=2)
    search.fit(trees)
    assert set(search.best_params_) == {"vertical", "rare"}
    assert 0 < search.best_score_ <= 1
    best = search.best_estimator_
    assert best.learner.vertical == search.best_params_["vertical"]
    assert [tree.words for tree in best.predict(trees[:3])] == [tree.words for tree in trees[:3]]
    assert best.score(trees) == pytest.approx(best.parser_.evaluate(lg.Treebank.of(trees)).f1 / 100)


def test_parameters() -> None:
    from sklearn.base import clone

    from latentgram.compat.sklearn import ParserEstimator

    estimator = ParserEstimator(lg.LPCFG, lg.Counting(rare=3), gold_tags=True)
    assert estimator.get_params()["rare"] == 3
    assert set(estimator.get_params(deep=False)) == {"model", "learner", "decoder", "gold_tags"}
    twin = clone(estimator)
    assert twin.learner == estimator.learner
    assert twin.set_params(rare=1, decoder=lg.Viterbi()).learner.rare == 1
    assert estimator.learner.rare == 3
    with pytest.raises(SettingError, match="no setting 'colour'"):
        estimator.set_params(colour="red")
