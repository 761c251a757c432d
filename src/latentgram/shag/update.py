"""Absorb a few more trees into a head-automata grammar at once: its statistics add, and few automata change.

A grammar keeps the counted modifier sequences that it was learned from (`SHAG.counts`), and those of more trees
are added to them. The automaton of a head and a direction depends on its own sequences only, so it is solved again
if the trees have such a head, and stays otherwise: of A_a + q(a) B (head_automata.py) only q, the relative
frequency of symbols, changes. New symbols make new automata.

By counting and spectrally this is the very grammar that all trees together give; of symbols with words in them the
list of frequent words stays, and so does a number of states that was chosen on other trees. Clusters are made anew
for the automata in question, with other random starts of k-means than learning would take; EM does `ROUNDS` more
rounds for them from where they are. Cost: one pass over the trie, and the learning of some automata.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.data.dependencies import DependencyTree
from latentgram.errors import SettingError
from latentgram.kinds.kind import Context
from latentgram.kinds.registry import settings_of, update_model, updates
from latentgram.kinds.settings import Settings
from latentgram.sequences.statistics import SequenceCounts
from latentgram.shag.automata import (
    Automata,
    Sequences,
    by_direction,
    grammar_of,
    mixed,
    normalised,
    smoothed,
    sources_of,
)
from latentgram.shag.grammar import HeadGrammar
from latentgram.shag.learning import (
    climb,
    clustered_automata,
    counted_automata,
    of_leading_states,
    random_automata,
    spectral_automata,
)
from latentgram.shag.model import SHAG
from latentgram.shag.product import ProductSHAG
from latentgram.shag.settings import EMSHAG, ClusteringSHAG, CountingSHAG, SpectralSHAG

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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
    given = list(trees)
    if not given:
        return grammar
    added = Sequences.of(given, grammar.symbols)
    total = Sequences.of_grammar(grammar) + added
    touched = sources_of(total.symbols.alphabet, added.symbols.alphabet)
    old = _renumbered(grammar, total)
    counts = total.counts.only(touched)
    found, values = _solved(
        counts, _some(old, touched, counts), grammar.states, settings_of("SHAG", grammar.provenance)
    )
    grown = grammar_of(
        total,
        _replaced(old, touched, found, total.counts.n_symbols),
        nonnegative=grammar.nonnegative,
        deterministic=grammar.deterministic,
    )
    spectrum = np.zeros((total.counts.n_sources, grammar.spectrum.shape[2]))
    spectrum[sources_of(total.symbols.alphabet, grammar.symbols.alphabet)] = _by_source(grammar.spectrum)
    spectrum[touched] = values[:, : spectrum.shape[1]]
    trace = (*grammar.provenance.trace, {"absorbed": float(len(given))})
    return replace(grown, spectrum=by_direction(spectrum), provenance=replace(grammar.provenance, trace=trace))


def keeps_its_statistics(grammar: SHAG) -> bool:
    """Whether a grammar has what an update needs: its counted sequences, and how it was learned."""
    return grammar.counts is not None and bool(grammar.provenance.learner)


def update_product(product: ProductSHAG, trees: Iterable[DependencyTree]) -> ProductSHAG:
    """The product of factors that are updated each in its way."""
    given = list(trees)
    return replace(product, factors=tuple(update_model(factor, given) for factor in _factors(product)))


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


def _solved(counts: SequenceCounts, old: Automata, states: int, learner: Settings) -> tuple[Automata, Floats]:
    """The automata of all sources of the counts, `old` so far, and their singular values if there are some."""
    context = Context()
    if isinstance(learner, CountingSHAG):
        return counted_automata(counts, learner), np.zeros((counts.n_sources, 0))
    if isinstance(learner, SpectralSHAG):
        found, values = spectral_automata(counts, learner, context.engine)
        return of_leading_states(counts, found, values, states, learner), values
    if isinstance(learner, ClusteringSHAG):
        return clustered_automata(counts, learner, context.engine), np.zeros((counts.n_sources, 0))
    if not isinstance(learner, EMSHAG):
        raise SettingError(f"a SHAG by {type(learner).__name__} cannot be updated: learn it again from all trees")
    random = random_automata(counts, states, np.random.default_rng(learner.seed))
    begin = normalised(mixed(old, random, NEW), counts.n_symbols)
    found = climb(counts, begin, learner, context, iterations=ROUNDS).model
    return smoothed(counts, found, learner.smoothing), np.zeros((counts.n_sources, 0))


def _by_source(array: NDArray[Any]) -> Any:
    """[2, symbols, …] as [sources, …]."""
    return np.ascontiguousarray(array.swapaxes(0, 1)).reshape(2 * array.shape[1], *array.shape[2:])


def _renumbered(grammar: SHAG, total: Sequences) -> Automata:
    """The automata of a grammar before frequencies were folded in, with the numbers of larger statistics."""
    source = sources_of(total.symbols.alphabet, grammar.symbols.alphabet)
    n_symbols = total.counts.n_symbols
    n_pairs = len(grammar.operators) - len(source)
    pair = _by_source(grammar.pair)
    of, modifier = np.nonzero(pair < n_pairs)
    of, modifier = (column[np.argsort(pair[of, modifier])] for column in (of, modifier))
    unseen = grammar.operators[n_pairs:]
    frequency = grammar.symbols.frequency[modifier]
    symbol = source[::2] // 2
    start, stop, spread = (
        np.zeros((total.counts.n_sources, *part.shape[1:]))
        for part in (_by_source(grammar.start), _by_source(grammar.stop), unseen)
    )
    start[source], stop[source], spread[source] = _by_source(grammar.start), _by_source(grammar.stop), unseen
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


def _padded(automata: Automata, states: int) -> tuple[Floats, Floats, Any, Floats]:
    """Start, stop, the operators of unseen pairs and those of pairs, with states that are never entered."""
    assert automata.unseen is not None
    room = (0, states - automata.start.shape[1])
    start, stop = (np.pad(part, ((0, 0), room)) for part in (automata.start, automata.stop))
    unseen, operators = (np.pad(part, ((0, 0), room, room)) for part in (automata.unseen, automata.operators))
    return start, stop, unseen, operators
