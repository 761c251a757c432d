"""What `fit` takes, and what it refuses."""

from typing import Any

import numpy as np
import pytest

import latentgram as lg
from latentgram.errors import DataError, SettingError
from latentgram.kinds.settings import Settings

TREES = lg.demo_treebank(20, seed=0)


def test_trees_in_a_list_are_a_treebank() -> None:
    listed, bank = (lg.fit(lg.LPCFG, given, by=lg.Counting()) for given in (list(TREES), TREES))
    assert listed.rule_count.tolist() == bank.rule_count.tolist()
    assert listed.provenance.data_digest == bank.provenance.data_digest


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        (("LPCFG", TREES, lg.Counting()), SettingError, "a class and a learner"),
        ((lg.LPCFG, TREES, lg.Counting), SettingError, "a class and a learner"),
        ((lg.LPCFG, None, lg.Counting()), DataError, "no data to learn from"),
        ((lg.LPCFG, "trees.mrg", lg.Counting()), DataError, "read files with Treebank.read"),
    ],
)
def test_what_is_no_question_is_refused(given: tuple[Any, Any, Any], kind: type[Exception], words: str) -> None:
    model, data, by = given
    with pytest.raises(kind, match=words):
        lg.fit(model, data, by=by)


def test_the_learner_has_a_default() -> None:
    """The one that `latentgram train` takes without --by."""
    assert lg.fit(lg.LPCFG, TREES).provenance.learner == "Clustering"
    heads = lg.fit(lg.SHAG, lg.demo_dependencies(20, seed=0))
    assert heads.provenance.learner == "EM"
    assert heads.states > 2, "the default is not the weakest learner of all, which has no hidden states"
    assert heads.is_distribution
    with pytest.raises(lg.UnsupportedPair, match="there is no learner for ArcWeights"):
        lg.fit(lg.ArcWeights, TREES)


def test_scores_are_functions_and_decoders_objects() -> None:
    with pytest.raises(SettingError, match="a function of a model"):
        lg.fit(lg.LPCFG, TREES, by=lg.Counting(), dev_score="x")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match=r"such as lg.Goodman\(\)"):
        lg.Parser(lg.fit(lg.LPCFG, TREES, by=lg.Counting()), decoder="goodman")


LISTS = {"order": 1, "count": 3, "folds": 2, "raters": "templates", "passes": 2}


@pytest.mark.parametrize(
    ("model", "former", "now"),
    [
        (lg.Reranker, lg.Perceptron(**LISTS), lg.MIRA(**LISTS)),
        (lg.Tagger, lg.Perceptron(passes=2, frequent=9, seed=1), lg.Gradient(passes=2, frequent=9, seed=1)),
    ],
    ids=["Reranker", "Tagger"],
)
def test_a_former_name_of_a_learner_works_with_a_warning(model: type, former: Settings, now: Settings) -> None:
    """`Perceptron` is what is now MIRA for rerankers and Gradient for taggers."""
    trees, name = lg.demo_dependencies(20, seed=0), type(now).__name__
    with pytest.warns(FutureWarning, match=f"is learned by {name}: its former name Perceptron") as said:
        before = lg.fit(model, trees, by=former)
    assert len(said) == 1
    after = lg.fit(model, trees, by=now)
    assert before.provenance.learner == after.provenance.learner == name
    assert before.provenance.fields == after.provenance.fields
    weights = ("weights",) if model is lg.Reranker else ("feature", "row_weight", "pair", "triple")
    for field in weights:
        np.testing.assert_array_equal(getattr(before, field), getattr(after, field))
