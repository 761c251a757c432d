"""`WordTable`: numbers for the words of text, in order of first occurrence, found in compiled code.

Text is a sequence of UTF-8 bytes; words are separated by white space (kernels/words.py). O(bytes) per text; 32
bytes per slot of the table, at most half of them filled, and the bytes of the words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Flags, Floats, Integers, Ints, Ints32
from latentgram.data.kernels.words import (
    FREE,
    GROUP,
    add_word,
    find_word,
    moved,
    number_words,
    write_entries,
    write_rows,
)

BLANKS = re.compile("[\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
"""Blanks that are more than one byte; the others are known to the kernel."""


class WordTable:
    """Words and their numbers.

    >>> table = WordTable(["</s>"])
    >>> table.encode("a rose is\\na rose\\n").tolist(), list(table), "rose" in table
    ([1, 2, 3, 0, 1, 2, 0], ['</s>', 'a', 'rose', 'is'], True)
    >>> table.encode("a pen\\n", newline=-2, grow=False).tolist()
    [1, -1, -2]
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._slots = _empty(1 << 10)
        self._pool = np.empty(1 << 14, np.uint8)
        self._used = np.zeros(2, np.int64)
        listed = list(words)
        text = " ".join(listed)
        if text.split() == listed:
            self.encode(text)
            return
        for word in listed:  # one holds a blank
            self._add(np.frombuffer(_bytes(word), np.uint8))

    def _add(self, word: NDArray[np.uint8]) -> None:
        self._make_room(len(word))
        add_word(word, self._slots, self._pool, self._used)

    def _make_room(self, size: int) -> None:
        """Let there be room for so many bytes and for another group of words."""
        if self._used[1] + size > len(self._pool):
            self._pool = np.concatenate([self._pool, np.empty(max(size, len(self._pool)), np.uint8)])
        while 2 * (self._used[0] + GROUP) > len(self._slots):
            self._slots = moved(self._slots, _empty(2 * len(self._slots)))

    def encode(self, text: str, newline: int = 0, grow: bool = True) -> Ints32:
        """The numbers of the words of a text, with `newline` for each end of a line.

        New words get the next numbers or, unless the table may `grow`, -1.
        """
        if not text.isascii() and BLANKS.search(text):
            text = BLANKS.sub(" ", text)
        data = np.frombuffer(_bytes(text), np.uint8)
        tokens = np.empty(len(data), np.int32)
        place, count = 0, 0
        while place < len(data):
            self._make_room(len(data) - place)
            place, count = number_words(
                data, place, self._slots, self._pool, self._used, tokens, count, newline, grow
            )
        return tokens[:count].copy()

    def __len__(self) -> int:
        return int(self._used[0])

    def __contains__(self, word: str) -> bool:
        return bool(find_word(np.frombuffer(_bytes(word), np.uint8), self._slots, self._pool) >= 0)

    def __iter__(self) -> Iterator[str]:
        filled = self._slots[self._slots[:, 1] >= 0]
        order = np.argsort(filled[:, 1])
        pool = self._pool.tobytes()
        for begin, size in filled[order][:, 2:].tolist():
            yield pool[begin : begin + size].decode("utf-8", "surrogatepass")


class RowWriter:
    """Lines of n-grams given as word numbers, the boundary at the beginning of a longer one written `<s>`.

    >>> writer = RowWriter(["</s>", "a", "rose"], begin="<s>")
    >>> writer.lines(np.array([[0, 1], [1, 2]]), np.array([7, 10]))
    b'<s> a\\t7\\na rose\\t10\\n'
    >>> writer.entries(np.array([[0, 1]]), np.array([-0.5]), np.array([-1e-7]), np.array([True]))
    b'-0.5\\t<s> a\\t-1e-07\\n'
    """

    def __init__(self, words: Iterable[str], begin: str) -> None:
        names = [word.encode() for word in (*words, begin)]
        self._pool = np.frombuffer(b"".join(names), np.uint8)
        self._start = np.concatenate([[0], np.cumsum([len(name) for name in names])]).astype(np.int64)

    def lines(self, grams: Integers, counts: Integers) -> bytes:
        """Lines `w1 w2<TAB>count` of n-grams of one order."""
        spelled, out = self._prepared(grams, 20)
        return out[: write_rows(spelled, np.asarray(counts, np.int64), self._pool, self._start, out)].tobytes()

    def entries(
        self,
        grams: Integers,
        logs: Floats,
        weights: Floats,
        weighty: Flags,
    ) -> bytes:
        """Lines `log<TAB>w1 w2<TAB>weight` with seven digits, the weight only where there is to be one."""
        spelled, out = self._prepared(grams, 28)
        return out[: write_entries(spelled, logs, weights, weighty, self._pool, self._start, out)].tobytes()

    def _prepared(self, grams: Integers, more: int) -> tuple[Ints, NDArray[np.uint8]]:
        """The words to write, and room for them and for so many bytes more in each line."""
        spelled = np.array(grams, np.int64)
        if spelled.shape[1] > 1:
            spelled[spelled[:, 0] == 0, 0] = len(self._start) - 2
        room = int(np.diff(self._start)[spelled].sum()) + len(spelled) * (spelled.shape[1] + 1 + more)
        return spelled, np.empty(room, np.uint8)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _empty(size: int) -> Ints:
    """Slots: hash, number, begin and length of the word's bytes."""
    return np.full((size, 4), FREE, np.int64)
