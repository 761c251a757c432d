"""`OperatorAutomaton` against plain matrix products."""

from itertools import product

import numpy as np
import pytest

from latentgram.data.alphabet import Alphabet
from latentgram.errors import DataError
from latentgram.sequences.automaton import OperatorAutomaton


def random_automaton(seed: int = 0, states: int = 3, signed: bool = True) -> OperatorAutomaton:
    rng = np.random.default_rng(seed)
    draw = rng.standard_normal if signed else rng.random
    return OperatorAutomaton(Alphabet.of("abc"), draw(states), draw(states), 0.2 * draw((3, states, states)))


def test_values_are_products_of_matrices() -> None:
    automaton = random_automaton()
    for length in range(4):
        for string in product(range(3), repeat=length):
            state = automaton.start
            for symbol in string:
                state = automaton.step[symbol] @ state
            expected = automaton.stop @ state
            assert automaton.probability("abc"[i] for i in string) == pytest.approx(expected, rel=1e-12)


def test_long_strings_do_not_underflow() -> None:
    automaton = random_automaton(signed=False)
    sign, log_size = automaton.values(["a b " * 2000, "a b " * 2001])
    square = automaton.step[1] @ automaton.step[0]
    rate = np.log(np.abs(np.linalg.eigvals(square)).max())
    assert np.all(sign == 1)
    assert log_size[1] - log_size[0] == pytest.approx(rate, rel=1e-10)


def test_unknown_symbols_have_no_weight() -> None:
    automaton = random_automaton()
    assert automaton.probability("a x") == 0.0
    assert not automaton.forward("a x")[-1].any()


def test_total_is_the_sum_over_strings() -> None:
    automaton = random_automaton(signed=False, states=2)
    every = automaton.step.sum(0)
    total, state = 0.0, automaton.start
    for _ in range(2000):
        total += automaton.stop @ state
        state = every @ state
    assert automaton.total() == pytest.approx(total, rel=1e-10)


def test_shapes_are_checked() -> None:
    with pytest.raises(DataError, match="needs a stop vector of 2"):
        OperatorAutomaton(Alphabet.of("a"), np.ones(2), np.ones(3), np.ones((1, 2, 2)))
