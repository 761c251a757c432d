"""The input of the parser: a sentence, and the corrections of its tree."""

from __future__ import annotations

from pydantic import Field

from latentgram.web.editing.corrections import Correction
from latentgram.web.schemas import MAX_TREE, MAX_TREES, Fixes, Label, Strict, Word

MAX_CORRECTIONS = 400
"""Corrections of one sentence, at most."""


class ParseRequest(Strict):
    """One sentence, as text, as words with tags or as rows of CoNLL-U, and what is known of its tree."""

    text: str | None = Field(None, examples=["The old man saw a dog."])
    tokenised: bool = Field(False, description="Whether the words of the text are separated by spaces.")
    words: list[Word] | None = None
    xpos: list[Label] | None = None
    upos: list[Label] | None = None
    space_after: list[bool] | None = Field(None, description="Whether a blank stands behind each of the words.")
    fixes: Fixes = Fixes()
    corrections: list[Correction] = Field(
        [],
        max_length=MAX_CORRECTIONS,
        description="Corrections, in order; those that cannot be satisfied are returned as `unmet`.",
    )
    base: str | None = Field(
        None,
        max_length=MAX_TREE,
        description="A tree that is to stay as it is: all corrections are made on it by hand.",
    )
    source: str | None = Field(
        None,
        max_length=MAX_TREE,
        description="The rows of CoNLL-U to write the tree onto: all else in them stays.",
    )
    count: int = Field(1, ge=1, le=MAX_TREES, description="How many trees, best first.")
