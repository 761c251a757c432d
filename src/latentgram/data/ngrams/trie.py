"""`NGramTrie`: a set of n-grams that contains every part of its members, as flat arrays.

Rows are sorted by order, then by words. Row r of order k is the row `prefix[r]` of order k-1 followed by
`word[r]`, and `suffix[r]` is the row without its first word; the row of a unigram is the number of its word; -1 is
the empty n-gram. The extensions of a row are contiguous. 12 bytes per row; finding an n-gram of order k costs
k binary searches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from latentgram.arrays import Flags, Integers, Ints, Ints32
from latentgram.data.invariants import ANY, below, earlier, holds, offsets, rising, shape

Numbers = Ints32

NONE = -1
"""The row of the empty n-gram, and of one that is not there."""


@dataclass(frozen=True)
class NGramTrie:
    """N-grams of word numbers.

    >>> trie, _ = NGramTrie.of([np.array([[0], [1], [2]]), np.array([[0, 1], [0, 2], [1, 2]])], words=3)
    >>> trie.order, len(trie), trie.grams(2)[1].tolist(), trie.suffix[4]
    (2, 6, [0, 2], np.int32(2))
    >>> trie.find(np.array([[1, 2], [2, 1]]))
    array([ 5, -1], dtype=int32)
    """

    level: Annotated[Ints, holds("len(level) > 1", "has no order"), offsets("word")]
    """[order + 1] rows `level[k - 1] : level[k]` are those of order k."""
    word: Annotated[Numbers, shape(ANY), below("words")]
    prefix: Annotated[Numbers, shape("len(word)"), earlier("words"), rising(strictly=False)]
    suffix: Annotated[Numbers, shape("len(word)"), earlier("words")]

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.level) - 1

    @property
    def words(self) -> int:
        """The number of words, each of which is a unigram."""
        return int(self.level[1])

    def __len__(self) -> int:
        return len(self.word)

    @classmethod
    def of(cls, grams: Sequence[Integers], words: int) -> tuple[NGramTrie, list[Numbers]]:
        """The trie of distinct n-grams (one [n, k] array per order k) and of all their parts; and their rows.

        Windows of length j are numbered as pairs (number of the window without its last word, last word), so one
        sort of integers per order does everything.
        """
        level, word, prefix, suffix = [0, words], [_range(words)], [_fill(words)], [_fill(words)]
        rows: list[Numbers] = [grams[0][:, 0].astype(np.int32)] if grams else []
        # windows[i][:, o] is the row of the window of the current length that begins at column o.
        windows = [array.astype(np.int64) for array in grams[1:]]
        for length in range(2, len(grams) + 1):
            longer = windows[length - 2 :]
            arrays = grams[length - 1 :]
            keys = [
                ids[:, : array.shape[1] - length + 1] * words + array[:, length - 1 :]
                for ids, array in zip(longer, arrays, strict=True)
            ]
            tails = [ids[:, 1 : array.shape[1] - length + 2] for ids, array in zip(longer, arrays, strict=True)]
            distinct, first, inverse = np.unique(
                np.concatenate([key.ravel() for key in keys]), return_index=True, return_inverse=True
            )
            start = level[-1]
            word.append((distinct % words).astype(np.int32))
            prefix.append((distinct // words).astype(np.int32))
            suffix.append(np.concatenate([tail.ravel() for tail in tails])[first].astype(np.int32))
            level.append(start + len(distinct))
            ends = np.cumsum([key.size for key in keys])[:-1]
            for i, (part, key) in enumerate(zip(np.split(inverse, ends), keys, strict=True)):
                windows[length - 2 + i] = part.reshape(key.shape).astype(np.int64) + start
            rows.append(windows[length - 2][:, 0].astype(np.int32))
        trie = cls(np.array(level, np.int64), np.concatenate(word), np.concatenate(prefix), np.concatenate(suffix))
        return trie, rows

    def closed(self, kept: Flags) -> Flags:
        """Which rows are marked, or are part of one that is."""
        kept = kept.copy()
        for order in range(self.order, 1, -1):
            marked = self.level[order - 1] + np.flatnonzero(kept[self.level[order - 1] : self.level[order]])
            kept[self.prefix[marked]] = True
            kept[self.suffix[marked]] = True
        return kept

    def restricted(self, rows: Integers) -> NGramTrie:
        """The trie of some of its rows, in order: a set that is `closed` and has every word.

        >>> trie, _ = NGramTrie.of([np.array([[0], [1]]), np.array([[0, 1], [1, 0], [1, 1]])], words=2)
        >>> trie.restricted(np.array([0, 1, 3])).grams(2).tolist()
        [[1, 0]]
        """
        place = _fill(len(self) + 1)  # the last entry is that of NONE
        place[rows] = _range(len(rows))
        level = np.searchsorted(rows, self.level)
        while level[-1] == level[-2] and len(level) > 2:
            level = level[:-1]
        return NGramTrie(level, self.word[rows], place[self.prefix[rows]], place[self.suffix[rows]])

    @cached_property
    def extension(self) -> Ints:
        """[rows + 1] the extensions of row r by one word are the rows `extension[r] : extension[r + 1]`."""
        rows = np.arange(len(self) + 1)
        return np.asarray(self.words + np.searchsorted(self.prefix[self.words :], rows), np.int64)

    def grams(self, order: int) -> Numbers:
        """[n, order] the words of all rows of an order."""
        rows = np.arange(self.level[order - 1], self.level[order])
        table = np.empty((len(rows), order), np.int32)
        for column in range(order - 1, -1, -1):
            table[:, column] = self.word[rows]
            rows = self.prefix[rows]
        return table

    @cached_property
    def _keys(self) -> list[Ints]:
        """Sorted keys (prefix, word) of each order from the second on."""
        spans = [slice(self.level[k - 1], self.level[k]) for k in range(2, self.order + 1)]
        return [self.prefix[span].astype(np.int64) * self.words + self.word[span] for span in spans]

    def find(self, grams: Integers) -> Numbers:
        """The rows of n-grams of one order, -1 where there is none."""
        rows = grams[:, 0].astype(np.int64)
        for column in range(1, grams.shape[1]):
            keys = self._keys[column - 1]
            wanted = rows * self.words + grams[:, column]
            place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
            there = (rows >= 0) & (grams[:, column] >= 0) & (len(keys) > 0)
            there[there] = keys[place[there]] == wanted[there]
            rows = np.where(there, place + self.level[column], NONE)
        return rows.astype(np.int32)


def _range(size: int) -> Numbers:
    return np.arange(size, dtype=np.int32)


def _fill(size: int) -> Numbers:
    return np.full(size, NONE, np.int32)
