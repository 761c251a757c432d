"""Scoring a whole treebank against another by the score for their kind, and comparing two outputs.

In a bracketed file of a parser's output a sentence without a parse is written `(())`, as EVALB requires; gold
treebanks never contain that, so only `read_output` accepts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from latentgram.arrays import Ints
from latentgram.data.alphabet import ABSENT
from latentgram.data.brackets import parse_forest
from latentgram.data.files import PathLike, read_text
from latentgram.data.formats import BRACKETS, format_of
from latentgram.data.treebank import CONSTITUENCY, DEPENDENCY, AnyTreebank, Treebank
from latentgram.errors import DataError
from latentgram.evaluate.attachment import Punctuation, attachment_rows, score_attachment
from latentgram.evaluate.bracketing import bracket_rows, score_brackets
from latentgram.evaluate.compare import Comparison, attachment_las, attachment_uas, bracketing_f1, paired_bootstrap
from latentgram.evaluate.evalb import COLLINS, BracketingRules
from latentgram.evaluate.score import Score
from latentgram.evaluate.tagging import score_tags

_NO_PARSE = re.compile(r"\(\s*\(\s*\)\s*\)")
_MARK = "\0"


def read_output(path: PathLike) -> AnyTreebank:
    """The trees of a parser's output, in any format of treebanks; `(())` gives a tree without words."""
    if format_of(path) != BRACKETS:
        return Treebank.read(path)
    try:
        forest = parse_forest(_NO_PARSE.sub(f"({_MARK} {_MARK})", read_text(path)))
    except DataError as error:
        raise DataError(error.message, path=path, line=error.line, column=error.column) from None
    word = forest.word.copy()
    word[forest.label == forest.labels.index(_MARK)] = ABSENT
    return Treebank(replace(forest, word=word), CONSTITUENCY)


def score_treebanks(
    gold: AnyTreebank,
    output: AnyTreebank,
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
        trees = gold.dependency_trees, output.dependency_trees
        return score_attachment(*trees, punctuation=punctuation or _rule(gold), fallback=flags)
    return score_tags(_tags(gold), _tags(output))


def score_rows(
    gold: AnyTreebank,
    output: AnyTreebank,
    *,
    rules: BracketingRules = COLLINS,
    punctuation: Punctuation | None = None,
) -> tuple[tuple[str, ...], list[tuple[int, ...]]]:
    """The counts of every sentence: the names of the columns, the number of the sentence first, and the rows.

    >>> from latentgram.data.sentence import Sentence
    >>> gold = Treebank.of([Sentence(("a", "b"), ("X", "Y"))])
    >>> score_rows(gold, gold)
    (('sentence', 'words', 'right'), [(1, 2, 2)])
    """
    _check_kinds(gold, output)
    columns: tuple[str, ...] = ("words", "right")
    if gold.kind == CONSTITUENCY:
        counts = bracket_rows(gold.forest, output.forest, rules)
        columns = ("length", "status", "matched", "gold", "output", "crossing", "words", "tags")
        rows = np.column_stack((counts.length, counts.counts))
    elif gold.kind == DEPENDENCY:
        trees = gold.dependency_trees, output.dependency_trees
        columns, rows = (
            ("words", "heads", "labelled"),
            attachment_rows(*trees, punctuation=punctuation or _rule(gold)),
        )
    else:
        rows = _tag_rows(gold, output)
    return ("sentence", *columns), [(number, *row) for number, row in enumerate(rows.tolist(), 1)]


def compare_treebanks(
    gold: AnyTreebank,
    first: AnyTreebank,
    second: AnyTreebank,
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
        rule, trees = punctuation or _rule(gold), gold.dependency_trees
        rows = [attachment_rows(trees, each.dependency_trees, punctuation=rule) for each in (first, second)]
        if labelled:
            return paired_bootstrap(rows[0], rows[1], attachment_las, draws=draws, seed=seed)
    else:
        rows = [_tag_rows(gold, output) for output in (first, second)]
    return paired_bootstrap(rows[0], rows[1], attachment_uas, draws=draws, seed=seed)


def _rule(gold: AnyTreebank) -> Punctuation:
    """What is left out where nothing is said, as by parsers that score themselves."""
    return "upos" if all(any(tag != "_" for tag in tree.upos) for tree in gold.dependency_trees) else "none"


def _check_kinds(gold: AnyTreebank, output: AnyTreebank) -> None:
    if gold.kind != output.kind:
        raise DataError(f"the gold treebank is {gold.kind}, the output is {output.kind}")
    if len(gold) != len(output):
        raise DataError(f"there are {len(gold)} gold sentences but {len(output)} in the output")


def _tags(treebank: AnyTreebank) -> list[tuple[str, ...]]:
    tags = [sentence.tags for sentence in treebank.sentences()]
    if any(each is None for each in tags):
        raise DataError("the sentences have no tags to score")
    return [each for each in tags if each is not None]


def _tag_rows(gold: AnyTreebank, output: AnyTreebank) -> Ints:
    """[sentences, 2] words and right tags."""
    pairs = zip(_tags(gold), _tags(output), strict=True)
    return np.array(
        [(len(right), sum(a == b for a, b in zip(right, guess, strict=True))) for right, guess in pairs]
    )
