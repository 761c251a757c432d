"""`NBestList`: the best trees of a sentence with their scores, and their scores under other models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from latentgram.arcs.model import ArcFactored
from latentgram.arrays import Floats, Ints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.errors import DataError
from latentgram.kinds.protocols import Rater

TreeFunction = Callable[[DependencyTree], float]
TreeScorer = Rater | TreeFunction | tuple[Rater | TreeFunction, ...]
"""What can rate trees: a model that does so, any function of a tree, or several whose ratings are averaged: the
product of models of different starts (Petrov 2010)."""

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
    heads: Ints
    """[k, N] numbered from 1, 0 for the root; best first."""
    scores: Floats
    gold: tuple[int, ...] | None = None

    @classmethod
    def of(
        cls, model: ArcFactored, sentence: Sentence, count: int, gold: tuple[int, ...] | None = None
    ) -> NBestList:
        """The `count` best trees of a model."""
        heads, scores = model.scores(model.encode(sentence)).k_best(count)
        return cls(sentence, heads + 1, scores, gold)

    def __len__(self) -> int:
        return len(self.heads)

    @property
    def right(self) -> Ints:
        """[k] the number of correct heads of each tree."""
        if self.gold is None:
            raise DataError("the list has no gold tree to compare its trees with")
        return np.asarray((self.heads == np.array(self.gold)).sum(1))

    @property
    def oracle(self) -> int:
        """The position of the tree with the most correct heads."""
        return int(np.argmax(self.right))

    def trees(self) -> Iterator[DependencyTree]:
        """The trees themselves."""
        words, upos, xpos = self.sentence.words, self.sentence.upos or (), self.sentence.xpos or ()
        feats = self.sentence.feats or ()
        for heads in self.heads:
            yield DependencyTree(words, tuple(heads.tolist()), upos=upos, xpos=xpos, feats=feats)

    def rated_by(self, scorer: TreeScorer, name: str = "rating") -> Floats:
        """[k] the log-probability of each tree less that of the best; never below −WORST, never nan.

        The scorer may return −inf, the logarithm of 0; an error message about its values contains `name`.
        """
        return np.asarray(self.columns(scorer, name)[:, 0])

    def columns(self, scorer: TreeScorer, name: str = "rating") -> Floats:
        """[k, features] the scores of a scorer, one column for each of its `feature_names`, as in `rated_by`."""
        if isinstance(scorer, tuple):
            average: Floats = np.mean([self.columns(rater, name) for rater in scorer], axis=0)
            return average
        if isinstance(scorer, Rater):
            ratings = scorer.rate(self.sentence, self.heads)
        else:
            ratings = np.array([[_number(scorer(tree), name)] for tree in self.trees()])
        return np.stack([_raised(column) for column in ratings.T], axis=1)


def _number(rating: float, name: str) -> float:
    """What a function says of a tree, if it is a number below infinity."""
    try:
        number = float(rating)
    except (TypeError, ValueError):
        number = np.nan
    if np.isnan(number) or number == np.inf:
        raise DataError(f"the feature {name!r} of a tree must be a number, got {rating!r}")
    return number


def _raised(ratings: Floats) -> Floats:
    """Ratings less the best of them, with a floor; all 0 if none is a number."""
    ratings = np.where(np.isnan(ratings), -np.inf, ratings)
    best = ratings.max()
    return np.zeros(len(ratings)) if best == -np.inf else np.maximum(ratings - best, -WORST)


def feature_names(name: str, scorer: TreeScorer) -> tuple[str, ...]:
    """The names of a scorer's features: its own, or one for each of its ratings.

    >>> feature_names("length", len)
    ('length',)
    """
    first = scorer[0] if isinstance(scorer, tuple) else scorer
    ratings = first.RATINGS if isinstance(first, Rater) else ()
    return tuple(f"{name} {rating}" for rating in ratings) or (name,)


def nbest_lists(model: ArcFactored, trees: Iterable[DependencyTree], count: int) -> list[NBestList]:
    """The lists of the sentences of trees, with their heads as the right ones."""
    return [NBestList.of(model, tree.sentence, count, tree.heads) for tree in trees]
