"""The trees of the treebank file in its current state: found, changed, deleted, and restored.

Every change is a row of the history, with the previous state, so that it can be undone; the file stays a plain
treebank. The file is read again when it has changed, whoever changed it.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from latentgram.data.dependencies import DependencyTree
from latentgram.data.patterns import pattern_finder
from latentgram.data.treebank import CONSTITUENCY, Treebank
from latentgram.errors import DataError, LatentgramError
from latentgram.kinds.protocols import AnyTree
from latentgram.parser.parser import Parser
from latentgram.parser.suspects import find_suspects
from latentgram.web.annotations import Annotations, sentence_key, text_of, words_in
from latentgram.web.editing.phrases import spans
from latentgram.web.history import Accepted, Change, Taken
from latentgram.web.pieces import NotThere, Piece, pieces
from latentgram.web.schemas import MAX_WORDS
from latentgram.web.shown import read_tree

_OPERATORS = frozenset("<>$[]{}|/*")
MOST_ALIKE = 500
"""Trees with the same tags that are looked at."""
_WORD_OPERATORS = (" . ", " .. ", " , ", " ,, ", "->")


class Entry(NamedTuple):
    """A tree of the file: its number from 0, its text, and its words."""

    number: int
    text: str
    words: tuple[str, ...]
    key: str


@dataclass
class Bank:
    """The trees of a treebank file; what was appended to it is read alone, and trees are made when asked for."""

    annotations: Annotations
    doubts: dict[str, float] = field(default_factory=dict)
    """log p(tree | sentence) per word, by the text of the tree."""
    _state: tuple[int, int] = (-1, -1)
    _content: bytes = b""
    _read: Treebank[AnyTree] | None = None
    _appended: list[AnyTree] = field(default_factory=list)
    _entries: list[Entry] = field(default_factory=list)
    _having: dict[str, list[int]] = field(default_factory=dict)
    """Which entries have a word, in small letters."""
    _pairs: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    """Which entries have two tags one after the other; those of the first `_paired` entries."""
    _paired: int = 0
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def entries(self) -> list[Entry]:
        """All trees, in the order of the file."""
        path = self.annotations.file
        if not path.exists():
            return []
        with self._lock:
            now = path.stat()
            if (now.st_mtime_ns, now.st_size) != self._state:
                self._catch_up(path.read_bytes())
                self._state = (now.st_mtime_ns, now.st_size)
            return self._entries

    def _catch_up(self, content: bytes) -> None:
        """Read what is new in the file; all of it, if it is not the old one with more behind it."""
        phrases = self.annotations.kind == CONSTITUENCY
        if not self._entries or not content.startswith(self._content):
            with tempfile.TemporaryDirectory() as folder:  # nobody changes a copy while it is read
                copy = self.annotations.copied_to(Path(folder))
                content, self._read, self._appended = copy.read_bytes(), self.annotations.read(copy), []
            new_pieces = pieces(content, phrases)
            if len(new_pieces) != len(self._read):
                raise DataError("the trees of the file cannot be distinguished", path=self.annotations.file)
            self._entries, self._having, self._pairs, self._paired = [], {}, {}, 0
            self._add(new_pieces, self._read)
        else:
            new_pieces = pieces(content[len(self._content) :], phrases)
            trees = [self._parsed(piece.text) for piece in new_pieces]
            self._appended += trees
            self._add(new_pieces, trees)
        self._content = content

    def _add(self, new_pieces: Sequence[Piece], trees: Sequence[AnyTree]) -> None:
        for piece, tree in zip(new_pieces, trees, strict=True):
            words, number = words_in(tree), len(self._entries)
            self._entries.append(Entry(number, piece.text, words, sentence_key(words)))
            for word in {word.lower() for word in words}:
                self._having.setdefault(word, []).append(number)

    def tree(self, entry: Entry) -> AnyTree:
        """The tree of an entry, also of one that has been changed or deleted since it was found."""
        with self._lock:
            if entry.number >= len(self._entries) or self._entries[entry.number] is not entry:
                return self._parsed(entry.text)
            old = 0 if self._read is None else len(self._read)
            if self._read is not None and entry.number < old:
                return self._read[entry.number]
            return self._appended[entry.number - old]

    def _parsed(self, text: str) -> AnyTree:
        phrases = self.annotations.kind == CONSTITUENCY
        return read_tree(text.rstrip("\r\n") + ("\n" if phrases else "\n\n"), phrases)

    def _with_words(self, wanted: list[str]) -> list[tuple[Entry, list[tuple[int, int]]]]:
        """Entries with some words one after the other, and where."""
        entries = self.entries()
        having = min((self._having.get(word, []) for word in wanted), key=len)
        having_any = (entries[number] for number in having)
        occurrences = ((each, _occurrences([word.lower() for word in each.words], wanted)) for each in having_any)
        return [(entry, places) for entry, places in occurrences if places]

    def find(self, query: str) -> list[tuple[Entry, list[tuple[int, int]]]]:
        """The trees with some words one after the other, or with a pattern; and which words match."""
        query = query.strip()
        if not query:
            return [(entry, []) for entry in self.entries()]
        if not _is_pattern(query):
            return self._with_words(query.lower().split())
        finder = pattern_finder(query, self.annotations.kind == CONSTITUENCY)
        return [(entry, hits) for entry in self.entries() if (hits := finder(self.tree(entry)))]

    def past(self, words: list[str]) -> tuple[Counter[str], int]:
        """How these words were analysed before: the labels over just them (or relations), and how often not."""
        occurrences = self._with_words([word.lower() for word in words])
        return _decisions((self.tree(entry), places) for entry, places in occurrences)

    def past_of_tags(self, tags: list[str]) -> tuple[Counter[str], int]:
        """How words with these tags, one after the other, were analysed: labels over just them; how often none.

        Of very frequent sequences the latest occurrences are looked at.
        """
        entries = self.entries()
        with self._lock:
            for entry in entries[self._paired :]:
                for pair in set(pairwise(self.tree(entry).sentence.tags or ())):
                    self._pairs.setdefault(pair, []).append(entry.number)
            self._paired = len(entries)
            having = min((self._pairs.get(pair, []) for pair in pairwise(tags)), key=len, default=[])[-MOST_ALIKE:]
        trees = [self.tree(entries[number]) for number in having]
        return _decisions((tree, _occurrences(tree.sentence.tags or (), tags)) for tree in trees)

    def past_of_arc(self, word: str, head: str) -> tuple[Counter[str], int, Counter[str]]:
        """How a word was attached: its relations to this head; how often it had another where both were there; and
        its relations to any head, with the tag of that. Of very frequent words the latest trees are looked at.
        """
        entries, wanted, head = self.entries(), word.lower(), head.lower()
        to_head, all_heads, elsewhere = Counter[str](), Counter[str](), 0
        for number in self._having.get(wanted, [])[-MOST_ALIKE:]:
            tree = self.tree(entries[number])
            if not isinstance(tree, DependencyTree):
                continue
            words = [each.lower() for each in tree.words]
            for place in (place for place, each in enumerate(words) if each == wanted):
                above, relation = tree.heads[place], tree.deprels[place]
                tag = (tree.sentence.tags or ())[above - 1 : above] if above else ("the root",)
                all_heads[f"{relation} of {tag[0]}" if tag else relation] += 1
                if (words[above - 1] if above else "") == head:
                    to_head[relation] += 1
                elif head in words:
                    elsewhere += 1
        return to_head, elsewhere, all_heads

    def change(self, id: str, number: int, old: str, new: AnyTree | None, annotator: str) -> bool:
        """Put another tree in the place of one, or none; whether that was not done before.

        A tree that has become another meanwhile raises `Taken` with that one: who comes second may choose.
        """
        text = "" if new is None else text_of(new)
        action = "delete" if new is None else "replace"
        entry = self._accepted(old)
        change = Change(id, time.time(), annotator, action, entry.id if entry else "", number, old, text)
        try:
            return self.annotations.book.change(change)
        except NotThere as error:
            other = None if new is None else self._in_its_place(number, sentence_key(words_in(new)))
            if other is None:
                raise
            raise Taken(f"{other.annotator or 'somebody'} has changed this tree in the meantime", other) from error

    def _in_its_place(self, number: int, key: str) -> Accepted | None:
        """The tree of a sentence that stands nearest to a number, and who made it so."""
        same = [entry for entry in self.entries() if entry.key == key]
        if not same:
            return None
        entry = min(same, key=lambda each: abs(each.number - number))
        changes = (each for each in self.annotations.book.changes() if each.new.strip() == entry.text.strip())
        last = next(changes, None)
        who, when = ("", 0.0) if last is None else (last.annotator, last.time)
        return Accepted("", None, 0, len(entry.words), sentence=key, annotator=who, time=when, tree=entry.text)

    def _accepted(self, text: str) -> Accepted | None:
        same = [each for each in self.annotations.book.accepted() if each.tree.strip() == text.strip()]
        return same[-1] if same else None

    def undo(self, id: str, annotator: str, change: str | None) -> tuple[str, str | None]:
        """Undo a change, or the last acceptance; what was done, in words, and the id of that acceptance."""
        if change is not None:
            row = next((each for each in self.annotations.book.changes(10_000) if each.id == change), None)
            if row is None:
                raise DataError("there is no such change in the history")
            undone = Change(id, time.time(), annotator, "undo", row.of, row.number, row.new, row.old)
            self.annotations.book.change(undone)
            return f"Undone: {row.action}.", None
        accepted = [each for each in self.annotations.book.accepted() if each.place == "file" and each.tree]
        mine = [each for each in accepted if each.annotator in (annotator, "")]
        if not mine:
            raise DataError("there is no acceptance of yours to undo")
        last = mine[-1]
        number = next((e.number for e in self.entries() if e.text.strip() == last.tree.strip()), 0)
        self.annotations.book.change(
            Change(id, time.time(), annotator, "take back", last.id, number, last.tree, "")
        )
        return "The last acceptance was taken back.", last.id


def doubts_of(parser: Parser, trees: list[AnyTree]) -> list[float | None]:
    """How improbable each tree is to the parser, per word: what a worker does."""
    return [_doubt(parser, tree) for tree in trees]


def _doubt(parser: Parser, tree: AnyTree) -> float | None:
    if len(tree) > MAX_WORDS:  # whose charts would take all memory
        return None
    try:
        return find_suspects(parser, [tree], 1)[0].per_word
    except (LatentgramError, ValueError, KeyError):
        return None


def _is_pattern(query: str) -> bool:
    return bool(_OPERATORS & set(query)) or any(each in query for each in _WORD_OPERATORS)


def _decisions(occurrences: Iterable[tuple[AnyTree, list[tuple[int, int]]]]) -> tuple[Counter[str], int]:
    """The labels over some words of trees, and how often there was none."""
    analyses = [names for tree, places in occurrences for names in _analyses(tree, places)]
    return Counter(name for names in analyses for name in names), sum(not names for names in analyses)


def _occurrences(words: Sequence[str], wanted: list[str]) -> list[tuple[int, int]]:
    size, sentence = len(wanted), list(words)
    return [(at, at + size) for at in range(len(sentence) - size + 1) if sentence[at : at + size] == wanted]


def _analyses(tree: AnyTree, places: list[tuple[int, int]]) -> Iterator[list[str]]:
    """Of each place the labels over its words, or the relation of the one of them whose head is another."""
    if isinstance(tree, DependencyTree):
        for first, end in places:
            inside = range(first + 1, end + 1)
            outer = [word for word in inside if tree.heads[word - 1] not in inside]
            yield [tree.deprels[outer[0] - 1]] if len(outer) == 1 else []
        return
    labels: dict[tuple[int, int], list[str]] = {}
    for label, first, end in spans(tree):
        labels.setdefault((first, end), []).append(label)
    for first, end in places:
        over = labels.get((first, end), [])
        yield over[:-1] if end - first == 1 else over
