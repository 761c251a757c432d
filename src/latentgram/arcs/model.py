"""`ArcFactored`: trees scored by features of arcs, and of adjacent siblings (McDonald 2006).

    score(y) = Σ_{(h,m) in y} w·f(h,m)  [+ Σ_{(h,s,m) in y} w·g(h,s,m) in the second order]

Features are hashed (kernels/features.py) and most weights are zero: only the others are stored. The best tree, the
k best ones and the posteriors of arcs come from one dynamic program over the scores (numeric/projective.py). The
second order considers only the arcs that a first-order model, its `pruner`, finds likely, so both cost about O(N³)
with a small constant.

**Probabilities.** p(y | sentence) ∝ exp(scale · score(y)) turns scores into probabilities. Weights learned by
margins have no natural scale; it is fitted on sentences that the weights were not learned from.

**Crossing arcs.** By default trees are projective; the names of relations may encode which arcs cross
(crossing.py). In non-projective models, the first order is exact over all trees (numeric/spanning.py), and the
second rearranges its best projective tree (numeric/rearranging.py); its probabilities are those of its pruner,
which are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from latentgram.arcs.crossing import LIFTED
from latentgram.arcs.kernels.features import score_arcs, score_listed, score_tree
from latentgram.arcs.kernels.pruning import likely_arcs
from latentgram.arcs.kernels.relations import name_arcs, relation_scores
from latentgram.arcs.symbols import ArcSymbols
from latentgram.arrays import Flags, Floats, Floats32, Integers, Ints, Ints32, Reals
from latentgram.data.alphabet import Alphabet
from latentgram.data.dependencies import DependencyTree
from latentgram.data.invariants import ANY, FINITE, NONNEGATIVE, below, holds, rising, shape, within
from latentgram.data.provenance import Provenance, Summarised
from latentgram.data.sentence import Sentence
from latentgram.errors import DataError, SettingError
from latentgram.numeric.projective import (
    NO_LISTS,
    TreeScores,
    best_heads,
    draw_heads,
    k_best_heads,
    score_heads,
    second_order,
)
from latentgram.numeric.projective_posteriors import posteriors
from latentgram.numeric.rearranging import best_rearranged
from latentgram.numeric.spanning import best_spanning, draw_spanning, k_best_spanning, spanning_marginals

Mask = tuple[Flags, Flags]
"""Which arcs (head, modifier) and which root words are allowed."""


@dataclass(frozen=True, eq=False)
class HashedWeights:
    """A long vector of weights of which most are zero, kept as the others and their places.

    >>> weights = HashedWeights.of(np.array([0, 0.5, 0, -1]))
    >>> weights.bucket, weights.dense
    (array([1, 3], dtype=uint32), array([ 0. ,  0.5,  0. , -1. ], dtype=float32))
    """

    size: Annotated[int, within(0, 2**31)]
    bucket: Annotated[NDArray[np.uint32], shape(ANY), rising(), below("size")]
    value: Annotated[Floats32, shape("len(bucket)"), FINITE]

    @classmethod
    def of(cls, dense: Reals) -> HashedWeights:
        """Keep what is not zero, in single precision."""
        rounded = dense.astype(np.float32)
        bucket = np.flatnonzero(rounded)
        return cls(len(rounded), bucket.astype(np.uint32), rounded[bucket])

    @cached_property
    def dense(self) -> Floats32:
        """All weights."""
        weights = np.zeros(self.size, np.float32)
        weights[self.bucket] = self.value
        return weights

    def __len__(self) -> int:
        return len(self.bucket)


@dataclass(frozen=True, eq=False)
class ArcRelations:
    """The relation of each arc of a tree, by a linear classifier on the arc and its surroundings.

    The names of relations and the weights of their features, see kernels/relations.py.
    """

    names: Annotated[Alphabet, holds("len(names) > 0", "has no name")]
    weights: Annotated[HashedWeights, holds("len(names) == 1 or weights.size >= len(names) + 8", "is too short")]
    scale: Annotated[float, NONNEGATIVE, FINITE] = 0.0
    """p(relation | head) ∝ exp(scale · score); 0 in files of a time when it was not fitted."""

    @cached_property
    def lifts(self) -> bool:
        """Whether some names tell that an arc is to be lowered (crossing.py)."""
        return any(LIFTED in name for name in self.names)

    def predict(self, symbols: Ints32, heads: Integers) -> tuple[tuple[str, ...], Floats]:
        """The relations of a tree and their probabilities given its heads, none if there are none.

        symbols [4 or 5 + F, N + 2] with places for root and end, heads from 1, 0 the root.
        """
        if len(self.names) == 1:
            return self.names.symbols * len(heads), np.zeros(0)
        relations, sure = name_arcs(symbols, _places(heads), self.weights.dense, len(self.names), self.scale)
        return tuple(self.names.decode(relations)), sure if self.scale > 0.0 else np.zeros(0)

    def posteriors(self, symbols: Ints32, heads: Integers) -> Floats:
        """p(relation | head) [N, L] of every relation of every word; 0 where that is not known."""
        if self.scale == 0.0 or len(self.names) == 1:
            return np.zeros((len(heads), len(self.names)))
        scores = self.scale * relation_scores(symbols, _places(heads), self.weights.dense, len(self.names))
        shares: Floats = np.exp(scores - scores.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        return shares


def _places(heads: Integers) -> Ints:
    """Heads with places for the root and the end."""
    places = np.zeros(len(heads) + 2, np.int64)
    places[1:-1] = heads
    return places


@dataclass(frozen=True, eq=False)
class ArcScores:
    """The scores of a sentence's trees, of the first or the second order."""

    trees: TreeScores

    @property
    def order(self) -> int:
        """1 for scores of arcs, 2 for those of listed arcs and their siblings."""
        return 2 if len(self.trees.offset) else 1

    def best(self) -> tuple[Ints, float]:
        """The heads of the best tree (from 0, −1 for the root word) and its score."""
        heads, score = best_heads(self.trees)
        return heads, float(score)

    def k_best(self, k: int) -> tuple[Ints, Floats]:
        """[at most k, N] the heads of the best trees, best first, and their scores."""
        heads, scores = k_best_heads(self.trees, k)
        return heads, scores

    def marginals(self, scale: float) -> tuple[Floats, Floats, float]:
        """Posteriors of all arcs [N, N] and root words [N] under exp(scale · score), and log Z."""
        arcs, roots, log_total = posteriors(self.trees, scale)
        return arcs, roots, float(log_total)

    def of_heads(self, heads: Ints) -> float:
        """The score of a projective tree; −∞ if an arc of it was pruned."""
        return float(score_heads(self.trees, heads))

    def draw(self, scale: float, uniforms: Floats) -> Ints:
        """[trees, N] the heads of trees drawn from exp(scale · score), by the rows of `uniforms` [trees, 4N]."""
        trees = self.trees
        if self.order == 1:
            # Drawn as in the second order, with siblings of weight 0: equal numbers then choose alike in both.
            listed = second_order(~np.eye(len(trees.root), dtype=np.bool_))
            trees = listed._replace(arc=trees.arc, root=trees.root)
        drawn: Ints = draw_heads(_scaled(trees, scale), uniforms)
        return drawn


@dataclass(frozen=True, eq=False)
class SpanningScores(ArcScores):
    """The scores of all trees of a sentence, arcs that cross included, of the first order."""

    def best(self) -> tuple[Ints, float]:
        """The heads of the best tree (from 0, −1 for the root word) and its score."""
        heads, score = best_spanning(self.trees.arc, self.trees.root)
        return heads, float(score)

    def k_best(self, k: int) -> tuple[Ints, Floats]:
        """[at most k, N] the heads of the best trees, best first, and their scores."""
        heads, scores = k_best_spanning(self.trees.arc, self.trees.root, k)
        return heads, scores

    def marginals(self, scale: float) -> tuple[Floats, Floats, float]:
        """Posteriors of all arcs [N, N] and root words [N] under exp(scale · score), and log Z."""
        arcs, roots, log_total = spanning_marginals(scale * self.trees.arc, scale * self.trees.root)
        return arcs, roots, float(log_total)

    def draw(self, scale: float, uniforms: Floats) -> Ints:
        """[trees, N] the heads of trees drawn from exp(scale · score), by the rows of `uniforms`."""
        drawn: Ints = draw_spanning(scale * self.trees.arc, scale * self.trees.root, uniforms)
        return drawn


@dataclass(frozen=True, eq=False)
class RearrangedScores(SpanningScores):
    """The scores of the second order over trees with crossing arcs; all but the best tree is the pruner's."""

    listed: TreeScores
    """The scores of arcs and siblings."""

    def best(self) -> tuple[Ints, float]:
        """The heads of the best projective tree, rearranged, and their score."""
        heads, score = best_rearranged(self.listed)
        return heads, float(score)

    def k_best(self, k: int) -> tuple[Ints, Floats]:
        """There is no such list."""
        raise SettingError(
            "a non-projective parser of order 2 finds one tree, not an n-best list: train with order 1 for lists"
        )


def _scaled(trees: TreeScores, scale: float) -> TreeScores:
    return trees._replace(arc=scale * trees.arc, root=scale * trees.root, sibling=scale * trees.sibling)


@dataclass(frozen=True, eq=False, repr=False)
class ArcFactored(Summarised):
    """A parser that scores arcs (order 1), or arcs and adjacent siblings (order 2).

    >>> import latentgram as lg
    >>> model = lg.fit(lg.ArcFactored, lg.demo_dependencies(30, seed=0), by=lg.MIRA(order=1, passes=1))
    >>> model.order
    1
    """

    symbols: ArcSymbols
    order: int
    weights: Annotated[HashedWeights, holds("weights.size >= 16", "is shorter than the variants of a feature")]
    pruner: ArcFactored | None
    """The first-order model that chooses the arcs the second order looks at."""
    scale: Annotated[float, FINITE]
    """What scores are multiplied by in the normalised reading."""
    floor: Annotated[float, FINITE]
    """A head is looked at in the second order if it is at least so many times as likely as the likeliest one."""
    relations: ArcRelations
    provenance: Provenance = field(default_factory=Provenance)
    projective: bool = True
    """Whether all its trees are projective."""

    def __post_init__(self) -> None:
        if self.order not in (1, 2) or (self.order == 2) != (self.pruner is not None):
            raise SettingError("an arc-factored parser has the order 1, or the order 2 and a pruner")

    def encode(self, sentence: Sentence) -> Ints32:
        """[4, N + 2] the symbols of a sentence."""
        return self.symbols.encode([sentence]).sentence(0)

    def scores(self, symbols: Ints32, allowed: Mask | None = None) -> ArcScores:
        """The scores of the trees of an encoded sentence; with a mask, only of the trees that it allows."""
        n_words = symbols.shape[1] - 2
        if self.pruner is None:
            arc, root = np.full((n_words, n_words), -np.inf), np.empty(n_words)
            score_arcs(symbols, self.weights.dense, arc, root)
            if allowed is not None:
                arc[~allowed[0]] = -np.inf
                root[~allowed[1]] = -np.inf
            trees = TreeScores(arc, root, *NO_LISTS)
            return ArcScores(trees) if self.projective else SpanningScores(trees)
        pruner = self.pruner
        if allowed is None:
            kept = likely_arcs(symbols, pruner.weights.dense, pruner.scale, self.floor, not self.projective)
            mask = kept[1:], kept[0]
        else:
            mask = allowed if self.projective else self._likely_among(pruner.scores(symbols, allowed))
        trees = second_order(mask[0])
        score_listed(symbols, self.weights.dense, trees)
        trees.root[~mask[1]] = -np.inf
        if self.projective:
            return ArcScores(trees)
        return RearrangedScores(pruner.scores(symbols, allowed).trees, trees)

    def _likely_among(self, scores: ArcScores) -> Mask:
        """The arcs that the pruner finds likely among allowed ones, those of its best tree included."""
        arcs, roots, _ = scores.marginals(self.scale)
        least = self.floor * np.maximum(arcs.max(0), roots)
        heads, _ = scores.best()
        arcs[heads[heads >= 0], np.flatnonzero(heads >= 0)] = 1.0
        roots[heads < 0] = 1.0
        return (arcs >= least) & (arcs > 0), (roots >= least) & (roots > 0)

    def tree_score(self, tree: DependencyTree) -> float:
        """The score of a tree, pruned or not."""
        if tree.fault is not None:
            raise DataError(f"not a tree: {tree.fault}")
        heads = np.array([0, *tree.heads, 0], np.int64)
        symbols = self.encode(tree.sentence)
        return float(score_tree(symbols, self.weights.dense, heads, self.order == 2))

    def summary(self) -> str:
        """One line about the size."""
        kind = "" if self.projective else ", arcs may cross"
        return (
            f"arc-factored parser of order {self.order}{kind}: {len(self.weights):,} weights, "
            f"{len(self.symbols.words):,} words, {len(self.symbols.tags.alphabet)} tags, "
            f"{len(self.relations.names)} relations"
        )
