"""What the one door to learning takes, and what it refuses."""

from typing import Any

import pytest

import latentgram as lg
from latentgram.errors import DataError, SettingError

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
        ((lg.LPCFG, None, lg.Counting()), DataError, "nothing to learn from"),
    ],
)
def test_what_is_no_question_is_refused(given: tuple[Any, Any, Any], kind: type[Exception], words: str) -> None:
    model, data, by = given
    with pytest.raises(kind, match=words):
        lg.fit(model, data, by=by)


def test_scores_are_functions_and_decoders_objects() -> None:
    with pytest.raises(SettingError, match="a function of a model"):
        lg.fit(lg.LPCFG, TREES, by=lg.Counting(), dev_score="x")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match=r"such as lg.Goodman\(\)"):
        lg.Parser(lg.fit(lg.LPCFG, TREES, by=lg.Counting()), decoder="goodman")
