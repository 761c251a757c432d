"""A few more trees for `LexicalSHAG` and `ArcDistance` at once: their tables are counts, which add.

The result is what counting all trees gives with the same words known: a word that was unknown stays so until the
grammar is learned anew. Cost: one sort of the tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.dependencies import DependencyTree
from latentgram.data.provenance import Provenance
from latentgram.shag.distance import ArcDistance
from latentgram.shag.kernels.distance import N_FEATURES
from latentgram.shag.lexical import MEMORIES, LexicalSHAG
from latentgram.shag.lexical_learning import Events, counted_distances, lexical_events, lexical_grammar
from latentgram.shag.statistics.contexts import ContextCounts
from latentgram.shag.statistics.data import HeadData

Ints = NDArray[np.int64]


def update_words(grammar: LexicalSHAG, trees: Iterable[DependencyTree]) -> LexicalSHAG:
    """The grammar with the counts of more trees.

    >>> import latentgram as lg
    >>> bank = lg.demo_dependencies(60, seed=0)
    >>> grammar = lg.fit(lg.LexicalSHAG, bank[:50], by=lg.Counting())
    >>> grown = update_words(grammar, bank[50:])
    >>> int(grown.symbols.counts.sum()) == sum(len(tree) for tree in bank)
    True
    """
    data = HeadData.of(list(trees), grammar.symbols)
    symbols = grammar.symbols + data.symbols
    labels = Alphabet.of((*grammar.relations.labels, *data.relations.labels))
    words = np.concatenate([grammar.encode_words(sentence) for sentence in data.sentences])
    before = (
        Events.of_tables(grammar.fine_tags, grammar.fine_words),
        Events.of_tables(grammar.coarse_tags, grammar.coarse_words),
    )
    after = lexical_events(data, grammar.memory, words, len(grammar.vocabulary))
    by_tag = (grammar.tag_words, ContextCounts.of(data.symbol, words))
    relations = (grammar.relations, data.relations)
    size = len(symbols.alphabet)
    places = [_places(symbols.alphabet, part) for part in (grammar.symbols.alphabet, data.symbols.alphabet)]
    keys = 2 * MEMORIES[grammar.memory]
    old, new = (
        (
            replace(fine, tag=place[fine.tag]),
            replace(
                coarse, context=place[coarse.context // keys] * keys + coarse.context % keys, tag=place[coarse.tag]
            ),
            _by_other_tags(tagged, place),
            named.renumbered(labels, place[:-1], size),
        )
        for (fine, coarse), tagged, named, place in zip((before, after), by_tag, relations, places, strict=True)
    )
    return lexical_grammar(
        symbols,
        grammar.vocabulary,
        grammar.memory,
        old[0] + new[0],
        old[1] + new[1],
        old[2] + new[2],
        old[3] + new[3],
        _noted(grammar.provenance, data),
    )


def update_distances(factor: ArcDistance, trees: Iterable[DependencyTree]) -> ArcDistance:
    """The factor with the pairs and arcs of more trees."""
    data = HeadData.of(list(trees), factor.symbols)
    added = counted_distances(data, factor.between)
    symbols = factor.symbols + data.symbols
    keys = np.concatenate([_pair_keys(part, symbols.alphabet) for part in (factor, added)])
    key, place = np.unique(keys, return_inverse=True)
    pairs, arcs = (
        np.bincount(place, np.concatenate(both), len(key)).astype(np.int32)
        for both in ((factor.pairs, added.pairs), (factor.arcs, added.arcs))
    )
    return ArcDistance(symbols, factor.between, key, pairs, arcs, _noted(factor.provenance, data))


def _places(alphabet: Alphabet, part: Alphabet) -> Ints:
    """The numbers of the symbols of a part, and the number after the last: a root's head, or STOP."""
    return np.append(alphabet.encode(part), len(alphabet)).astype(np.int64)


def _by_other_tags(counts: ContextCounts, place: Ints) -> ContextCounts:
    return ContextCounts.of(place[np.repeat(counts.context, counts.distinct)], counts.event, counts.count)


def _pair_keys(factor: ArcDistance, alphabet: Alphabet) -> Ints:
    """The keys of a factor with the numbers of a larger alphabet."""
    place, size = _places(alphabet, factor.symbols.alphabet), len(factor.symbols.alphabet)
    pair, rest = np.divmod(factor.key, 2 * N_FEATURES)
    return np.asarray((place[pair // size] * len(alphabet) + place[pair % size]) * 2 * N_FEATURES + rest)


def _noted(provenance: Provenance, data: HeadData) -> Provenance:
    return replace(provenance, trace=(*provenance.trace, {"absorbed": float(len(data.trees.offsets) - 1)}))
