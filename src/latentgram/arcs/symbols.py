"""What an arc-factored parser sees of words: form, tags, prefix and inflection.

Forms are in lower case with 0 for every digit. A tag is UPOS and XPOS together if both are given (see
`WordSymbols`, which also finds the nearest known tag for a new one); the coarse tag is the UPOS or, if there is
none, the first two letters of the XPOS. If the treebank has morphological features (FEATS), a word has one symbol
for all of them together and one for each, `Case=Nom`; having no feature is a symbol as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from latentgram.arrays import Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.dependencies import UNIVERSAL_TAGS, DependencyTree, Lifting
from latentgram.data.dependency_symbols import WordSymbols
from latentgram.data.sentence import Sentence
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError

ROOT, END, UNKNOWN = range(3)
"""The numbers of what stands before and after a sentence, and of words never seen; known symbols follow."""
KNOWN = 3
ROWS = 4
"""Symbols of a word besides its inflection."""
NO_FEATURES = "_"
STEM = 5
"""Letters of the beginning of a word."""

_DIGITS = str.maketrans("123456789", "000000000")


def normal_form(word: str) -> str:
    """A word in small letters with 0 for digits.

    >>> normal_form("1,987th")
    '0,000th'
    """
    return word.lower().translate(_DIGITS)


def features_of(feats: str) -> list[str]:
    """The features of a word by its FEATS.

    >>> features_of("Case=Nom|Number=Sing"), features_of("_")
    (['Case=Nom', 'Number=Sing'], [])
    """
    return feats.split("|") if feats != NO_FEATURES else []


def projective_treebank(
    trees: Sequence[DependencyTree], projective: bool = True
) -> tuple[Treebank[DependencyTree], Lifting]:
    """The trees to learn from, those that are not projective lifted, and how much that changed.

    If they need not be `projective`, they stay as they are.
    """
    bank = trees if isinstance(trees, Treebank) else Treebank.of(trees)
    if not len(bank):
        raise DataError("there are no trees to learn from")
    lifted = bank.projectivise()  # which says what is wrong with heads that are no tree
    return lifted if projective else (bank, Lifting())


class EncodedTrees(NamedTuple):
    """Sentences end to end as numbers, each with a place for the root before it and one for the end after it.

    The words of sentence s are offsets[s] … offsets[s + 1], its places begin at offsets[s] + 2 s. Kernels take it.
    """

    symbols: Ints32
    """[4, words + 2 sentences]: form, tag, coarse tag, beginning; [5 + F, …] with features: all of them together,
    and each by itself in the order of attributes, 0 where a word has fewer than F."""
    offsets: Ints
    heads: Ints = np.zeros(0, np.int64)
    """[words] by places, 0 the root; empty if they are not known."""
    kept_start: Ints = np.zeros(0, np.int64)
    """[words + 1] where the list of the heads that are looked at for each word begins; empty if all are."""
    kept_head: Ints32 = np.zeros(0, np.int32)

    @property
    def size(self) -> int:
        """The number of sentences."""
        return len(self.offsets) - 1

    def sentence(self, number: int) -> Ints32:
        """[4 or 5 + F, N + 2] the symbols of one sentence."""
        begin, end = self.offsets[number] + 2 * number, self.offsets[number + 1] + 2 * number + 2
        return np.ascontiguousarray(self.symbols[:, begin:end])

    def select(self, numbers: Ints) -> EncodedTrees:
        """Some of the trees."""
        parts = [self.sentence(number) for number in numbers]
        offsets = np.cumsum([0, *(part.shape[1] - 2 for part in parts)])
        words = np.concatenate([np.arange(self.offsets[n], self.offsets[n + 1]) for n in numbers])
        selected = EncodedTrees(np.concatenate(parts, axis=1), offsets, self.heads[words])
        if not len(self.kept_start):
            return selected
        start = np.concatenate([[0], np.cumsum(np.diff(self.kept_start)[words])])
        places = [np.arange(self.kept_start[word], self.kept_start[word + 1]) for word in words]
        return selected._replace(kept_start=start, kept_head=self.kept_head[np.concatenate(places)])


@dataclass(frozen=True, eq=False)
class ArcSymbols:
    """The symbols that training saw.

    >>> sentence = Sentence(("Cats", "sleep"), xpos=("NNS", "VBP"), upos=("NOUN", "VERB"))
    >>> symbols = ArcSymbols.of([sentence])
    >>> symbols.encode([sentence, Sentence(("Dogs",), xpos=("NNS",))]).symbols
    array([[0, 3, 4, 1, 0, 2, 1],
           [0, 3, 4, 1, 0, 3, 1],
           [0, 3, 4, 1, 0, 3, 1],
           [0, 3, 4, 1, 0, 2, 1]], dtype=int32)
    """

    words: Alphabet
    stems: Alphabet
    tags: WordSymbols
    inflections: Alphabet = field(default_factory=lambda: Alphabet(()))
    """The FEATS that training saw; none if it saw no features."""

    @classmethod
    def of(cls, sentences: Iterable[Sentence], rare: int = 0) -> ArcSymbols:
        """The symbols of sentences; words seen at most `rare` times count as unknown."""
        seen_sentences = list(sentences)
        forms = Counter(normal_form(word) for sentence in seen_sentences for word in sentence.words)
        words = Alphabet.of(word for word, count in forms.items() if count > rare)
        inflections = Alphabet.of(feats for sentence in seen_sentences for feats in sentence.feats or ())
        return cls(words, Alphabet.of(word[:STEM] for word in forms), WordSymbols.of(seen_sentences), inflections)

    @cached_property
    def _coarse(self) -> Ints32:
        """[tags] the number of each tag's coarse tag."""
        parts = [tag.split("|") for tag in self.tags.alphabet]
        names = [part[0] if len(part) > 1 or part[0] in UNIVERSAL_TAGS else part[0][:2] for part in parts]
        return Alphabet.of(names).encode(names)

    @cached_property
    def _numbers(self) -> dict[str, tuple[int, int]]:
        """The symbols of form and beginning of known words met so far, as they are written."""
        return {}

    def _form(self, word: str) -> tuple[int, int]:
        """The symbols of form and beginning of a word; remembered if it is known, so that memory stays bounded."""
        form = normal_form(word)
        numbers = self.words.index(form) + KNOWN, self.stems.index(form[:STEM]) + KNOWN
        if form in self.words:
            self._numbers[word] = numbers
        return numbers

    @cached_property
    def _features(self) -> dict[str, int]:
        """The number of each feature, that of its attribute in the upper half (see kernels/features.py)."""
        features = sorted({feature for feats in self.inflections for feature in features_of(feats)})
        names = [feature.partition("=")[0] for feature in features]
        attributes = Alphabet.of(names).encode(names)
        return {feature: ((int(attributes[i]) + 1) << 16) + i for i, feature in enumerate(features)}

    @cached_property
    def most_features(self) -> int:
        """The greatest number of features that a word of the training had."""
        return max((len(features_of(feats)) for feats in self.inflections), default=0)

    @cached_property
    def _columns(self) -> dict[str, list[int]]:
        """The symbols of each FEATS met so far."""
        return {}

    def _inflection(self, feats: str) -> list[int]:
        """The symbol of FEATS, and those of its features that training saw."""
        if feats not in self._columns:
            numbers = self._features
            known = sorted(numbers[feature] for feature in features_of(feats) if feature in numbers)
            room = self.most_features
            self._columns[feats] = [self.inflections.index(feats) + KNOWN, *(known + [0] * room)[:room]]
        return self._columns[feats]

    def encode(self, sentences: Sequence[Sentence]) -> EncodedTrees:
        """Sentences, which must have tags, as numbers."""
        lengths = np.array([len(sentence) for sentence in sentences], np.int64)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        rows = ROWS + (1 + self.most_features if self.most_features else 0)
        symbols = np.zeros((rows, offsets[-1] + 2 * len(sentences)), np.int32)
        ends = offsets[1:] + 2 * np.arange(len(sentences)) + 1
        symbols[: ROWS + 1, ends] = END
        symbols[: ROWS + 1, ends - lengths - 1] = ROOT
        places = np.arange(offsets[-1]) + np.repeat(2 * np.arange(len(sentences)) + 1, lengths)
        forms = [self._numbers.get(word) or self._form(word) for sentence in sentences for word in sentence.words]
        tags = np.concatenate([np.zeros(0, np.int32), *map(self.tags.encode, sentences)])
        symbols[0, places], symbols[3, places] = np.array(forms, np.int32).reshape(-1, 2).T
        symbols[1, places] = tags + KNOWN
        symbols[2, places] = self._coarse[tags] + KNOWN
        if rows > ROWS:
            feats = (sentence.feats or (NO_FEATURES,) * len(sentence) for sentence in sentences)
            columns = [self._inflection(each) for column in feats for each in column]
            symbols[ROWS:, places] = np.array(columns, np.int32).reshape(-1, rows - ROWS).T
        return EncodedTrees(symbols, offsets)
