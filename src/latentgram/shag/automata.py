"""Head automata between the learner and the grammar: counted sequences, automata by source, and their smoothing.

All learners of `SHAG` see the data as counted modifier sequences (a trie), one source for each head symbol and
direction, and end in `smoothed` or `grammar_of`, which keep pairs of head and modifier that were never seen
possible: with q the relative frequency of symbols and B a small operator of each source, A_a ← A_a + q(a) B. For
counting B is a pseudo-count. For the others B = ε Σ_a A_a with ε = sU / (C + sU) for C modifiers seen, U of them
different (Witten & Bell), and A_a is multiplied by 1 − ε; s is the setting `smoothing`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.dependency_symbols import WordSymbols
from latentgram.data.provenance import Provenance
from latentgram.errors import DataError
from latentgram.sequences.statistics import SequenceCounts
from latentgram.shag.model import SHAG
from latentgram.shag.relations import Relations
from latentgram.shag.statistics.data import HeadData
from latentgram.shag.statistics.sequences import head_sequences

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNSEEN = 0.1
"""Pseudo-modifiers that every automaton has seen besides the real ones."""


@dataclass(frozen=True, eq=False)
class Sequences:
    """A treebank as these learners take it: statistics, which add."""

    symbols: WordSymbols
    counts: SequenceCounts
    roots: Floats
    relations: Relations
    provenance: Provenance

    @classmethod
    def of(cls, treebank: Any, kind: str | WordSymbols) -> Sequences:
        """Count a treebank's modifier sequences over symbols of a kind, or by a known rule."""
        data = HeadData.of(treebank, kind)
        counts, roots = head_sequences(data.modifiers, data.symbol, len(data.symbols.alphabet))
        return cls(data.symbols, counts, roots, data.relations, data.provenance)

    @classmethod
    def of_grammar(cls, grammar: SHAG) -> Sequences:
        """What a grammar has kept of the treebank it was learned from."""
        if grammar.counts is None or grammar.root_count is None:
            raise DataError("the grammar was written by an older version, which did not keep its statistics")
        return cls(grammar.symbols, grammar.counts, grammar.root_count, grammar.relations, grammar.provenance)

    def __add__(self, other: Sequences) -> Sequences:
        """The statistics of both, over the symbols and relations of both; the provenance is that of the first."""
        symbols = self.symbols + other.symbols
        labels = Alphabet.of((*self.relations.labels, *other.relations.labels))
        first, second = (part._numbered(symbols.alphabet, labels) for part in (self, other))
        return Sequences(
            symbols,
            first.counts + second.counts,
            first.roots + second.roots,
            first.relations + second.relations,
            self.provenance,
        )

    def _numbered(self, alphabet: Alphabet, labels: Alphabet) -> Sequences:
        """With the numbers of other alphabets, which have all symbols and labels of these."""
        if self.symbols.alphabet == alphabet and self.relations.labels == labels:
            return self
        size, place = len(alphabet), alphabet.encode(self.symbols.alphabet).astype(np.int64)
        source = sources_of(alphabet, self.symbols.alphabet)
        roots = np.zeros(size)
        roots[place] = self.roots
        return replace(
            self,
            counts=self.counts.renumbered(source, place, n_sources=2 * size, n_symbols=size),
            roots=roots,
            relations=self.relations.renumbered(labels, place, size),
        )


def sources_of(alphabet: Alphabet, heads: Alphabet) -> Ints:
    """The sources of some heads, in both directions, numbered by an alphabet."""
    return np.asarray(2 * np.repeat(alphabet.encode(heads).astype(np.int64), 2) + np.tile([0, 1], len(heads)))


@dataclass(frozen=True, eq=False)
class Automata:
    """One automaton a source: `start`, `stop` [sources, n]; `operators` [K, n, n] of the sorted `pairs`.

    `unseen` [sources, n, n] is the operator B of pairs never seen, once there is one.
    """

    start: Floats
    stop: Floats
    pairs: Ints
    operators: Floats
    unseen: Floats | None = None

    def summed(self, n_symbols: int) -> Floats:
        """[sources, n, n] Σ_a A_a."""
        total = np.zeros((len(self.start), *self.operators.shape[1:]))
        np.add.at(total, self.pairs // n_symbols, self.operators)
        return total


def restricted(automata: Automata, kept: NDArray[np.bool_], n_symbols: int) -> Automata:
    """Only the states kept of each source; states that no source keeps are cut off."""
    n = int(np.flatnonzero(kept.any(0)).max()) + 1
    kept = kept[:, :n]
    of_pair = kept[automata.pairs // n_symbols]
    return Automata(
        automata.start[:, :n] * kept,
        automata.stop[:, :n] * kept,
        automata.pairs,
        automata.operators[:, :n, :n] * of_pair[:, :, None] * of_pair[:, None, :],
    )


def visits(counts: SequenceCounts, state: Ints, n_states: int) -> Floats:
    """[sources, n] how often each state was left, by a modifier or by the end."""
    left = np.zeros((counts.n_sources, n_states))
    np.add.at(left, (counts.source, state), counts.passes)
    return left


def counted(counts: SequenceCounts, state: Ints, unseen: float) -> Automata:
    """Relative frequencies of a deterministic labelling of prefixes by states, with pseudo-modifiers and -ends."""
    pairs, step = counts.step
    n_states = int(state.max()) + 1
    inner = np.arange(counts.n_sources, len(counts.parent))
    total = visits(counts, state, n_states) + 2 * unseen
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


def smoothed(counts: SequenceCounts, automata: Automata, smoothing: float) -> Automata:
    """Learned automata of which a share goes to modifiers they never saw (Witten & Bell 1991)."""
    source = automata.pairs // counts.n_symbols
    distinct = smoothing * np.bincount(source, minlength=counts.n_sources)
    inner = np.arange(counts.n_sources, len(counts.parent))
    seen = np.bincount(counts.source[inner], counts.passes[inner], counts.n_sources)
    share = distinct / np.maximum(seen + distinct, 1.0)
    operators = (1.0 - share)[source][:, None, None] * automata.operators
    unseen = share[:, None, None] * automata.summed(counts.n_symbols)
    # An automaton that never saw a modifier still takes one now and then, and is then where it began.
    rare = np.where(seen > 0, 0.0, UNSEEN / (counts.passes[: counts.n_sources] + 2 * UNSEEN))
    empty = np.where(seen > 0, 1.0, (automata.stop * automata.start).sum(1))
    unseen += (rare / empty)[:, None, None] * automata.start[:, :, None] * automata.stop[:, None, :]
    return Automata(automata.start, automata.stop, automata.pairs, operators, unseen)


def grammar_of(
    sequences: Sequences, automata: Automata, *, nonnegative: bool, deterministic: bool = False
) -> SHAG:
    """Fold the operator of unseen pairs into the seen ones, make every automaton sum to 1, and number all."""
    n_symbols, unseen = sequences.counts.n_symbols, automata.unseen
    assert unseen is not None
    frequency = sequences.symbols.frequency
    source, symbol = automata.pairs // n_symbols, automata.pairs % n_symbols
    operators = automata.operators + frequency[symbol][:, None, None] * unseen[source]
    every = automata.summed(n_symbols) + unseen
    stop = automata.stop / _mass(automata.start, automata.stop, every)[:, None]
    n_sources = len(automata.start)
    pair = np.repeat(len(operators) + np.arange(n_sources), n_symbols).reshape(n_sources, n_symbols)
    pair[source, symbol] = np.arange(len(operators))
    weight = np.tile(frequency, (n_sources, 1))
    weight[source, symbol] = 1.0

    return SHAG(
        sequences.symbols,
        by_direction(automata.start),
        by_direction(stop),
        np.concatenate([operators, unseen]),
        by_direction(pair.astype(np.int32)),
        by_direction(weight),
        (sequences.roots + UNSEEN * frequency) / (sequences.roots.sum() + UNSEEN),
        sequences.relations,
        np.zeros((2, n_symbols, 0)),
        nonnegative,
        deterministic,
        sequences.counts,
        sequences.roots,
        sequences.provenance,
    )


def by_direction(array: NDArray[Any]) -> Any:
    """[sources, …] as [2, symbols, …]: source 2·symbol + direction."""
    n_sources = len(array)
    return np.ascontiguousarray(array.reshape(n_sources // 2, 2, array.shape[1]).transpose(1, 0, 2))


def _mass(start: Floats, stop: Floats, every: Floats) -> Floats:
    """Σ f(x) = stopᵀ (I − Σ_a A_a)⁻¹ start of each automaton; 1 where the sum diverges or makes no sense."""
    radius = np.abs(np.linalg.eigvals(every)).max(1)
    safe = np.where((radius < 1)[:, None, None], every, 0.0)
    mass = (stop * np.linalg.solve(np.eye(stop.shape[1]) - safe, start[:, :, None])[:, :, 0]).sum(1)
    return np.where((radius < 1) & (mass > 0.1) & (mass < 10), mass, 1.0)
