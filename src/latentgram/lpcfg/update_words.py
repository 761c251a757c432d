"""Words that a grammar never saw, in trees that it is updated with: each gets entries of its own, as in learning.

A lexicon that was smoothed in learning (lexicon.py) knows every word of its treebank by name, and others
by their forms. A new word x of form f, seen n(x, a) times below the preterminals a in the new trees, is
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
from typing import NamedTuple

import numpy as np

from latentgram.arrays import Floats
from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.binarisation import tag_of
from latentgram.data.forest import Forest
from latentgram.data.rarewords import is_symbol, tag_symbol
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.statistics import GrammarCounts

PULL = 1.0
"""K: less than in learning, where a word is also known by the vectors of the places where it stood, which say more
of its tags than counts do. With one observation the tags of the form never outweigh the tag that was seen."""


def forms_of_new_words(grammar: LPCFG, binary: Forest) -> dict[str, str]:
    """The words of binarised trees that are to be known by name from now on, and their forms."""
    rule = grammar.rare_words
    if rule.mode != "signature" or (grammar.tag_word == ABSENT).all():
        return {}
    leaf = binary.is_tag
    seen = zip(binary.word[leaf].tolist(), (binary.begin[leaf] == 0).tolist(), strict=True)
    words = {(binary.words[word], first) for word, first in seen}
    forms = {word: rule.symbol(word, first=first) for word, first in sorted(words) if not is_symbol(word)}
    return {word: form for word, form in forms.items() if is_symbol(form)}


class _Entry(NamedTuple):
    """An entry of a lexicon: how often it counts and the mean of the inside vectors that it stands for."""

    times: float
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
        added: dict[tuple[str, str], float] = {}
        mean: dict[tuple[str, str], Floats] = {}
        share = _share_of_rare(grammar) if forms else 0.0
        for word, form in forms.items():
            seen = _seen(counted, word)
            for a, number in seen.items():
                added[a, form] = added.get((a, form), 0.0) + share * number
            for a, entry in _pulled(grammar, seen, form).items():
                added[a, word] = entry.times - seen.get(a, 0.0)
                mean[a, word] = entry.mean
        return cls(_counts_of(added), mean)


def _entries(grammar: LPCFG, word: str) -> dict[str, _Entry]:
    """The entries of a word or form by preterminal."""
    number = grammar.words.index(word)
    if number == ABSENT:
        return {}
    entries = {}
    for row in range(*np.searchsorted(grammar.lexicon[:, 1], np.array([number, number + 1], np.int32)).tolist()):
        symbol, count = int(grammar.lexicon[row, 0]), float(grammar.lexicon_count[row])
        if count > 0:
            mean = grammar.vector(row) * (grammar.symbol_count[symbol] / count)
            entries[grammar.symbol_name(symbol)] = _Entry(count, mean)
    return entries


def _mean_inside(grammar: LPCFG, a: str) -> Floats:
    number = grammar.preterminals.index(a)
    if number == ABSENT:
        return np.ones(1)
    return grammar.of_symbol(grammar.mean_inside, number + len(grammar.interminals))


def _pulled(grammar: LPCFG, seen: dict[str, float], form: str) -> dict[str, _Entry]:
    """The entries of a word that was seen below some preterminals."""
    of_form, total = _entries(grammar, form), sum(seen.values())
    form_total = sum(entry.times for entry in of_form.values())
    entries = {}
    for tag in sorted({tag_of(a) for a in (*seen, *of_form)}):
        own = {a: number for a, number in seen.items() if tag_of(a) == tag}
        lent = {a: entry for a, entry in of_form.items() if tag_of(a) == tag}
        share = sum(entry.times for entry in lent.values()) / form_total if lent else 0.0
        chance = (sum(own.values()) + PULL * share) / (total + PULL * bool(of_form))
        lent = lent or _entries(grammar, tag_symbol(tag))
        # Observations of each preterminal of the tag: those of the word, and K that are lent.
        each = PULL / sum(entry.times for entry in lent.values()) if lent else 0.0
        weight = {a: own.get(a, 0.0) + (each * lent[a].times if a in lent else 0.0) for a in {**own, **lent}}
        for a, number in weight.items():
            vector = own.get(a, 0.0) * _mean_inside(grammar, a)
            if a in lent:
                vector = vector + each * lent[a].times * lent[a].mean
            entries[a] = _Entry(total * chance * number / sum(weight.values()), vector / number)
    return entries


def _share_of_rare(grammar: LPCFG) -> float:
    """What an occurrence of a rare word counts for its form: words seen once / occurrences of rare words."""
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
