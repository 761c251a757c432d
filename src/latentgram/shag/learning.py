"""Learners of `SHAG`: counting (DET, DET+F), spectral, EM, and clustering of spectral states (000 §3, §5.1)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.errors import SettingError
from latentgram.kinds.kind import Context
from latentgram.numeric.em import Ascent, ascend
from latentgram.numeric.kmeans import kmeans
from latentgram.parallel import Engine, pieces, within
from latentgram.sequences.kernels.expectations import expected_counts
from latentgram.sequences.operators import spectral_operators
from latentgram.sequences.spectral import prefix_directions
from latentgram.sequences.statistics import SequenceCounts
from latentgram.shag.automata import (
    UNSEEN,
    Automata,
    Sequences,
    by_direction,
    counted,
    grammar_of,
    mixed,
    normalised,
    pooled,
    restricted,
    smoothed,
    visits,
)
from latentgram.shag.model import SHAG
from latentgram.shag.settings import EMSHAG, ClusteringSHAG, CountingSHAG, SpectralSHAG

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PREFIXES = 4096
"""Prefixes that are worth a thread's while."""


def count_shag(treebank: Any, learner: CountingSHAG, context: Context) -> SHAG:
    """DET (memory none) and DET+F (memory first): relative frequencies."""
    if learner.memory not in ("none", "first"):
        raise SettingError(f"a SHAG by Counting has the memory none or first, got {learner.memory!r}")
    sequences = Sequences.of(treebank, learner.symbols)
    return grammar_of(sequences, counted_automata(sequences.counts, learner), nonnegative=True, deterministic=True)


def counted_automata(counts: SequenceCounts, learner: CountingSHAG) -> Automata:
    """Relative frequencies; the state is whether there was a modifier, if that is remembered."""
    state = np.minimum(counts.parent >= 0, learner.memory == "first").astype(np.int64)
    automata = counted(counts, state, UNSEEN)
    share = UNSEEN / (visits(counts, state, automata.start.shape[1]) + 2 * UNSEEN)
    unseen = np.zeros((len(automata.start), *automata.operators.shape[1:]))
    unseen[:, -1, :] = share
    return dataclasses.replace(automata, unseen=unseen)


def learn_spectral(treebank: Any, learner: SpectralSHAG, context: Context) -> SHAG:
    """Operators from the singular vectors of substring statistics (Algorithm 1, regularised).

    With a `dev_score` the number of states is chosen among powers of two up to `states` and `states` itself: a
    grammar of fewer states is a part of one of more, so this costs no further decomposition.
    """
    sequences = Sequences.of(treebank, learner.symbols)
    found, values = spectral_automata(sequences.counts, learner, context.engine)

    def of_states(states: int) -> SHAG:
        automata = of_leading_states(sequences.counts, found, values, states, learner)
        return dataclasses.replace(
            grammar_of(sequences, automata, nonnegative=False), spectrum=by_direction(values)
        )

    if context.dev_score is None:
        return of_states(learner.states)
    sizes = [size for size in (2**power for power in range(20)) if size < learner.states]
    grammars = [of_states(size) for size in (*sizes, learner.states)]
    return max(grammars, key=context.dev_score)


def of_leading_states(
    counts: SequenceCounts, found: Automata, values: Floats, states: int, learner: SpectralSHAG
) -> Automata:
    """Spectral automata with the first `states` of their states only, smoothed."""
    kept = (np.arange(found.start.shape[1]) < states) & (values >= learner.least)
    kept[:, 0] = True
    return smoothed(counts, restricted(found, kept, counts.n_symbols), learner.smoothing)


def learn_clusters(treebank: Any, learner: ClusteringSHAG, context: Context) -> SHAG:
    """Cluster the normalised forward vectors of prefixes into hard states and count: no number is negative."""
    sequences = Sequences.of(treebank, learner.symbols)
    return grammar_of(sequences, clustered_automata(sequences.counts, learner, context.engine), nonnegative=True)


def clustered_automata(counts: SequenceCounts, learner: ClusteringSHAG, engine: Engine) -> Automata:
    """Counts of clusters, smoothed."""
    return smoothed(counts, counted(counts, _clusters(counts, learner, engine), 0.0), learner.smoothing)


def learn_em(treebank: Any, learner: EMSHAG, context: Context) -> SHAG:
    """Expectation–maximisation over the trie of sequences, with expected counts backed off to those of all states.

    It starts at random, at clusters of the spectral vectors, or at the spectral operators without their signs.
    """
    sequences = Sequences.of(treebank, learner.symbols)
    counts = sequences.counts
    begin = random_automata(counts, learner.states, np.random.default_rng(learner.seed))
    if learner.start == "clusters":
        begin = mixed(counted(counts, _clusters(counts, learner, context.engine), 0.0), begin)
    elif learner.start == "spectral":
        signed, _ = spectral_automata(counts, learner, context.engine)
        begin = mixed(normalised(_unsigned(signed), counts.n_symbols), begin)

    def grammar(automata: Automata) -> SHAG:
        return grammar_of(sequences, smoothed(counts, automata, learner.smoothing), nonnegative=True)

    score = context.dev_score
    found = climb(
        counts,
        begin,
        learner,
        context,
        iterations=learner.iterations,
        score=None if score is None else (lambda automata: score(grammar(automata))),
    )
    learned = grammar(found.model)
    provenance = dataclasses.replace(learned.provenance, trace=(*learned.provenance.trace, *found.trace))
    return dataclasses.replace(learned, provenance=provenance)


def climb(
    counts: SequenceCounts,
    begin: Automata,
    learner: EMSHAG,
    context: Context,
    *,
    iterations: int,
    score: Callable[[Automata], float] | None = None,
) -> Ascent[Automata]:
    """Rounds of EM for all automata at once."""
    parts = _parts_of_trie(counts)

    def expect(automata: Automata) -> tuple[Automata, float]:
        def work(part: _PartOfTrie) -> Any:
            sources, steps, trie = part.sources, part.steps, part.trie
            given = automata.start[sources], automata.stop[sources], automata.operators[steps]
            return expected_counts(trie.parent, trie.source, trie.step[1], trie.stops, *given)

        start, stop, operators, bounds = zip(*within(context.engine).map(work, parts), strict=True)
        begin, end, middle = (np.concatenate(found) for found in (start, stop, operators))
        return Automata(begin, end, counts.step[0], middle), float(sum(bounds))

    def maximise(expected: Automata) -> Automata:
        return normalised(pooled(expected, counts.n_symbols, learner.backoff), counts.n_symbols)

    return ascend(begin, expect, maximise, iterations=iterations, score=score, progress=context.progress)


@dataclass(frozen=True, eq=False)
class _PartOfTrie:
    """The prefixes of some sources; where the sources and their operators are in the whole."""

    trie: SequenceCounts
    sources: slice
    steps: slice


def _parts_of_trie(counts: SequenceCounts) -> list[_PartOfTrie]:
    """The trie cut between sources, whose automata have nothing to do with each other."""
    size = np.bincount(counts.source, minlength=counts.n_sources)
    parts = []
    for first, last in pieces(size, least=PREFIXES):
        low, high = np.searchsorted(counts.step[0], np.array([first, last]) * counts.n_symbols)
        trie = counts.only(np.arange(first, last))
        parts.append(_PartOfTrie(trie, slice(first, last), slice(int(low), int(high))))
    return parts


def spectral_automata(
    counts: SequenceCounts, learner: SpectralSHAG | ClusteringSHAG | EMSHAG, engine: Engine
) -> tuple[Automata, Floats]:
    """Spectral automata of all sources, and their singular values."""
    found = spectral_operators(
        counts,
        learner.states,
        history=learner.history,
        future=learner.future,
        power=learner.power,
        ridge=learner.ridge,
        each=within(engine).map,
    )
    return Automata(found.start, found.stop, found.pairs, found.operators), found.values


def _unsigned(automata: Automata) -> Automata:
    return Automata(abs(automata.start), abs(automata.stop), automata.pairs, abs(automata.operators))


def _clusters(counts: SequenceCounts, learner: ClusteringSHAG | EMSHAG, engine: Engine) -> Ints:
    """The cluster of every prefix, by source."""
    _, step = counts.step
    found, _ = spectral_automata(counts, learner, engine)
    vectors = prefix_directions(counts, step, found.start, found.operators)
    rng = np.random.default_rng(learner.seed)
    state = np.zeros(len(counts.parent), np.int64)
    order = np.argsort(counts.source, kind="stable")
    bounds = np.searchsorted(counts.source[order], np.arange(counts.n_sources + 1))
    for begin, end in pairwise(bounds):
        nodes = order[begin:end]
        state[nodes] = kmeans(vectors[nodes], counts.passes[nodes], learner.states, rng)
    return state


def random_automata(counts: SequenceCounts, states: int, rng: np.random.Generator) -> Automata:
    """The paper's start: random start and stop, A_a = T diag(o_a) with a random T and frequencies o."""
    pairs, step = counts.step
    start = rng.dirichlet(np.ones(states), counts.n_sources)
    transition = rng.dirichlet(np.ones(states), (counts.n_sources, states)).transpose(0, 2, 1)
    stop = rng.uniform(0.1, 0.9, (counts.n_sources, states))
    inner = np.arange(counts.n_sources, len(counts.parent))
    seen = np.bincount(step[inner], counts.passes[inner], len(pairs))
    source = pairs // counts.n_symbols
    share = seen / np.bincount(source, seen, counts.n_sources)[source]
    operators = transition[source] * (1.0 - stop)[source][:, None, :] * share[:, None, None]
    return Automata(start, stop, pairs, operators)
