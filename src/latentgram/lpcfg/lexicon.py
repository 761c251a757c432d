"""The lexicon of a latent-variable grammar: what stands over a word, from frequent words to unknown ones.

Cohen et al. (2013, §3.2) smooth a lexical entry by forgetting the word (printed_lexicon.py). Here it is smoothed
step by step, each step pulling the means of n observations towards a coarser one as K/(n + K), because most words
are seen a few times and most unary chains (NP+NN) are never seen over most words. Let a be a
preterminal, t(a) its tag, Z the outside view of a leaf, and D(a | ·) the sum of Z over leaves of a among the
leaves of tag t(a) that satisfy a condition, divided by their number:

    D(a | all)                        over all words
    D(a | rare)   pulled to it,       over words seen at most `rare` times
    D(a | form)   pulled to that,     over rare words of one form (their signature)
    D(a | x)      pulled to D(a | form) for a rare word x, to D(a | all) for a frequent one

    p(t | x) = n(x, t) / n(x) for frequent words; pulled to p(t | form) for rare ones
    q(a→x) = n(x) · p(t(a) | x) · D(a | x) / count(a).

With Z = 1 the same numbers are smoothed counts, by which the parser prunes. Forms stand for the unknown words
that show them, with the weight of the words seen once (Good–Turing); a tag symbol stands for unknown words of
which only the tag is known.

Which entries there are, their counts, and which leaves each mean is taken over do not depend on Z: that is a
`LexiconPlan`, which can be made while Z is still being learned. Cost: a sort of the leaves, and a pass over them.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import filterfalse
from typing import NamedTuple, Protocol

import numpy as np

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.binarisation import tag_of
from latentgram.data.rarewords import RareWords, is_symbol, tag_symbol
from latentgram.lpcfg.kernels.moments import Level, leading_parts, pulled_means, scaled_rows
from latentgram.lpcfg.model import LPCFG, Layout
from latentgram.lpcfg.projection import discounted
from latentgram.lpcfg.statistics import GrammarData, by_group, sums_by
from latentgram.parallel import Engine, InProcess, run_pieces, within


@dataclass(frozen=True)
class _Groups:
    """Leaves that share a key: those of `key[g]` are `leaf[begin[g] : begin[g + 1]]`, in their order."""

    key: Ints
    leaf: Ints
    begin: Ints

    @classmethod
    def of(cls, key: Ints, leaf: Ints | None = None) -> _Groups:
        """Groups by keys of at least zero; `leaf` are the leaves that have them, if not all."""
        order = np.argsort(key, kind="stable")
        ordered = key[order]
        begin = np.flatnonzero(np.diff(ordered, prepend=-1))
        return cls(ordered[begin], order if leaf is None else leaf[order], np.append(begin, len(key)))

    @property
    def count(self) -> Floats:
        """The number of leaves of each group."""
        return np.diff(self.begin).astype(np.float64)

    def find(self, key: Ints) -> Ints:
        """The group of each key, -1 where there is none."""
        return _places(self.key, key)


def _places(sorted_keys: Ints, key: Ints) -> Ints:
    """Where each key stands among sorted ones, -1 where it does not."""
    if not len(sorted_keys):
        return np.full(len(key), -1, np.int64)
    place = np.minimum(np.searchsorted(sorted_keys, key), len(sorted_keys) - 1)
    return np.where(sorted_keys[place] == key, place, -1)


def _level(groups: _Groups, key: Ints, coarse: Ints, seen: Floats) -> Level:
    """The means of the leaves that have these keys."""
    group = groups.find(key)
    begin, end = (np.where(group < 0, 0, groups.begin[group + step]) for step in (0, 1))
    return Level(groups.leaf, begin, end, coarse, seen)


def _means(levels: tuple[Level, ...], place: Ints, rows: Floats, pull: float, threads: Engine) -> Floats:
    """The table of the means of all levels, one after the other, where leaf l has the row place[l]."""
    table = np.empty((sum(len(level.begin) for level in levels), rows.shape[1]))
    above = 0
    for level in levels:

        def work(first: int, last: int, level: Level = level, above: int = above) -> None:
            pulled_means(first, last, level, pull, place, rows, table, above)

        run_pieces(threads, work, 1 + level.end - level.begin)
        above += len(level.begin)
    return table


class _Tags(NamedTuple):
    """The tags in which preterminals end, and the tag of each preterminal."""

    names: Alphabet
    of: Ints

    @classmethod
    def read(cls, preterminals: Alphabet) -> _Tags:
        names = Alphabet.of(tag_of(name) for name in preterminals)
        return cls(names, names.encode(tag_of(name) for name in preterminals).astype(np.int64))

    def spread(self, tags: Ints) -> tuple[Ints, Ints]:
        """For a list of tags, all pairs (place in the list, preterminal of that tag)."""
        by_tag, begin = by_group(self.of, len(self.names))
        place, within_tag = _within(np.diff(begin)[tags])
        return place, by_tag[begin[tags[place]] + within_tag]


def _within(sizes: Ints) -> tuple[Ints, Ints]:
    """The group, and the place in the group, of every member of groups of these sizes."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    return group, np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)


@dataclass(frozen=True)
class LexiconPlan:
    """Entries [L, 2] of preterminal symbol and word, sorted by word, with counts [L]; and how to get vectors.

    The vector of entry l is row `row[l]` of the table of the means of all levels, multiplied by `factor[l]`.
    """

    words: Alphabet
    rare_words: RareWords
    entries: Ints32
    count: Floats
    levels: tuple[Level, ...]
    row: Ints
    factor: Floats
    pull: float

    @classmethod
    def of(cls, data: GrammarData, pull: float) -> LexiconPlan:
        """The plan for these trees; `pull` is K."""
        return _Planner(data, pull).plan()

    def vectors(self, rows: Floats, place: Ints, engine: Engine) -> Floats:
        """The vectors [L, m] of the entries, where the outside view of leaf l is row place[l] of `rows`."""
        threads = within(engine)
        table = _means(self.levels, place, rows, self.pull, threads)
        result = np.empty((len(self.row), rows.shape[1]))

        def work(first: int, last: int) -> None:
            scaled_rows(first, last, table, self.row, self.factor, result)

        run_pieces(threads, work, np.ones(len(self.row)))
        return result


@dataclass(frozen=True)
class _Kinds:
    """Means for forms or words: what they are, the preterminal, D(a | ·), and the weight that it gets."""

    kind: Ints
    preterminal: Ints
    level: Level
    weight: Floats


NEGLIGIBLE = 1e-3
"""Entries never seen are left out when they are less likely than this given the word."""


class _Planner:
    """The levels of means, from coarse to fine, each knowing the rows of the coarser ones in the table."""

    def __init__(self, data: GrammarData, pull: float) -> None:
        d = data.derivations
        self.data, self.pull = data, pull
        self.tags = _Tags.read(d.preterminals)
        self.pre = d.symbol[d.leaf].astype(np.int64) - len(d.interminals)
        self.tag = self.tags.of[self.pre]
        self.rare = np.flatnonzero(data.form >= 0)
        self.number, self.many = len(d.preterminals), len(self.tags.names)

    def plan(self) -> LexiconPlan:
        data, tags, number = self.data, self.tags, self.number
        everyone = np.arange(number)
        tag_total, rare_total = (
            np.bincount(tag, minlength=self.many).astype(np.float64) for tag in (self.tag, self.tag[self.rare])
        )
        rare_leaves = _Groups.of(self.pre[self.rare], self.rare)
        levels: tuple[Level, ...] = (
            _level(_Groups.of(self.pre), everyone, np.full(number, -1), tag_total[tags.of]),
            _level(rare_leaves, everyone, everyone, rare_total[tags.of]),
        )
        forms, form_tags = self._forms()
        levels = (*levels, forms.level)
        words = self._words(forms, form_tags, self._counted(levels))
        levels = (*levels, words.level)

        # All unknown words together weigh as much as the words seen once, and are spread as rare ones are.
        spread = rare_total if len(self.rare) else tag_total
        share = max(float(np.sum(np.bincount(data.word) == 1)), 1.0) / float(spread.sum())
        names = [
            *np.array(data.vocabulary.symbols, object)[words.kind],
            *np.array(data.forms.symbols, object)[forms.kind],
            *(tag_symbol(tags.names[tag]) for tag in tags.of),
        ]
        preterminal = np.concatenate((words.preterminal, forms.preterminal, everyone))
        first_form = 2 * number
        first_word = first_form + len(forms.kind)
        row = np.concatenate(
            (
                np.arange(first_word, first_word + len(words.kind)),
                np.arange(first_form, first_word),
                number + everyone,
            )
        )
        weight = np.concatenate((words.weight, share * forms.weight, share * np.maximum(spread, 1.0)[tags.of]))
        alphabet = Alphabet.of(names)
        word = alphabet.encode(names).astype(np.int64)
        order = np.lexsort((preterminal, word))
        total = np.bincount(self.pre, minlength=number).astype(np.float64)
        return LexiconPlan(
            alphabet,
            dataclasses.replace(data.rare_words, known=Alphabet.of(filterfalse(is_symbol, data.vocabulary))),
            np.column_stack((preterminal + len(data.derivations.interminals), word)).astype(np.int32)[order],
            (self._counted(levels)[row] * weight)[order],
            levels,
            row[order],
            (weight / total[preterminal])[order],
            self.pull,
        )

    def _counted(self, levels: tuple[Level, ...]) -> Floats:
        """The means of ones: with Z = 1 they are shares of counts."""
        nowhere = np.zeros(len(self.pre), np.int64)
        return _means(levels, nowhere, np.ones((1, 1)), self.pull, InProcess())[:, 0]

    def _forms(self) -> tuple[_Kinds, _Groups]:
        """Every tag that a form was seen with, every preterminal of that tag; and the leaves by form and tag."""
        form, pre = self.data.form[self.rare], self.pre[self.rare]
        by_tag = _Groups.of(form * self.many + self.tag[self.rare])
        place, preterminal = self.tags.spread(by_tag.key % self.many)
        kind, count = (by_tag.key // self.many)[place], by_tag.count[place]
        groups = _Groups.of(form * self.number + pre, self.rare)
        level = _level(groups, kind * self.number + preterminal, self.number + preterminal, count)
        return _Kinds(kind, preterminal, level, count), by_tag

    def _words(self, forms: _Kinds, form_tags: _Groups, counted: Floats) -> _Kinds:
        """The tags that a word was seen with, or a rare word its form; every preterminal of these."""
        data, many, number, pull = self.data, self.many, self.number, self.pull
        total = np.bincount(data.word, minlength=len(data.vocabulary)).astype(np.float64)
        form = np.full(len(data.vocabulary), -1, np.int64)
        form[data.word[self.rare]] = data.form[self.rare]
        rare = np.flatnonzero(form >= 0)
        begin, end = (np.searchsorted(form_tags.key, (form[rare] + step) * many) for step in (0, 1))
        place, within_form = _within(end - begin)
        lent = rare[place] * many + form_tags.key[begin[place] + within_form] % many
        seen_tags = _Groups.of(data.word * many + self.tag)
        pair = np.union1d(seen_tags.key, lent)
        word, tag, seen = pair // many, pair % many, _at(seen_tags.count, seen_tags.find(pair))
        # p(t | x): frequent words have the tags they were seen with; rare ones are pulled to those of their form.
        form_total = np.bincount(form_tags.key // many, form_tags.count, minlength=len(data.forms) + 1)
        its_share = form_tags.count / form_total[form_tags.key // many]
        share = _at(its_share, form_tags.find(form[word] * many + tag))
        weight = np.where(form[word] >= 0, pull, 0.0)
        chance = (seen + weight * share) / (total[word] + weight)

        place, preterminal = self.tags.spread(tag)
        its_word, its_form = word[place], form[word[place]]
        by_form = forms.kind * number + forms.preterminal
        order = np.argsort(by_form)
        at_form = _places(by_form[order], its_form * number + preterminal)
        row = np.where(at_form < 0, -1, 2 * number + np.append(order, 0)[at_form])
        # What was never seen with the form is taken from all rare words.
        row = np.where(_at(counted, row) == 0.0, number + preterminal, row)
        row = np.where(its_form < 0, preterminal, row)
        groups = _Groups.of(data.word * number + self.pre)
        level = _level(groups, its_word * number + preterminal, row, seen[place])
        own = (level.end - level.begin).astype(np.float64)
        mean = own + pull * counted[row]
        mean = np.divide(mean, level.seen + pull, out=counted[row].copy(), where=level.seen + pull > 0)
        # A word that looks like a form or a tag symbol is known by its form only: one name must mean one thing.
        plain = np.array([not is_symbol(name) for name in data.vocabulary], bool)
        kept = plain[its_word] & ((own > 0) | (mean * chance[place] >= NEGLIGIBLE))
        return _Kinds(
            its_word[kept],
            preterminal[kept],
            Level(level.leaf, *(part[kept] for part in level[1:])),
            (chance[place] * total[its_word])[kept],
        )


class Lexicon(Protocol):
    """What a grammar is assembled with."""

    @property
    def words(self) -> Alphabet:
        """Words, and symbols that stand for others."""

    @property
    def rare_words(self) -> RareWords:
        """The rule that tells rare words."""

    @property
    def entries(self) -> Ints32:
        """[L, 2] preterminal symbol and word, sorted by word."""

    @property
    def count(self) -> Floats:
        """[L]"""

    def vectors(self, rows: Floats, place: Ints, engine: Engine) -> Floats:
        """The vectors [L, m] of the entries, where the outside view of leaf l is row place[l] of `rows`."""


def _at(values: Floats, place: Ints) -> Floats:
    """Values at places, zero at -1."""
    return np.append(values, 0.0)[place]


def assemble(
    data: GrammarData,
    states: Ints32,
    rule_tensor: Floats,
    root: Floats,
    mean_inside: Floats,
    mean_outside: Floats,
    lexicon: Lexicon,
    vector: Floats,
    *,
    nonnegative: bool,
    unseen: Floats | None = None,
) -> LPCFG:
    """The grammar of rules learned and a lexicon with the vectors [entries, m].

    `root`, `mean_inside`, `mean_outside` are [symbols, m]; `unseen` is what symbols keep for what was never seen,
    if the rules leave room for it already.
    """
    d = data.derivations
    symbol, offset = lexicon.entries[:, 0], Layout.of(d.rules, lexicon.entries, states)
    if nonnegative:
        total = sums_by(symbol, vector, d.symbols)
        vector = vector / np.where(total > 0, total, 1.0)[symbol]
    grammar = LPCFG(
        d.interminals,
        d.preterminals,
        lexicon.words,
        states=states,
        rules=d.rules,
        rule_offset=offset.rules,
        rule_tensor=rule_tensor,
        lexicon=lexicon.entries,
        lexicon_offset=offset.lexicon,
        lexicon_vector=leading_parts(vector, offset.lexicon),
        root_offset=offset.symbols,
        root_vector=leading_parts(root, offset.symbols),
        mean_inside=leading_parts(mean_inside, offset.symbols),
        mean_outside=leading_parts(mean_outside, offset.symbols),
        rule_count=d.rule_count.astype(np.float64),
        lexicon_count=lexicon.count,
        root_count=d.root_count.astype(np.float64),
        rare_words=lexicon.rare_words,
        binarisation=data.binarisation,
        nonnegative=nonnegative,
        pull=0.0,
        unseen=np.zeros(0) if unseen is None else unseen,
    )
    return discounted(grammar) if unseen is None else grammar


def outline(data: GrammarData, lexicon: Lexicon) -> LPCFG:
    """A grammar of the same symbols, rules, words and counts as any that is learned from the data, without hidden
    states: for what depends on counts alone, which then need not wait for the rest."""
    d = data.derivations
    nothing, one_state = np.zeros((d.symbols, 1)), np.ones(d.symbols, np.int32)
    rules, words = np.zeros(len(d.rules)), np.zeros((len(lexicon.entries), 1))
    return assemble(data, one_state, rules, nothing, nothing, nothing, lexicon, words, nonnegative=False)
