"""`Surprisal`: how unexpected each word is after the words before it, under a PCFG.

    surprisal(x_k) = − log₂ p(x_k | x_0 … x_{k−1}) = log₂ P(x_0 … x_{k−1} …) − log₂ P(x_0 … x_k …)

with prefix probabilities P by dp/prefix.py, P of nothing being one. Of a grammar with hidden states its one-state
projection is taken. Words that the grammar does not know are those of their form: their surprisal is that of the
form.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.data.sentence import Sentence, SentenceLike
from latentgram.dp.cky import PairIndex, inside, pair_index
from latentgram.dp.prefix import prefix_values
from latentgram.dp.semiring import Real
from latentgram.errors import SettingError
from latentgram.models.leaves import LeafTable
from latentgram.models.lpcfg import LPCFG

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Surprisal:
    """Surprisal in bits, word by word; an infinite one where the grammar cannot go on."""

    grammar: LPCFG

    @classmethod
    def of(cls, model: Any) -> Surprisal:
        """For the model of a parser."""
        grammar = model.grammars[0] if hasattr(model, "grammars") else model
        if not isinstance(grammar, LPCFG):
            raise SettingError(f"surprisal comes from an LPCFG, not from a {type(model).__name__}")
        return cls(grammar)

    @cached_property
    def _leaves(self) -> LeafTable:
        return LeafTable(self.grammar)

    @cached_property
    def weights(self) -> Floats:
        """[rules] the probabilities of the rules in the one-state projection."""
        count = self._leaves.symbol_count
        return np.asarray(self.grammar.rule_count / count[self.grammar.rules[:, 0]])

    @cached_property
    def _index(self) -> PairIndex:
        return pair_index(self.grammar.rules, len(self.grammar.interminals), len(self.grammar.preterminals))

    @cached_property
    def corners(self) -> tuple[Floats, Floats]:
        """[I, I] and [I, P] how often each symbol is a left corner of each interminal."""
        size = len(self.grammar.interminals)
        step = np.zeros((size, len(self.grammar.states)))
        np.add.at(step, (self.grammar.rules[:, 0], self.grammar.rules[:, 1]), self.weights)
        closure = np.asarray(np.linalg.inv(np.eye(size) - step[:, :size]), np.float64)
        return closure, np.ascontiguousarray(closure @ step[:, size:])

    def prefix_logprobs(self, sentence: SentenceLike) -> Floats:
        """[n] the logarithms of the probabilities of the prefixes."""
        given = Sentence.of(sentence)
        leaves, first = self._leaves.of(given), len(self.grammar.interminals)
        lexical = np.zeros((len(given), len(self.grammar.preterminals)))
        word = np.repeat(np.arange(len(given)), np.diff(leaves.begin))
        lexical[word, leaves.symbol - first] = leaves.weight
        chart = inside(Real(), self._index, self.weights, lexical)
        root = self.grammar.root_count / self.grammar.root_count.sum()
        values = prefix_values(Real(), self.grammar.rules, self.weights, *self.corners, chart, root)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(values) + np.log(2) * np.cumsum(chart.exponents))

    def __call__(self, sentence: SentenceLike) -> Floats:
        """[n] the surprisal of each word, in bits."""
        logs = np.concatenate(([0.0], self.prefix_logprobs(sentence)))
        with np.errstate(invalid="ignore"):
            return np.asarray(np.nan_to_num(logs[:-1] - logs[1:], nan=np.inf, posinf=np.inf) / np.log(2))
