"""A few more trees for a head-automata grammar at once: statistics add, and few automata change.

**SHAG.** A grammar keeps the modifier sequences that it was learned from, and those of more trees are added. The
automaton of a head and a direction depends on its own sequences only, so it is solved again if the trees have such
a head, and stays otherwise: of A_a + q(a) B (automata.py) only q, the relative frequency of symbols, changes. New
symbols make new automata. By counting and spectrally this is the very grammar that all trees together give; of
symbols with words in them the list of frequent words stays, and so does a number of states that was chosen on
other trees. Clusters are made anew for the automata in question, with other random starts of k-means than learning
would take; EM does `ROUNDS` more rounds for them from where they are. Cost: one pass over the trie, and the
learning of some automata.

**LexicalSHAG, ArcDistance.** Their tables are counts. The result is what counting all trees gives with the same
words known: a word that was unknown stays so until the grammar is retrained. Cost: one sort of the tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from latentgram.arrays import Floats, Ints
from latentgram.data.alphabet import Alphabet
from latentgram.data.dependencies import DependencyTree
from latentgram.data.provenance import Provenance
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context, settings_of, update_model, updates
from latentgram.kinds.settings import Settings
from latentgram.sequences.statistics import SequenceCounts
from latentgram.shag import counting
from latentgram.shag.automata import Automata, by_direction, by_source, grammar_of, smoothed
from latentgram.shag.clustering import clustered_automata
from latentgram.shag.distance import ArcDistance
from latentgram.shag.em import climb, mixed, normalised, random_automata
from latentgram.shag.grammar import HeadGrammar
from latentgram.shag.kernels.distance import N_FEATURES
from latentgram.shag.lexical import MEMORIES, LexicalSHAG
from latentgram.shag.model import SHAG
from latentgram.shag.product import ProductSHAG
from latentgram.shag.relations import ContextCounts
from latentgram.shag.settings import EMSHAG, ClusteringSHAG, CountingSHAG, SpectralSHAG
from latentgram.shag.spectral import of_leading_states, spectral_automata
from latentgram.shag.statistics import HeadCounts, HeadData, sources_of

ROUNDS = 3
"""Rounds of EM for the automata that have seen something new."""
NEW = 0.01
"""The share of a random automaton in the start of these rounds: modifiers never seen are possible."""


def update(grammar: SHAG, trees: Iterable[DependencyTree]) -> SHAG:
    """The grammar with the statistics of more trees.

    >>> import latentgram as lg
    >>> bank = lg.demo_dependencies(60, seed=0)
    >>> grammar = lg.fit(lg.SHAG, bank[:50], by=lg.Counting())
    >>> grown = update(grammar, bank[50:])
    >>> int(grammar.root_count.sum()), int(grown.root_count.sum())
    (50, 60)
    """
    new_trees = list(trees)
    if not new_trees:
        return grammar
    if grammar.counts is None or grammar.root_count is None:
        raise DataError("the grammar was written by an older version, which did not keep its statistics")
    before = HeadCounts(grammar.symbols, grammar.counts, grammar.root_count, grammar.relations, grammar.provenance)
    added = HeadCounts.of(new_trees, grammar.symbols)
    total = before + added
    touched = sources_of(total.symbols.alphabet, added.symbols.alphabet)
    old = _renumbered(grammar, total)
    counts = total.counts.only(touched)
    learner = settings_of("SHAG", grammar.provenance)
    solved, values = _solved(counts, _some(old, touched, counts), grammar.states, learner)
    grown = grammar_of(
        total,
        _replaced(old, touched, solved, total.counts.n_symbols),
        nonnegative=grammar.nonnegative,
        deterministic=grammar.deterministic,
    )
    spectrum = np.zeros((total.counts.n_sources, grammar.spectrum.shape[2]))
    spectrum[sources_of(total.symbols.alphabet, grammar.symbols.alphabet)] = by_source(grammar.spectrum)
    spectrum[touched] = values[:, : spectrum.shape[1]]
    return replace(grown, spectrum=by_direction(spectrum), provenance=_noted(grammar.provenance, len(new_trees)))


def keeps_its_statistics(grammar: SHAG) -> bool:
    """Whether a grammar has what an update needs: its counted sequences, and how it was learned."""
    return grammar.counts is not None and bool(grammar.provenance.learner)


def _noted(provenance: Provenance, trees: int) -> Provenance:
    return replace(provenance, trace=(*provenance.trace, {"updated": float(trees)}))


def _solved(counts: SequenceCounts, old: Automata, states: int, learner: Settings) -> tuple[Automata, Floats]:
    """The automata of all sources of the counts, `old` so far, and their singular values if there are some."""
    context = Context()
    none = np.zeros((counts.n_sources, 0))
    if isinstance(learner, CountingSHAG):
        return counting.counted_automata(counts, learner), none
    if isinstance(learner, SpectralSHAG):
        automata, values = spectral_automata(counts, learner, context.engine)
        return of_leading_states(counts, automata, values, states, learner), values
    if isinstance(learner, ClusteringSHAG):
        automata = clustered_automata(counts, learner, context.engine)
    elif isinstance(learner, EMSHAG):
        random = random_automata(counts, states, np.random.default_rng(learner.seed))
        begin = normalised(mixed(old, random, NEW), counts.n_symbols)
        automata = climb(counts, begin, learner, context, iterations=ROUNDS).model
    else:
        raise SettingError(f"a SHAG by {type(learner).__name__} cannot be updated: learn it again from all trees")
    return smoothed(counts, automata, learner.smoothing), none


def _renumbered(grammar: SHAG, total: HeadCounts) -> Automata:
    """The automata of a grammar before frequencies were folded in, with the numbers of larger statistics."""
    source = sources_of(total.symbols.alphabet, grammar.symbols.alphabet)
    n_symbols = total.counts.n_symbols
    n_pairs = len(grammar.operators) - len(source)
    pair = by_source(grammar.pair)
    of, modifier = np.nonzero(pair < n_pairs)
    of, modifier = (column[np.argsort(pair[of, modifier])] for column in (of, modifier))
    unseen = grammar.operators[n_pairs:]
    frequency = grammar.symbols.frequency[modifier]
    symbol = source[::2] // 2
    parts = by_source(grammar.start), by_source(grammar.stop), unseen
    start, stop, spread = (np.zeros((total.counts.n_sources, *part.shape[1:])) for part in parts)
    start[source], stop[source], spread[source] = parts
    return Automata(
        start,
        stop,
        source[of] * n_symbols + symbol[modifier],
        grammar.operators[:n_pairs] - frequency[:, None, None] * unseen[of],
        spread,
    )


def _some(automata: Automata, sources: Ints, counts: SequenceCounts) -> Automata:
    """The automata of some sources, on all pairs that have been counted for them."""
    n_symbols, pairs = counts.n_symbols, counts.step[0]
    wanted = sources[pairs // n_symbols] * n_symbols + pairs % n_symbols
    place = np.searchsorted(automata.pairs, wanted)
    known = np.append(automata.pairs, -1)[place] == wanted
    operators = np.zeros((len(pairs), *automata.operators.shape[1:]))
    operators[known] = automata.operators[place[known]]
    return Automata(automata.start[sources], automata.stop[sources], pairs, operators)


def _replaced(automata: Automata, sources: Ints, by: Automata, n_symbols: int) -> Automata:
    """All automata, those of some sources replaced."""
    states = max(automata.start.shape[1], by.start.shape[1])
    start, stop, unseen, operators = _padded(automata, states)
    start[sources], stop[sources], unseen[sources], others = _padded(by, states)
    kept = np.flatnonzero(~np.isin(automata.pairs // n_symbols, sources))
    renamed = sources[by.pairs // n_symbols] * n_symbols + by.pairs % n_symbols
    pairs = np.concatenate([automata.pairs[kept], renamed])
    order = np.argsort(pairs)
    return Automata(start, stop, pairs[order], np.concatenate([operators[kept], others])[order], unseen)


def _padded(automata: Automata, states: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Start, stop, the operators of unseen pairs and those of pairs, with states that are never entered."""
    assert automata.unseen is not None
    room = (0, states - automata.start.shape[1])
    start, stop = (np.pad(part, ((0, 0), room)) for part in (automata.start, automata.stop))
    unseen, operators = (np.pad(part, ((0, 0), room, room)) for part in (automata.unseen, automata.operators))
    return start, stop, unseen, operators


def update_product(product: ProductSHAG, trees: Iterable[DependencyTree]) -> ProductSHAG:
    """The product of factors that are updated each in its way."""
    new_trees = list(trees)
    return replace(product, factors=tuple(update_model(factor, new_trees) for factor in _factors(product)))


def factors_keep_their_statistics(product: ProductSHAG) -> bool:
    """Whether every factor can be updated."""
    return all(map(updates, _factors(product)))


def _factors(product: ProductSHAG) -> list[HeadGrammar]:
    """The factors; one that does not tell how it was learned was learned as the product was."""
    return [
        replace(factor, provenance=product.provenance)
        if isinstance(factor, SHAG) and not factor.provenance.learner
        else factor
        for factor in product.factors
    ]


def update_lexical(grammar: LexicalSHAG, trees: Iterable[DependencyTree]) -> LexicalSHAG:
    """The grammar with the counts of more trees.

    >>> import latentgram as lg
    >>> bank = lg.demo_dependencies(60, seed=0)
    >>> grammar = lg.fit(lg.LexicalSHAG, bank[:50], by=lg.Counting())
    >>> grown = update_lexical(grammar, bank[50:])
    >>> int(grown.symbols.counts.sum()) == sum(len(tree) for tree in bank)
    True
    """
    data = HeadData.of(list(trees), grammar.symbols)
    symbols = grammar.symbols + data.symbols
    labels = Alphabet.of((*grammar.relations.labels, *data.relations.labels))
    words = np.concatenate([grammar.encode_words(sentence) for sentence in data.sentences])
    old, new = (_places(symbols.alphabet, part.alphabet) for part in (grammar.symbols, data.symbols))
    keys = 2 * MEMORIES[grammar.memory]
    fine, coarse = (
        counting.Events.of_tables(grammar.fine_tags, grammar.fine_words),
        counting.Events.of_tables(grammar.coarse_tags, grammar.coarse_words),
    )
    new_fine, new_coarse = counting.lexical_events(data, grammar.memory, words, len(grammar.vocabulary))
    fine = replace(fine, tag=old[fine.tag]) + replace(new_fine, tag=new[new_fine.tag])
    coarse = _with_tags(coarse, old, keys) + _with_tags(new_coarse, new, keys)
    by_tag = grammar.tag_words
    tag_words = ContextCounts.of(old[by_tag.context_of_event], by_tag.event, by_tag.count)
    relations = grammar.relations.renumbered(labels, old[:-1], len(symbols.alphabet))
    return LexicalSHAG(
        symbols,
        grammar.vocabulary,
        grammar.memory,
        *fine.tables(),
        *coarse.tables(),
        tag_words + ContextCounts.of(new[data.symbol], words),
        counting.tag_base(coarse, grammar.memory, len(symbols.alphabet)),
        relations + data.relations.renumbered(labels, new[:-1], len(symbols.alphabet)),
        _noted(grammar.provenance, len(data)),
    )


def _with_tags(events: counting.Events, place: Ints, keys: int) -> counting.Events:
    """Events by the tag of their head, with other numbers for the tags."""
    context = place[events.context // keys] * keys + events.context % keys
    return replace(events, context=context, tag=place[events.tag])


def update_distances(factor: ArcDistance, trees: Iterable[DependencyTree]) -> ArcDistance:
    """The factor with the pairs and arcs of more trees."""
    data = HeadData.of(list(trees), factor.symbols)
    added = counting.counted_distances(data, factor.between)
    symbols = factor.symbols + data.symbols
    keys = np.concatenate([_pair_keys(part, symbols.alphabet) for part in (factor, added)])
    key, place = np.unique(keys, return_inverse=True)
    pairs, arcs = (
        np.bincount(place, np.concatenate(both), len(key)).astype(np.int32)
        for both in ((factor.pairs, added.pairs), (factor.arcs, added.arcs))
    )
    return ArcDistance(symbols, factor.between, key, pairs, arcs, _noted(factor.provenance, len(data)))


def _places(alphabet: Alphabet, part: Alphabet) -> Ints:
    """The numbers of the symbols of a part, and the number after the last: a root's head, or STOP."""
    return np.append(alphabet.encode(part), len(alphabet)).astype(np.int64)


def _pair_keys(factor: ArcDistance, alphabet: Alphabet) -> Ints:
    """The keys of a factor with the numbers of a larger alphabet."""
    place, size = _places(alphabet, factor.symbols.alphabet), len(factor.symbols.alphabet)
    pair, rest = np.divmod(factor.key, 2 * N_FEATURES)
    return np.asarray((place[pair // size] * len(alphabet) + place[pair % size]) * 2 * N_FEATURES + rest)
