"""The lexicon of a latent-variable grammar: what stands over a word, from frequent words to unknown ones.

004 §3.2 smooths a lexical entry by forgetting the word. Here it is smoothed step by step, each step pulling the
means of n observations towards a coarser one as K/(n + K), because most words are seen a few times and most
unary chains (NP+NN) are never seen over most words. Let a be a preterminal, t(a) its tag, Z the outside view of
a leaf, and D(a | ·) the sum of Z over leaves of a among the leaves of tag t(a) that satisfy a condition,
divided by their number:

    D(a | all)                        over all words
    D(a | rare)   pulled to it,       over words seen at most `rare` times
    D(a | form)   pulled to that,     over rare words of one form (their signature)
    D(a | x)      pulled to D(a | form) for a rare word x, to D(a | all) for a frequent one

    p(t | x) = n(x, t) / n(x) for frequent words; pulled to p(t | form) for rare ones
    q(a→x) = n(x) · p(t(a) | x) · D(a | x) / count(a).

With Z = 1 the same numbers are smoothed counts, by which the parser prunes. Forms stand for the unknown words
that show them, with the weight of the words seen once (Good–Turing); a tag symbol stands for unknown words of
which only the tag is known. Cost: one pass over the leaves and one over the entries.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import filterfalse

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.rarewords import RareWords, is_symbol, tag_symbol
from latentgram.data.symbols import tag_of
from latentgram.learn.grammar_data import GrammarData
from latentgram.stats.sums import sums_by

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEGLIGIBLE = 1e-3
"""Entries never seen are left out when they are less likely than this given the word."""


@dataclass(frozen=True)
class Lexicon:
    """Entries [L, 2] of preterminal symbol and word, sorted by word, with counts [L] and vectors [L, m]."""

    words: Alphabet
    rare_words: RareWords
    entries: NDArray[np.int32]
    count: Floats
    vector: Floats


@dataclass(frozen=True)
class _Sums:
    """Sums of leaf vectors by (kind, preterminal); the first column counts."""

    key: Ints
    total: Floats

    @classmethod
    def of(cls, key: Ints, vectors: Floats) -> _Sums:
        distinct, number = np.unique(key, return_inverse=True)
        return cls(distinct, sums_by(number, vectors, len(distinct)))

    def at(self, key: Ints) -> Floats:
        """The sums of keys, zero where there are none."""
        if not len(self.key):
            return np.zeros((len(key), self.total.shape[1]))
        place = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        return np.where((self.key[place] == key)[:, None], self.total[place], 0.0)


@dataclass(frozen=True)
class _Tags:
    """The tags in which preterminals end, and the preterminals of each tag."""

    names: Alphabet
    of: Ints
    """[P] the tag of each preterminal."""

    @classmethod
    def read(cls, preterminals: Alphabet) -> _Tags:
        names = Alphabet.of(tag_of(name) for name in preterminals)
        return cls(names, names.encode(tag_of(name) for name in preterminals).astype(np.int64))

    def spread(self, tags: Ints) -> tuple[Ints, Ints]:
        """For a list of tags, all pairs (place in the list, preterminal of that tag)."""
        by_tag = np.argsort(self.of, kind="stable")
        begin = np.searchsorted(self.of[by_tag], np.arange(len(self.names) + 1))
        place, within = _within(np.diff(begin)[tags])
        return place, by_tag[begin[tags[place]] + within]


def _within(sizes: Ints) -> tuple[Ints, Ints]:
    """The group, and the place in the group, of every member of groups of these sizes."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    return group, np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def estimate_lexicon(data: GrammarData, view: Floats, pull: float) -> Lexicon:
    """The smoothed lexicon from the outside views [leaves, m] of the leaves; `pull` is K."""
    d = data.derivations
    tags = _Tags.read(d.preterminals)
    pre = d.symbol[data.leaf].astype(np.int64) - len(d.interminals)
    vectors = np.ones((len(pre), view.shape[1] + 1))
    vectors[:, 1:] = view
    rare = data.form >= 0
    number = len(d.preterminals)
    everyone = np.arange(number)

    tag_total = np.bincount(tags.of[pre], minlength=len(tags.names)).astype(np.float64)
    rare_total = np.bincount(tags.of[pre[rare]], minlength=len(tags.names)).astype(np.float64)
    all_words = _Sums.of(pre, vectors).at(everyone) / tag_total[tags.of][:, None]
    rare_words = _pulled(_Sums.of(pre[rare], vectors[rare]).at(everyone), rare_total[tags.of], all_words, pull)
    forms = _form_rows(data, pre, vectors, tags, rare_words, pull)
    words = _word_rows(data, pre, vectors, tags, forms, all_words, rare_words, pull)

    # All unknown words together weigh as much as the words that were seen once, and are spread as rare ones are.
    spread = rare_total if rare.any() else tag_total
    share = max(float(np.sum(np.bincount(data.word) == 1)), 1.0) / float(spread.sum())
    names = [
        *np.array(data.vocabulary.symbols, object)[words.kind],
        *np.array(data.forms.symbols, object)[forms.kind],
        *(tag_symbol(tags.names[tag]) for tag in tags.of),
    ]
    preterminal = np.concatenate((words.preterminal, forms.preterminal, everyone))
    weighted = np.concatenate(
        (
            words.vector * words.weight[:, None],
            forms.vector * (share * forms.weight)[:, None],
            rare_words * (share * np.maximum(spread, 1.0))[tags.of][:, None],
        )
    )
    alphabet = Alphabet.of(names)
    word = alphabet.encode(names).astype(np.int64)
    order = np.lexsort((preterminal, word))
    total = np.bincount(pre, minlength=number).astype(np.float64)
    return Lexicon(
        alphabet,
        dataclasses.replace(data.rare_words, known=Alphabet.of(filterfalse(is_symbol, data.vocabulary))),
        np.column_stack((preterminal + len(d.interminals), word)).astype(np.int32)[order],
        weighted[order, 0],
        weighted[order, 1:] / total[preterminal[order]][:, None],
    )


@dataclass(frozen=True)
class _Rows:
    """Entries: a word or form, a preterminal, D(a | ·), and by how much it is to be multiplied."""

    kind: Ints
    preterminal: Ints
    vector: Floats
    weight: Floats
    tag_share: _Sums
    """p(tag | kind) by kind · tags + tag."""


def _pulled(own: Floats, seen: Floats, coarser: Floats, pull: float) -> Floats:
    """Sums over `seen` observations, divided by their number and pulled to a coarser mean."""
    total = (seen + pull)[:, None]
    return np.where(total > 0, (own + pull * coarser) / np.where(total > 0, total, 1.0), coarser)


def _form_rows(data: GrammarData, pre: Ints, vectors: Floats, tags: _Tags, coarser: Floats, pull: float) -> _Rows:
    """Every tag that a form was seen with, every preterminal of that tag."""
    rare = data.form >= 0
    form, pre, vectors = data.form[rare], pre[rare], vectors[rare]
    many, number = len(tags.names), len(tags.of)
    seen = _Sums.of(form * many + tags.of[pre], np.ones((len(form), 1)))
    place, preterminal = tags.spread(seen.key % many)
    kind, count = (seen.key // many)[place], seen.total[place, 0]
    own = _Sums.of(form * number + pre, vectors).at(kind * number + preterminal)
    vector = _pulled(own, count, coarser[preterminal], pull)
    total = np.bincount(form, minlength=len(data.forms) + 1)[seen.key // many]
    return _Rows(kind, preterminal, vector, count, _Sums(seen.key, seen.total / total[:, None]))


def _word_rows(
    data: GrammarData,
    pre: Ints,
    vectors: Floats,
    tags: _Tags,
    forms: _Rows,
    all_words: Floats,
    rare_words: Floats,
    pull: float,
) -> _Rows:
    """The tags that a word was seen with, and for a rare word those of its form; every preterminal of these."""
    many, number = len(tags.names), len(tags.of)
    total = np.bincount(data.word, minlength=len(data.vocabulary)).astype(np.float64)
    form = np.full(len(data.vocabulary), -1, np.int64)
    form[data.word[data.form >= 0]] = data.form[data.form >= 0]
    rare = np.flatnonzero(form >= 0)
    begin, end = (np.searchsorted(forms.tag_share.key, (form[rare] + step) * many) for step in (0, 1))
    place, within = _within(end - begin)
    lent = rare[place] * many + forms.tag_share.key[begin[place] + within] % many
    seen_tags = _Sums.of(data.word * many + tags.of[pre], np.ones((len(pre), 1)))
    pair = np.union1d(seen_tags.key, lent)
    word, tag, seen = pair // many, pair % many, seen_tags.at(pair)[:, 0]
    # p(t | x): frequent words have the tags they were seen with; rare ones are pulled to those of their form.
    share = forms.tag_share.at(form[word] * many + tag)[:, 0]
    weight = np.where(form[word] >= 0, pull, 0.0)
    chance = (seen + weight * share) / (total[word] + weight)

    place, preterminal = tags.spread(tag)
    its_word, its_form = word[place], form[word[place]]
    order = np.argsort(forms.kind * number + forms.preterminal)
    by_form = _Sums((forms.kind * number + forms.preterminal)[order], forms.vector[order])
    coarser = by_form.at(its_form * number + preterminal)
    coarser = np.where((coarser[:, :1] == 0), rare_words[preterminal], coarser)
    coarser = np.where((its_form < 0)[:, None], all_words[preterminal], coarser)
    own = _Sums.of(data.word * number + pre, vectors).at(its_word * number + preterminal)
    vector = _pulled(own, seen[place], coarser, pull) * chance[place][:, None]
    # A word that looks like a form or a tag symbol is known by its form only: one name must not mean two things.
    plain = np.array([not is_symbol(name) for name in data.vocabulary], bool)
    kept = plain[its_word] & ((own[:, 0] > 0) | (vector[:, 0] >= NEGLIGIBLE))
    return _Rows(
        its_word[kept],
        preterminal[kept],
        vector[kept],
        total[its_word[kept]],
        _Sums(pair, chance[:, None]),
    )
