"""The learners: what can be asked of `fit(Model, data, by=learner)`. None means the model's own default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from latentgram.learn.settings import Settings, setting


@dataclass(frozen=True)
class GrammarSettings(Settings):
    """How a treebank becomes binary trees over known words: for learners of grammars."""

    direction: Literal["left", "right", "head"] | None = setting(
        "from where nodes with many children are made binary", choices=("left", "right", "head")
    )
    horizontal: int | None = setting("siblings remembered when nodes are made binary", at_least=0)
    vertical: int | None = setting("labels a node knows on the way up, its own included", at_least=1)
    rare: int | None = setting("words seen at most so often count as words of their form", at_least=0)


@dataclass(frozen=True)
class Counting(GrammarSettings):
    """Relative frequencies of what is observed.

    >>> Counting(vertical=2).vertical
    2
    """


@dataclass(frozen=True)
class Spectral(Settings):
    """Hidden states from the singular vectors of moments of the data: one pass, no local optima.

    >>> Spectral(states=16).states
    16
    """

    states: int | None = setting("number of hidden states (of each symbol, at most)", at_least=1)


@dataclass(frozen=True)
class EM(Settings):
    """Expectation-maximisation."""

    states: int | None = setting("number of hidden states (of each symbol, at most)", at_least=1)
    iterations: int | None = setting("number of passes over the data", at_least=1)
    seed: int | None = setting("seed of the random start", at_least=0)


@dataclass(frozen=True)
class Clustering(Settings):
    """k-means of spectral vectors into hard states, then counting: non-negative by construction."""

    states: int | None = setting("number of hidden states (of each symbol, at most)", at_least=1)
    seed: int | None = setting("seed of the clustering", at_least=0)
