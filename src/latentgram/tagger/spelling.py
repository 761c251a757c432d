"""The spelling of a word as 64-bit numbers: the word, its endings and beginnings, its shape.

A tagger's features are made of these numbers (kernels/features.py). They are checksums of strings, so they need
no table and are the same on every machine. A word is looked at once; its row is remembered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from zlib import adler32, crc32

import numpy as np
from numpy.typing import NDArray

from latentgram.data.brackets import escape

WORD, LOWER, ENDING, BEGINNING, SHAPE, KIND = 0, 1, 2, 7, 11, 12
"""Columns: the word, in lower case, 1–5 last letters, 1–4 first letters, shape, kind of letters."""
COLUMNS = 13
_LONGEST_ENDING, _LONGEST_BEGINNING = 5, 4


@dataclass(frozen=True, eq=False)
class SpellingTable:
    """Numbers the distinct words it is shown, and keeps a row of `COLUMNS` numbers for each.

    >>> spellings = SpellingTable()
    >>> spellings.encode(["The", "cat", "The"]).tolist(), spellings.table.shape
    ([0, 1, 0], (2, 13))
    """

    _number: dict[str, int] = field(default_factory=dict)
    _rows: list[list[int]] = field(default_factory=list)

    def encode(self, words: Iterable[str]) -> NDArray[np.int64]:
        """The numbers of words, new ones being looked at."""
        number, rows = self._number, self._rows
        numbers = []
        for word in words:
            place = number.get(word)
            if place is None:
                place = number[word] = len(rows)
                rows.append(describe(word))
            numbers.append(place)
        return np.array(numbers, np.int64)

    @property
    def words(self) -> list[str]:
        """The distinct words so far."""
        return list(self._number)

    @property
    def table(self) -> NDArray[np.uint64]:
        """[words, COLUMNS]"""
        return np.array(self._rows, np.uint64).reshape(-1, COLUMNS)


def describe(word: str) -> list[int]:
    """The row of a word; 0 where a word is too short to have an ending or a beginning of that length."""
    word = escape(word)
    low = word.lower()
    return [
        _number(word),
        _number(low),
        *(_number(low[-n:]) if len(low) > n else 0 for n in range(1, _LONGEST_ENDING + 1)),
        *(_number(low[:n]) if len(low) > n else 0 for n in range(1, _LONGEST_BEGINNING + 1)),
        _number(shape(word)),
        _number(kind(word)),
    ]


def shape(word: str) -> str:
    """Letters by case, digits as 9, runs of more than two cut short.

    >>> shape("McDonald's"), shape("1987"), shape("U.S.")
    ("AaAaa'a", '99', 'A.A.')
    """
    signs = "".join(
        "A" if sign.isupper() else "a" if sign.isalpha() else "9" if sign.isdigit() else sign for sign in word
    )
    return re.sub(r"(.)\1{2,}", r"\1\1", signs)


def kind(word: str) -> str:
    """Whether it has capitals, digits, hyphens, points, and whether the first letter is one.

    >>> kind("Mid-1980s"), kind("cat")
    ('Ad-', '')
    """
    marks = (
        ("A", word[:1].isupper()),
        ("C", len(word) > 1 and word.isupper()),
        ("c", any(map(str.isupper, word[1:]))),
        ("d", any(map(str.isdigit, word))),
        ("-", "-" in word[1:]),
        (".", "." in word),
        ("'", "'" in word),
        ("x", not any(map(str.isalnum, word))),
    )
    return "".join(mark for mark, present in marks if present)


def _number(text: str) -> int:
    """A checksum that is never 0."""
    coded = text.encode("utf-8", "surrogatepass")
    return (crc32(coded) << 32 | adler32(coded)) or 1
