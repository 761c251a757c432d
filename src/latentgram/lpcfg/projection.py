"""What stands for a grammar in the first stage of parsing: its one-state projection, which gives the leaves of a
sentence, with contexts, and what a grammar keeps for what its treebank never showed.

**The projection** is the PCFG of a grammar's counts N,

    p(a→b c) = N(a→b c)/N(a),   π(a) = N(a at the root)/N(trees),   q(s→x) by `LeafTable`;

a plain PCFG is its own.

**Leaves.** A preterminal is a unary chain that ends in a tag (`NP+NN`). A word with a given tag may be any
preterminal that ends in this tag; a word without a tag may be any that was seen over it, or over its signature.
Words never seen with their tag get the leaves of the tag's symbol (`‹=NN›`) or, if there is none, all
preterminals of the tag; unknown tags get all preterminals of the word, and if both fail, all there are: no
sentence is left without leaves.

**What was never seen.** Rules that a treebank never showed have what a parent keeps for rules it was never seen
with, which grows with the number of different rules it was seen with (Witten & Bell), spread by what is known of
its children one at a time:

    ω(a) = min(1, γ · different rules of a / N(a)),    p_left(b | a) = (N(a→b ·) + κ u(b)) / (N(a) + κ),

with u the distribution of left (right) children of any parent. Intermediate symbols of binarisation stand only
under the labels they belong to. With this every sentence has a parse. Let V(a) = Σ p_left(b | a) p_right(c | a)
over the pairs that a was *not* seen with. All rules of a are divided by 1 + ω(a) V(a), so that they sum to one:

    unseen(a)   = ω V / (1 + ω V)                             the share of rules never seen, all together,
    p(a→b c)    = (1 − unseen(a)) · N(a→b c)/N(a)             for a rule that was seen,
    p(a→b c)    = unseen(a)/V(a) · p_left(b | a) p_right(c | a)   for any other.

With hidden states the tensor of a rule never seen is p(a→b c) · mean_inside(a) ⊗ mean_outside(b) ⊗ mean_outside(c)
(Cohen et al. 2013, §3.2), which sums to p(a→b c) in every state of a where numbers are probabilities: the same
factor 1 − unseen(a) discounts the tensors of all its rules. A plain PCFG has only the rules that it was seen with.

A word never seen with its tag t counts as seen with it half a time: a preterminal s of the tag has, with
η = ½/(N(t) + 1),

    unseen(s)   = η / (1 + η)                                 the probability of a word never seen with its tag,

where the lexicon has no symbol for such words; a smoothed one has (lexicon.py), and these keep nothing more.
Cost: two dense matrices of symbols by phrase symbols.

**Contexts.** The projection says how often symbol a begins right after a word of preterminal t:

    first(a, t) = Σ_{b,c} p(a→b c) first(b, t),   last(a, t) likewise to the right          (first(t, t) = 1)
    after(t, c) = Σ_{a→b c} N(a→b c) last(b, t) + Σ_{a→c d} p(a→c d) after(t, a)

are linear systems over the interminals, solved once per grammar. The tags of adjacent words follow from the same:
N(t, t′) = Σ N(a→b c) last(b, t) first(c, t′), so that the grammar brings its own bigram model of tags. The
boundary of the sentence is one more preterminal, the last. A span's posterior is estimated from its own inside
probability and the bigram model of the rest,

    p̂(a, i, j) = [Σ_t f_{i-1}(t) after(t,a)/N(t)] · α(a,i,j) · [Σ_t before(t,a)/N(a) · q(t→x_j) b_j(t)]

with f and b the scaled forward and backward numbers of the bigram model. Nothing is learned for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT
from latentgram.data.rarewords import REMEMBERED, tag_symbol
from latentgram.data.sentence import Sentence
from latentgram.lpcfg.kernels import first_pass
from latentgram.lpcfg.kernels.chart import RuleIndex, SpanMasks, Unseen, Words, everything, index_rules
from latentgram.lpcfg.kernels.first_pass import Grown
from latentgram.lpcfg.model import LPCFG
from latentgram.numeric.semiring import MaxProduct, Real

Array = NDArray[np.float64]

_TINY = 1e-300
GAMMA = 3.0
"""How many unseen rules each different rule seen stands for."""
KAPPA = 5.0
"""How many rules the distribution over all parents counts for."""
_NOTHING = 1e-9
"""Less room than this for rules never seen is none: it is what rounding leaves."""
ALL_TREES, BEST_TREE = Real(), MaxProduct()
"""What inside numbers are: the probability of all trees over some words, or of the best."""
UNSEEN = -1
"""The entry of a leaf whose vector is not in the lexicon: it is the mean vector of its symbol times the weight."""
HALF = 0.5
"""How often a word counts as seen with a tag when it was not."""
_AT_A_TIME = 1024
"""Words of which all leaves are listed at a time."""
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
"""Symbols, entries and weights of some leaves."""
_OfWord = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], int]
"""Those of one word, and the word's number."""
_Rows = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]
"""Symbols, numbers and weights of rows of the lexicon, and the tags in which the symbols end."""
Asked = tuple[str, str | None, bool]
"""A word, its tag where it has one, and whether it is the first of a sentence."""


def _asked(sentence: Sentence) -> list[Asked]:
    """Its words."""
    return list(zip(sentence.words, sentence.tags or repeat(None), chain((True,), repeat(False)), strict=False))


@dataclass(frozen=True)
class LeafTable:
    """Looks words up in the lexicon of a grammar.

    Of a plain PCFG the grammar's `pull` is the weight, in observations, that the words of a tag have in
    q(symbol → word) of each of the tag's preterminals: with c(t,x) the count of word x below all preterminals of
    tag t, and u(s) what the symbol keeps for words never seen with the tag,

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
    def _begins(self) -> NDArray[np.int64]:
        """[words + 1] where those of each word begin."""
        words = np.arange(len(self.grammar.words) + 1)
        return np.searchsorted(self.grammar.lexicon[self._rows[1], 1], words)

    @cached_property
    def _cache(self) -> dict[Asked, _OfWord]:
        return {}

    def _remembered(self, asked: list[Asked]) -> dict[Asked, _OfWord]:
        """What may stand over words that were not asked for before."""
        leaves = self._of_words(asked)
        begins = leaves.begin.tolist()
        of_words = {
            each: (leaves.symbol[first:end], leaves.entry[first:end], leaves.weight[first:end], number)
            for each, first, end, number in zip(asked, begins, begins[1:], leaves.word.tolist(), strict=False)
        }
        if len(self._cache) >= REMEMBERED:  # a text of any length has new words without end
            self._cache.clear()
        self._cache.update(of_words)
        return of_words

    def of(self, sentence: Sentence) -> Leaves:
        """The leaves of a sentence; its tags, where it has some, are believed."""
        asked = _asked(sentence)
        known = {each: part for each in asked if (part := self._cache.get(each)) is not None}
        if new := [each for each in dict.fromkeys(asked) if each not in known]:
            known |= self._remembered(new)
        parts = [known[each] for each in asked]
        begin = np.zeros(len(parts) + 1, np.int32)
        symbols, entries, weights, numbers = zip(*parts, strict=True)
        np.cumsum([len(each) for each in symbols], out=begin[1:])
        symbol, entry, weight = (np.concatenate(part) for part in (symbols, entries, weights))
        return Leaves(begin, symbol, entry, weight, np.array(numbers, np.int64))

    def of_all(self, asked: list[Asked], place: NDArray[np.int64]) -> Leaves:
        """The leaves of many words, of which w is `asked[place[w]]`."""
        once = self._of_words(asked)
        sizes = np.diff(once.begin)[place]
        begin = np.concatenate((np.zeros(1, np.int32), np.cumsum(sizes, dtype=np.int32)))
        leaf = np.arange(begin[-1]) + np.repeat(once.begin[place] - begin[:-1], sizes)
        return Leaves(begin, once.symbol[leaf], once.entry[leaf], once.weight[leaf], once.word[place])

    def _of_words(self, asked: list[Asked]) -> Leaves:
        """The leaves of words, one after the other."""
        grammar, rare = self.grammar, self.grammar.rare_words
        tags = grammar.tags.encode("" if tag is None else tag for _, tag, _ in asked)
        words = grammar.words.encode(rare.symbol(word, tag, first=first) for word, tag, first in asked)
        by_tag = grammar.words.encode("" if tag is None else tag_symbol(tag) for _, tag, _ in asked)
        return self._look(words, tags, by_tag)

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
        every = np.arange(len(self.grammar.words), dtype=np.int32)
        for words in np.split(every, range(_AT_A_TIME, len(every), _AT_A_TIME)):
            nothing = np.full(len(words), ABSENT, np.int32)
            leaves = self._look(words, nothing, nothing)
            begin = leaves.begin[1:-1]
            yield from zip(np.split(leaves.symbol, begin), np.split(leaves.weight, begin), strict=True)
        first = len(self.grammar.interminals)
        yield np.arange(first, first + len(self._kept), dtype=np.int32), self._kept

    def _look(self, words: NDArray[np.int32], tags: NDArray[np.int32], by_tag: NDArray[np.int32]) -> Leaves:
        """The leaves of words, one after the other, of which the numbers are given, and those of their tags.

        `by_tag` are the words that stand for those never seen with their tags.
        """
        symbols, rows, weights, _ = self._rows
        word, place = self._seen(words, tags)
        lacking = np.flatnonzero(np.bincount(word, minlength=len(words)) == 0)
        again, more = self._seen(by_tag[lacking], tags[lacking])
        word, place = np.concatenate((word, lacking[again])), np.concatenate((place, more))
        lacking = np.flatnonzero(np.bincount(word, minlength=len(words)) == 0)
        if self._pull > 0:
            parts = [self._pulled(word, place, len(words))]
        else:
            parts = [(word, (symbols[place], rows[place], weights[place]))]
        for number in lacking.tolist():
            unseen = self._unseen(int(tags[number]))
            parts.append((np.full(len(unseen[0]), number), unseen))
        word = np.concatenate([part for part, _ in parts])
        symbol, entry, weight = (np.concatenate(part) for part in zip(*(part for _, part in parts), strict=True))
        order = np.argsort(word, kind="stable")
        begin = np.concatenate(([0], np.cumsum(np.bincount(word, minlength=len(words))))).astype(np.int32)
        entry = np.full_like(entry, UNSEEN) if self.grammar.plain else entry[order]
        return Leaves(begin, symbol[order], entry, weight[order], words.astype(np.int64))

    def _seen(
        self, words: NDArray[np.int32], tags: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What the lexicon has for words with tags: the place of each of these words, and the row of `_rows`."""
        known = words != ABSENT
        begin, end = (np.where(known, self._begins[np.where(known, words + step, 0)], 0) for step in (0, 1))
        word = np.repeat(np.arange(len(words)), end - begin)
        row = np.arange(len(word)) + np.repeat(end - np.cumsum(end - begin), end - begin)
        asked = tags[word]
        same = np.flatnonzero((asked == ABSENT) | (self._rows[3][row] == asked))
        return word[same], row[same]

    def _pulled(
        self, word: NDArray[np.int64], row: NDArray[np.int64], words: int
    ) -> tuple[NDArray[np.int64], _Entries]:
        """Of words for which the lexicon has rows the leaves of every preterminal of their tags."""
        grammar, first = self.grammar, len(self.grammar.interminals)
        symbol, _, weight, tags = (column[row] for column in self._rows)
        size = len(grammar.tags)
        of_tag = np.bincount(word * size + tags, weight, words * size).reshape(words, size)
        count = self._pull * of_tag[:, grammar.preterminal_tag] / grammar.tag_count
        count[word, symbol - first] += weight
        weight = count * self._share
        word, place = weight.nonzero()
        entry = place.astype(np.int32)
        return word, (entry + np.int32(first), entry, weight[word, place])

    def _unseen(self, asked: int) -> _Entries:
        """All preterminals of the tag, or all there are, over a word never seen with it."""
        entry, weight = self._unknown
        possible = np.ones(len(entry), bool) if asked == ABSENT else self.grammar.preterminal_tag == asked
        kept = np.flatnonzero(possible & (weight > 0.0)).astype(np.int32)
        return kept + np.int32(len(self.grammar.interminals)), entry[kept], weight[kept]


@dataclass(frozen=True)
class Projection:
    """The one-state grammar that stands for the grammar of a table of leaves."""

    leaves: LeafTable
    unseen: bool = False
    """Whether rules that were never seen may be used."""

    @property
    def grammar(self) -> LPCFG:
        """What it stands for."""
        return self.leaves.grammar

    @property
    def plain(self) -> bool:
        """Whether the grammar is its own projection."""
        return self.grammar.plain

    @cached_property
    def index(self) -> RuleIndex:
        """The rules by their children."""
        seen = index_rules(self.grammar.rules, len(self.grammar.interminals), len(self.grammar.states))
        return seen._replace(unseen=unseen_rules(self.grammar)) if self.unseen else seen

    @cached_property
    def rule(self) -> Array:
        """[R] the probabilities of the rules that were seen."""
        if self.plain:
            return self.grammar.double_tensor
        parent = self.grammar.rules[:, 0]
        share = self.grammar.rule_count / self.grammar.symbol_count[parent]
        return np.asarray(share * (1.0 - self.grammar.unseen[parent]) if self.grammar.unseen.size else share)

    @cached_property
    def probability(self) -> Array:
        """The same in the order of the index, less what the rules would have if they were unseen: the first pass
        sums the factors of unseen rules over all pairs of children."""
        probability, unseen = self.rule[self.index.rule], self.index.unseen
        if self.unseen:
            parent, left, right = self.grammar.rules[self.index.rule].T
            probability = probability - unseen.weight * unseen.left[left, parent] * unseen.right[right, parent]
        return np.asarray(probability)

    @cached_property
    def root(self) -> Array:
        """[I+P] how often each symbol is the root of a tree."""
        if self.plain:
            return self.grammar.root_vector
        return np.asarray(self.grammar.root_count / self.grammar.root_count.sum())

    @cached_property
    def anywhere(self) -> Array:
        """[I+P] how often each symbol is the root of any part of a tree; of a plain grammar, of any part that is
        one without binarisation, too."""
        count = self.grammar.symbol_count
        if self.plain:
            phrases = self.grammar.symbols[: len(self.grammar.interminals)]
            whole = [not symbol.intermediate for symbol in phrases]
            count = count * np.append(whole, np.ones(len(self.grammar.preterminals), bool))
        return np.asarray(count / count.sum())

    @cached_property
    def boundaries(self) -> Boundaries:
        """The contexts of its symbols."""
        grammar = self.grammar
        return expected_boundaries(
            grammar.rules, grammar.rule_count, grammar.root_count, len(grammar.interminals), len(grammar.states)
        )

    def grow(
        self, leaves: Leaves, masks: SpanMasks | None = None, semiring: Real | MaxProduct = ALL_TREES
    ) -> tuple[Grown, Array]:
        """All items over a sentence, and the words' scales."""
        scale = np.maximum.reduceat(leaves.weight, leaves.begin[:-1])
        words = Words(leaves.begin, leaves.symbol, leaves.weight / np.repeat(scale, np.diff(leaves.begin)))
        allowed = masks or everything(len(scale), len(self.grammar.interminals))
        grown = first_pass.grow_items(semiring, words, self.index, self.probability, allowed)
        return grown, scale * np.exp2(grown.exponent)


@dataclass(frozen=True)
class Boundaries:
    """Tag bigrams and contexts of symbols, with the sentence boundary as the last tag."""

    bigram: Array
    """[P+1, P+1] p(next tag | tag)."""
    after: Array
    """[P+1, I] expected number of nodes of each interminal that begin after a word of each tag."""
    before: Array
    """[P+1, I] p(tag of the next word | interminal that ends before it)."""


def expected_boundaries(
    rules: NDArray[np.int32],
    rule_count: Array,
    root_count: Array,
    interminals: int,
    symbols: int,
    unseen: float = 0.01,
) -> Boundaries:
    """Solve the linear systems of the module's text.

    `unseen` is the share of the unigram model in the bigram model, so that no sequence of tags is impossible.
    """
    preterminals, edge_tag = symbols - interminals, symbols - interminals
    parent, left, right = rules.T
    count = root_count + np.bincount(left, rule_count, symbols) + np.bincount(right, rule_count, symbols)
    probability = rule_count / count[parent]

    def matrix(rows: NDArray[np.int32], columns: NDArray[np.int32], values: Array) -> Array:
        dense = np.zeros((symbols, symbols))
        np.add.at(dense, (rows, columns), values)
        return dense

    def corner(children: Array) -> Array:
        """first or last: [S, P+1]."""
        inner = children[:interminals, :interminals]
        ends = np.zeros((symbols, preterminals + 1))
        ends[:interminals, :-1] = np.linalg.solve(
            np.eye(interminals) - inner, children[:interminals, interminals:]
        )
        ends[interminals:, :-1] = np.eye(preterminals)
        return ends

    def context(direct: Array, children: Array) -> Array:
        """after or before as counts [S, P+1]: what is seen directly, and what a symbol passes on to its child."""
        direct[:, edge_tag] += root_count
        inner = children[:interminals, :interminals]
        counts = direct.copy()
        counts[:interminals] = np.linalg.solve(np.eye(interminals) - inner.T, direct[:interminals])
        counts[interminals:] += children[:interminals, interminals:].T @ counts[:interminals]
        return counts

    to_left, to_right = matrix(parent, left, probability), matrix(parent, right, probability)
    first, last = corner(to_left), corner(to_right)
    seen_after, seen_before = np.zeros((symbols, preterminals + 1)), np.zeros((symbols, preterminals + 1))
    np.add.at(seen_after, right, rule_count[:, None] * last[left])
    np.add.at(seen_before, left, rule_count[:, None] * first[right])
    after, before = context(seen_after, to_left), context(seen_before, to_right)
    pairs = np.zeros((preterminals + 1, preterminals + 1))
    pairs[:, :] = last[left].T @ (rule_count[:, None] * first[right])
    pairs[edge_tag] += root_count @ first
    pairs[:, edge_tag] += root_count @ last
    tag_count = np.append(count[interminals:], root_count.sum())
    bigram = pairs / np.maximum(pairs.sum(1, keepdims=True), _TINY)
    return Boundaries(
        (1 - unseen) * bigram + unseen * tag_count / tag_count.sum(),
        np.ascontiguousarray((after[:interminals] / np.maximum(tag_count, _TINY)).T),
        np.ascontiguousarray((before[:interminals] / np.maximum(count[:interminals, None], _TINY)).T),
    )


def discounted(grammar: LPCFG) -> LPCFG:
    """The distribution that keeps something for what was never seen, from a grammar that keeps nothing."""
    rules = np.zeros(len(grammar.interminals))
    if not grammar.plain:
        left, right, weight = _factors(grammar)
        kept = weight * _room(grammar, left, right)
        rules = kept / (1.0 + kept)
    half = HALF / (grammar.tag_count + 1.0)
    words = np.where(grammar.tag_word == ABSENT, half / (1.0 + half), 0.0)
    return _rescaled(grammar, np.concatenate((rules, words)))


def undiscounted(grammar: LPCFG) -> LPCFG:
    """The inverse of `discounted`; what keeps nothing stays as it is."""
    return _rescaled(grammar, np.zeros(0)) if grammar.unseen.size else grammar


def _rescaled(grammar: LPCFG, unseen: Array) -> LPCFG:
    """The grammar with other shares for rules that were never seen."""
    size, seen = len(grammar.interminals), np.ones(len(grammar.interminals))
    seen = (1.0 - unseen[:size] if unseen.size else seen) / (
        1.0 - grammar.unseen[:size] if grammar.unseen.size else seen
    )
    # Rule by rule: a factor for every number would take as much memory again, and longer than the products.
    tensor, begin = np.empty(grammar.rule_tensor.shape), grammar.rule_offset.tolist()
    for number, factor in enumerate(seen[grammar.rules[:, 0]]):
        place = slice(begin[number], begin[number + 1])
        np.multiply(grammar.rule_tensor[place], factor, out=tensor[place])
    return replace(grammar.whole, rule_tensor=tensor, unseen=unseen)


def unseen_rules(grammar: LPCFG) -> Unseen:
    """The unseen rules of a grammar, in factors."""
    left, right, weight = _factors(grammar)
    if grammar.unseen.size:
        room = _room(grammar, left, right)
        share = grammar.unseen[: len(grammar.interminals)]
        weight = np.divide(share, room, out=np.zeros_like(room), where=room > 0.0)
    return Unseen(1.0, weight * left, right)


def _factors(grammar: LPCFG) -> tuple[Array, Array, Array]:
    """p_left and p_right [S, I], and ω [I]."""
    parents = np.bincount(grammar.rules[:, 0], grammar.rule_count, len(grammar.interminals))
    different = np.bincount(grammar.rules[:, 0], minlength=len(grammar.interminals))
    label = np.array([symbol.chain[-1] for symbol in grammar.symbols], object)
    intermediate = np.array([symbol.intermediate for symbol in grammar.symbols])
    # [S, I] whether a symbol may stand under a parent
    own = ~intermediate[:, None] | (label[:, None] == label[: len(grammar.interminals)][None, :])

    def share(side: int) -> Array:
        counts = np.zeros((len(grammar.states), len(grammar.interminals)))
        np.add.at(counts, (grammar.rules[:, side], grammar.rules[:, 0]), grammar.rule_count)
        anywhere = counts.sum(1, keepdims=True) * own
        anywhere = anywhere / np.maximum(anywhere.sum(0), _TINY)
        return np.asarray((counts + KAPPA * anywhere) / (parents + KAPPA))

    return share(1), share(2), np.minimum(GAMMA * different / np.maximum(parents, 1.0), 1.0)


def _room(grammar: LPCFG, left: Array, right: Array) -> Array:
    """V [I]: what p_left and p_right give to pairs of children that a parent was never seen with."""
    parent, first, second = grammar.rules.T
    seen = np.bincount(parent, left[first, parent] * right[second, parent], len(grammar.interminals))
    room = left.sum(0) * right.sum(0) - seen
    return np.where(room > _NOTHING, room, 0.0)
