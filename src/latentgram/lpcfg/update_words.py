"""Words that a grammar never saw, in trees that it absorbs: each gets entries of its own, as in learning.

A lexicon that was smoothed in learning (grammar_lexicon.py) knows every word of its treebank by name, and others
by their forms. A new word x of form f, seen n(x, a) times below the preterminals a in the absorbed trees, is
written into it by the formulas of learning,

    p(t | x) = (n(x, t) + K p(t | f)) / (n(x) + K),
    D(a | x) = (n(x, a) + K D(a | f)) / (n(x, t) + K)   for a of the tag t,
    count(a, x) = n(x) · p(t | x) · D(a | x),

where p(t | f) and D(a | f) are read off the entries of the form (those of the tag's symbol where the form was not
seen with the tag). The inside vector of an entry is the mean of what these observations have: the vector of the
form's entry for those that are lent, the mean inside vector of a for those in the new trees. Were the word counted
as its form, one tree more would say next to nothing of it. The form learns as much from a new word as it does from
a rare one in learning: words seen once / occurrences of rare words.

Lexicons that know rare words by their signatures alone (plain counting) are counted as they are. Cost: the entries
of the forms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.binarisation import tag_of
from latentgram.data.forest import Forest
from latentgram.data.rarewords import is_symbol, tag_symbol
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.statistics.counts import GrammarCounts

Floats = NDArray[np.float64]

PULL = 1.0
"""K: less than in learning, where a word is also known by the vectors of the places where it stood, which say more
of its tags than counts do. With one observation the tags of the form never outweigh the tag that was seen."""


def forms_of_new_words(grammar: LPCFG, binary: Forest) -> dict[str, str]:
    """The words of binarised trees that are to be known by name from now on, and their forms."""
    rule = grammar.rare_words
    by_name = rule.mode == "signature" and any(
        tag_symbol(tag_of(a)) in grammar.words for a in grammar.preterminals
    )
    if not by_name:
        return {}
    leaf = binary.is_tag
    seen = zip(binary.word[leaf].tolist(), (binary.begin[leaf] == 0).tolist(), strict=True)
    found = {(binary.words[word], first) for word, first in seen}
    forms = {word: rule.symbol(word, first=first) for word, first in sorted(found) if not is_symbol(word)}
    return {word: form for word, form in forms.items() if is_symbol(form)}


@dataclass(frozen=True)
class _Entry:
    """An entry of the old lexicon: how often it counts and the mean of the inside vectors that it stands for."""

    count: float
    mean: Floats


@dataclass(frozen=True)
class LentEntries:
    """What must be added to the counts of new words, and the inside vectors of their entries."""

    counts: GrammarCounts
    mean: dict[tuple[str, str], Floats]
    """Of (preterminal, word)."""

    @classmethod
    def of(cls, grammar: LPCFG, counted: GrammarCounts, forms: dict[str, str]) -> LentEntries:
        """`counted` are the counts of the new trees, with new words by name; `forms` are the forms of these."""
        old = _OldEntries(grammar)
        added: dict[tuple[str, str], float] = {}
        mean: dict[tuple[str, str], Floats] = {}
        for word, form in forms.items():
            seen = _seen(counted, word)
            for a, number in seen.items():
                added[a, form] = added.get((a, form), 0.0) + old.share_of_rare * number
            for a, (count, vector) in old.pulled(seen, form).items():
                added[a, word] = count - seen.get(a, 0.0)
                mean[a, word] = vector
        return cls(_counts_of(added), mean)


@dataclass(frozen=True)
class _OldEntries:
    grammar: LPCFG

    @cached_property
    def _first_row(self) -> NDArray[np.int64]:
        return np.searchsorted(self.grammar.lexicon[:, 1], np.arange(len(self.grammar.words) + 1))

    @cached_property
    def _symbol_count(self) -> Floats:
        grammar = self.grammar
        return np.asarray(np.bincount(grammar.lexicon[:, 0], grammar.lexicon_count, len(grammar.states)), float)

    def of(self, word: str) -> dict[str, _Entry]:
        """The entries of a word or form by preterminal."""
        grammar, number = self.grammar, self.grammar.words.index(word)
        if number == ABSENT:
            return {}
        found = {}
        for row in range(*self._first_row[number : number + 2].tolist()):
            symbol, count = int(grammar.lexicon[row, 0]), float(grammar.lexicon_count[row])
            vector = grammar.lexicon_vector[slice(*grammar.lexicon_offset[row : row + 2])]
            if count > 0:
                mean = vector * (self._symbol_count[symbol] / count)
                found[grammar.preterminals[symbol - len(grammar.interminals)]] = _Entry(count, mean)
        return found

    def _mean_inside(self, a: str) -> Floats:
        number = self.grammar.preterminals.index(a)
        if number == ABSENT:
            return np.ones(1)
        symbol = number + len(self.grammar.interminals)
        return self.grammar.mean_inside[slice(*self.grammar.root_offset[symbol : symbol + 2])]

    def pulled(self, seen: dict[str, float], form: str) -> dict[str, tuple[float, Floats]]:
        """The counts of a word that was seen below some preterminals, and its inside vectors there."""
        of_form, total = self.of(form), sum(seen.values())
        form_total = sum(entry.count for entry in of_form.values())
        found = {}
        for tag in sorted({tag_of(a) for a in (*seen, *of_form)}):
            own = {a: number for a, number in seen.items() if tag_of(a) == tag}
            lent = {a: entry for a, entry in of_form.items() if tag_of(a) == tag}
            share = sum(entry.count for entry in lent.values()) / form_total if lent else 0.0
            chance = (sum(own.values()) + PULL * share) / (total + PULL * bool(of_form))
            lent = lent or self.of(tag_symbol(tag))
            # Observations of each preterminal of the tag: those of the word, and K that are lent.
            each = PULL / sum(entry.count for entry in lent.values()) if lent else 0.0
            weight = {a: own.get(a, 0.0) + (each * lent[a].count if a in lent else 0.0) for a in {**own, **lent}}
            for a, number in weight.items():
                vector = own.get(a, 0.0) * self._mean_inside(a)
                if a in lent:
                    vector = vector + each * lent[a].count * lent[a].mean
                found[a] = (total * chance * number / sum(weight.values()), vector / number)
        return found

    @cached_property
    def share_of_rare(self) -> float:
        """What an occurrence of a rare word counts for its form: words seen once / occurrences of rare words."""
        grammar = self.grammar
        plain = np.array([not is_symbol(word) for word in grammar.words], bool)
        number = np.rint(np.bincount(grammar.lexicon[:, 1], grammar.lexicon_count, len(plain)))[plain]
        rare = number[(number >= 1) & (number <= grammar.rare_words.threshold)].sum()
        return max(float(np.sum(number == 1)), 1.0) / max(float(rare), 1.0)


def _seen(counted: GrammarCounts, word: str) -> dict[str, float]:
    """How often a word was counted below each preterminal."""
    rows = np.flatnonzero(counted.lexicon[:, 1] == counted.words.index(word))
    names = [counted.preterminals[symbol - len(counted.interminals)] for symbol in counted.lexicon[rows, 0]]
    return dict(zip(names, counted.lexicon_count[rows].tolist(), strict=True))


def _counts_of(entries: dict[tuple[str, str], float]) -> GrammarCounts:
    """Counts of nothing but lexical entries."""
    preterminals = Alphabet.of(a for a, _ in entries)
    words = Alphabet.of(word for _, word in entries)
    rows = np.array([(words.index(word), preterminals.index(a)) for a, word in entries], np.int32).reshape(-1, 2)
    order = np.lexsort(rows.T[::-1])
    return GrammarCounts(
        Alphabet(()),
        preterminals,
        words,
        np.zeros((0, 3), np.int32),
        np.zeros(0),
        np.ascontiguousarray(rows[order][:, ::-1]),
        np.array(list(entries.values()), np.float64)[order],
        np.zeros(len(preterminals)),
    )
