"""How much probability the strings of an automaton have together, by their lengths: stopᵀ (Σ_a A_a)ⁿ start."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentgram.sequences.automaton import OperatorAutomaton


def string_mass(automaton: OperatorAutomaton, longest: int) -> NDArray[np.float64]:
    """[longest] the probability of all strings of 1, 2, … symbols.

    >>> coin = OperatorAutomaton.of("ht", start=[1.0], stop=[0.5], step={"h": [[0.25]], "t": [[0.25]]})
    >>> string_mass(coin, 3)
    array([0.25  , 0.125 , 0.0625])
    """
    step, state, mass = automaton.step.sum(0), automaton.start, []
    for _ in range(longest):
        state = step @ state
        mass.append(automaton.stop @ state)
    return np.array(mass)
