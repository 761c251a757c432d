"""`DependencyTree`: a sentence whose words point to their heads; the ten columns of CoNLL-U, kept whole."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Self

from latentgram.data.sentence import Sentence

ROOT = 0
"""The head of the root word; words are numbered from 1."""


@dataclass(frozen=True, slots=True)
class DependencyTree:
    """Words and their heads (numbered from 1; 0 is the artificial root), with the other CoNLL-U columns.

    `comments` are the lines before the sentence, without their newlines. `extra_rows` are multiword ranges and
    empty nodes: pairs of the number of words before them and the raw line.

    >>> tree = DependencyTree(("Cats", "sleep"), heads=(2, 0), xpos=("NNS", "VBP"))
    >>> tree.heads, tree.deprels, len(tree)
    ((2, 0), ('_', '_'), 2)
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    deprels: tuple[str, ...] = ()
    upos: tuple[str, ...] = ()
    xpos: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()
    feats: tuple[str, ...] = ()
    deps: tuple[str, ...] = ()
    misc: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    extra_rows: tuple[tuple[int, str], ...] = ()

    def __post_init__(self) -> None:
        for name in ("deprels", "upos", "xpos", "lemmas", "feats", "deps", "misc"):
            if not getattr(self, name):
                object.__setattr__(self, name, ("_",) * len(self.words))

    def replace(self, **columns: Any) -> Self:
        """A copy with some columns changed."""
        return dataclasses.replace(self, **columns)

    @property
    def sentence(self) -> Sentence:
        """The words and tags without the tree."""
        return Sentence(
            self.words,
            None if all(tag == "_" for tag in self.xpos) else self.xpos,
            None if all(tag == "_" for tag in self.upos) else self.upos,
        )

    def __len__(self) -> int:
        return len(self.words)
