"""The queue: sentences that wait for a tree, in the order of the file or the most uncertain first."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from typing import Literal

from latentgram.data.sentence import Sentence
from latentgram.errors import DataError
from latentgram.web.schemas import MAX_QUEUE, MAX_WORDS

Order = Literal["uncertain", "file"]


@dataclass
class Waiting:
    """One sentence of the queue; `entropy` is that of its trees under the parser of `version`."""

    number: int
    sentence: Sentence
    entropy: float | None = None
    version: int = -1
    done: bool = False


@dataclass
class Queue:
    """The sentences, numbered in the order in which they came."""

    items: list[Waiting] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, sentences: list[Sentence]) -> int:
        """Put sentences at the end, without those that are there already; how many were new."""
        with self._lock:
            there = {item.sentence.words for item in self.items}
            new = [sentence for sentence in dict.fromkeys(sentences) if sentence.words not in there]
            if len(self.items) + len(new) > MAX_QUEUE:
                raise DataError(f"the queue holds at most {MAX_QUEUE} sentences")
            for sentence in new:
                self.items.append(Waiting(len(self.items), sentence, done=len(sentence) > MAX_WORDS))
            return len(new)

    def finish(self, words: tuple[str, ...], number: int | None = None) -> None:
        """A sentence has its tree."""
        for item in self.items:
            if item.number == number or item.sentence.words == words:
                item.done = True

    def unscored(self, version: int, size: int) -> list[Waiting]:
        """Some sentences whose uncertainty is not known, or known from an older parser."""
        open_items = [item for item in self.items if not item.done and item.version < version]
        return sorted(open_items, key=lambda item: (item.version, item.number))[:size]

    def check(self, number: int | None) -> None:
        """See that there is a sentence of this number."""
        if number is not None and number >= len(self.items):
            raise DataError(f"there is no sentence {number} in the queue, which has {len(self.items)} from 0 on")

    @property
    def waiting(self) -> list[Waiting]:
        """What is still to be done, in the order of the file."""
        return [item for item in self.items if not item.done]

    def listed(self, order: Order) -> list[Waiting]:
        """What is still to be done; sentences of unknown uncertainty come last.

        >>> queue = Queue()
        >>> queue.add([Sentence(("a",)), Sentence(("b",)), Sentence(("c",)), Sentence(("a",))])
        3
        >>> queue.items[2].entropy = 1.5
        >>> [item.number for item in queue.listed("uncertain")]
        [2, 0, 1]
        """
        waiting = self.waiting
        if order == "file":
            return waiting
        return sorted(waiting, key=lambda item: (math.inf if item.entropy is None else -item.entropy, item.number))
