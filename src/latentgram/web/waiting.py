"""The queue: sentences waiting for a tree, in the order of the file, the most uncertain first, or diverse.

Uncertainty is the entropy over trees *per word*: by the entropy alone the longest sentences would come first. The
diverse order arranges the uncertain ones such that neighbours share few words: with J the overlap of two sets of
words, |A ∩ B| / |A ∪ B|, the next sentence has the greatest uncertainty × (1 − its greatest J with those before
it).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from latentgram.data.cleaning import without_empties
from latentgram.data.dependencies import DependencyTree
from latentgram.data.formats import TreeOrSentence
from latentgram.data.sentence import Sentence
from latentgram.errors import DataError
from latentgram.web.annotations import name_in, sentence_key
from latentgram.web.schemas import MAX_QUEUE, MAX_WORDS

Order = Literal["uncertain", "diverse", "file"]
MIXED = 100
"""Sentences that are mixed: the most uncertain ones."""


@dataclass
class Waiting:
    """One sentence of the queue; `entropy` is that of its trees under the parser of `version`."""

    number: int
    sentence: Sentence
    entropy: float | None = None
    version: int = -1
    done: bool = False
    source: DependencyTree | None = None
    """The rows of CoNLL-U that it came from: the tree is written onto them."""
    by: frozenset[str] = frozenset()
    """Who has given it a tree."""
    key: str = ""
    name: str = ""
    """Its sent_id, if it has one: two sentences of the same words may be in the queue then."""

    def is_of(self, words: tuple[str, ...], name: str) -> bool:
        """Whether a tree with these words, of this name, is its tree."""
        return self.sentence.words == words and self.name in ("", name)

    @property
    def per_word(self) -> float | None:
        """How uncertain the parser is, per word."""
        return None if self.entropy is None else self.entropy / len(self.sentence)


@dataclass
class Queue:
    """The sentences, numbered in the order in which they came."""

    items: list[Waiting] = field(default_factory=list)
    double: float = 0.0
    """The share of sentences that two people annotate."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, sentences: Iterable[TreeOrSentence]) -> int:
        """Put sentences at the end, without those that are there already; how many were new."""
        with self._lock:
            there = {(item.sentence.words, item.name) for item in self.items}
            before = len(self.items)
            for each in sentences:
                sentence = without_empties(each.sentence)
                identity = (sentence.words, name_in(each))
                if identity in there:
                    continue
                if len(self.items) == MAX_QUEUE:
                    del self.items[before:]
                    raise DataError(f"the queue can have at most {MAX_QUEUE} sentences")
                there.add(identity)
                made = Waiting(len(self.items), sentence, done=len(sentence) > MAX_WORDS)
                made.source = each if isinstance(each, DependencyTree) else None
                made.key, made.name = sentence_key(sentence.words), name_in(each)
                self.items.append(made)
            return len(self.items) - before

    def finish(
        self, words: tuple[str, ...], number: int | None = None, annotator: str = "", name: str = ""
    ) -> None:
        """A sentence has its tree; one that two people annotate waits for the second."""
        for item in self.items:
            if item.number == number or item.is_of(words, name):
                item.by |= {annotator}
                item.done = not self.is_double(item) or len(item.by) > 1

    def reopen(self, there: Iterable[tuple[tuple[str, ...], str]]) -> None:
        """Sentences that have lost their trees wait again: `there` are the words and names of all trees."""
        trees = list(there)
        with_tree = {(words, "") for words, _ in trees} | set(trees)
        for item in self.items:
            if item.done and len(item.sentence) <= MAX_WORDS and (item.sentence.words, item.name) not in with_tree:
                item.done, item.by = False, frozenset()

    def is_double(self, item: Waiting) -> bool:
        """Whether two people annotate a sentence: a share of all, the same ones in every server."""
        return int(item.key[:8], 16) < self.double * 2**32

    def unscored(self, version: int, size: int) -> list[Waiting]:
        """Some sentences whose uncertainty is not known, or known from an older parser."""
        open_items = [item for item in self.items if not item.done and item.version < version]
        return sorted(open_items, key=lambda item: (item.version, item.number))[:size]

    def check(self, number: int | None) -> None:
        """See that there is a sentence of this number."""
        if number is not None and number >= len(self.items):
            raise DataError(
                f"there is no sentence {number} in the queue of {len(self.items)} sentences, numbered from 0"
            )

    @property
    def waiting(self) -> list[Waiting]:
        """What is still to be done, in the order of the file."""
        return [item for item in self.items if not item.done]

    def listed(self, order: Order, annotator: str = "") -> list[Waiting]:
        """What is still to be done, by an annotator; sentences of unknown uncertainty come last.

        >>> queue = Queue()
        >>> queue.add([Sentence(("a",)), Sentence(("b",)), Sentence(("c",)), Sentence(("a",))])
        3
        >>> queue.items[2].entropy = 1.5
        >>> [item.number for item in queue.listed("uncertain")]
        [2, 0, 1]
        """
        waiting = [item for item in self.waiting if annotator not in item.by]
        if order == "file":
            return waiting
        by_doubt = sorted(waiting, key=_doubt)
        return by_doubt if order == "uncertain" else _mixed(by_doubt[:MIXED]) + by_doubt[MIXED:]


def _mixed(items: Sequence[Waiting]) -> list[Waiting]:
    words = {item.number: frozenset(item.sentence.words) for item in items}
    overlap = dict.fromkeys(words, 0.0)
    left, chosen = list(items), list[Waiting]()
    while left:
        best = max(left, key=lambda item: (item.per_word or 0.0) * (1 - overlap[item.number]))
        left.remove(best)
        chosen.append(best)
        for item in left:
            shared = _overlap(words[item.number], words[best.number])
            overlap[item.number] = max(overlap[item.number], shared)
    return chosen


def _doubt(item: Waiting) -> tuple[float, int]:
    return math.inf if item.per_word is None else -item.per_word, item.number


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)
