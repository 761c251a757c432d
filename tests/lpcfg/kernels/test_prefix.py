"""Prefix probabilities: closed forms of left- and right-recursive languages, and the law that prefixes add up."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.brackets import parse_forest
from latentgram.errors import SettingError
from latentgram.lpcfg.kernels.chart import index_rules
from latentgram.lpcfg.kernels.prefix import OneState, WordWeights, sweep
from latentgram.lpcfg.projection import LeafTable, Projection
from latentgram.lpcfg.surprisal import Surprisal
from oracles.binary_trees import SmallGrammar


@pytest.mark.parametrize("rules", [[(0, 0, 1), (0, 1, 1)], [(0, 1, 0), (0, 1, 1)]], ids=["left", "right"])
def test_rows_of_words(rules: list[tuple[int, int, int]]) -> None:
    """S → S T (0.4) | T T (0.6), or mirrored: n ≥ 2 words with probability 0.6 · 0.4ⁿ⁻²."""
    table, weights = np.array(rules, np.int32), np.array([0.4, 0.6])
    lexical = np.array([0.7, 0.3, 0.3, 0.7, 0.7])
    step = np.zeros((1, 2))
    np.add.at(step, (table[:, 0], table[:, 1]), weights)
    closure = np.array([[1.0, step[0, 1]]]) / (1 - step[0, 0])
    index, none = index_rules(table, 1, 2), np.zeros((0, 1))
    numbers = OneState(weights[index.rule], none, none, closure, np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    words = WordWeights(np.arange(6, dtype=np.int32), np.ones(5, np.int32), lexical)
    chart = sweep(words, index, numbers, 0.0, 0.0)
    expected = [0.4 ** max(n - 2, 0) * np.prod(lexical[:n]) for n in range(1, 6)]
    np.testing.assert_allclose(np.cumprod(chart.scale), expected)
    assert chart.whole * np.prod(chart.scale[:-1]) == pytest.approx(0.6 * 0.4**3 * np.prod(lexical))
    # What begins after a break is a row of words with probability 1/2, or a tag.
    chance, stay = 0.25, 0.75
    broken = np.cumprod(sweep(words, index, numbers, chance, 0.0).scale)
    second = stay * expected[1] + chance * expected[0] * lexical[1]
    third = stay**2 * expected[2] + chance * expected[0] * stay * 0.5 * lexical[1] * lexical[2]
    np.testing.assert_allclose(broken[:3], [expected[0], second, third + chance * second * lexical[2]])


@pytest.fixture(scope="module")
def grammar() -> lg.LPCFG:
    trees = """(S (A (a x) (b y)) (b y)) (S (a x) (S (b y) (a x))) (S (S (a y) (b x)) (A (a x) (a x) (b y)))
               (S (A (a x)) (b y)) (S (b x) (a y))"""
    return lg.fit(lg.LPCFG, lg.Treebank.of(parse_forest(trees)), by=lg.Counting(rare=0))


@pytest.mark.parametrize("prefix", ["x", "y", "x y", "x x y", "y x y x x"])
def test_a_prefix_is_a_sentence_or_goes_on(grammar: lg.LPCFG, prefix: str) -> None:
    """P(prefix …) = p(prefix) + Σ_w P(prefix w …), and surprisals are differences of logarithms."""
    surprisal, words = Surprisal.of(grammar, break_off=0.0), prefix.split()
    whole = surprisal.prefix_logprobs(words)
    longer = sum(np.exp(surprisal.prefix_logprobs([*words, word])[-1]) for word in "xy")
    projection = Projection(LeafTable(grammar))
    leaves = projection.leaves.of(lg.Sentence(tuple(words)))
    word = np.repeat(np.arange(len(words)), np.diff(leaves.begin))
    first = len(grammar.interminals)
    lexical = np.zeros((len(words), len(grammar.preterminals)))
    lexical[word, leaves.symbol - first] = leaves.weight
    small = SmallGrammar(first, lexical.shape[1], grammar.rules, projection.rule, projection.root)
    ends = sum(tree.weight for tree in small.derivations(lexical))
    # What is left is kept for words never seen with their tags.
    longer += np.exp(surprisal.prefix_logprobs([*words, "never-seen"])[-1])
    assert np.exp(whole[-1]) == pytest.approx(ends + longer)
    assert np.exp(surprisal.logprob(words)) == pytest.approx(ends)
    assert surprisal(words).sum() == pytest.approx(-whole[-1] / np.log(2))


@pytest.mark.parametrize("sentence", ["x", "x y y", "y y y y"])
def test_a_sentence_may_break_off_before_any_word(grammar: lg.LPCFG, sentence: str) -> None:
    """The sum over all sets of places to break off, of products over what was begun; alone, G is a prefix."""
    words, chance = sentence.split(), 0.25
    pure = Surprisal.of(grammar, break_off=0.0)
    found = np.exp(pure.prefixes(pure.corners[0], lg.Sentence(tuple(words)), chance).logs[:-1])
    anywhere = Projection(LeafTable(grammar)).anywhere
    elsewhere = Surprisal.of(dataclasses.replace(grammar, root_vector=anywhere), break_off=0.0)

    def begun(first: int, end: int) -> float:
        return float(np.exp((elsewhere if first else pure).prefix_logprobs(words[first:end])[-1]))

    for length in range(1, len(words) + 1):
        total = 0.0
        for breaks in itertools.product((False, True), repeat=length - 1):
            places = [0, *(i for i, broken in enumerate(breaks, 1) if broken), length]
            parts = [begun(first, end) for first, end in itertools.pairwise(places)]
            total += chance ** sum(breaks) * (1 - chance) ** (length - 1 - sum(breaks)) * np.prod(parts)
        assert found[length - 1] == pytest.approx(total)


def test_surprisal_is_finite_where_the_grammar_cannot_go_on() -> None:
    trees = lg.Treebank.of(parse_forest("(S (a x) (b y)) (S (a x) (b y)) (S (b y) (a z))"))
    grammar = lg.fit(lg.LPCFG, trees, by=lg.Counting(rare=0))
    impossible = "x y z x y"
    assert np.isinf(Surprisal.of(grammar, break_off=0.0)(impossible)[2:]).all()
    bits = Surprisal.of(grammar)(impossible)
    assert np.isfinite(bits).all()
    known = 8 / 9  # each tag was seen three times, and half a time with words never seen
    assert bits[0] == pytest.approx(-np.log2(4 / 9 * known), abs=1e-4)
    assert bits[1] == pytest.approx(-np.log2(known), abs=1e-4)
    assert bits[2] > 20
    assert bits[4] < 2  # after a new beginning the grammar speaks again
    with pytest.raises(SettingError, match="at least 0 and below 1"):
        Surprisal.of(grammar, break_off=1.0)


def test_only_grammars_have_prefixes() -> None:
    with pytest.raises(SettingError, match="not a str"):
        Surprisal.of("a model")
