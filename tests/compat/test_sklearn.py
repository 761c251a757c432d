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


@pytest.mark.parametrize(
    "check",
    [
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_estimator_tags_renamed",
        "check_get_params_invariance",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_set_params",
    ],
)
def test_checks_of_scikit_learn_about_parameters(check: str) -> None:
    from sklearn.utils import estimator_checks

    from latentgram.compat.sklearn import ParserEstimator

    getattr(estimator_checks, check)("ParserEstimator", ParserEstimator(lg.LPCFG, lg.Counting()))


def test_one_that_has_not_learned_says_so() -> None:
    from sklearn.exceptions import NotFittedError

    from latentgram.compat.sklearn import ParserEstimator

    with pytest.raises(NotFittedError):
        ParserEstimator(lg.LPCFG, lg.Counting()).predict(list(lg.demo_treebank(2)))


def test_cross_validation_and_pipelines() -> None:
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline

    from latentgram.compat.sklearn import ParserEstimator

    trees = list(lg.demo_treebank(60, seed=1))
    shares = cross_val_score(make_pipeline(ParserEstimator(lg.LPCFG, lg.Counting())), trees, cv=3)
    assert all(0 < share <= 1 for share in shares)
