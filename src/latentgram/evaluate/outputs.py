"""Reading any parser's output.

In a bracketed file a sentence without a parse is written `(())`, as EVALB wants it; gold treebanks never
have that, so only this reader takes it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from latentgram.data.alphabet import ABSENT
from latentgram.data.brackets import parse_forest
from latentgram.data.files import PathLike, read_text
from latentgram.data.formats import BRACKETS, format_of
from latentgram.data.treebank import CONSTITUENCY, Treebank
from latentgram.errors import DataError

NO_PARSE = "(())"
"""How a sentence without a parse is written in a bracketed file."""

_NO_PARSE = re.compile(r"\(\s*\(\s*\)\s*\)")
_MARK = "\0"


def read_output(path: PathLike) -> Treebank[Any]:
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
