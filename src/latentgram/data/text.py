"""`Text`: sentences as one array of word numbers with the boundary symbol between them.

Number 0 is the boundary. It precedes the first sentence, separates any two and follows the last, so a sentence
is what lies between two zeros, and an n-gram that begins or ends a sentence is an n-gram like any other (Smith and
Eisner 2012, footnote 1). Four bytes per token; reading costs one look-up per token (word_table.py).
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, islice
from typing import Annotated

import numpy as np

from latentgram.arrays import Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.files import PathLike, expand, read_blocks
from latentgram.data.invariants import ANY, below, holds, shape
from latentgram.data.sentence import Sentence, SentenceLike
from latentgram.data.word_table import WordTable
from latentgram.errors import DataError

BEGIN = "<s>"
END = "</s>"
"""How the boundary is written; inside it is one symbol, number 0, named `END`."""
BOUNDARY = 0
TOGETHER = 10_000
"""Sentences of trees that are read at a time."""


@dataclass(frozen=True, repr=False)
class Text:
    """Sentences without tags.

    >>> text = Text.of(["a rose is", "a rose"])
    >>> text.words.symbols
    ('</s>', 'a', 'is', 'rose')
    >>> text.tokens
    array([0, 1, 3, 2, 0, 1, 3, 0], dtype=int32)
    >>> len(text), text.size, [sentence.words for sentence in text]
    (2, 5, [('a', 'rose', 'is'), ('a', 'rose')])
    >>> text
    Text(2 sentences, 5 words, seal ...)
    """

    words: Alphabet
    tokens: Annotated[
        Ints32,
        shape(ANY),
        below("len(words)"),
        holds("tokens[0] == tokens[-1] == 0", "lacks a boundary"),
    ]

    @classmethod
    def read(cls, paths: PathLike | Iterable[PathLike]) -> Text:
        """Read files or folders with one sentence per line, words separated by spaces; empty lines are skipped.

        From trees (CoNLL-U or brackets, by the file name) only the words are read.
        """
        words = WordTable([END])
        return cls._assemble(words, list(encoded_blocks(paths, words)))

    @classmethod
    def of_block(cls, block: str, path: PathLike | None = None, first_line: int = 1) -> Text:
        """Text from lines of a file, starting at the line with this number.

        >>> len(Text.of_block("a rose\\nis a rose\\n"))
        2
        """
        words = WordTable([END])
        piece = words.encode(block, newline=BOUNDARY)
        _refuse_boundaries(block, words, path, first_line)
        return cls._assemble(words, [piece])

    @classmethod
    def of(cls, sentences: Iterable[SentenceLike]) -> Text:
        """Text from sentences in memory; a word in a list or tuple may contain a space, such as `13 819`.

        >>> Text.of([("13 819", "inhabitants")]).size
        2
        """
        if isinstance(sentences, str) or not isinstance(sentences, Iterable):
            raise DataError(f"a text is made from a list of sentences, not from {sentences!r}")
        numbers: defaultdict[str, int] = defaultdict(count().__next__)
        numbers[END]
        words: list[str] = []
        for place, sentence in enumerate(map(Sentence.of, sentences), 1):
            if BEGIN in sentence.words or END in sentence.words:
                raise _reserved(sentence.words, f"sentence {place}: ")
            words += (*sentence.words, END)
        return cls._assemble(numbers, [np.fromiter(map(numbers.__getitem__, words), np.int32, len(words))])

    @classmethod
    def _assemble(cls, seen: Iterable[str], pieces: list[Ints32]) -> Text:
        """Sort the words, and drop boundaries that follow one another (empty lines)."""
        tokens = np.concatenate([np.zeros(1, np.int32), *pieces, np.zeros(1, np.int32)])
        repeated = (tokens[1:] == BOUNDARY) & (tokens[:-1] == BOUNDARY)
        if repeated.any():
            tokens = np.concatenate([tokens[:1], tokens[1:][~repeated]])
        words, place = sorted_words(seen)
        return cls(words, place[tokens])

    def __repr__(self) -> str:
        return f"Text({len(self)} sentences, {self.size} words, seal {self.digest[:8]})"

    @cached_property
    def start(self) -> Ints:
        """[sentences + 1] where each sentence begins; sentence i is `tokens[start[i] : start[i + 1] - 1]`."""
        return np.flatnonzero(self.tokens == BOUNDARY).astype(np.int64) + 1

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the content."""
        seal = hashlib.sha256("\n".join(self.words.symbols).encode())
        seal.update(np.ascontiguousarray(self.tokens).tobytes())
        return seal.hexdigest()

    @property
    def size(self) -> int:
        """The number of tokens, without boundaries."""
        return len(self.tokens) - len(self) - 1

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, i: int) -> Sentence:
        if not 0 <= i < len(self):
            raise IndexError(i)
        numbers = self.tokens[self.start[i] : self.start[i + 1] - 1]
        return Sentence(tuple(self.words.decode(numbers.tolist())))

    def __iter__(self) -> Iterator[Sentence]:
        return (self[i] for i in range(len(self)))

    def __add__(self, other: Text) -> Text:
        """Both texts, one behind the other."""
        words = Alphabet((END, *sorted({*self.words.symbols[1:], *other.words.symbols[1:]})))
        return Text(words, np.concatenate([self.encoded_by(words), other.encoded_by(words)[1:]]))

    def upto(self, size: int) -> Text:
        """The first sentences, up to the one that reaches `size` tokens, with their words only."""
        ends = self.start[1:] - 1
        enough = np.searchsorted(ends - np.arange(1, len(self) + 1), size)
        return Text(self.words, self.tokens[: int(ends[min(int(enough), len(self) - 1)]) + 1]).compact()

    def compact(self) -> Text:
        """The same text without unused words, which would change the random start of learners.

        >>> text = Text.of(["a rose", "is a rose"])
        >>> text.compact() is text, Text(text.words, text.tokens[:4]).compact().words.symbols[1:]
        (True, ('a', 'rose'))
        """
        seen = np.bincount(self.tokens, minlength=len(self.words)) > 0
        if seen.all():
            return self
        place = np.cumsum(seen, dtype=np.int32) - 1
        return Text(Alphabet(tuple(self.words.decode(np.flatnonzero(seen).tolist()))), place[self.tokens])

    def encoded_by(self, words: Alphabet, unknown: int = -1) -> Ints32:
        """The tokens numbered by another alphabet, in which the boundary is also number 0."""
        place = words.encode(self.words.symbols)
        place[place < 0] = unknown
        place[BOUNDARY] = BOUNDARY
        return place[self.tokens]


def sorted_words(seen: Iterable[str]) -> tuple[Alphabet, Ints32]:
    """Words in order of first sight, the boundary first, as a sorted alphabet; and the place of each in it."""
    symbols = list(seen)
    order = [0, *sorted(range(1, len(symbols)), key=symbols.__getitem__)]
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return Alphabet(tuple(symbols[i] for i in order)), place


def encoded_blocks(paths: PathLike | Iterable[PathLike], words: WordTable) -> Iterator[Ints32]:
    """Files as arrays of word numbers, a boundary for every newline and after every file; new words get one."""
    for path in expand(paths):
        for line, block in text_blocks(path):
            piece = words.encode(block, newline=BOUNDARY)
            _refuse_boundaries(block, words, path, line)
            yield piece
        yield np.zeros(1, np.int32)


def text_blocks(path: PathLike) -> Iterator[tuple[int, str]]:
    """A file in blocks of lines, one sentence per line, each with the number of its first line.

    Of trees, known by the file's name, the lines are the words of each: a number is that of a sentence. Empty
    elements are no words.
    """
    from latentgram.data.cleaning import without_empties
    from latentgram.data.formats import format_of, has_trees, stream_items

    if not has_trees(path):
        yield from read_blocks(path)
        return
    items = (item.sentence for item in stream_items([os.fspath(path)], format_of(path), None, 1, heads=False))
    number = 1
    while some := list(islice(items, TOGETHER)):
        yield number, "".join(f"{' '.join(without_empties(sentence).words)}\n" for sentence in some)
        number += len(some)


def _refuse_boundaries(block: str, known: WordTable, path: PathLike | None, first: int) -> None:
    """Text that already has boundary symbols would be counted with twice as many sentences."""
    if END not in block and BEGIN not in known:
        return
    for line, text in enumerate(block.split("\n"), first):
        words = text.split()
        if BEGIN in words or END in words:
            raise _reserved(words, path=path, line=line)


def _reserved(
    words: Sequence[str], place: str = "", path: PathLike | None = None, line: int | None = None
) -> DataError:
    """What is wrong with a sentence that has a boundary symbol among its words."""
    number, word = next((i, word) for i, word in enumerate(words, 1) if word in (BEGIN, END))
    message = f"{place}word {number} is {word}, which is reserved; boundaries are added, so leave them out"
    return DataError(message, path=path, line=line)


def refuse_blanks(words: Iterable[str], form: str) -> None:
    """Forms of text whose words are separated by spaces cannot carry a word that holds one."""
    for word in words:
        if len(word.split()) != 1:
            raise DataError(f"the word {word!r} contains white space, which {form} cannot represent")
