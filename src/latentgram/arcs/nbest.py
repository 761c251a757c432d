"""`NBestList`: the best trees of a sentence with their scores, and what other models say of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.arcs.model import ArcFactored
from latentgram.arcs.top_down import TopDown
from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.errors import DataError
from latentgram.latent_tree.model import LatentTree
from latentgram.shag.grammar import HeadGrammar
from latentgram.shag.kernels.inside_outside import tree_weight

Floats = NDArray[np.float64]
Rater = HeadGrammar | LatentTree | Callable[[DependencyTree], float]
"""What can rate a tree: a grammar, a latent tree model, or any function of a tree."""
Scorer = TopDown | Rater | tuple[Rater, ...]
"""One of them, several whose ratings are averaged: the product of models of different starts (Petrov 2010), or a
top-down model, which rates a tree twice."""

WORST = 50.0
"""How far below the best of its list a log-probability may lie; what is less, or no number, is set there."""


@dataclass(frozen=True, eq=False)
class NBestList:
    """The best trees of a sentence.

    >>> candidates = NBestList(Sentence.of("a b"), np.array([[0, 1], [2, 0]]), np.array([1.0, 0.5]), (2, 0))
    >>> candidates.right.tolist(), candidates.oracle
    ([0, 2], 1)
    """

    sentence: Sentence
    heads: NDArray[np.int64]
    """[k, N] numbered from 1, 0 for the root; best first."""
    scores: Floats
    gold: tuple[int, ...] | None = None

    @classmethod
    def of(
        cls, model: ArcFactored, sentence: Sentence, count: int, gold: tuple[int, ...] | None = None
    ) -> NBestList:
        """The `count` best trees by a model."""
        heads, scores = model.scores(model.encode(sentence)).k_best(count)
        return cls(sentence, heads + 1, scores, gold)

    def __len__(self) -> int:
        return len(self.heads)

    @property
    def right(self) -> NDArray[np.int64]:
        """[k] the number of right heads of each tree."""
        if self.gold is None:
            raise DataError("the list has no right tree to compare its trees with")
        return np.asarray((self.heads == np.array(self.gold)).sum(1))

    @property
    def oracle(self) -> int:
        """The place of the tree with the most right heads."""
        return int(np.argmax(self.right))

    def trees(self) -> Iterator[DependencyTree]:
        """The trees themselves."""
        given = self.sentence
        for heads in self.heads:
            yield DependencyTree(given.words, tuple(heads.tolist()), upos=given.upos or (), xpos=given.xpos or ())

    def rated_by(self, scorer: Rater | tuple[Rater, ...], name: str = "rating") -> Floats:
        """[k] the log-probability of each tree less that of the best; never below −WORST, never nan.

        A function may say −inf, the logarithm of 0; a fault in what it says is told with the feature's `name`.
        """
        if isinstance(scorer, tuple):
            average: Floats = np.mean([self.rated_by(rater, name) for rater in scorer], axis=0)
            return average
        return _raised(np.asarray(self._ratings(scorer, name), np.float64))

    def columns(self, scorer: Scorer, name: str = "rating") -> Floats:
        """[k, features] what a scorer says, one feature for each of `feature_names`, each as in `rated_by`."""
        if isinstance(scorer, TopDown):
            parts = scorer.logprobs_of_heads(self.sentence, self.heads)
            return np.stack([_raised(part) for part in parts.T], axis=1)
        return self.rated_by(scorer, name)[:, None]

    def _ratings(self, scorer: Rater, name: str) -> Floats:
        if isinstance(scorer, HeadGrammar):
            weights, _ = scorer.weights(self.sentence)
            pairs = [tree_weight(*weights, heads) for heads in self.heads - 1]
            return np.array([log_weight if sign > 0 else -np.inf for log_weight, sign in pairs])
        if isinstance(scorer, LatentTree):
            return scorer.logprobs_of_heads(self.sentence, self.heads)
        return np.array([_number(scorer(tree), name) for tree in self.trees()])


def _number(rating: Any, name: str) -> float:
    """What a function says of a tree, if it is a number below infinity."""
    try:
        number = float(rating)
    except (TypeError, ValueError):
        number = np.nan
    if np.isnan(number) or number == np.inf:
        raise DataError(f"the feature {name!r} of a tree must be a number, its function gave {rating!r}")
    return number


def _raised(ratings: Floats) -> Floats:
    """Ratings less the best of them, with a floor; all 0 if none is a number."""
    ratings = np.where(np.isnan(ratings), -np.inf, ratings)
    best = ratings.max()
    return np.zeros(len(ratings)) if best == -np.inf else np.maximum(ratings - best, -WORST)


def feature_names(name: str, scorer: Scorer) -> tuple[str, ...]:
    """The names of a scorer's features: its own, or for a top-down model one a part.

    >>> feature_names("length", len)
    ('length',)
    """
    return tuple(f"{name} {part}" for part in TopDown.PARTS) if isinstance(scorer, TopDown) else (name,)


def nbest_lists(model: ArcFactored, trees: Iterable[Any], count: int) -> list[NBestList]:
    """The lists of the sentences of trees (with their heads as the right ones) or of plain sentences."""
    return [NBestList.of(model, item.sentence, count, getattr(item, "heads", None)) for item in trees]
