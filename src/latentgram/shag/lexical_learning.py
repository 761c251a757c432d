"""Learners by counting of `LexicalSHAG` (LEX, LEX+F, LEX+FCP) and of `ArcDistance`, and of their products."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.dependency_symbols import WordSymbols
from latentgram.data.provenance import Provenance
from latentgram.kinds.kind import Context
from latentgram.shag.categories import categories
from latentgram.shag.distance import ArcDistance
from latentgram.shag.grammar import HeadGrammar
from latentgram.shag.kernels import distance as arc_distance
from latentgram.shag.kernels.inside_outside import RIGHT
from latentgram.shag.learning import learn_clusters, learn_em, learn_spectral
from latentgram.shag.lexical import MEMORIES, UNKNOWN, LexicalSHAG, memory_classes
from latentgram.shag.model import SHAG
from latentgram.shag.product import ProductSHAG
from latentgram.shag.relations import Relations
from latentgram.shag.settings import (
    ClusteringProduct,
    CountingDistance,
    CountingLexical,
    EMProduct,
    SpectralProduct,
)
from latentgram.shag.statistics.contexts import ContextCounts
from latentgram.shag.statistics.data import HeadData

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Events:
    """Modifiers, ends and roots: how often a tag and a word came in a context; they add.

    An end has the last tag and the word −1.
    """

    context: Ints
    tag: Ints
    word: Ints
    count: NDArray[np.float64]

    @classmethod
    def of_tables(cls, tags: ContextCounts, words: ContextCounts) -> Events:
        """The events that `tables` was made of."""
        context, stop = np.repeat(tags.context, tags.distinct), words.distinct == 0
        place = np.repeat(words.context, words.distinct)
        return cls(
            np.concatenate([context[place], context[stop]]),
            np.concatenate([tags.event[place], tags.event[stop]]),
            np.concatenate([words.event, np.full(int(stop.sum()), -1)]),
            np.concatenate([words.count, tags.count[stop]]),
        )

    def tables(self) -> tuple[ContextCounts, ContextCounts]:
        """Tags by context, and words by the place of their tag in the first table."""
        tags = ContextCounts.of(self.context, self.tag, self.count)
        span = int(self.tag.max()) + 1
        places = np.repeat(tags.context, tags.distinct) * span + tags.event
        real = self.word >= 0
        place = np.searchsorted(places, self.context[real] * span + self.tag[real])
        # Every tag has a place, so that a place is a context: those of STOP are empty.
        words = ContextCounts.of(place, self.word[real], self.count[real])
        offset = np.zeros(len(places) + 1, np.int64)
        offset[1 + words.context] = words.distinct
        return tags, ContextCounts(np.arange(len(places)), np.cumsum(offset), words.event, words.count)

    def __add__(self, other: Events) -> Events:
        return Events(*(np.concatenate(both) for both in zip(self._columns, other._columns, strict=True)))

    @property
    def _columns(self) -> tuple[NDArray[Any], ...]:
        return self.context, self.tag, self.word, self.count


def count_lexical(treebank: Any, learner: CountingLexical, context: Context) -> LexicalSHAG:
    """Count events by the word and by the tag of their head; words seen at most `rare` times are unknown."""
    data = HeadData.of(treebank, learner.symbols)
    vocabulary, words = _vocabulary(data, learner.rare)
    memory = learner.memory
    fine, coarse = lexical_events(data, memory, words, len(vocabulary))
    by_tag = ContextCounts.of(data.symbol, words)
    return lexical_grammar(data.symbols, vocabulary, memory, fine, coarse, by_tag, data.relations, data.provenance)


def lexical_grammar(
    symbols: WordSymbols,
    vocabulary: Alphabet,
    memory: str,
    fine: Events,
    coarse: Events,
    by_tag: ContextCounts,
    relations: Relations,
    provenance: Provenance,
) -> LexicalSHAG:
    """The grammar of events counted by the word and by the tag of their head."""
    base = _tag_base(coarse, MEMORIES[memory], len(symbols.alphabet))
    tables = (*fine.tables(), *coarse.tables())
    return LexicalSHAG(symbols, vocabulary, memory, *tables, by_tag, base, relations, provenance)


def lexical_events(data: HeadData, memory: str, words: Ints, n_words: int) -> tuple[Events, Events]:
    """The events of a treebank by the word and by the tag of their head, and by direction and state."""
    n_tags = len(data.symbols.alphabet)
    head, direction, state, tag, word = _events(data, memory, words, n_tags)
    heads = np.append(words, n_words)[head], np.append(data.symbol, n_tags)[head]
    keys = ((of * 2 + direction) * MEMORIES[memory] + state for of in heads)
    fine, coarse = (Events(key, tag, word, np.ones(len(key))) for key in keys)
    return fine, coarse


def _vocabulary(data: HeadData, rare: int) -> tuple[Alphabet, Ints]:
    """The words kept, and the number of every word of the treebank."""
    forms = [word.lower() for sentence in data.sentences for word in sentence.words]
    counts = Counter(forms)
    vocabulary = Alphabet.of([UNKNOWN, *(form for form, count in counts.items() if count > rare)])
    numbers = vocabulary.encode(forms).astype(np.int64)
    return vocabulary, np.where(numbers < 0, vocabulary.index(UNKNOWN), numbers)


def _events(data: HeadData, memory: str, words: Ints, n_tags: int) -> tuple[Ints, ...]:
    """(head, direction, state, tag, word) of every modifier, every end and every root.

    The head of a root is the number after the last word; an end has the tag `n_tags` and the word −1.
    """
    arcs, size = data.modifiers, len(data.symbol)
    left_behind = 1 + np.concatenate([memory_classes(sentence, memory) for sentence in data.sentences])
    if memory == "none":
        left_behind[:] = 0
    follows = np.zeros(len(arcs.word), np.int64)
    follows[1:] = np.where(arcs.group[1:] == arcs.group[:-1], left_behind[arcs.word[:-1]], 0)
    last = np.zeros(2 * size, np.int64)
    grown = arcs.length > 0
    last[grown] = left_behind[arcs.word[arcs.offset[1:][grown] - 1]]
    ends = np.arange(2 * size)
    n_roots = len(arcs.root)
    return (
        np.concatenate([arcs.head, ends // 2, np.full(n_roots, size)]),
        np.concatenate([arcs.direction, ends % 2, np.full(n_roots, RIGHT)]),
        np.concatenate([follows, last, np.zeros(n_roots, np.int64)]),
        np.concatenate([data.symbol[arcs.word], np.full(2 * size, n_tags), data.symbol[arcs.root]]),
        np.concatenate([words[arcs.word], np.full(2 * size, -1), words[arcs.root]]),
    )


def _tag_base(events: Events, n_states: int, n_tags: int) -> NDArray[np.float64]:
    """p(tag or STOP | direction, state), one pseudo-event spread over all tags."""
    counts = np.zeros((2, n_states, n_tags + 1))
    direction, state = events.context // n_states % 2, events.context % n_states
    np.add.at(counts, (direction, state, events.tag), events.count)
    counts += 1.0 / (n_tags + 1)
    return np.asarray(counts / counts.sum(2, keepdims=True))


def learn_product(
    treebank: Any, learner: SpectralProduct | EMProduct | ClusteringProduct, context: Context
) -> ProductSHAG:
    """A hidden-state grammar by any learner, times words and times distances, each to its power (000 Eq. 21).

    A `dev_score` chooses among hidden-state grammars by the products they make.
    """
    quiet = Context(context.engine, context.progress)
    lexical = count_lexical(treebank, CountingLexical(symbols=learner.symbols), quiet)
    distance = count_distances(treebank, CountingDistance(symbols=learner.symbols), quiet)

    def product(hidden: SHAG) -> ProductSHAG:
        parts: tuple[HeadGrammar, ...] = (hidden, lexical, distance)
        powers = (1.0, learner.lexical, learner.distance)
        kept = [(factor, power) for factor, power in zip(parts, powers, strict=True) if power]
        return ProductSHAG(
            tuple(factor for factor, _ in kept), tuple(power for _, power in kept), hidden.provenance
        )

    score = context.dev_score
    rated = (
        quiet
        if score is None
        else Context(context.engine, context.progress, lambda hidden: score(product(cast(SHAG, hidden))))
    )
    if isinstance(learner, SpectralProduct):
        return product(learn_spectral(treebank, learner, rated))
    if isinstance(learner, EMProduct):
        return product(learn_em(treebank, learner, rated))
    return product(learn_clusters(treebank, learner, rated))


def count_distances(treebank: Any, learner: CountingDistance, context: Context) -> ArcDistance:
    """Count all pairs of words of all sentences, and the arcs among them."""
    return counted_distances(HeadData.of(treebank, learner.symbols), learner.between)


def counted_distances(data: HeadData, between: bool) -> ArcDistance:
    """The counts of a treebank that is at hand."""
    kinds = np.concatenate([categories(sentence) for sentence in data.sentences])
    counts = arc_distance.count_arcs(
        data.trees.offsets, data.trees.heads, data.symbol, kinds, between, len(data.symbols.alphabet)
    ).reshape(2, -1)
    key = np.flatnonzero(counts[0])
    return ArcDistance(data.symbols, between, key, counts[0, key], counts[1, key], data.provenance)
