"""The leaves of a sentence: the preterminals that a grammar considers for each word.

A preterminal is a unary chain that ends in a tag (`NP+NN`). A word with a given tag may be any preterminal that
ends in this tag; a word without a tag may be any that was seen over it, or over its signature. Words never seen
with their tag get the leaves of the tag's symbol (`‹=NN›`) or, if there is none, all preterminals of the tag;
unknown tags get all preterminals of the word, and if both fail, all there are: no sentence is left without leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT
from latentgram.data.rarewords import REMEMBERED, tag_symbol
from latentgram.data.sentence import Sentence
from latentgram.lpcfg.model import LPCFG

UNSEEN = -1
"""The entry of a leaf whose vector is not in the lexicon: it is the mean vector of its symbol times the weight."""
HALF = 0.5
"""How often a word counts as seen with a tag when it was not."""
_SELDOM = 1e-3
"""What such a pair weighs beside others of the same word that were seen."""


class Leaves(NamedTuple):
    """The leaves of a sentence: word w has those numbered `begin[w]` to `begin[w + 1]`, sorted by symbol."""

    begin: NDArray[np.int32]
    symbol: NDArray[np.int32]
    entry: NDArray[np.int32]
    """The row of the lexicon, or `UNSEEN`."""
    weight: NDArray[np.float64]
    """q(symbol → word) of the one-state projection."""
    word: NDArray[np.int64]
    """[n] the number of each word, or of its signature, among those of the grammar."""

    def between(self, first: int, end: int) -> Leaves:
        """The leaves of a part of the sentence."""
        begin, stop = self.begin[first], self.begin[end]
        return Leaves(
            self.begin[first : end + 1] - begin,
            self.symbol[begin:stop],
            self.entry[begin:stop],
            self.weight[begin:stop],
            self.word[first:end],
        )


_Entries = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]
"""Symbols, entries and weights of one word."""
_OfWord = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], int]
"""The same, and the word's number."""
_Rows = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]
"""Symbols, numbers and weights of rows of the lexicon, and the tags in which the symbols end."""
_Asked = tuple[str, str | None, bool]
"""A word, its tag where it has one, and whether it is the first of a sentence."""


def _asked(sentence: Sentence) -> list[_Asked]:
    """Its words."""
    return list(zip(sentence.words, sentence.tags or repeat(None), chain((True,), repeat(False)), strict=False))


@dataclass(frozen=True)
class LeafTable:
    """Looks words up in the lexicon of a grammar.

    Of a plain PCFG the grammar's `pull` is the weight, in observations, that the words of a tag have in
    q(symbol → word) of each of the tag's preterminals: with c(t,x) the count of word x below all preterminals of
    tag t, and u(s) what the symbol keeps for words never seen with the tag (projection.py),

        q(s→x) = (1 − u(s)) (c(s,x) + pull · c(t,x)/c(t)) / (c(s) + pull),    q(s→any other) = u(s).

    The lexicon of a plain PCFG knows nothing of pull and u, so its leaves have no entries there. Without pull a
    word has only the preterminals that were seen over it, as it has where the lexicon was smoothed in learning.
    """

    grammar: LPCFG

    @cached_property
    def _pull(self) -> float:
        return self.grammar.pull if self.grammar.plain else 0.0

    @cached_property
    def _kept(self) -> NDArray[np.float64]:
        """[P] what each preterminal keeps for words never seen with its tag."""
        kept = self.grammar.unseen[len(self.grammar.interminals) :]
        return kept if kept.size else np.zeros(len(self.grammar.preterminals))

    @cached_property
    def _unknown(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """[P] the entry and the weight of each preterminal over a word of which nothing is known."""
        grammar, first = self.grammar, len(self.grammar.interminals)
        entry = np.full(len(grammar.preterminals), UNSEEN, np.int32)
        if not grammar.unseen.size:
            return entry, HALF / (grammar.tag_count + 1.0)
        weight = self._kept.copy()
        rows = np.flatnonzero(grammar.lexicon[:, 1] == grammar.tag_word[grammar.lexicon[:, 0] - first])
        entry[grammar.lexicon[rows, 0] - first] = rows
        weight[grammar.lexicon[rows, 0] - first] = (
            grammar.lexicon_count[rows] / grammar.symbol_count[grammar.lexicon[rows, 0]]
        )
        return entry, weight

    @cached_property
    def _share(self) -> NDArray[np.float64]:
        """[P] what one observation weighs: (1 − u(s)) / (c(s) + pull)."""
        count = self.grammar.symbol_count[len(self.grammar.interminals) :]
        return np.asarray((1.0 - self._kept) / (count + self._pull))

    @cached_property
    def _rows(self) -> _Rows:
        """The symbols, the numbers and the weights, or with `pull` the counts, of the rows of the lexicon that
        weigh anything, and the tags in which their symbols end."""
        symbol, weight = self.grammar.lexicon[:, 0], self.grammar.lexicon_count
        place = symbol - np.int32(len(self.grammar.interminals))
        if not self._pull > 0:
            weight = weight * self._share[place]
        row = np.flatnonzero(weight).astype(np.int32)
        return symbol[row], row, weight[row], self.grammar.preterminal_tag[place[row]]

    @cached_property
    def _begins(self) -> list[int]:
        """[words + 1] where those of each word begin."""
        words = np.arange(len(self.grammar.words) + 1)
        begins: list[int] = np.searchsorted(self.grammar.lexicon[self._rows[1], 1], words).tolist()
        return begins

    @cached_property
    def _cache(self) -> dict[_Asked, _OfWord]:
        return {}

    def _of_words(self, asked: list[_Asked]) -> dict[_Asked, _OfWord]:
        """What may stand over words that were not asked for before."""
        rows, rare = self._rows, self.grammar.rare_words
        symbols = [
            rare.symbols((word,), None if tag is None else (tag,), begins=first)[0] for word, tag, first in asked
        ]
        numbers = self.grammar.words.encode(symbols).tolist()
        of_words = {
            each: (*self._look(rows, number, each[1]), number) for each, number in zip(asked, numbers, strict=True)
        }
        if len(self._cache) >= REMEMBERED:  # a text of any length has new words without end
            self._cache.clear()
        self._cache.update(of_words)
        return of_words

    def of(self, sentence: Sentence) -> Leaves:
        """The leaves of a sentence; its tags, where it has some, are believed."""
        return self._joined(_asked(sentence))

    def of_all(self, sentences: Iterable[Sentence]) -> Leaves:
        """The leaves of several sentences, one after the other."""
        asked = list(chain.from_iterable(map(_asked, sentences)))
        number = {each: place for place, each in enumerate(dict.fromkeys(asked))}
        once, place = self._joined(list(number)), np.array([number[each] for each in asked], np.int64)
        sizes = np.diff(once.begin)[place]
        begin = np.concatenate((np.zeros(1, np.int32), np.cumsum(sizes, dtype=np.int32)))
        leaf = np.arange(begin[-1]) + np.repeat(once.begin[place] - begin[:-1], sizes)
        return Leaves(begin, once.symbol[leaf], once.entry[leaf], once.weight[leaf], once.word[place])

    def _joined(self, asked: list[_Asked]) -> Leaves:
        """The leaves of words, one after the other."""
        known = {each: part for each in asked if (part := self._cache.get(each)) is not None}
        if new := [each for each in asked if each not in known]:
            known |= self._of_words(new)
        parts = [known[each] for each in asked]
        begin = np.zeros(len(parts) + 1, np.int32)
        symbols, entries, weights, numbers = zip(*parts, strict=True)
        np.cumsum([len(each) for each in symbols], out=begin[1:])
        symbol, entry, weight = (np.concatenate(part) for part in (symbols, entries, weights))
        return Leaves(begin, symbol, entry, weight, np.array(numbers, np.int64))

    def every(self, sentence: Sentence) -> Leaves:
        """All preterminals over every word: when those of `of` have no parse."""
        seen, preterminals = self.of(sentence), len(self.grammar.preterminals)
        first, words = len(self.grammar.interminals), len(sentence)
        unseen = _SELDOM * HALF / (self.grammar.tag_count + 1.0)
        entry, weight = np.full((words, preterminals), UNSEEN, np.int32), np.tile(unseen, (words, 1))
        place = np.repeat(np.arange(words), np.diff(seen.begin)), seen.symbol - first
        entry[place], weight[place] = seen.entry, seen.weight
        symbol = np.tile(np.arange(first, first + preterminals, dtype=np.int32), words)
        begin = np.arange(words + 1, dtype=np.int32) * np.int32(preterminals)
        return Leaves(begin, symbol, entry.ravel(), weight.ravel(), seen.word)

    def distributions(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float64]]]:
        """Symbols and weights q(symbol → word) of every word of the lexicon, and of the one never seen."""
        for word in range(len(self.grammar.words)):
            symbol, _, weight = self._look(self._rows, word, None)
            yield symbol, weight
        first = len(self.grammar.interminals)
        yield np.arange(first, first + len(self._kept), dtype=np.int32), self._kept

    def _look(self, rows: _Rows, word: int, tag: str | None) -> _Entries:
        asked = ABSENT if tag is None else self.grammar.tags.index(tag)
        seen = self._seen(rows, word, asked)
        if seen is None and tag is not None:
            seen = self._seen(rows, self.grammar.words.index(tag_symbol(tag)), asked)
        symbol, row, weight = self._unseen(asked) if seen is None else seen
        return symbol, np.full_like(row, UNSEEN) if self.grammar.plain else row, weight

    def _seen(self, rows: _Rows, word: int, asked: int) -> _Entries | None:
        """The leaves that the lexicon has for a word with a tag, by their numbers, or None."""
        if word == ABSENT:
            return None
        here, (symbol, row, weight, tags) = slice(*self._begins[word : word + 2]), rows
        symbol, row, weight, tags = symbol[here], row[here], weight[here], tags[here]
        if asked != ABSENT:
            same = (tags == asked).nonzero()[0]
            symbol, row, weight, tags = symbol[same], row[same], weight[same], tags[same]
        if not len(row):
            return None
        if self._pull > 0:
            grammar, first = self.grammar, len(self.grammar.interminals)
            of_tag = np.bincount(tags, weight, len(grammar.tags))[grammar.preterminal_tag]
            count = self._pull * of_tag / grammar.tag_count
            count[symbol - first] += weight
            weight = count * self._share
            row = np.flatnonzero(weight).astype(np.int32)
            symbol, weight = row + np.int32(first), weight[row]
        return symbol, row, weight

    def _unseen(self, asked: int) -> _Entries:
        """All preterminals of the tag, or all there are, over a word never seen with it."""
        entry, weight = self._unknown
        possible = np.ones(len(entry), bool) if asked == ABSENT else self.grammar.preterminal_tag == asked
        kept = np.flatnonzero(possible & (weight > 0.0)).astype(np.int32)
        return kept + np.int32(len(self.grammar.interminals)), entry[kept], weight[kept]
