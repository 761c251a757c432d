"""Products of grammars and arc factors (Luque et al. 2012, Eq. 21): `shag * lex ** 0.7 * distance ** 0.5`.

The score of a tree under a product is the product of its scores, each raised to its power. At most one factor has
hidden states; the others are deterministic, so the product is again a weight that `HeadWeights` expresses exactly:
arcs, ends and roots multiply, and memories pair up. So do the states of automata, A ⊗ B being the operator of two;
a deterministic automaton has one path for a sequence, so its weight to a power is that of its operators with every
number raised. The result is not normalised over sentences; posteriors given a sentence are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from latentgram.arrays import Floats
from latentgram.data.dependency_symbols import WordSymbols
from latentgram.data.provenance import Provenance
from latentgram.data.sentence import Sentence
from latentgram.errors import SettingError, a_or_an
from latentgram.kinds.kind import Context
from latentgram.shag.counting import count_distances, count_lexical
from latentgram.shag.grammar import HeadGrammar
from latentgram.shag.kernels.inside_outside import UNIT, HeadWeights
from latentgram.shag.learning import learn_automata
from latentgram.shag.lexical import LexicalSHAG
from latentgram.shag.model import SHAG
from latentgram.shag.relations import Relations
from latentgram.shag.settings import (
    ClusteringProduct,
    CountingDistance,
    CountingLexical,
    EMProduct,
    SpectralProduct,
)
from latentgram.shag.statistics import Trees

MOST_NUMBERS = 2**26
"""In the operators of a sentence under a product of automata, at most."""


@dataclass(frozen=True, eq=False, repr=False)
class ProductSHAG(HeadGrammar):
    """Factors with their powers; the first one that has relations names the arcs.

    >>> import latentgram as lg
    >>> product = lg.fit(lg.ProductSHAG, lg.demo_dependencies(50, seed=1), by=lg.Spectral(states=2))
    >>> [type(factor).__name__ for factor in product.factors], product.powers
    (['SHAG', 'LexicalSHAG', 'ArcDistance'], (1.0, 0.7, 0.5))
    """

    factors: tuple[HeadGrammar, ...]
    powers: tuple[float, ...]
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        pairs = zip(self.factors, self.powers, strict=True)
        hidden = [power for factor, power in pairs if isinstance(factor, SHAG) and not factor.deterministic]
        if len(hidden) > 1:
            raise SettingError("at most one factor of a product may have hidden states")
        if hidden and hidden[0] != 1:
            raise SettingError(
                "only deterministic factors can be raised to a power: a sum over hidden states cannot"
            )

    @property
    def nonnegative(self) -> bool:
        """Whether all weights are probabilities."""
        return all(factor.nonnegative for factor in self.factors)

    @property
    def deterministic(self) -> bool:
        """Whether the best path is the best tree."""
        return all(factor.deterministic for factor in self.factors)

    @property
    def is_distribution(self) -> bool:
        """Whether trees have probabilities and not weights: only those of a grammar multiplied by nothing do."""
        return self.powers == (1.0,) and self.factors[0].is_distribution

    @property
    def relations(self) -> Relations:
        """What names the arcs."""
        return self._grammar.relations

    @property
    def symbols(self) -> WordSymbols:
        """The symbols that the relations are learned on."""
        return self._grammar.symbols

    @property
    def _grammar(self) -> SHAG | LexicalSHAG:
        for factor in self.factors:
            if isinstance(factor, SHAG | LexicalSHAG):
                return factor
        raise SettingError("a product needs a grammar: arc factors alone are not enough")

    def weights(self, sentence: Sentence) -> tuple[HeadWeights, float]:
        """The weights of a sentence's trees."""
        total, log_scale = None, 0.0
        for factor, power in zip(self.factors, self.powers, strict=True):
            weights, log_part = factor.weights(sentence)
            log_scale += power * log_part
            raised = weights if power == 1 else _raised(weights, power)
            total = raised if total is None else _joined(total, raised)
        assert total is not None
        return total, log_scale

    def summary(self) -> str:
        """One line about the size."""
        pairs = zip(self.factors, self.powers, strict=True)
        return " × ".join(
            f"({factor.summary()})" + (f"^{power:g}" if power != 1 else "") for factor, power in pairs
        )


def _parts(factor: HeadGrammar) -> tuple[tuple[HeadGrammar, ...], tuple[float, ...]]:
    if isinstance(factor, ProductSHAG):
        return factor.factors, factor.powers
    if not isinstance(factor, HeadGrammar):
        raise SettingError(f"{a_or_an(type(factor).__name__)} cannot be a factor of a product")
    return (factor,), (1.0,)


def multiply(first: HeadGrammar, second: HeadGrammar) -> ProductSHAG:
    """The product of two grammars, factors or products."""
    (factors, powers), (others, other_powers) = _parts(first), _parts(second)
    return ProductSHAG(factors + others, powers + other_powers)


def power(factor: HeadGrammar, exponent: float) -> ProductSHAG:
    """A deterministic grammar, factor or product raised to a power."""
    if not 0 <= exponent < np.inf:
        raise SettingError(f"the power of a factor must be at least 0 and finite, got {exponent}")
    factors, powers = _parts(factor)
    return ProductSHAG(factors, tuple(old * float(exponent) for old in powers))


def _raised(weights: HeadWeights, power: float) -> HeadWeights:
    """The weights of a deterministic factor to a power; what is impossible stays so, to the power 0 as well."""
    weights = weights._replace(arc=weights.arc**power, halt=weights.halt**power, root=weights.root**power)
    if weights.operators is UNIT:
        return weights
    used, step = np.unique(weights.step, return_inverse=True)
    start, stop, operators = (
        np.where(array > 0, array**power, 0.0) for array in (weights.start, weights.stop, weights.operators[used])
    )
    return weights._replace(
        start=start, stop=stop, operators=operators, step=step.reshape(weights.step.shape).astype(np.int32)
    )


def _joined(first: HeadWeights, second: HeadWeights) -> HeadWeights:
    """One weight for both: states of automata and states σ in pairs."""
    hidden = second if first.operators is UNIT else first
    if first.operators is not UNIT and second.operators is not UNIT:
        hidden = _multiplied(first, second)
    classes = second.arc.shape[2] - 1
    return hidden._replace(
        arc=_paired(first.arc, second.arc),
        halt=_paired(first.halt, second.halt),
        memory=first.memory * classes + second.memory,
        root=first.root * second.root,
    )


def _multiplied(first: HeadWeights, second: HeadWeights) -> HeadWeights:
    """Two automata as one: (A ⊗ B)(x ⊗ y) = Ax ⊗ By."""
    others = len(second.operators)
    used, step = np.unique(first.step.astype(np.int64) * others + second.step, return_inverse=True)
    n_states = first.start.shape[2] * second.start.shape[2]
    if len(used) * n_states**2 > MOST_NUMBERS:
        raise SettingError(
            f"the automata of the factors have {n_states} states together: use fewer states in one of them"
        )
    start, stop = (
        (one[..., :, None] * other[..., None, :]).reshape(*one.shape[:2], n_states)
        for one, other in ((first.start, second.start), (first.stop, second.stop))
    )
    left, right = first.operators[used // others], second.operators[used % others]
    operators = (left[:, :, None, :, None] * right[:, None, :, None, :]).reshape(len(used), n_states, n_states)
    return first._replace(
        start=start, stop=stop, operators=operators, step=step.reshape(first.step.shape).astype(np.int32)
    )


def _paired(first: Floats, second: Floats) -> Floats:
    """Weights by pairs of states: "first" goes with "first", every class with every class."""
    if first.shape[2] == 2 and second.shape[2] == 2:
        return first * second
    later = first[:, :, 1:, None] * second[:, :, None, 1:]
    return np.concatenate([first[:, :, :1] * second[:, :, :1], later.reshape(*first.shape[:2], -1)], axis=2)


def learn_product(
    trees: Trees, learner: SpectralProduct | EMProduct | ClusteringProduct, context: Context
) -> ProductSHAG:
    """The recipe: head automata by any learner, times words and times distances, each to its power.

    A `dev_score` chooses among the automata by the products they make. Deterministic automata make a deterministic
    product, whose best tree can be found (`Viterbi`).
    """
    symbols, vectors, clusters = learner.symbols, learner.vectors, learner.clusters
    lexical = count_lexical(trees, CountingLexical(symbols, vectors, clusters), context)
    distance = count_distances(trees, CountingDistance(symbols, vectors, clusters), context)
    powers = ((lexical, learner.lexical), (distance, learner.distance))

    def product(hidden: SHAG) -> ProductSHAG:
        kept = [(hidden, 1.0), *((factor, power) for factor, power in powers if power)]
        factors, exponents = zip(*kept, strict=True)
        return ProductSHAG(factors, exponents, hidden.provenance)

    score = context.dev_score
    if score is not None:
        context = replace(context, dev_score=lambda hidden: score(product(cast(SHAG, hidden))))
    return product(learn_automata(trees, learner, context))
