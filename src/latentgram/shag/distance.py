"""`ArcDistance`: how much the distance of two words, and what stands between them, speaks for an arc.

With f the feature of a pair of words (a bucket of the distance and, `between`, the numbers of verbs, punctuation
marks and coordinations between them), the weight of an arc is

    P(arc | head, modifier, direction, f) / P(arc | head, modifier, direction),

both relative frequencies among all pairs of words of the training sentences. The numerator is shrunk by `PRIOR`
pseudo-pairs towards P(arc | modifier, direction, f) · P(arc | head, direction, f) / P(arc | direction, f), and
those towards P(arc | direction, f). The denominator keeps the factor from counting again what the grammar knows.
It is an exact arc weight: `shag * distance ** 0.5`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.data.dependency_symbols import WordSymbols
from latentgram.data.invariants import ANY, below, rising, shape, within
from latentgram.data.provenance import Provenance
from latentgram.data.sentence import Sentence
from latentgram.shag.categories import categories
from latentgram.shag.grammar import HeadGrammar
from latentgram.shag.kernels import distance as arc_distance
from latentgram.shag.kernels.inside_outside import HeadWeights

PRIOR = 5.0
RARE = 0.05
"""P(arc) of a pair of symbols never seen together."""


@dataclass(frozen=True, eq=False, repr=False)
class ArcDistance(HeadGrammar):
    """Counts of pairs of words by symbols, direction and feature.

    >>> import latentgram as lg
    >>> bank = lg.demo_dependencies(50, seed=1)
    >>> distance = lg.fit(lg.ArcDistance, bank, by=lg.Counting())
    >>> (lg.fit(lg.SHAG, bank, by=lg.Counting()) * distance**0.5).powers
    (1.0, 0.5)
    """

    symbols: WordSymbols
    between: bool
    key: Annotated[Ints, shape(ANY), rising(), below("table_size")]
    """[K] sorted ((head · l + modifier) · 2 + direction) · features + feature, of the pairs seen."""
    pairs: Annotated[Ints32, shape("len(key)"), within(0, 2**31)]
    """[K] how many pairs there were."""
    arcs: Annotated[Ints32, shape("len(key)"), within(0, 2**31)]
    """[K] how many of them were arcs."""
    provenance: Provenance = field(default_factory=Provenance)

    nonnegative = True
    deterministic = True

    @property
    def table_size(self) -> int:
        """The number of possible kinds of pairs."""
        return len(self.symbols.alphabet) ** 2 * 2 * arc_distance.N_FEATURES

    @cached_property
    def table(self) -> Floats:
        """[l, l, 2, F] the weight of every kind of arc."""
        size = len(self.symbols.alphabet)
        shape = (size, size, 2, arc_distance.N_FEATURES)
        pairs, arcs = np.zeros(shape), np.zeros(shape)
        pairs.reshape(-1)[self.key] = self.pairs
        arcs.reshape(-1)[self.key] = self.arcs
        overall = (arcs.sum((0, 1)) + 0.1) / (pairs.sum((0, 1)) + 2.0)
        by_modifier = (arcs.sum(0) + PRIOR * overall) / (pairs.sum(0) + PRIOR)
        by_head = (arcs.sum(1) + PRIOR * overall) / (pairs.sum(1) + PRIOR)
        plain = (arcs.sum(3) + PRIOR * RARE) / (pairs.sum(3) + PRIOR)
        coarse = by_modifier[None] * by_head[:, None] / overall
        pairs += PRIOR
        arcs += PRIOR * coarse
        return np.asarray(np.clip(arcs / pairs, 1e-6, 1.0) / plain[..., None])

    def weights(self, sentence: Sentence) -> tuple[HeadWeights, float]:
        """The weights of the arcs of a sentence; other parts of trees have no weight."""
        symbols = self.symbols.encode(sentence)
        arc = arc_distance.arc_weights(self.table, symbols, categories(sentence), self.between)
        return HeadWeights.without_states(arc, np.ones(len(symbols))), 0.0

    def summary(self) -> str:
        """One line about the size."""
        what = "distance and what is between" if self.between else "distance"
        return f"arc factor by {what}: {len(self.key)} kinds of pairs"
