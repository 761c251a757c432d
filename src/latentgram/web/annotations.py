"""The user's treebank: accepted trees are appended to it, and remembered in a history beside it (history.py).

The history knows of each tree the client's id, by which a request that was sent twice is carried out once, the
agreement of the parser's tree with the accepted one, and the corrections; and the scores on held-out trees, which
tell of these by the digest.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from latentgram.data.brackets import parse_tree
from latentgram.data.conllu import parse_conllu, to_conllu
from latentgram.data.dependencies import DependencyTree
from latentgram.data.files import PACKED, plain_suffix
from latentgram.data.forest import Forest
from latentgram.data.formats import BRACKETS, CONLLU, SUFFIXES
from latentgram.data.tree import Tree
from latentgram.data.treebank import CONSTITUENCY, DEPENDENCY, Treebank
from latentgram.errors import DataError
from latentgram.evaluate.attachment import score_attachment
from latentgram.evaluate.bracketing import score_brackets
from latentgram.kinds.protocols import AnyTree
from latentgram.web.history import Accepted, History, Measured
from latentgram.web.schemas import Kind

LEVELS = 50
"""Levels that a tree may have beyond two for each word."""


@dataclass
class Annotations:
    """A treebank file (or none: then nothing is kept beyond the program's end) and what was accepted so far."""

    kind: Kind
    path: Path | None = None
    history: list[Accepted] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)
    """Scores on held-out trees, of any file."""

    def __post_init__(self) -> None:
        if self.path is None:
            return
        if self.path.name.lower().endswith(PACKED):
            raise DataError("a compressed file cannot be added to; unpack it first", path=self.path)
        if plain_suffix(self.path) in SUFFIXES[CONLLU if self.kind == CONSTITUENCY else BRACKETS]:
            raise DataError(f"the model is for {self.kind} trees, this name is for others", path=self.path)
        self.history, self.measured = History(self.path).read()
        if self.path.exists():
            trees = self.read()
            if len(trees) and trees.kind != self.kind:
                raise DataError(f"the model is for {self.kind} trees, these are {trees.kind}", path=self.path)

    def read(self) -> Treebank[AnyTree]:
        """All trees of the file as it is now."""
        if self.path is None or not self.path.exists() or os.path.getsize(self.path) == 0:
            return Treebank(() if self.kind == DEPENDENCY else Forest.of([]), self.kind)
        return Treebank.read(self.path)

    def seen(self, id: str, tree: AnyTree) -> Accepted | None:
        """What became of a request with this id, if there was one; with another tree it is refused."""
        entry = next((entry for entry in self.history if entry.id == id), None)
        if entry is not None:
            entry.check(_digest(tree))
        return entry

    def add(self, id: str, tree: AnyTree, proposed: AnyTree | None, fixes: int) -> Accepted:
        """Put a tree at the end of the file."""
        entry = Accepted(id, agreement(tree, proposed), fixes, len(tree), _digest(tree))
        if self.path is not None:
            text, gap = (to_conllu(tree), "\n\n") if isinstance(tree, DependencyTree) else (f"{tree}\n", "\n")
            History(self.path).append(entry, text, gap)
        self.history.append(entry)
        return entry

    def note(self, measured: Measured) -> None:
        """Keep a score on held-out trees."""
        self.measured.append(measured)
        if self.path is not None:
            History(self.path).note(measured)

    def parse(self, text: str) -> AnyTree:
        """One tree from its text: brackets or CoNLL-U."""
        if self.kind == DEPENDENCY:
            return _one_conllu(text)
        tree = parse_tree(text)
        depth = max(accumulate((char == "(") - (char == ")") for char in text))
        if depth > LEVELS + 2 * len(tree):
            raise DataError(f"the tree has {depth} levels over {len(tree)} words: chains so long are no phrases")
        return tree


def _digest(tree: AnyTree) -> str:
    text = to_conllu(tree) if isinstance(tree, DependencyTree) else str(tree)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _one_conllu(text: str) -> DependencyTree:
    trees = list(parse_conllu(text))
    if len(trees) != 1:
        raise DataError(f"one sentence in CoNLL-U is wanted, not {len(trees)}")
    return trees[0]


def warm(kind: Kind) -> None:
    """Load the compiled kernels that accepting a tree needs."""
    agreement(small_tree(kind), small_tree(kind))


def small_tree(kind: Kind) -> AnyTree:
    """A tree of two words to try things on."""
    if kind == DEPENDENCY:
        return DependencyTree(("a", "b"), (2, 0), upos=("DET", "NOUN"), xpos=("DT", "NN"))
    return Tree("S", (Tree("A", word="a"), Tree("B", word="b")))


def agreement(tree: AnyTree, proposed: AnyTree | None) -> float | None:
    """The share of brackets (F1) or of heads that were right, in percent; None where words differ."""
    if proposed is None or proposed.words != tree.words:
        return None
    if isinstance(tree, DependencyTree):
        if not isinstance(proposed, DependencyTree):
            return None
        return float(score_attachment(Treebank.of([tree]), [proposed], punctuation="none").uas)
    if not isinstance(proposed, Tree):
        return None
    return float(score_brackets(Treebank.of([tree]).forest, [proposed]).f1)
