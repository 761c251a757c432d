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

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.rarewords import RareWords, tag_symbol
from latentgram.data.symbols import tag_of
from latentgram.learn.grammar_data import GrammarData

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
        chooser = scipy.sparse.csr_matrix(
            (np.ones(len(key)), (number, np.arange(len(key)))), (len(distinct), len(key))
        )
        return cls(distinct, np.asarray(chooser @ vectors))

    def at(self, key: Ints) -> Floats:
        """The sums of keys, zero where there are none."""
        if not len(self.key):
            return np.zeros((len(key), self.total.shape[1]))
        place = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        return np.where((self.key[place] == key)[:, None], self.total[place], 0.0)


def estimate_lexicon(data: GrammarData, view: Floats, pull: float) -> Lexicon:
    """The smoothed lexicon from the outside views [leaves, m] of the leaves; `pull` is K."""
    d = data.derivations
    pre = d.symbol[data.leaf].astype(np.int64) - len(d.interminals)
    number = len(d.preterminals)
    tag_names = Alphabet.of(tag_of(name) for name in d.preterminals)
    tag = tag_names.encode(tag_of(name) for name in d.preterminals).astype(np.int64)
    tags = len(tag_names)
    by_tag = np.argsort(tag, kind="stable")
    tag_start = np.searchsorted(tag[by_tag], np.arange(tags + 1))
    vectors = np.column_stack((np.ones(len(pre)), view))
    word, form = data.word, data.form
    rare = form >= 0

    def pulled(own: Floats, seen: NDArray[np.float64], coarser: Floats) -> Floats:
        return (own + pull * coarser) / (seen + pull)[:, None]

    per_tag = np.bincount(tag[pre], minlength=tags).astype(np.float64)
    all_words = _Sums.of(pre, vectors).at(np.arange(number)) / per_tag[tag][:, None]
    per_rare_tag = np.bincount(tag[pre[rare]], minlength=tags).astype(np.float64)
    rare_words = pulled(_Sums.of(pre[rare], vectors[rare]).at(np.arange(number)), per_rare_tag[tag], all_words)

    def spread(kinds: Ints, its_tags: Ints) -> tuple[Ints, Ints]:
        """All (pair, preterminal) of pairs (kind, tag): each tag's preterminals in turn."""
        sizes = np.diff(tag_start)[its_tags]
        pair = np.repeat(np.arange(len(kinds)), sizes)
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return pair, by_tag[tag_start[its_tags[pair]] + within]

    # Forms: every tag that a form was seen with, every preterminal of that tag.
    form_tags = _Sums.of(form[rare] * tags + tag[pre[rare]], np.ones((int(rare.sum()), 1)))
    form_total = np.bincount(form[rare], minlength=len(data.forms)).astype(np.float64)
    pair, form_pre = spread(form_tags.key // tags, form_tags.key % tags)
    form_of_row = (form_tags.key // tags)[pair]
    form_vector = pulled(
        _Sums.of(form[rare] * number + pre[rare], vectors[rare]).at(form_of_row * number + form_pre),
        form_tags.total[pair, 0],
        rare_words[form_pre],
    )
    by_form = _Sums(form_of_row * number + form_pre, form_vector)
    order = np.argsort(by_form.key)
    by_form = _Sums(by_form.key[order], by_form.total[order])

    # Words: the tags they were seen with, and for rare ones those of their form.
    word_total = np.bincount(word, minlength=len(data.vocabulary)).astype(np.float64)
    seen_tags = _Sums.of(word * tags + tag[pre], np.ones((len(word), 1)))
    word_form = np.full(len(data.vocabulary), -1, np.int64)
    word_form[word[rare]] = form[rare]
    rare_ones = np.flatnonzero(word_form >= 0)
    begin = np.searchsorted(form_tags.key, word_form[rare_ones] * tags)
    size = np.searchsorted(form_tags.key, (word_form[rare_ones] + 1) * tags) - begin
    lent_word = np.repeat(rare_ones, size)
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    lent_tag = form_tags.key[np.repeat(begin, size) + within] % tags
    word_tags = np.union1d(seen_tags.key, lent_word * tags + lent_tag)
    its_word, its_tag = word_tags // tags, word_tags % tags
    its_form = word_form[its_word]
    seen = seen_tags.at(word_tags)[:, 0]
    of_form = np.where(
        its_form >= 0,
        form_tags.at(np.maximum(its_form, 0) * tags + its_tag)[:, 0] / np.maximum(form_total[its_form], 1.0),
        seen / word_total[its_word],
    )
    tag_given_word = np.where(
        its_form >= 0, (seen + pull * of_form) / (word_total[its_word] + pull), seen / word_total[its_word]
    )
    pair, word_pre = spread(its_word, its_tag)
    row_form = its_form[pair]
    coarser = by_form.at(np.maximum(row_form, 0) * number + word_pre)
    unformed = (row_form >= 0) & (coarser[:, 0] == 0)
    coarser = np.where((row_form < 0)[:, None], all_words[word_pre], coarser)
    coarser = np.where(unformed[:, None], rare_words[word_pre], coarser)
    own = _Sums.of(word * number + pre, vectors).at(its_word[pair] * number + word_pre)
    word_vector = pulled(own, seen[pair], coarser) * tag_given_word[pair][:, None]
    keep = (own[:, 0] > 0) | (word_vector[:, 0] >= NEGLIGIBLE)

    once = float(np.sum(word_total == 1))
    share = max(once, 1.0) / max(float(rare.sum()), 1.0)
    form_weight = (
        share
        * form_tags.total[np.repeat(np.arange(len(form_tags.key)), np.diff(tag_start)[form_tags.key % tags]), 0]
    )
    tag_weight = share * np.maximum(per_rare_tag, 1.0)[tag]

    names = [
        *np.array(data.vocabulary.symbols, object)[its_word[pair][keep]],
        *np.array(data.forms.symbols, object)[form_of_row],
        *(tag_symbol(tag_names[t]) for t in tag),
    ]
    rows_pre = np.concatenate((word_pre[keep], form_pre, np.arange(number)))
    weighted = np.concatenate(
        (
            word_vector[keep] * word_total[its_word[pair][keep]][:, None],
            form_vector * form_weight[:, None],
            rare_words * tag_weight[:, None],
        )
    )
    words = Alphabet.of(names)
    row_word = words.encode(names).astype(np.int64)
    order = np.lexsort((rows_pre, row_word))
    entries = np.column_stack((rows_pre + len(d.interminals), row_word)).astype(np.int32)[order]
    per_pre = np.bincount(pre, minlength=number).astype(np.float64)
    return Lexicon(
        words,
        dataclasses.replace(data.rare_words, known=data.vocabulary),
        entries,
        weighted[order, 0],
        weighted[order, 1:] / per_pre[rows_pre[order]][:, None],
    )
