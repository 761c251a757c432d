"""The learners: what can be asked of `fit(Model, data, by=learner)`. None means the model's own default."""

from __future__ import annotations

from dataclasses import dataclass

from latentgram.learn.settings import Settings, setting


@dataclass(frozen=True)
class Counting(Settings):
    """Relative frequencies of what is observed.

    >>> Counting()
    Counting()
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
