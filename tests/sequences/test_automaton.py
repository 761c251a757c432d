"""`OperatorAutomaton` against plain matrix products."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from latentgram.data.alphabet import Alphabet
from latentgram.errors import DataError, SettingError
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


def hidden_chain() -> OperatorAutomaton:
    """A small distribution over strings: every state ends with probability 0.3."""
    rng = np.random.default_rng(3)
    step = rng.random((3, 2, 2))
    step *= 0.7 / step.sum((0, 1))
    return OperatorAutomaton(Alphabet.of("abc"), np.array([0.6, 0.4]), np.full(2, 0.3), step)


def test_prefixes_and_next_symbols_are_sums_over_strings() -> None:
    automaton = hidden_chain()
    strings = [string for length in range(11) for string in product("abc", repeat=length)]
    sign, log_size = automaton.values(strings)
    value = dict(zip(strings, sign * np.exp(log_size), strict=True))
    for prefix in ((), ("a",), ("b", "c")):
        begin = {s: p for s, p in value.items() if s[: len(prefix)] == prefix}
        whole = sum(begin.values())
        # Strings of more than ten symbols, less than 0.7^11 of all, are not listed.
        assert np.exp(automaton.prefix_logprobs(prefix)[-1]) == pytest.approx(whole, abs=0.7**11)
        following = automaton.next_symbols(prefix)
        assert sum(following.values()) == pytest.approx(1.0)
        assert following[None] == pytest.approx(value[prefix] / np.exp(automaton.prefix_logprobs(prefix)[-1]))
        for symbol in "abc":
            share = sum(p for s, p in begin.items() if s[len(prefix) : len(prefix) + 1] == (symbol,))
            assert following[symbol] == pytest.approx(share / whole, abs=0.7**10 / whole)


def test_surprisals_add_up_to_the_string_at_ten_thousand_symbols() -> None:
    automaton = hidden_chain()
    long = ["a", "b", "c", "b"] * 2500
    logs = automaton.prefix_logprobs(long)
    assert np.isfinite(logs).all()
    assert (np.diff(logs) < 0).all()
    assert automaton.logprob(long) == pytest.approx(
        logs[-1] + np.log(automaton.next_symbols(long)[None]), rel=1e-12
    )
    assert automaton.prefix_logprobs(["a", "x", "a"])[1:].tolist()[1:] == [-np.inf, -np.inf]
    with pytest.raises(DataError, match="nothing follows"):
        automaton.next_symbols(["x"])


def test_a_value_too_small_for_a_number_is_zero_without_a_sign() -> None:
    automaton = OperatorAutomaton.of("a", start=[1.0], stop=[-0.5], step={"a": [[0.01]]})
    assert str(automaton.probability(["a"] * 500)) == "0.0"
    assert automaton.probability("a") == pytest.approx(-0.005)


def test_samples_follow_the_automaton() -> None:
    automaton = hidden_chain()
    drawn = automaton.sample(20_000, seed=2)
    assert drawn[:50] == automaton.sample(50, seed=2)
    for string in ((), ("a",), ("b",), ("c", "a")):
        assert drawn.count(string) / 20_000 == pytest.approx(automaton.probability(string), abs=0.01)
    assert max(map(len, automaton.sample(200, longest=3))) == 3
    with pytest.raises(DataError, match="do not have a finite sum"):
        OperatorAutomaton.of("a", start=[1.0], stop=[1.0], step={"a": [[1.5]]}).sample(1)
    with pytest.raises(SettingError, match="the number of strings must be at least 1"):
        automaton.sample(0)


def test_openfst_text_holds_the_same_weights(tmp_path: Path) -> None:
    automaton = hidden_chain()
    automaton.to_openfst(tmp_path / "a.fst")
    arcs, final = [], {}
    for line in (tmp_path / "a.fst").read_text().splitlines():
        columns = line.split("\t")
        if len(columns) == 5:
            arcs.append((int(columns[0]), int(columns[1]), columns[2], float(columns[4])))
        else:
            final[int(columns[0])] = float(columns[1])
    assert arcs[0][0] == 0
    assert (tmp_path / "a.fst.syms").read_text().splitlines()[:3] == ["<eps>\t0", "<phi>\t1", "a\t2"]
    weight = {end: np.exp(-cost) for start, end, label, cost in arcs if start == 0 and label == "<eps>"}
    for symbol in ("a", "c", "b"):
        after: dict[int, float] = {}
        for start, end, label, cost in arcs:
            if label == symbol and start in weight:
                after[end] = after.get(end, 0.0) + weight[start] * np.exp(-cost)
        weight = after
    value = sum(share * np.exp(-final[state]) for state, share in weight.items())
    assert value == pytest.approx(automaton.probability("a c b"), rel=1e-6)
    automaton.to_dfa(clusters=2).to_openfst(tmp_path / "dfa.fst")
    assert (tmp_path / "dfa.fst").read_text().startswith("0\t")
    with pytest.raises(SettingError, match="has negative numbers"):
        random_automaton().to_openfst(tmp_path / "b.fst")


def test_a_machine_whose_symbols_cannot_be_written_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "a.fst.syms").mkdir()
    with pytest.raises(DataError, match=r"a\.fst\.syms: the file cannot be written"):
        hidden_chain().to_openfst(tmp_path / "a.fst")
    assert [path.name for path in tmp_path.iterdir()] == ["a.fst.syms"]


def test_what_is_no_distribution_says_so() -> None:
    assert hidden_chain().summary() == "automaton with 2 states over 3 symbols"
    half = OperatorAutomaton.of("a", start=[0.5], stop=[0.5], step={"a": [[0.5]]})
    assert half.summary().endswith("not a distribution: all strings sum to 0.5000")
    endless = OperatorAutomaton.of("a", start=[0.5], stop=[0.5], step={"a": [[1.5]]})
    assert endless.summary().endswith("the sum over all strings is not finite")
