"""`SHAG` by expectation–maximisation over the trie of modifier sequences (Luque et al. 2012, section 5.1).

    E-step  expected counts E[A_a]_qp, E[start]_q, E[stop]_p of every automaton, one pass over the trie;
    M-step  all that can happen in a state sums to 1, counts being backed off to those of all states (`pooled`).

It starts at random, at clusters of the spectral vectors, or at the spectral operators without their signs.
O(prefixes · n²) per round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from latentgram.arrays import Floats
from latentgram.kinds.kind import Context
from latentgram.numeric.em import Ascent, ascend
from latentgram.parallel import pieces, within
from latentgram.sequences.kernels.automata import expected_counts
from latentgram.sequences.statistics import SequenceCounts
from latentgram.shag.automata import Automata, grammar_of, smoothed
from latentgram.shag.clustering import clustered_automata
from latentgram.shag.model import SHAG
from latentgram.shag.settings import EMSHAG
from latentgram.shag.spectral import spectral_automata
from latentgram.shag.statistics import HeadCounts, Trees

PREFIXES = 4096
"""Prefixes that are worth a thread's while."""


def learn_em(trees: Trees, learner: EMSHAG, context: Context) -> SHAG:
    """The recipe."""
    statistics = HeadCounts.of(trees, learner.rule)
    counts = statistics.counts
    begin = random_automata(counts, learner.states, np.random.default_rng(learner.seed))
    if learner.start == "clusters":
        begin = mixed(clustered_automata(counts, learner, context.engine), begin)
    elif learner.start == "spectral":
        signed, _ = spectral_automata(counts, learner, context.engine)
        unsigned = Automata(abs(signed.start), abs(signed.stop), signed.pairs, abs(signed.operators))
        begin = mixed(normalised(unsigned, counts.n_symbols), begin)

    def grammar(automata: Automata) -> SHAG:
        return grammar_of(statistics, smoothed(counts, automata, learner.smoothing), nonnegative=True)

    score = context.dev_score
    rate = None if score is None else (lambda automata: score(grammar(automata)))
    ascent = climb(counts, begin, learner, context, iterations=learner.iterations, score=rate)
    learned = grammar(ascent.model)
    trace = (*learned.provenance.trace, *ascent.trace)
    return replace(learned, provenance=replace(learned.provenance, trace=trace))


def random_automata(counts: SequenceCounts, states: int, rng: np.random.Generator) -> Automata:
    """The paper's start: random start and stop, A_a = T diag(o_a) with a random T and frequencies o."""
    pairs, step = counts.step
    start = rng.dirichlet(np.ones(states), counts.n_sources)
    transition = np.ascontiguousarray(
        rng.dirichlet(np.ones(states), (counts.n_sources, states)).transpose(0, 2, 1)
    )
    stop = rng.uniform(0.1, 0.9, (counts.n_sources, states))
    inner = np.arange(counts.n_sources, len(counts.parent))
    seen = np.bincount(step[inner], counts.passes[inner], len(pairs))
    source = pairs // counts.n_symbols
    share = seen / np.bincount(source, seen, counts.n_sources)[source]
    operators = transition[source] * (1.0 - stop)[source][:, None, :] * share[:, None, None]
    return Automata(start, stop, pairs, operators)


def mixed(main: Automata, other: Automata, share: float = 0.1) -> Automata:
    """A start for EM near `main` in which nothing is impossible."""
    n = main.start.shape[1]
    parts = zip(
        (main.start, main.stop, main.operators),
        (other.start[:, :n], other.stop[:, :n], other.operators[:, :n, :n]),
        strict=True,
    )
    start, stop, operators = ((1 - share) * first + share * second for first, second in parts)
    return Automata(start, stop, main.pairs, operators)


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
        def work(part: _PartOfTrie) -> tuple[Floats, Floats, Floats, float]:
            sources, steps, trie = part.sources, part.steps, part.trie
            weights = automata.start[sources], automata.stop[sources], automata.operators[steps]
            start, stop, operators, bound = expected_counts(
                trie.parent, trie.source, trie.step[1], trie.stops, *weights
            )
            return start, stop, operators, bound

        *expected, bounds = zip(*within(context.engine).map(work, parts), strict=True)
        start, stop, operators = map(np.concatenate, expected)
        return Automata(start, stop, counts.step[0], operators), float(sum(bounds))

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


def pooled(expected: Automata, n_symbols: int, backoff: float) -> Automata:
    """Expected counts to which every state adds `backoff` departures as they are over all states of its source.

    E[A_a]_qp += C · Σ_p' E[A_a]_qp' / V and E[stop]_p += C · Σ_p' E[stop]_p' / V, V the departures of the source:
    a state of which little was seen does as the others do.
    """
    source = expected.pairs // n_symbols
    departures = (expected.stop + expected.summed(n_symbols).sum(1)).sum(1)
    share = backoff / np.maximum(departures, 1e-300)
    average = share[source][:, None] * expected.operators.sum(2)
    ending = share * expected.stop.sum(1)
    return Automata(
        expected.start, expected.stop + ending[:, None], expected.pairs, expected.operators + average[:, :, None]
    )


def normalised(expected: Automata, n_symbols: int) -> Automata:
    """The M-step: all that can happen in a state sums to 1."""
    leaving = expected.stop + expected.summed(n_symbols).sum(1)
    leaving[leaving == 0] = 1.0
    beginning = np.maximum(expected.start.sum(1, keepdims=True), 1e-300)
    return Automata(
        expected.start / beginning,
        expected.stop / leaving,
        expected.pairs,
        expected.operators / leaving[expected.pairs // n_symbols][:, None, :],
    )
