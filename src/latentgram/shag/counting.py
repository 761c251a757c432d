"""Learners by counting: `SHAG` (DET, DET+F), `LexicalSHAG` (LEX, LEX+F, LEX+FCP) and `ArcDistance`.

The deterministic baselines of Luque et al. 2012, section 5.1 and 5.2: relative frequencies of events, and counts
that the models back off among.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from latentgram.arrays import Floats, Ints
from latentgram.data.alphabet import Alphabet
from latentgram.errors import SettingError
from latentgram.kinds.kind import Context
from latentgram.sequences.statistics import SequenceCounts
from latentgram.shag.automata import UNSEEN, Automata, grammar_of
from latentgram.shag.categories import categories
from latentgram.shag.distance import ArcDistance
from latentgram.shag.kernels.distance import count_arcs
from latentgram.shag.kernels.inside_outside import RIGHT
from latentgram.shag.lexical import MEMORIES, UNKNOWN, LexicalSHAG, memory_classes
from latentgram.shag.model import SHAG
from latentgram.shag.relations import ContextCounts
from latentgram.shag.settings import CountingDistance, CountingLexical, CountingSHAG
from latentgram.shag.statistics import HeadCounts, HeadData, Trees


def count_shag(trees: Trees, learner: CountingSHAG, context: Context) -> SHAG:
    """The recipe of DET (memory none) and DET+F (memory first): relative frequencies."""
    if learner.memory not in ("none", "first"):
        raise SettingError(f"a SHAG by Counting needs the memory none or first, got {learner.memory!r}")
    statistics = HeadCounts.of(trees, learner.rule)
    automata = counted_automata(statistics.counts, learner)
    return grammar_of(statistics, automata, nonnegative=True, deterministic=True)


def counted_automata(counts: SequenceCounts, learner: CountingSHAG) -> Automata:
    """Relative frequencies; the state is whether there was a modifier, if that is remembered."""
    state = np.minimum(counts.parent >= 0, learner.memory == "first").astype(np.int64)
    automata = automata_of_labels(counts, state, UNSEEN)
    share = UNSEEN / (_visits(counts, state, automata.start.shape[1]) + 2 * UNSEEN)
    unseen = np.zeros((len(automata.start), *automata.operators.shape[1:]))
    unseen[:, -1, :] = share
    return replace(automata, unseen=unseen)


def automata_of_labels(counts: SequenceCounts, state: Ints, unseen: float = 0.0) -> Automata:
    """Relative frequencies of a deterministic labelling of prefixes by states, with pseudo-modifiers and -ends."""
    pairs, step = counts.step
    n_states = int(state.max()) + 1
    inner = np.arange(counts.n_sources, len(counts.parent))
    total = _visits(counts, state, n_states) + 2 * unseen
    total[total == 0] = 1.0
    start = np.zeros((counts.n_sources, n_states))
    start[np.arange(counts.n_sources), state[: counts.n_sources]] = 1.0
    stop = np.zeros_like(start)
    np.add.at(stop, (counts.source, state), counts.stops)
    operators = np.zeros((len(pairs), n_states, n_states))
    np.add.at(operators, (step[inner], state[inner], state[counts.parent[inner]]), counts.passes[inner])
    return Automata(
        start, (stop + unseen) / total, pairs, operators / total[pairs // counts.n_symbols][:, None, :]
    )


def _visits(counts: SequenceCounts, state: Ints, n_states: int) -> Floats:
    """[sources, n] how often each state was left, by a modifier or by the end."""
    left = np.zeros((counts.n_sources, n_states))
    np.add.at(left, (counts.source, state), counts.passes)
    return left


@dataclass(frozen=True, eq=False)
class Events:
    """Modifiers, ends and roots: how often a tag and a word came in a context; they add.

    An end has the last tag and the word −1.
    """

    context: Ints
    tag: Ints
    word: Ints
    count: Floats

    @classmethod
    def of_tables(cls, tags: ContextCounts, words: ContextCounts) -> Events:
        """The events that `tables` was made of."""
        context, stop = tags.context_of_event, words.distinct == 0
        place = words.context_of_event
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
        places = tags.context_of_event * span + tags.event
        real = self.word >= 0
        place = np.searchsorted(places, self.context[real] * span + self.tag[real])
        # Every tag has a place, so that a place is a context: those of STOP are empty.
        words = ContextCounts.of(place, self.word[real], self.count[real])
        offset = np.zeros(len(places) + 1, np.int64)
        offset[1 + words.context] = words.distinct
        return tags, ContextCounts(np.arange(len(places)), np.cumsum(offset), words.event, words.count)

    def __add__(self, other: Events) -> Events:
        return Events(
            np.concatenate([self.context, other.context]),
            np.concatenate([self.tag, other.tag]),
            np.concatenate([self.word, other.word]),
            np.concatenate([self.count, other.count]),
        )


def count_lexical(trees: Trees, learner: CountingLexical, context: Context) -> LexicalSHAG:
    """The recipe of LEX: events by the word and by the tag of their head; rare words are unknown."""
    data = HeadData.of(trees, learner.rule)
    vocabulary, words = _vocabulary(data, learner.rare)
    fine, coarse = lexical_events(data, learner.memory, words, len(vocabulary))
    return LexicalSHAG(
        data.symbols,
        vocabulary,
        learner.memory,
        *fine.tables(),
        *coarse.tables(),
        ContextCounts.of(data.symbol, words),
        tag_base(coarse, learner.memory, len(data.symbols.alphabet)),
        data.relations,
        data.provenance,
    )


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


def tag_base(events: Events, memory: str, n_tags: int) -> Floats:
    """p(tag or STOP | direction, state), one pseudo-event spread over all tags."""
    n_states = MEMORIES[memory]
    counts = np.zeros((2, n_states, n_tags + 1))
    direction, state = events.context // n_states % 2, events.context % n_states
    np.add.at(counts, (direction, state, events.tag), events.count)
    counts += 1.0 / (n_tags + 1)
    return np.asarray(counts / counts.sum(2, keepdims=True))


def count_distances(trees: Trees, learner: CountingDistance, context: Context) -> ArcDistance:
    """The recipe of `ArcDistance`: all pairs of words of all sentences, and the arcs among them."""
    return counted_distances(HeadData.of(trees, learner.rule), learner.between)


def counted_distances(data: HeadData, between: bool) -> ArcDistance:
    """The counts of a treebank that is at hand."""
    kinds = np.concatenate([categories(sentence) for sentence in data.sentences])
    counts = count_arcs(
        data.trees.offsets, data.trees.heads, data.symbol, kinds, between, len(data.symbols.alphabet)
    ).reshape(2, -1)
    key = np.flatnonzero(counts[0])
    return ArcDistance(data.symbols, between, key, counts[0, key], counts[1, key], data.provenance)
