"""Head automata between the learner and the grammar: one automaton for each source, and its smoothing.

All learners of `SHAG` see the data as counted modifier sequences (a trie), one source for each head symbol and
direction, and end in `smoothed` or `grammar_of`, which keep pairs of head and modifier that were never seen
possible: with q the relative frequency of symbols and B a small operator of each source, A_a ← A_a + q(a) B. For
counting B is a pseudo-count. For the others B = ε Σ_a A_a with ε = sU / (C + sU) for C modifiers seen, U of them
different (Witten & Bell), and A_a is multiplied by 1 − ε; s is the setting `smoothing`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Floats, Ints
from latentgram.sequences.statistics import SequenceCounts
from latentgram.shag.model import SHAG
from latentgram.shag.statistics import HeadCounts

Number = TypeVar("Number", bound=np.generic)

UNSEEN = 0.1
"""Pseudo-modifiers that every automaton has seen besides the real ones."""


@dataclass(frozen=True, eq=False)
class Automata:
    """One automaton per source: `start`, `stop` [sources, n]; `operators` [K, n, n] of the sorted `pairs`.

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
    statistics: HeadCounts, automata: Automata, *, nonnegative: bool, deterministic: bool = False
) -> SHAG:
    """Fold the operator of unseen pairs into the seen ones, make every automaton sum to 1, and number all."""
    n_symbols, unseen = statistics.counts.n_symbols, automata.unseen
    assert unseen is not None
    frequency = statistics.symbols.frequency
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
        statistics.symbols,
        by_direction(automata.start),
        by_direction(stop),
        np.concatenate([operators, unseen]),
        by_direction(pair.astype(np.int32)),
        by_direction(weight),
        (statistics.roots + UNSEEN * frequency) / (statistics.roots.sum() + UNSEEN),
        statistics.relations,
        np.zeros((2, n_symbols, 0)),
        nonnegative,
        deterministic,
        statistics.counts,
        statistics.roots,
        statistics.provenance,
    )


def by_direction(array: NDArray[Number]) -> NDArray[Number]:
    """[sources, …] as [2, symbols, …]: source 2·symbol + direction."""
    return np.ascontiguousarray(array.reshape(len(array) // 2, 2, array.shape[1]).transpose(1, 0, 2))


def by_source(array: NDArray[Number]) -> NDArray[Number]:
    """[2, symbols, …] as [sources, …]."""
    return np.ascontiguousarray(array.swapaxes(0, 1)).reshape(2 * array.shape[1], *array.shape[2:])


def _mass(start: Floats, stop: Floats, every: Floats) -> Floats:
    """Σ f(x) = stopᵀ (I − Σ_a A_a)⁻¹ start of each automaton; 1 where the sum diverges or makes no sense."""
    radius = np.abs(np.linalg.eigvals(every)).max(1)
    safe = np.where((radius < 1)[:, None, None], every, 0.0)
    mass = (stop * np.linalg.solve(np.eye(stop.shape[1]) - safe, start[:, :, None])[:, :, 0]).sum(1)
    return np.where((radius < 1) & (mass > 0.1) & (mass < 10), mass, 1.0)
