"""Files of any parser's output against gold files: what `latentgram eval GOLD OUTPUT` does.

Brackets are scored by `bracketing`, CoNLL-U by `attachment`. In a bracketed output a sentence without a parse is
written `(())`, as EVALB wants it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from latentgram.data.alphabet import ABSENT
from latentgram.data.brackets import parse_forest
from latentgram.data.files import PathLike, read_text
from latentgram.data.forest import Forest
from latentgram.data.treebank import CONSTITUENCY, DEPENDENCY, Treebank
from latentgram.errors import DataError
from latentgram.evaluate.attachment import Punctuation, attachment_rows, score_attachment
from latentgram.evaluate.bracketing import bracket_rows
from latentgram.evaluate.compare import Comparison, attachment_uas, bracketing_f1, paired_bootstrap
from latentgram.evaluate.evalb_parameters import COLLINS, BracketingRules
from latentgram.evaluate.score import Score

NO_PARSE = "(())"
"""How a sentence without a parse is written in a bracketed file."""

_NO_PARSE = re.compile(r"\(\s*\(\s*\)\s*\)")
_MARK = "\0"


def read_output(path: PathLike) -> Forest:
    """The trees of a parser's output; `(())` gives a tree without words."""
    try:
        forest = parse_forest(_NO_PARSE.sub(f"({_MARK} {_MARK})", read_text(path)))
    except DataError as error:
        raise DataError(error.message, path=path, line=error.line, column=error.column) from None
    word = forest.word.copy()
    word[forest.label == forest.labels.index(_MARK)] = ABSENT
    return replace(forest, word=word)


def score_files(
    gold: PathLike, output: PathLike, *, rules: BracketingRules = COLLINS, punctuation: Punctuation = "none"
) -> Score:
    """The score of an output file: bracketing or attachment, by what the gold file is."""
    bank = _gold(gold)
    if bank.kind == CONSTITUENCY:
        return bracket_rows(bank.forest, read_output(output), rules).score()
    return score_attachment(bank, _dependencies(output), punctuation=punctuation)


def compare_files(
    gold: PathLike,
    first: PathLike,
    second: PathLike,
    *,
    rules: BracketingRules = COLLINS,
    punctuation: Punctuation = "none",
    draws: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Whether the second output is better than the first, by F1 or UAS."""
    bank = _gold(gold)
    if bank.kind == CONSTITUENCY:
        rows = [bracket_rows(bank.forest, read_output(path), rules).counts for path in (first, second)]
        return paired_bootstrap(rows[0], rows[1], bracketing_f1, draws=draws, seed=seed)
    rows = [attachment_rows(bank, _dependencies(path), punctuation=punctuation) for path in (first, second)]
    return paired_bootstrap(rows[0], rows[1], attachment_uas, draws=draws, seed=seed)


def _gold(path: PathLike) -> Treebank[Any]:
    bank = Treebank.read(path)
    if bank.kind not in (CONSTITUENCY, DEPENDENCY):
        raise DataError("the gold file has no trees", path=path)
    return bank


def _dependencies(path: PathLike) -> Treebank[Any]:
    bank = Treebank.read(path)
    if bank.kind != DEPENDENCY:
        raise DataError("the gold file has dependency trees, this one has not", path=path)
    return bank
