"""`OperatorAutomaton`: a weighted automaton with one matrix per symbol (Luque et al. 2012, §2).

    f(x₁ … x_T) = stopᵀ A_{x_T} ⋯ A_{x_1} start                                                           (3)

An HMM is one: start = π, A_a = T diag(o_a), stop = probabilities to end. One learned from moments lives in a
rotated space: its numbers may be negative, and only whole products mean something. Scoring costs O(T n²).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.provenance import Provenance, Summarised
from latentgram.data.sentence import symbols_of
from latentgram.errors import DataError, SettingError
from latentgram.sequences.dfa import DFA, to_dfa
from latentgram.sequences.kernels.automata import string_values

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class OperatorAutomaton(Summarised):
    """Start and stop vectors and one operator a symbol.

    A coin that stops with probability 1/2 after each toss:

    >>> coin = OperatorAutomaton.of("ht", start=[1.0], stop=[0.5], step={"h": [[0.25]], "t": [[0.25]]})
    >>> coin.probability("h t"), coin.probability(["h", "t"]), coin.total()
    (0.03125, 0.03125, 1.0)
    """

    symbols: Alphabet
    start: Floats
    """[n] the vector before the first symbol."""
    stop: Floats
    """[n] what ends a string."""
    step: Floats
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
        """An automaton written down by hand."""
        alphabet = Alphabet.of(symbols)
        operators = np.array([step[symbol] for symbol in alphabet], np.float64)
        return cls(alphabet, np.array(start, np.float64), np.array(stop, np.float64), operators)

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.start)

    def probability(self, string: Iterable[str]) -> float:
        """f of one string of symbols, text being split at blanks; 0 for a symbol never seen.

        May be negative in a learned automaton.
        """
        sign, log_size = self.values([string])
        return float(sign[0] * np.exp(log_size[0]))

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
            raise SettingError("values takes several strings; of a single one, take probability")
        encoded = [self.symbols.encode(symbols_of(string)) for string in strings]
        offset = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        tokens = np.concatenate([np.zeros(0, np.int32), *encoded]).astype(np.int32)
        return self.encoded_values(tokens, offset)

    def encoded_values(self, tokens: NDArray[np.int32], offset: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """`values` of strings given as symbol numbers, string i being `tokens[offset[i] : offset[i + 1]]`."""
        sign, log_size = string_values(self.start, self.stop, self.step, tokens, offset)
        return sign, log_size

    def forward(self, string: Iterable[str]) -> Floats:
        """[T + 1, n] the state before the first symbol and after each."""
        vectors = [self.start]
        for symbol in self.symbols.encode(symbols_of(string)):
            vectors.append(self.step[symbol] @ vectors[-1] if symbol >= 0 else np.zeros_like(self.start))
        return np.array(vectors)

    def total(self) -> float:
        """Σ f(x) over all strings, stopᵀ (I − Σ_a A_a)⁻¹ start: 1 for a distribution."""
        every = np.eye(self.states) - self.step.sum(0)
        return float(self.stop @ np.linalg.solve(every, self.start))

    def to_dfa(
        self,
        clusters: int = 10,
        *,
        sequences: Iterable[Iterable[str]] | None = None,
        least: float = 0.001,
        most: int = 2000,
        tolerance: float | None = None,
    ) -> DFA:
        """A small deterministic automaton that does nearly the same and can be read (Luque et al. 2012, §5.3).

        Its states are clusters of the automaton's likeliest prefixes or, as printed in the paper, of those of the
        `sequences` of symbols seen in a treebank: at most `most` of at least the share `least`. States to which
        one state and symbol lead are merged where each has more than `tolerance` of the use: default 0.3, and 0
        with `sequences`.

        >>> coin = OperatorAutomaton.of("ht", start=[1.0], stop=[0.5], step={"h": [[0.4]], "t": [[0.1]]})
        >>> print(coin.to_dfa(clusters=1))
        start: visits 1.000, stop 0.50
          0.40 h → 1
          0.10 t → 1
        state 1: ...
        """
        return to_dfa(self, clusters, sequences=sequences, least=least, most=most, tolerance=tolerance)

    def summary(self) -> str:
        """One line about the size."""
        return f"automaton with {self.states} states over {len(self.symbols)} symbols"
