"""`TagDictionary`: which tags a word may have (Merialdo 1994; Smith and Eisner 2012, §4.2).

Words seen often enough in tagged data are limited to the tags they were seen with; every other word is open, that
is, may have any tag. Tag number 0 is the sentence boundary, which no word has.

`WordClasses` replaces the words with a single tag in the dictionary by one symbol per tag. Such a word carries no
information beyond its tag: p(w | t) = p(class of t | t) · cnt(w)/cnt(class), whatever else is learned. So EM on
the reduced text is EM on the text, and n-gram automata of it are less than half as large.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.files import PathLike, expand, whole_number
from latentgram.data.invariants import ANY, below, offsets, rising, shape, within
from latentgram.data.sentence import Sentence
from latentgram.data.tagged import read_tagged
from latentgram.data.text import BOUNDARY, END, Text
from latentgram.errors import DataError, SettingError


@dataclass(frozen=True)
class TagDictionary:
    """The tags of words.

    >>> sentences = [Sentence.of([("the", "D"), ("can", "N"), ("can", "V")]), Sentence.of([("the", "D")])]
    >>> tags = TagDictionary.of(sentences, at_least=2)
    >>> tags.allowed("the"), tags.allowed("can"), tags.allowed("cat")
    (('D',), ('N', 'V'), ('D', 'N', 'V'))
    >>> tags
    TagDictionary(2 words, 3 tags, seal ...)
    """

    tags: Alphabet
    """The boundary, then the tags in alphabetical order."""
    words: Alphabet
    start: Annotated[Ints, shape("len(words) + 1"), offsets("tag")]
    """[words + 1] the tags of word w are `tag[start[w] : start[w + 1]]`, ascending."""
    tag: Annotated[Ints32, shape(ANY), below("len(tags)"), rising(rows="start")]

    @classmethod
    def of(cls, sentences: Iterable[Sentence], at_least: int = 5) -> TagDictionary:
        """From tagged sentences: words seen at least so often have only the tags they were seen with."""
        if at_least < 1:
            raise SettingError(f"a word must be seen at least once to be in a dictionary, got {at_least}")
        seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for sentence in sentences:
            if sentence.tags is None:
                raise DataError(
                    f"a tag dictionary needs tagged sentences; {' '.join(sentence.words[:5])!r} is not"
                )
            for word, tag in zip(sentence.words, sentence.tags, strict=True):
                seen[word][tag] += 1
        if not seen:
            raise DataError("a tag dictionary needs tagged sentences, and there are none")
        tags = {tag for counter in seen.values() for tag in counter}
        often = {word: set(counter) for word, counter in seen.items() if counter.total() >= at_least}
        return cls.from_entries(tags, often)

    @classmethod
    def read(cls, paths: PathLike | Iterable[PathLike], *, column: int = 1, at_least: int = 5) -> TagDictionary:
        """From files of tagged sentences (one word with its tags per line)."""
        sentences = list(read_tagged(paths, column=column))
        if not sentences:
            raise DataError("there are no tagged sentences to make a dictionary from", path=expand(paths)[0])
        return cls.of(sentences, at_least)

    @classmethod
    def from_entries(cls, tags: Iterable[str], of_word: dict[str, set[str]]) -> TagDictionary:
        """From all tags, and the tags of each word that is not open."""
        names = sorted(tags)
        if END in names:
            raise DataError(f"{END} is reserved for the boundary of sentences and cannot be a tag")
        alphabet = Alphabet((END, *names))
        words = Alphabet.of(of_word)
        rows = [alphabet.encode(sorted(of_word[word])) for word in words]
        start = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return cls(alphabet, words, start, np.concatenate([np.zeros(0, np.int32), *rows]))

    def allowed(self, word: str) -> tuple[str, ...]:
        """The possible tags of a word."""
        number = self.words.index(word)
        if number < 0:
            return self.tags.symbols[1:]
        return tuple(self.tags.decode(self.tag[self.start[number] : self.start[number + 1]].tolist()))

    def rows(self, words: Alphabet) -> tuple[Ints, Ints32]:
        """The allowed tags of an alphabet with the boundary as number 0: offsets [words + 1] and tags."""
        place = self.words.encode(words.symbols)
        known = place >= 0
        open_tags = len(self.tags) - 1
        size = np.where(known, np.diff(self.start, append=0)[place] if len(self.words) else 0, open_tags)
        size[BOUNDARY] = 1
        start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        # Inside an open row the k-th tag is k + 1; inside a known one it is copied.
        within = np.arange(start[-1]) - np.repeat(start[:-1], size)
        source = np.repeat(np.where(known, self.start[place] if len(self.words) else 0, 0), size) + within
        copied = self.tag[np.minimum(source, len(self.tag) - 1)] if len(self.tag) else within
        tag = np.where(np.repeat(known, size), copied, within + 1).astype(np.int32)
        tag[0] = BOUNDARY
        return start, tag

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the content."""
        seal = hashlib.sha256("\t".join((*self.tags, "", *self.words)).encode())
        seal.update(self.start.tobytes() + self.tag.tobytes())
        return seal.hexdigest()

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"TagDictionary({len(self.words)} words, {len(self.tags) - 1} tags, seal {self.digest[:8]})"


@dataclass(frozen=True)
class WordClasses:
    """Which symbol stands for which word.

    >>> tags = TagDictionary.of([Sentence.of([("the", "D"), ("a", "D"), ("can", "N"), ("can", "V")])], 1)
    >>> classes, reduced = WordClasses.of(Text.of(["the can", "a can"]), tags)
    >>> [" ".join(sentence) for sentence in reduced], classes.tag_of_class
    (['<tag:D> can', '<tag:D> can'], {'<tag:D>': 'D'})
    """

    words: Alphabet
    reduced: Alphabet
    place: Annotated[Ints32, shape("len(words)"), below("len(reduced)")]
    """[words] the number of each word's symbol among the reduced ones."""
    count: Annotated[Ints, shape("len(words)"), within(0, 2**62)]
    """[words] how often each word occurs."""
    tag_of_class: dict[str, str]

    @classmethod
    def of(cls, text: Text, dictionary: TagDictionary) -> tuple[WordClasses, Text]:
        """The classes of a text under a dictionary, and the text with classes for words."""
        count = np.bincount(text.tokens, minlength=len(text.words)).astype(np.int64)
        classes = cls.of_counts(text.words, count, dictionary)
        return classes, Text(classes.reduced, classes.place[text.tokens])

    @classmethod
    def of_counts(cls, words: Alphabet, count: Ints, dictionary: TagDictionary) -> WordClasses:
        """The classes of words that occur so often."""
        start, tag = dictionary.rows(words)
        fixed = np.diff(start) == 1
        fixed[BOUNDARY] = False
        names = [f"<tag:{dictionary.tags[tag[start[i]]]}>" if fixed[i] else word for i, word in enumerate(words)]
        reduced = Alphabet((END, *sorted(set(names[1:]))))
        place = reduced.encode(names)
        place[BOUNDARY] = BOUNDARY
        tags = {names[i]: dictionary.tags[tag[start[i]]] for i in np.flatnonzero(fixed).tolist()}
        return cls(words, reduced, place, count, tags)

    def dictionary(self, full: TagDictionary) -> TagDictionary:
        """The dictionary with an entry for each class symbol as well; it must be that of the classes."""
        again = WordClasses.of_counts(self.words, self.count, full)
        if again.reduced.symbols != self.reduced.symbols or not np.array_equal(again.place, self.place):
            raise SettingError(
                "the counts were reduced with another tag dictionary: give the one they were counted with"
            )
        known = {word: set(full.allowed(word)) for word in full.words if word in self.reduced}
        known |= {name: {tag} for name, tag in self.tag_of_class.items()}
        return TagDictionary.from_entries(full.tags.symbols[1:], known)

    def share(self) -> Floats:
        """[words] cnt(word) / cnt(symbol)."""
        total = np.bincount(self.place, self.count, minlength=len(self.reduced))
        return np.asarray(self.count / np.maximum(total, 1)[self.place])


def read_specified(specification: str) -> TagDictionary:
    """A dictionary from `FILE[:COLUMN[:LEAST]]`, as the command line gives it."""
    path, *numbers = split_specification(specification)
    column, least = [*map(int, numbers), *(1, 5)[len(numbers) :]]
    return TagDictionary.read(path, column=column, at_least=least)


def split_specification(specification: str) -> list[str]:
    """A file name and the numbers behind it.

    >>> split_specification("a:b.tsv:2"), split_specification("c.tsv:1:5"), split_specification("d.tsv")
    (['a:b.tsv', '2'], ['c.tsv', '1', '5'], ['d.tsv'])
    """
    parts = specification.split(":")
    numbers: list[str] = []
    while len(parts) > 1 and len(numbers) < 2 and whole_number(parts[-1]) is not None:
        numbers.insert(0, parts.pop())
    return [":".join(parts), *numbers]


def open_dictionary(states: int) -> TagDictionary:
    """A dictionary without words: tags are only numbered, and every word may have each.

    >>> open_dictionary(3).allowed("word")
    ('1', '2', '3')
    """
    names = tuple(str(number) for number in range(1, states + 1))
    nothing = np.zeros(0, np.int32)
    return TagDictionary(Alphabet((END, *names)), Alphabet(()), np.zeros(1, np.int64), nothing)
