"""`OperatorAutomaton`: a weighted automaton with one matrix per symbol (Luque et al. 2012, §2).

    f(x₁ … x_T) = stopᵀ A_{x_T} ⋯ A_{x_1} start                                                           (3)

An HMM is a special case: start = π, A_a = T diag(o_a), stop = probabilities of the end. If the automaton is
learned from moments, its arrays are in a rotated space: they may be negative, and only complete products have a
meaning. Scoring costs O(T n²).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Annotated

import numpy as np

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.files import PathLike
from latentgram.data.invariants import ANY, FINITE, shape
from latentgram.data.provenance import Provenance, Summarised
from latentgram.data.sentence import symbols_of
from latentgram.errors import MOST_DRAWN, DataError, SettingError, check_number
from latentgram.sequences.dfa import DFA, to_dfa
from latentgram.sequences.kernels.automata import sample_strings, scaled_states, string_values
from latentgram.sequences.openfst import EPSILON, Arc, cost, write_openfst

NEARLY = 1e-6
"""How far from 1 the sum over all strings of a distribution may be."""
DRAWN_TOGETHER = 1000


@dataclass(frozen=True, repr=False)
class OperatorAutomaton(Summarised):
    """Start and stop vectors and one operator per symbol.

    A coin that stops with probability 1/2 after each toss:

    >>> coin = OperatorAutomaton.of("ht", start=[1.0], stop=[0.5], step={"h": [[0.25]], "t": [[0.25]]})
    >>> coin.probability("h t"), coin.probability(["h", "t"]), coin.total()
    (0.03125, 0.03125, 1.0)
    """

    symbols: Alphabet
    start: Annotated[Floats, shape(ANY), FINITE]
    """[n] the vector before the first symbol."""
    stop: Annotated[Floats, shape("states"), FINITE]
    """[n] what ends a string."""
    step: Annotated[Floats, shape("len(symbols)", "states", "states"), FINITE]
    """[symbols, n, n] `step[a] @ state` is the state after a."""
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        size = self.start.shape[0]
        if self.stop.shape != (size,) or self.step.shape != (len(self.symbols), size, size):
            raise DataError(
                f"an automaton of {size} states and {len(self.symbols)} symbols needs a stop vector of {size} and "
                f"operators of {(len(self.symbols), size, size)}, got {self.stop.shape} and {self.step.shape}"
            )

    @classmethod
    def of(
        cls,
        symbols: Iterable[str],
        *,
        start: Sequence[float],
        stop: Sequence[float],
        step: dict[str, Sequence[Sequence[float]]],
    ) -> OperatorAutomaton:
        """An automaton from given vectors and operators."""
        alphabet = Alphabet.of(symbols)
        operators = np.array([step[symbol] for symbol in alphabet], np.float64)
        return cls(alphabet, np.array(start, np.float64), np.array(stop, np.float64), operators)

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.start)

    def probability(self, string: Iterable[str]) -> float:
        """f of one string of symbols, text being split at spaces; 0 for a symbol never seen.

        May be negative in a learned automaton.
        """
        sign, log_size = self.values([string])
        return float(sign[0] * np.exp(log_size[0])) + 0.0

    def logprob(self, string: Iterable[str]) -> float:
        """log f of one string of symbols; −inf where f is not positive, as it may be in a learned automaton.

        >>> fair = OperatorAutomaton.of("a", start=[1.0], stop=[0.5], step={"a": [[0.5]]})
        >>> round(fair.logprob("a a"), 4)
        -2.0794
        """
        sign, log_size = self.values([string])
        return float(log_size[0]) if sign[0] > 0 else -np.inf

    def values(self, strings: Iterable[Iterable[str]]) -> tuple[Floats, Floats]:
        """The signs and the logarithms of the sizes of f of many strings."""
        if isinstance(strings, str):
            raise SettingError("values needs several strings; for a single one use probability")
        encoded = [self.symbols.encode(symbols_of(string)) for string in strings]
        offset = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        tokens = np.concatenate([np.zeros(0, np.int32), *encoded]).astype(np.int32)
        return self.encoded_values(tokens, offset)

    def encoded_values(self, tokens: Ints32, offset: Ints) -> tuple[Floats, Floats]:
        """`values` of strings given as symbol numbers, string i being `tokens[offset[i] : offset[i + 1]]`."""
        sign, log_size = string_values(self.start, self.stop, self.step, tokens, offset)
        return sign, log_size

    def forward(self, string: Iterable[str]) -> Floats:
        """[T + 1, n] the state before the first symbol and after each."""
        vectors = [self.start]
        for symbol in self.symbols.encode(symbols_of(string)):
            vectors.append(self.step[symbol] @ vectors[-1] if symbol >= 0 else np.zeros_like(self.start))
        return np.array(vectors)

    @cached_property
    def mass(self) -> Floats:
        """[n] `mass @ state` is the sum of f over all that may follow a state: (I − Σ_a A_a)⁻ᵀ stop."""
        every = np.eye(self.states) - self.step.sum(0)
        return np.asarray(np.linalg.solve(every.T, self.stop))

    def total(self) -> float:
        """Σ f(x) over all strings, stopᵀ (I − Σ_a A_a)⁻¹ start: 1 for a distribution.

        For an automaton learned from moments it may differ from 1, which `summary` reports.
        """
        return float(self.mass @ self.start)

    @property
    def converges(self) -> bool:
        """Whether the sum over all strings is finite: no eigenvalue of Σ_a A_a has size 1 or more."""
        return bool(np.abs(np.linalg.eigvals(self.step.sum(0))).max(initial=0.0) < 1.0)

    @property
    def is_distribution(self) -> bool:
        """Whether all numbers are probabilities and what may follow a state sums to at most one."""
        parts = (self.start, self.stop, self.step)
        return bool(all((part >= 0.0).all() for part in parts) and self.converges and self.total() <= 1.0 + NEARLY)

    def prefix_logprobs(self, string: Iterable[str]) -> Floats:
        """[T + 1] log of the sum of f over all strings that begin with the first t symbols, however long.

        −inf where that is not positive.

        >>> fair = OperatorAutomaton.of("ab", start=[1.0], stop=[0.5], step={"a": [[0.4]], "b": [[0.1]]})
        >>> np.exp(fair.prefix_logprobs("a b")).round(3)
        array([1.  , 0.4 , 0.04])
        >>> round(float(fair.prefix_logprobs(["a"] * 10_000)[-1]) / 10_000, 4)
        -0.9163
        """
        states, logs = scaled_states(self.start, self.step, self.symbols.encode(symbols_of(string)))
        with np.errstate(divide="ignore", invalid="ignore"):
            prefix = np.log(states @ self.mass)
        return np.asarray(np.where(np.isnan(prefix), -np.inf, prefix) + logs, np.float64)

    def next_symbols(self, string: Iterable[str] = ()) -> dict[str | None, float]:
        """The next symbol after a prefix: the probability of each, and of the end as None, most probable first.

        Weights below 0, which a learned automaton may have, count as 0.

        >>> fair = OperatorAutomaton.of("ab", start=[1.0], stop=[0.5], step={"a": [[0.4]], "b": [[0.1]]})
        >>> {symbol: round(p, 3) for symbol, p in fair.next_symbols("a a").items()}
        {None: 0.5, 'a': 0.4, 'b': 0.1}
        """
        states, logs = scaled_states(self.start, self.step, self.symbols.encode(symbols_of(string)))
        weight = np.append(np.einsum("i,aij,j->a", self.mass, self.step, states[-1]), self.stop @ states[-1])
        weight = np.maximum(weight, 0.0)
        if not np.isfinite(logs[-1]) or not weight.sum() > 0:
            raise DataError("nothing follows this prefix: it has no probability under the automaton")
        order = np.argsort(-weight, kind="stable").tolist()
        names = (*self.symbols.symbols, None)
        return {names[place]: float(weight[place] / weight.sum()) for place in order}

    def sample(self, strings: int, seed: int = 0, longest: int = 1000) -> list[tuple[str, ...]]:
        """Strings sampled from the automaton, of at most `longest` symbols; negative weights count as 0.

        >>> fair = OperatorAutomaton.of("ab", start=[1.0], stop=[0.5], step={"a": [[0.4]], "b": [[0.1]]})
        >>> fair.sample(3, seed=1)
        [(), (), ('a', 'a', 'a', 'a', 'b')]
        """
        check_number("strings", strings, MOST_DRAWN)
        check_number("symbols", longest, MOST_DRAWN)
        if not self.converges:
            raise DataError("the weights of all strings do not have a finite sum, so strings cannot be sampled")
        drawn: list[tuple[str, ...]] = []
        rng = np.random.default_rng(seed)
        for begin in range(0, strings, DRAWN_TOGETHER):
            uniform = rng.random((min(DRAWN_TOGETHER, strings - begin), longest))
            tokens, ends = sample_strings(self.start, self.stop, self.step, self.mass, uniform, longest)
            names = self.symbols.decode(tokens.tolist())
            drawn += [tuple(names[first:last]) for first, last in pairwise([0, *ends.tolist()])]
        return drawn

    def to_openfst(self, path: PathLike) -> None:
        """Write an acceptor in OpenFst's text format, and its symbol table to a second file (`.syms`).

        State 0 is the initial state, with `<eps>` arcs to the others. Weights are −log p, so automata with
        negative numbers, as learned spectrally, are refused; `to_dfa` gives one that can be written.
        """
        if min(self.start.min(), self.stop.min(), self.step.min(initial=0.0)) < 0:
            raise SettingError(
                "OpenFst's weights are logarithms, and this automaton has negative numbers: "
                "write its DFA, or learn one by Clustering or EM"
            )

        def arcs() -> Iterator[Arc]:
            for state in np.flatnonzero(self.start).tolist():
                yield 0, state + 1, EPSILON, cost(self.start[state])
            for source in range(self.states):
                for symbol, target in np.argwhere(self.step[:, :, source] > 0).tolist():
                    yield source + 1, target + 1, self.symbols[symbol], cost(self.step[symbol, target, source])

        ends = [(state + 1, cost(self.stop[state])) for state in np.flatnonzero(self.stop).tolist()]
        write_openfst(path, self.symbols.symbols, arcs(), ends)

    def to_dfa(
        self,
        clusters: int = 10,
        *,
        sequences: Iterable[Iterable[str]] | None = None,
        least: float = 0.001,
        most: int = 2000,
        tolerance: float | None = None,
    ) -> DFA:
        """A small deterministic automaton that approximates this one, for inspection (Luque et al. 2012, §5.3).

        Its states are clusters of the most probable prefixes of the automaton or, as printed in the paper, of the
        prefixes of the given `sequences`: at most `most` prefixes, each with a share of at least `least`. If one
        state and symbol lead to several states, each with more than `tolerance` of the use (default 0.3, and 0
        with `sequences`), these are merged.

        >>> coin = OperatorAutomaton.of("ht", start=[1.0], stop=[0.5], step={"h": [[0.4]], "t": [[0.1]]})
        >>> print(coin.to_dfa(clusters=1))
        start: visits 1.000, stop 0.50
          0.40 h → 1
          0.10 t → 1
        state 1: ...
        """
        return to_dfa(self, clusters, sequences, least, most, tolerance)

    def summary(self) -> str:
        """One line on its size, with the sum over all strings if it is not 1."""
        size = f"automaton with {self.states} states over {len(self.symbols)} symbols"
        if not self.converges:
            return f"{size}, not a distribution: the sum over all strings is not finite"
        total = self.total()
        return size if abs(total - 1.0) < NEARLY else f"{size}, not a distribution: all strings sum to {total:.4f}"
