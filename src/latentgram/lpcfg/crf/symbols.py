"""The codes of words and grammar symbols that features are made of.

A code is a hash of 64 bits of a string, so it depends on nothing else: grammars that were learned from different
trees share their features. Endings and forms are those of any script: the last three characters, and the general
categories of characters with runs taken once.
"""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import groupby

import numpy as np

from latentgram.arrays import Codes
from latentgram.data.alphabet import Alphabet
from latentgram.data.binarisation import Symbol
from latentgram.data.head_rules import HeadRules
from latentgram.lpcfg.crf.kernels.view import PAD, ROWS, Symbols
from latentgram.lpcfg.model import LPCFG

ENDING = 3
"""Characters of an ending."""


_CACHED = 1 << 16
"""Digests kept: endings, beginnings and forms come again and again, and new words need only a few new ones."""


@lru_cache(_CACHED)
def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def code_of(text: str) -> int:
    """The code of a string.

    >>> code_of("NP") == code_of("NP") != code_of("VP")
    True
    """
    return int.from_bytes(_digest(text), "little")


_KINDS = {"Lu": "A", "Lt": "A", "Ll": "a", "Nd": "0"}


@lru_cache(_CACHED)
def _kind_of(character: str) -> str:
    category = unicodedata.category(character)
    return _KINDS.get(category, "o" if category[0] in "LM" else character)


def form_of(word: str) -> str:
    """The kinds of characters of a word, runs of equal ones written once.

    >>> form_of("McDonald's"), form_of("1,234.5"), form_of("語")
    ("AaAa'a", '0,0.0', 'o')
    """
    return "".join(kind for kind, _ in groupby(map(_kind_of, word)))


def shape_of(word: str) -> str:
    """What a word is to the shape of a span: how it begins, or itself if it has no letter and no digit.

    >>> shape_of("Paris"), shape_of("paris"), shape_of("3rd"), shape_of(",")
    ('A', 'a', '0', ',')
    """
    return "".join(map(_kind_of, word[:1])) if any(map(str.isalnum, word)) else word


_NO_MARK = bytes(8)


def _row(*parts: str) -> bytes:
    return b"".join(map(_digest, parts))


def _row_of(word: str) -> bytes:
    """The codes of a word, in the order of the rows of view.py."""
    plain = word.casefold()
    endings, beginnings = (plain[-size:] for size in (1, 2, 4)), (plain[:size] for size in (1, 2, 3))
    mark = _NO_MARK if any(map(str.isalnum, word)) else _digest(word)
    return _row(word, plain[-ENDING:], form_of(word), shape_of(word)) + mark + _row(plain, *endings, *beginnings)


_BEFORE, _AFTER = (PAD * _row(*(side,) * ROWS) for side in ("‹", "›"))
"""What stands before the first and behind the last word."""


@dataclass(frozen=True)
class WordCodes:
    """Codes of words, looked up once for each."""

    _known: dict[str, bytes] = field(default_factory=dict)

    def of(self, words: tuple[str, ...]) -> Codes:
        """[ROWS, words + 2 · PAD] the codes of the words of a sentence."""
        rows = [_BEFORE]
        for word in words:
            row = self._known.get(word)
            if row is None:
                row = self._known[word] = _row_of(word)
            rows.append(row)
        codes = np.frombuffer(b"".join((*rows, _AFTER)), "<u8").reshape(-1, ROWS)
        return codes.T.astype(np.uint64, order="C")


@dataclass(frozen=True)
class GrammarSymbols:
    """The symbols of a grammar as features and heads see them."""

    grammar: LPCFG
    heads: HeadRules
    templates: int
    """Which features a layer has."""

    @cached_property
    def table(self) -> Symbols:
        """Their codes and labels."""
        names = (*self.grammar.interminals, *self.grammar.preterminals)
        symbols = [Symbol.read(name) for name in names]
        labels = Alphabet.of(label for symbol in symbols for label in symbol.chain)
        rank, from_right = self.heads.ranks(labels)
        return Symbols(
            np.array([code_of(str(symbol._replace(siblings=()))) for symbol in symbols], np.uint64),
            np.array([code_of(name) for name in names], np.uint64),
            np.array([code_of(symbol.chain[-1]) for symbol in symbols], np.uint64),
            np.array(
                [-1 if symbol.intermediate else labels.index(symbol.chain[0]) for symbol in symbols], np.int32
            ),
            labels.encode(symbol.chain[-1] for symbol in symbols),
            rank,
            from_right,
            self.templates,
        )
