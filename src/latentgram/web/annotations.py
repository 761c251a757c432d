"""The user's treebank: accepted trees are added to it, and all changes to it are recorded (history.py).

For each tree the history records the client's id, by which a repeated request is carried out once, the
agreement of the parser's tree with the accepted one, and the corrections; and the scores on held-out trees, which
are identified by their digest. Without a file everything is kept in one that is deleted when the program ends.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from latentgram.data.cleaning import clean
from latentgram.data.conllu import to_conllu
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
from latentgram.web.editing.phrases import words_of
from latentgram.web.history import Accepted, History, Measured
from latentgram.web.pieces import name_of
from latentgram.web.schemas import Kind
from latentgram.web.shown import read_tree

Over = Literal["add", "ask", "replace", "beside"]
"""What becomes of a sentence that has a tree already: both are kept, the annotator is asked, the new one takes the
place of the old, or it is kept beside the treebank as a second annotation."""


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
            raise DataError("trees cannot be added to a compressed file; decompress it first", path=self.path)
        if plain_suffix(self.path) in SUFFIXES[CONLLU if self.kind == CONSTITUENCY else BRACKETS]:
            raise DataError(
                f"the model is for {self.kind} trees, but this file name is for others", path=self.path
            )
        if self.path.exists() and not self.path.is_file():
            raise DataError("the treebank to which trees are added must be a regular file", path=self.path)
        self.history, self.measured = self.book.read()
        if self.path.exists():
            trees = self.read()
            if len(trees) and trees.kind != self.kind:
                raise DataError(f"the model is for {self.kind} trees, but these are {trees.kind}", path=self.path)

    @cached_property
    def _folder(self) -> tempfile.TemporaryDirectory[str]:
        """Where all is that nobody keeps."""
        return tempfile.TemporaryDirectory(prefix="latentgram-", ignore_cleanup_errors=True)

    def close(self) -> None:
        """Remove what was kept only for this session, because there is no treebank."""
        if "_folder" in vars(self):
            self._folder.cleanup()

    @cached_property
    def file(self) -> Path:
        """The file, one's own or one that ends with the program."""
        name = "accepted.mrg" if self.kind == CONSTITUENCY else "accepted.conllu"
        return Path(self._folder.name, name) if self.path is None else self.path

    @cached_property
    def book(self) -> History:
        """The history beside the file."""
        return History(self.file, phrases=self.kind == CONSTITUENCY)

    def read(self, path: Path | None = None) -> Treebank[AnyTree]:
        """All trees of the file as it is now, or as it was when it was copied."""
        path = path or self.file
        if not path.exists() or os.path.getsize(path) == 0:
            return Treebank(() if self.kind == DEPENDENCY else Forest.of([]), self.kind)
        return Treebank.read(path)

    def copied_to(self, folder: Path) -> Path:
        """A copy of the file as it is now."""
        copy = folder / self.file.name
        if self.file.exists():
            shutil.copyfile(self.file, copy)
        return copy

    def seen(self, id: str, tree: AnyTree) -> Accepted | None:
        """What became of a request with this id, if there was one; with another tree it is refused."""
        entry = next((entry for entry in self.history if entry.id == id), None)
        if entry is not None:
            entry.check(digest(tree))
        return entry

    def add(
        self,
        id: str,
        tree: AnyTree,
        proposed: AnyTree | None,
        fixes: int,
        annotator: str = "",
        over: Over = "add",
        named: bool = False,
    ) -> Accepted:
        """Put a tree at the end of the file, or where `over` says; `named` gives rows of CoNLL-U a sent_id."""
        entry = Accepted(
            id,
            agreement(tree, proposed),
            fixes,
            len(words_in(tree)),
            digest(tree),
            sentence_key(words_in(tree)),
            annotator,
            time.time(),
            place="beside" if over == "beside" else "file",
        )

        def text(number: int) -> str:
            return text_of(self._named(tree, number) if named else tree)

        gap = "\n\n" if isinstance(tree, DependencyTree) else "\n"
        replaced = self._same_sentence(entry, name_in(tree)) if over == "replace" else None
        entry = self.book.append(entry, text, gap, ask=over == "ask", instead=replaced, name=name_in(tree))
        if replaced is not None:
            self.history = [each for each in self.history if each.id != replaced.id]
        self.history.append(entry)
        return entry

    def _named(self, tree: AnyTree, number: int) -> AnyTree:
        """A dependency tree with a sent_id that no other tree of the file has."""
        if not isinstance(tree, DependencyTree) or name_in(tree):
            return tree
        there = self.file.read_bytes() if self.file.exists() else b""
        name = f"{self.file.name.split('.')[0]}-{number}"
        while f"# sent_id = {name}\n".encode() in there or f"# sent_id = {name}\r".encode() in there:
            name += "a"
        return tree.replace(comments=(f"# sent_id = {name}", *tree.comments))

    def _same_sentence(self, entry: Accepted, name: str) -> Accepted | None:
        same = [each for each in self.book.accepted() if each.sentence == entry.sentence and each.place == "file"]
        named = [each for each in same if not name or name_of(each.tree) == name]
        return named[-1] if named else None

    def refresh(self) -> None:
        """See what other servers did to the same file."""
        self.history = self.book.accepted()

    def note(self, measured: Measured) -> None:
        """Keep a score on held-out trees."""
        self.measured.append(measured)
        if self.path is not None:
            self.book.note(measured)

    def parse(self, text: str) -> AnyTree:
        """One tree from its text: brackets or CoNLL-U."""
        return read_tree(text, phrases=self.kind == CONSTITUENCY)


def text_of(tree: AnyTree) -> str:
    """A tree as it stands in its file."""
    return to_conllu(tree) if isinstance(tree, DependencyTree) else f"{tree}\n"


def digest(tree: AnyTree) -> str:
    """What tells a tree from others."""
    text = to_conllu(tree) if isinstance(tree, DependencyTree) else str(tree)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def words_in(tree: AnyTree) -> tuple[str, ...]:
    """The words of the sentence that a tree is of: traces are none."""
    return words_of(tree) if isinstance(tree, Tree) else tree.words


def name_in(tree: object) -> str:
    """The sent_id of a tree that has one."""
    return name_of("\n".join(tree.comments)) if isinstance(tree, DependencyTree) else ""


def sentence_key(words: tuple[str, ...]) -> str:
    """What tells a sentence from others."""
    return hashlib.sha256("\n".join(words).encode("utf-8", "replace")).hexdigest()[:16]


def warm(kind: Kind) -> None:
    """Load the compiled kernels that accepting a tree needs."""
    agreement(small_tree(kind), small_tree(kind))


def small_tree(kind: Kind) -> AnyTree:
    """A tree of two words to try things on."""
    if kind == DEPENDENCY:
        return DependencyTree(("a", "b"), (2, 0), upos=("DET", "NOUN"), xpos=("DT", "NN"))
    return Tree("S", (Tree("A", word="a"), Tree("B", word="b")))


def agreement(tree: AnyTree, proposed: AnyTree | None) -> float | None:
    """The share of brackets (F1) or of heads that were right, in percent; None where words differ.

    Traces and function tags are no part of it: most grammars have none, and they are added by hand.
    """
    if isinstance(tree, Tree) and isinstance(proposed, Tree):
        spoken = list(clean(Forest.of([tree, proposed]))[0])  # a tree of nothing but traces is left out
        if len(spoken) < 2 or spoken[0].words != spoken[1].words:
            return None
        return float(score_brackets(spoken[:1], spoken[1:]).f1)
    if isinstance(tree, DependencyTree) and isinstance(proposed, DependencyTree) and tree.words == proposed.words:
        return float(score_attachment(Treebank.of([tree]), [proposed], punctuation="none").uas)
    return None
