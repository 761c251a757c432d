"""`HeadGrammar`: what every split head-automata grammar can do, whatever its weights are made of.

A grammar gives the weights of a sentence (`HeadWeights`, with every factor folded in) and everything else follows
from the one inside–outside of `latentgram.shag.kernels.inside_outside`. Posteriors are quotients by the *signed*
Z: a spectral grammar may have Z ≤ 0 for a sentence, and then its probability is not a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from latentgram.arrays import Floats, Integers, Ints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.provenance import Provenance, Summarised
from latentgram.data.sentence import Sentence, SentenceLike
from latentgram.errors import DataError
from latentgram.shag.kernels import inside_outside as head_automata
from latentgram.shag.kernels.inside_outside import HeadWeights

if TYPE_CHECKING:
    from latentgram.shag.product import ProductSHAG


@dataclass(frozen=True, eq=False)
class ArcPosteriors:
    """The posterior of every arc (head, modifier) and root word of a sentence, and log p(sentence).

    Columns of `arcs` plus `roots` sum to 1. `logprob` is nan when the signed Z is not positive, and −inf when
    no tree has any weight (then all posteriors are 0).
    """

    arcs: Floats
    roots: Floats
    logprob: float

    def of_heads(self, heads: Integers) -> Floats:
        """The posteriors of the arcs of a tree (heads from 0, −1 for the root word)."""
        words = np.arange(len(heads))
        return np.where(heads < 0, self.roots, self.arcs[np.maximum(heads, 0), words])

    @property
    def entropy(self) -> float:
        """The entropies of the words' heads, in nats, summed: an upper bound of that of the tree."""
        shares = np.abs(np.vstack([self.arcs, self.roots]))
        return max(float(-(shares * np.log(np.where(shares > 0, shares, 1.0))).sum()), 0.0)


class HeadGrammar(Summarised):
    """A distribution, or at least a weight, over sentences with projective dependency trees."""

    RATINGS: ClassVar[tuple[str, ...]] = ()

    provenance: Provenance
    """How it was learned."""

    @property
    def nonnegative(self) -> bool:
        """Whether all weights are probabilities."""
        raise NotImplementedError

    @property
    def deterministic(self) -> bool:
        """Whether the best path is the best tree."""
        raise NotImplementedError

    @property
    def is_distribution(self) -> bool:
        """Whether the weights of all trees of all sentences sum to at most one; those of factors need not."""
        return False

    def weights(self, sentence: Sentence) -> tuple[HeadWeights, float]:
        """The weights of a sentence's trees, and the logarithm of a factor left out of every one of them."""
        raise NotImplementedError

    def posteriors(self, sentence: SentenceLike) -> ArcPosteriors:
        """Inside–outside: the posteriors of all arcs."""
        weights, log_scale = self.weights(Sentence.of(sentence))
        arcs, roots, log_total, sign = head_automata.marginals(weights)
        return ArcPosteriors(arcs, roots, as_logprob(log_total, sign, log_scale))

    def logprob(self, sentence: SentenceLike) -> float:
        """log p(sentence), the sum over all its trees."""
        weights, log_scale = self.weights(Sentence.of(sentence))
        log_total, sign = head_automata.log_partition(weights)
        return as_logprob(log_total, sign, log_scale)

    def tree_logprob(self, tree: DependencyTree) -> float:
        """log p(tree, sentence) of a projective tree."""
        if not tree.is_projective:
            raise DataError(
                "the tree is not projective, so it has no probability under this model (projectivise it first)"
            )
        weights, log_scale = self.weights(tree.sentence)
        log_weight, sign = head_automata.tree_weight(weights, np.array(tree.heads) - 1)
        return as_logprob(log_weight, sign, log_scale)

    def rate(self, sentence: Sentence, heads: Ints) -> Floats:
        """[k, 1] the log-weights of k projective trees; −inf where a weight is not positive."""
        weights, _ = self.weights(sentence)
        pairs = [head_automata.tree_weight(weights, tree) for tree in heads - 1]
        return np.array([[log_weight if sign > 0 else -np.inf] for log_weight, sign in pairs])

    def __mul__(self, other: HeadGrammar) -> ProductSHAG:
        """The product of two weights (Luque et al. 2012, Eq. 21): at most one factor may have hidden states."""
        from latentgram.shag.product import multiply

        return multiply(self, other)

    def __pow__(self, exponent: float) -> ProductSHAG:
        """A factor raised to a power: how much it counts in a product."""
        from latentgram.shag.product import power

        return power(self, exponent)


def as_logprob(log_size: float, sign: float, log_scale: float) -> float:
    """log p of a signed weight: nan where it is negative, −inf where it is nothing."""
    if sign > 0:
        return log_size + log_scale
    return -np.inf if sign == 0 else np.nan
