"""`WordSymbols`: the rule that maps the words of a sentence to the symbols of a dependency grammar.

| kind     | symbol of a word                                                                                 |
|----------|--------------------------------------------------------------------------------------------------|
| `joined` | UPOS and XPOS, `NOUN|NN`; only one of them where the other is missing                            |
| `upos`   | UPOS                                                                                             |
| `xpos`   | XPOS                                                                                             |
| `words`  | like `joined`, with the word in front for words seen at least `threshold` times, `of^ADP|IN`     |
| `forms`  | the word alone, `of^`, if it is among `frequent`, as it is or in lower case; else like `joined`   |

With word clusters (word_clusters.py), the bit string of its cluster precedes the tags of a word whose symbol does
not contain the word: `0110^NOUN|NN`.

A symbol unseen in training is replaced by the most frequent known one with the same UPOS, or else the same XPOS,
or else by the most frequent one of all: a parser never fails on a new tag.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Annotated

import numpy as np

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.invariants import holds, shape, within
from latentgram.data.sentence import Sentence
from latentgram.data.word_clusters import WordClusters
from latentgram.errors import DataError

KINDS = ("joined", "upos", "xpos", "words", "forms")
_KNOWN = holds(lambda symbols: symbols.kind in KINDS, "is not a kind of symbols")
MISSING = "_"
FORM = "^"
"""What stands behind a word in a symbol; a symbol that ends in it is a word alone."""
THRESHOLDS = {"words": 100, "forms": 2}
"""How often words must be seen, where nothing else is said."""
NEAREST = 5
"""Symbols named when one is asked for that is not there."""


@dataclass(frozen=True, eq=False)
class WordSymbols:
    """Symbols, how often training saw each, and the rule that gives them.

    >>> sentence = Sentence(("The", "cat"), xpos=("DT", "NN"), upos=("DET", "NOUN"))
    >>> symbols = WordSymbols.of([sentence])
    >>> symbols.alphabet.symbols, symbols.encode(sentence)
    (('DET|DT', 'NOUN|NN'), array([0, 1], dtype=int32))
    >>> symbols.encode(Sentence(("cats",), xpos=("NNS",), upos=("NOUN",)))
    array([1], dtype=int32)
    >>> symbols.find("NN")
    1
    """

    kind: Annotated[str, _KNOWN]
    alphabet: Alphabet
    counts: Annotated[Ints, shape("len(alphabet)"), within(0, 2**62)]
    frequent: Alphabet
    """The words that stand in front of their tags (`words`), or for themselves (`forms`)."""
    clusters: WordClusters | None = None

    @classmethod
    def of(
        cls, sentences: Iterable[Sentence], kind: str | WordSymbols = "joined", threshold: int | None = None
    ) -> WordSymbols:
        """The symbols of sentences, of a kind or by a known rule."""
        return cls.observe(sentences, kind, threshold)[0]

    @classmethod
    def observe(
        cls, sentences: Iterable[Sentence], kind: str | WordSymbols = "joined", threshold: int | None = None
    ) -> tuple[WordSymbols, Ints32]:
        """The symbols of sentences, and the number of every word's symbol, end to end."""
        sentences = list(sentences)
        rule = cls.rule(kind).seeing(sentences, threshold)
        names = [name for sentence in sentences for name in rule.names(sentence)]
        # Words that are symbols by themselves are so whether or not these sentences have them.
        alphabet = Alphabet.of((*names, *(word + FORM for word in rule.frequent if rule.kind == "forms")))
        numbers = alphabet.encode(names)
        counts = np.bincount(numbers, minlength=len(alphabet)).astype(np.int64)
        return replace(rule, alphabet=alphabet, counts=counts), numbers

    @classmethod
    def rule(
        cls, kind: str | WordSymbols, frequent: Alphabet | None = None, clusters: WordClusters | None = None
    ) -> WordSymbols:
        """A rule without its symbols."""
        if isinstance(kind, WordSymbols):
            return kind
        if kind not in KINDS:
            raise DataError(f"symbols must be one of {', '.join(KINDS)}, got {kind!r}")
        none = np.zeros(0, np.int64)
        return cls(kind, Alphabet(()), none, frequent or Alphabet(()), clusters)

    def seeing(self, sentences: Iterable[Sentence], threshold: int | None = None) -> WordSymbols:
        """The rule with the frequent words of sentences, which are looked at only if it needs them."""
        if self.kind not in THRESHOLDS or len(self.frequent) or len(self.alphabet):
            return self
        least = THRESHOLDS[self.kind] if threshold is None else threshold
        seen = Counter(word.lower() for sentence in sentences for word in sentence.words)
        return replace(self, frequent=Alphabet.of(word for word, count in seen.items() if count >= least))

    def __add__(self, other: WordSymbols) -> WordSymbols:
        """The symbols of both with their counts; both must have the same rule."""
        alphabet = Alphabet.of((*self.alphabet, *other.alphabet))
        counts = np.zeros(len(alphabet), np.int64)
        for part in (self, other):
            counts[alphabet.encode(part.alphabet)] += part.counts
        return replace(self, alphabet=alphabet, counts=counts)

    @property
    def frequency(self) -> Floats:
        """The relative frequency of every symbol in training."""
        return np.asarray(self.counts / max(int(self.counts.sum()), 1), np.float64)

    def names(self, sentence: Sentence) -> list[str]:
        """The symbols of a sentence as they are, known or not."""
        upos, xpos = sentence.upos, sentence.xpos
        if self.kind == "upos":
            xpos = None
        elif self.kind == "xpos":
            upos = None
        if upos is None and xpos is None:
            wanted = self.kind.upper() if self.kind in ("upos", "xpos") else "UPOS or XPOS"
            raise DataError(
                f"the parser needs {wanted} tags: give it tagged sentences, or a tagger: Parser(model, tagger=…)"
            )
        if upos is None or xpos is None:
            tags = list(upos or xpos or ())
        else:
            tags = [
                x if u == MISSING else u if x == MISSING else f"{u}|{x}" for u, x in zip(upos, xpos, strict=True)
            ]
        described = tags
        if self.clusters is not None:
            groups = (self.clusters[word] for word in sentence.words)
            described = [f"{bits}{FORM}{tag}" if bits else tag for bits, tag in zip(groups, tags, strict=True)]
        if not len(self.frequent):
            return described
        names = []
        for word, tag, otherwise in zip(sentence.words, tags, described, strict=True):
            known = word if word in self.frequent else word.lower()
            behind = "" if self.kind == "forms" else tag
            names.append(f"{known}{FORM}{behind}" if known in self.frequent else otherwise)
        return names

    def encode(self, sentence: Sentence) -> Ints32:
        """The numbers of the symbols of a sentence, the nearest known one for those never seen."""
        known = self._known
        return np.array([known.get(name) or self._learn(name) for name in self.names(sentence)], np.int32) - 1

    def find(self, name: str) -> int:
        """The number of a symbol by its name or by its UPOS or XPOS alone (the most frequent one)."""
        number = self.alphabet.index(name)
        if number != ABSENT:
            return number
        matching = [i for i, symbol in enumerate(self.alphabet) if name in _parts(symbol)]
        if not matching:
            near = get_close_matches(name, self.alphabet.symbols, NEAREST, 0.0)
            raise DataError(
                f"there is no symbol {name!r} among the {len(self.alphabet)} symbols; similar: {', '.join(near)}"
            )
        return max(matching, key=lambda i: (self.counts[i], -i))

    @cached_property
    def _known(self) -> dict[str, int]:
        """Number + 1 of every name met so far."""
        return {symbol: i + 1 for i, symbol in enumerate(self.alphabet)}

    @cached_property
    def _by_part(self) -> dict[str, int]:
        """The most frequent symbol with each part."""
        order = np.argsort(self.counts, kind="stable")
        return {part: int(i) for i in order for part in _parts(self.alphabet[i])}

    def _learn(self, name: str) -> int:
        """The nearest known symbol of a new one; remembered, so that it is looked for once."""
        candidates = (self._by_part[part] for part in _parts(name) if part in self._by_part)
        self._known[name] = next(candidates, int(np.argmax(self.counts))) + 1
        return self._known[name]


def _parts(symbol: str) -> list[str]:
    """What a symbol can be known by: its tags, without the word in front; UPOS before XPOS."""
    tags = symbol.rsplit("^", 1)[-1]
    return [tags, *tags.split("|")]
