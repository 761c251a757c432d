"""Whole treebanks against each other: the score that fits their kind, and the comparison of two outputs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.data.treebank import CONSTITUENCY, DEPENDENCY, Treebank
from latentgram.errors import DataError
from latentgram.evaluate.attachment import Punctuation, attachment_rows, score_attachment
from latentgram.evaluate.bracketing import bracket_rows, score_brackets
from latentgram.evaluate.compare import Comparison, attachment_las, attachment_uas, bracketing_f1, paired_bootstrap
from latentgram.evaluate.evalb_parameters import COLLINS, BracketingRules
from latentgram.evaluate.score import Score
from latentgram.evaluate.tagging import score_tags


def score_treebanks(
    gold: Treebank[Any],
    output: Treebank[Any],
    *,
    rules: BracketingRules = COLLINS,
    punctuation: Punctuation | None = None,
    fallback: Iterable[bool] = (),
) -> Score:
    """Bracketing of constituency trees, attachment of dependency trees, accuracy of tagged sentences.

    Without a rule for punctuation it is left out by UPOS, or counted where the gold trees have none.
    """
    _check_kinds(gold, output)
    flags = list(fallback)
    if gold.kind == CONSTITUENCY:
        return score_brackets(gold.forest, output.forest, rules, fallback=flags or None)
    if gold.kind == DEPENDENCY:
        return score_attachment(gold, output, punctuation=punctuation or _rule(gold), fallback=flags)
    return score_tags(_tags(gold), _tags(output))


def compare_treebanks(
    gold: Treebank[Any],
    first: Treebank[Any],
    second: Treebank[Any],
    *,
    rules: BracketingRules = COLLINS,
    punctuation: Punctuation | None = None,
    labelled: bool = False,
    draws: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Two outputs for the same gold trees, by F1, UAS (`labelled`: LAS) or accuracy, with a paired bootstrap."""
    _check_kinds(gold, first)
    _check_kinds(gold, second)
    if gold.kind == CONSTITUENCY:
        rows = [bracket_rows(gold.forest, output.forest, rules).counts for output in (first, second)]
        return paired_bootstrap(rows[0], rows[1], bracketing_f1, draws=draws, seed=seed)
    if gold.kind == DEPENDENCY:
        rule = punctuation or _rule(gold)
        rows = [attachment_rows(gold, output, punctuation=rule) for output in (first, second)]
        if labelled:
            return paired_bootstrap(rows[0], rows[1], attachment_las, draws=draws, seed=seed)
    else:
        rows = [_tag_rows(gold, output) for output in (first, second)]
    return paired_bootstrap(rows[0], rows[1], attachment_uas, draws=draws, seed=seed)


def _rule(gold: Treebank[Any]) -> Punctuation:
    """What is left out where nothing is said, as by parsers that score themselves."""
    return "upos" if all(any(tag != "_" for tag in tree.upos) for tree in gold) else "none"


def _check_kinds(gold: Treebank[Any], output: Treebank[Any]) -> None:
    if gold.kind != output.kind:
        raise DataError(f"the gold treebank is {gold.kind}, the output is {output.kind}")
    if len(gold) != len(output):
        raise DataError(f"there are {len(gold)} gold sentences but {len(output)} in the output")


def _tags(treebank: Treebank[Any]) -> list[tuple[str, ...]]:
    tags = [sentence.tags for sentence in treebank.sentences()]
    if any(each is None for each in tags):
        raise DataError("the sentences have no tags to score")
    return [each for each in tags if each is not None]


def _tag_rows(gold: Treebank[Any], output: Treebank[Any]) -> NDArray[np.int64]:
    """[sentences, 2] words and right tags."""
    pairs = zip(_tags(gold), _tags(output), strict=True)
    return np.array([(len(one), sum(a == b for a, b in zip(one, other, strict=True))) for one, other in pairs])
