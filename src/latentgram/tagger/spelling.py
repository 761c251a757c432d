"""The spelling of a word as 64-bit numbers: the word, its suffixes and prefixes, its shape.

A tagger's features are made of these numbers (kernels/features.py). They are checksums of strings, so they need
no table and are the same on every machine. All distinct words of a batch are processed together
(kernels/spelling.py).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from unicodedata import category
from zlib import adler32, crc32

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Codes, Ints
from latentgram.data.sentence import escape
from latentgram.tagger.kernels import spelling as kernel
from latentgram.tagger.kernels.spelling import describe_words

_BREAK = "\n"
"""What stands between words while they are looked at together."""
_MARKS = ("A", "C", "c", "d", "-", ".", "'", "x")
_KNOWN = np.zeros(sys.maxunicode + 1, np.uint8)
"""What is known of each letter that was met, 0 for the others."""


@dataclass(frozen=True, eq=False)
class SpellingTable:
    """The distinct words of a text, in the order in which they come, with a row of numbers for each.

    >>> spellings, token = SpellingTable.of(["The", "cat", "The"])
    >>> token.tolist(), spellings.table.shape
    ([0, 1, 0], (2, 13))
    """

    words: tuple[str, ...]
    table: Codes
    """[words, COLUMNS]"""

    @classmethod
    def of(cls, words: Iterable[str]) -> tuple[SpellingTable, Ints]:
        """The table of words, and the number of each of them in it."""
        text = list(words)
        number = {word: place for place, word in enumerate(dict.fromkeys(text))}
        token = np.fromiter(map(number.__getitem__, text), np.int64, len(text))
        return cls(tuple(number), describe(tuple(number))), token


def describe(words: tuple[str, ...]) -> Codes:
    """The rows of words, brackets by their Penn names; 0 where a word is too short to have an ending of a length.

    >>> describe(("cats", "hats"))[:, 4].tolist() == describe(("bats", "ats"))[:, [4, 1]].diagonal().tolist()
    True
    """
    text = escape(_BREAK.join(words))
    if text.count(_BREAK) >= max(len(words), 1):
        text = escape(_BREAK.join(word.replace(_BREAK, " ") for word in words))
    for letter in set(text):
        if not _KNOWN[ord(letter)]:
            _KNOWN[ord(letter)] = _look_at(letter)
    codes, start = _spelled(text, len(words))
    lower, lower_start = _spelled(text.lower(), len(words))
    table: Codes = describe_words(codes, _KNOWN[codes], start, lower, lower_start, _KINDS)
    return table


def _spelled(text: str, words: int) -> tuple[NDArray[np.uint32], Ints]:
    """The code points of words without what stands between them, and where each word begins."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    breaks = np.flatnonzero(codes == ord(_BREAK))
    ends = np.append(breaks, len(codes))[:words] - np.arange(words)
    return codes[codes != ord(_BREAK)], np.concatenate([[0], ends])


def _look_at(letter: str) -> int:
    is_small = letter.islower() or category(letter) == "Lt"
    answers = (letter.isupper(), letter.isalpha(), letter.isdigit(), letter.isalnum(), is_small)
    marks = (kernel.UPPER, kernel.ALPHA, kernel.DIGIT, kernel.ALNUM, kernel.SMALL)
    return kernel.SEEN | sum(mark for mark, answer in zip(marks, answers, strict=True) if answer)


def _number(text: str) -> int:
    """A checksum that is never 0."""
    coded = text.encode()
    return (crc32(coded) << 32 | adler32(coded)) or 1


_KINDS = np.array(
    [_number("".join(mark for n, mark in enumerate(_MARKS) if kind >> n & 1)) for kind in range(256)], np.uint64
)
"""The checksums of all kinds of words: capital, capitals, inner capital, digits, hyphen, point, quote, signs."""
