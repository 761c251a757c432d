"""Groups of hyper-parameters that recipes of several families share: bases of the classes in their settings.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from latentgram.kinds import fields
from latentgram.kinds.settings import Settings

STARTS = 4
"""Starts of a model whose ratings are averaged: what they agree on is less a matter of luck."""


@dataclass(frozen=True, repr=False)
class Seeded(Settings):
    """What draws random numbers."""

    seed: int = fields.SEED(0)


@dataclass(frozen=True, repr=False)
class Iterated(Seeded):
    """EM from a random start."""

    iterations: int = fields.ITERATIONS(40)


@dataclass(frozen=True, repr=False)
class Gradual(Seeded):
    """Stochastic gradients over the data, several times."""

    passes: int = fields.PASSES(8)
    step: float = fields.FIRST_STEP(0.3)


@dataclass(frozen=True, repr=False)
class Strings(Settings):
    """Strings before a place and behind it, and how their counts are weighed: what spectral automata come from."""

    states: int = fields.STATES(10)
    history: int = fields.HISTORY(1)
    future: int = fields.FUTURE(1)
    power: float = fields.POWER(0.0)
    ridge: float = fields.RIDGE(0.0)


@dataclass(frozen=True, repr=False)
class TagSymbols(Settings):
    """What the words of a dependency treebank become."""

    symbols: Literal["joined", "upos", "xpos", "words"] = fields.SYMBOLS("joined")
