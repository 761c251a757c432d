"""Heads and relations, and what each punctuation rule leaves out."""

import pytest

from latentgram.data.dependencies import DependencyTree
from latentgram.errors import DataError, SettingError
from latentgram.evaluate.attachment import attachment_rows, score_attachment

GOLD = DependencyTree(
    ("“", "Go", "on", "”", "$", "5", "-", "%"),
    heads=(2, 0, 2, 2, 6, 2, 6, 6),
    deprels=("punct", "root", "compound:prt", "punct", "nmod", "obj", "punct", "dep"),
    upos=("PUNCT", "VERB", "ADP", "PUNCT", "SYM", "NUM", "PUNCT", "SYM"),
    xpos=("``", "VB", "RP", "''", "$", "CD", "HYPH", "NN"),
)
OUTPUT = GOLD.replace(
    heads=(3, 0, 2, 2, 6, 2, 2, 2),
    deprels=("punct", "root", "advmod", "punct", "nmod", "obj", "punct", "dep"),
)


def test_each_rule_counts_its_words() -> None:
    counts = {
        rule: attachment_rows([GOLD], [OUTPUT], punctuation=rule)[0].tolist() for rule in ("none", "upos", "ptb")
    }
    assert counts == {"none": [8, 5, 4], "upos": [5, 4, 3], "ptb": [6, 4, 3]}


def test_figures() -> None:
    score = score_attachment([GOLD, GOLD], [OUTPUT, GOLD], punctuation="none", fallback=[True, False])
    assert (score.uas, score.las, score.exact, score.labelled_exact) == (100 * 13 / 16, 75.0, 50.0, 50.0)
    assert score.to_json()["no_parse"] == 1
    assert {"uas", "las", "exact", "sentences"} <= set(score.to_json())
    assert score.table().splitlines()[0].split() == ["uas", "81.25"]


def test_complete_match_ignores_what_is_left_out() -> None:
    wrong_mark = GOLD.replace(heads=(3, 0, 2, 2, 6, 2, 6, 6))
    assert score_attachment([GOLD], [wrong_mark], punctuation="upos").exact == 100
    assert score_attachment([GOLD], [wrong_mark], punctuation="none").exact == 0


def test_scores_add_and_compare() -> None:
    parts = [score_attachment([GOLD], [tree], punctuation="ptb") for tree in (OUTPUT, GOLD)]
    assert sum(parts) == score_attachment([GOLD, GOLD], [OUTPUT, GOLD], punctuation="ptb")
    assert parts[0] < parts[1]
    with pytest.raises(ValueError, match="different punctuation cannot be added: 'ptb' and 'none'"):
        _ = parts[0] + score_attachment([GOLD], [GOLD], punctuation="none")


def test_bad_input() -> None:
    with pytest.raises(SettingError, match="punctuation must be one of none, upos, ptb, got 'all'"):
        score_attachment([GOLD], [GOLD], punctuation="all")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="fewer output trees than gold trees"):
        score_attachment([GOLD, GOLD], [GOLD], punctuation="none")
    with pytest.raises(DataError, match="more output trees than gold trees"):
        score_attachment([GOLD], [GOLD, GOLD], punctuation="none")
    with pytest.raises(DataError, match="the words of sentence 1 differ"):
        score_attachment([GOLD], [GOLD.replace(words=tuple("abcdefgh"))], punctuation="none")
    untagged = GOLD.replace(xpos=())
    with pytest.raises(DataError, match="no XPOS tags, which the punctuation rule ptb needs"):
        score_attachment([untagged], [untagged], punctuation="ptb")
