"""Rare and unknown words: a rare word is replaced by a signature of its form, or by its tag.

A grammar cannot learn from a word that it has seen once, and must handle words that it has never seen.
So words seen at most `threshold` times become symbols for their class, in training and in parsing
alike; the grammar then has p(symbol | tag) for every possible word. Only the input of the grammar changes:
sentences and trees keep their words.

A signature, from fine to coarse (`‹Aa-d-ing›`):

- the case: `a` lower, `Aa` capital inside the sentence, `^Aa` capital on the first word (uninformative),
  `AA` capitals only, `aA` mixed, `.` no letters;
- `d` if it has a digit, `-` if it has a hyphen inside, `/` if it has a slash or point inside;
- the last three, two or one letters in lower case.

A signature is kept if rare words had it at least `support` times; otherwise the next coarser one is used. A
word that has none of the kept ones gets the most frequent of its case, or of all. So every word maps to a symbol
that occurs in training, provided that training had a rare word. Before that, the first word of a sentence is
tried in lower case, and a bracket by its Penn name.

Cost: one dictionary look-up per word; the form of a word is analysed once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import repeat
from typing import Literal

import numpy as np

from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.forest import Forest
from latentgram.data.sentence import escape
from latentgram.errors import DataError, SettingError

REMEMBERED = 1 << 15
"""Words of which the symbols are kept to be looked up."""
_MARK = "‹"
"""What every symbol begins with that is not a word; words that begin so are rare however often they come."""

_CASE = re.compile(_MARK + r"(\^?(?:Aa|AA|aA|a|\.))")


@dataclass(frozen=True)
class RareWords:
    """The rule that maps rare and unknown words to symbols; it is stored with the model.

    >>> rule = RareWords.learn([["The", "cat", "sleeps"], ["The", "dog", "barks"]], threshold=1, support=1)
    >>> rule.symbols(["The", "cow", "sleeps"])
    ('The', '‹a-at›', '‹a-eps›')
    """

    known: Alphabet = field(default_factory=lambda: Alphabet(()))
    """The words that stand for themselves."""
    signatures: Alphabet = field(default_factory=lambda: Alphabet(()))
    """The signatures that may come out, the commonest first."""
    threshold: int = 5
    mode: Literal["signature", "tag"] = "signature"
    """Whether a rare word becomes a signature of its form or, as in Cohen et al. (2012, 2013), its tag."""

    def __post_init__(self) -> None:
        if self.threshold < 0:
            raise SettingError(f"the threshold of rare words must be at least 0, not {self.threshold}")
        if self.mode not in ("signature", "tag"):
            raise SettingError(f"the mode of rare words must be signature or tag, not {self.mode!r}")

    @classmethod
    def learn(
        cls,
        sentences: Iterable[Sequence[str]],
        *,
        threshold: int = 5,
        support: int = 10,
        mode: Literal["signature", "tag"] = "signature",
    ) -> RareWords:
        """The rule for the words of these sentences."""
        first: Counter[str] = Counter()
        later: Counter[str] = Counter()
        for words in sentences:
            first.update(words[:1])
            later.update(words[1:])
        return cls._of_counts(first, later, threshold, support, mode)

    @classmethod
    def of_forest(
        cls,
        forest: Forest,
        *,
        threshold: int = 5,
        support: int = 10,
        mode: Literal["signature", "tag"] = "signature",
    ) -> RareWords:
        """The rule for the words of these trees."""
        word, first = forest.word[forest.is_tag], forest.begin[forest.is_tag] == 0
        first_counts, later_counts = (
            np.bincount(word[chosen], minlength=len(forest.words)).tolist() for chosen in (first, ~first)
        )
        return cls._of_counts(
            Counter(dict(zip(forest.words, first_counts, strict=True))),
            Counter(dict(zip(forest.words, later_counts, strict=True))),
            threshold,
            support,
            mode,
        )

    @classmethod
    def _of_counts(
        cls,
        first: Counter[str],
        later: Counter[str],
        threshold: int,
        support: int,
        mode: Literal["signature", "tag"],
    ) -> RareWords:
        known = Alphabet.of(
            word for word, count in (first + later).items() if count > threshold and not is_symbol(word)
        )
        if mode == "tag":
            return cls(known, threshold=threshold, mode=mode)
        rare = [
            (_signatures(word, is_first), count)
            for is_first, counts in ((True, first), (False, later))
            for word, count in counts.items()
            if count and word not in known and not (is_first and word.lower() in known)
        ]
        # What a signature too rare to keep has seen counts for the next coarser one; the coarsest is always kept.
        seen: Counter[str] = Counter()
        for level in range(_LEVELS):
            here: Counter[str | None] = Counter()
            for signatures, count in rare:
                here[signatures[level]] += count
            kept = {name: n for name, n in here.items() if name and (n >= support or level == _LEVELS - 1)}
            seen.update(kept)
            rare = [(signatures, count) for signatures, count in rare if signatures[level] not in kept]
        commonest_first = sorted(seen, key=lambda signature: (-seen[signature], signature))
        return cls(known, Alphabet(tuple(commonest_first)), threshold, mode)

    def symbols(self, words: Sequence[str], tags: Sequence[str] | None = None) -> tuple[str, ...]:
        """The symbols of the words of a sentence."""
        tagged = zip(words, repeat(None, len(words)) if tags is None else tags, strict=True)
        return tuple(self.symbol(word, tag, first=i == 0) for i, (word, tag) in enumerate(tagged))

    def symbol(self, word: str, tag: str | None = None, *, first: bool = False) -> str:
        """The word itself, its signature as the first or a later word of a sentence, or the symbol of its tag."""
        if self.mode == "tag":
            if tag is None:
                raise DataError("this model replaces rare words by their tags: it needs tagged sentences")
            return word if word in self.known else tag_symbol(tag)
        key = (word, first)
        symbol = self._cache.get(key)
        if symbol is None:
            if len(self._cache) >= REMEMBERED:  # a text of any length has new words without end
                self._cache.clear()
            symbol = self._cache[key] = self._look(word, first)
        return symbol

    def _look(self, word: str, first: bool) -> str:
        if word in self.known:
            return word
        if first and word.lower() in self.known:
            return word.lower()
        if (penn := escape(word)) in self.known:
            return penn
        for signature in _signatures(word, first):
            if signature in self.signatures:
                return str(signature)
        case = _case(word, first)
        return self._of_case.get(case) or self._of_case.get(case.removeprefix("^")) or self._of_case[""]

    @cached_property
    def _of_case(self) -> dict[str, str]:
        """The commonest signature of each case; under "" the commonest of all."""
        commonest = {"": next(iter(self.signatures), f"{_MARK}›")}
        for signature in self.signatures:
            match = _CASE.match(signature)
            if match is not None:
                commonest.setdefault(match[1], signature)
        return commonest

    @cached_property
    def _cache(self) -> dict[tuple[str, bool], str]:
        return {}

    def apply(self, forest: Forest, tags: Sequence[str] | None = None) -> Forest:
        """The trees with symbols in place of words.

        `tags` are the tags of the forest's labels, where these are not tags themselves (mode `tag` only).
        """
        over_word = forest.is_tag
        names: Sequence[str | None] = (None, None)
        if self.mode == "tag":
            second = forest.label[over_word].astype(np.int64)
            names = forest.labels.symbols if tags is None else tags
        else:
            second = (forest.begin[over_word] == 0).astype(np.int64)
        width = max(len(names), 1)
        pairs, number = np.unique(forest.word[over_word] * width + second, return_inverse=True)
        symbols = [
            self.symbol(forest.words[word], names[other], first=bool(other))
            for word, other in (divmod(pair, width) for pair in pairs.tolist())
        ]
        alphabet = Alphabet.of(symbols)
        word_number = np.full(len(forest.word), ABSENT, np.int32)
        word_number[over_word] = alphabet.encode(symbols)[number]
        return Forest(forest.labels, alphabet, forest.label, forest.size, word_number, forest.start)


def tag_symbol(tag: str) -> str:
    """The symbol of a rare word of which only the tag is known. No signature begins so, whatever tags are called.

    >>> tag_symbol("NN")
    '‹=NN›'
    """
    return f"{_MARK}={tag}›"


def is_symbol(name: str) -> bool:
    """Whether this stands for words of a kind, and not for itself.

    >>> is_symbol(tag_symbol("NN")), is_symbol("dog")
    (True, False)
    """
    return name.startswith(_MARK)


_LEVELS = 5


@lru_cache(maxsize=REMEMBERED)
def _signatures(word: str, first: bool) -> tuple[str | None, ...]:
    """From fine to coarse; None where a word is too short to have a signature of this kind."""
    shape = _case(word, first)
    inside = word[1:-1]
    digit = "d" if any(map(str.isdigit, word)) else ""
    hyphen = "-" if "-" in inside else ""
    slash = "/" if "/" in inside or "." in inside else ""
    kind = shape + digit + hyphen + slash
    low = word.lower()
    endings = (low[-n:] if len(low) > n and low[-n:].isalpha() else None for n in (3, 2, 1))
    fine = (None if ending is None else f"{_MARK}{kind}-{ending}›" for ending in endings)
    return (*fine, None if kind == shape else f"{_MARK}{kind}›", f"{_MARK}{shape}›")


def _case(word: str, first: bool) -> str:
    if not any(map(str.isalpha, word)):
        return "."
    if word == word.lower():
        return "a"
    if word[0].isupper() and word[1:] == word[1:].lower():
        return "^Aa" if first else "Aa"
    return "AA" if word == word.upper() else "aA"
