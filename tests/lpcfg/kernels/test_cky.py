"""CKY against the enumeration of all trees, in every semiring."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from latentgram.lpcfg.kernels.cky import at_start, inside, outside, pair_index, root_value
from latentgram.numeric.semiring import Expectation, Log, Max, Real
from oracles.binary_trees import SmallGrammar

CASES = [(seed, words) for seed in range(6) for words in (1, 2, 3, 4, 6)]


def logarithm(values):
    with np.errstate(divide="ignore"):
        return np.log(values)


def posteriors(semiring, grammar, chart, adjoints, total):
    """{item: value · adjoint / total}, or the adjoint alone where that is the posterior."""
    found = {}
    n = len(chart.tags)
    places = [
        ((grammar.interminals + t, i, i + 1), chart.tags[i, t], adjoints.tags[i, t])
        for i in range(n)
        for t in range(grammar.preterminals)
    ]
    for a in range(grammar.interminals):
        for i in range(n):
            for j in range(i + 2, n + 1):
                k = at_start(grammar.interminals, n, a, i, j)
                places.append(((a, i, j), chart.by_start[k], adjoints.by_start[k]))
    for item, value, adjoint in places:
        mass = adjoint if semiring in (Log, Max) else (value * adjoint / total)
        if abs(mass) > 1e-15:
            found[item] = mass
    return found


@pytest.mark.parametrize(("seed", "words"), CASES)
def test_real_sums_over_all_trees(seed: int, words: int) -> None:
    grammar = SmallGrammar.random(seed)
    lexical = grammar.lexical(words, seed)
    trees = grammar.derivations(lexical)
    z = sum(tree.weight for tree in trees)
    marginals = defaultdict(float)
    for tree in trees:
        for item in tree.items:
            marginals[item] += tree.weight / z
    index = pair_index(grammar.rules, grammar.interminals, grammar.preterminals)
    for semiring, weights, tags, root in (
        (Real, grammar.weights, lexical, grammar.root),
        (Log, logarithm(grammar.weights), logarithm(lexical), logarithm(grammar.root)),
    ):
        chart = inside(semiring(), index, weights, tags)
        total = root_value(semiring(), grammar.interminals, chart, root)
        logarithm_of_z = total if semiring is Log else logarithm(total) + chart.exponents.sum() * np.log(2)
        assert logarithm_of_z == pytest.approx(np.log(z), abs=1e-9) if trees else total in (0, -np.inf)
        adjoints = outside(semiring(), index, weights, chart, root, 0.0)
        found = posteriors(semiring, grammar, chart, adjoints, total)
        assert found == pytest.approx(dict(marginals), abs=1e-9)


@pytest.mark.parametrize(("seed", "words"), CASES)
def test_max_hands_one_down_to_the_items_of_the_best_tree(seed: int, words: int) -> None:
    grammar = SmallGrammar.random(seed)
    lexical = grammar.lexical(words, seed)
    trees = grammar.derivations(lexical)
    best = max(trees, key=lambda tree: tree.weight)
    index = pair_index(grammar.rules, grammar.interminals, grammar.preterminals)
    weights, root = logarithm(grammar.weights), logarithm(grammar.root)
    chart = inside(Max(), index, weights, logarithm(lexical))
    total = root_value(Max(), grammar.interminals, chart, root)
    assert total == pytest.approx(np.log(best.weight), abs=1e-9)
    adjoints = outside(Max(), index, weights, chart, root, 0.0)
    found = posteriors(Max, grammar, chart, adjoints, total)
    assert set(found.values()) == {1.0}
    # Trees with the same rules in another order may tie but for rounding.
    assert frozenset(found) in {frozenset(tree.items) for tree in trees if tree.weight > best.weight * (1 - 1e-12)}


def test_ties_give_one_tree() -> None:
    grammar = SmallGrammar(
        1, 1, np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]], np.int32), np.ones(4), np.ones(2)
    )
    index = pair_index(grammar.rules, 1, 1)
    chart = inside(Max(), index, np.zeros(4), np.zeros((6, 1)))
    adjoints = outside(Max(), index, np.zeros(4), chart, np.zeros(2), 0.0)
    assert adjoints.tags.tolist() == [[1.0]] * 6
    assert adjoints.by_start.sum() == 5


@pytest.mark.parametrize("words", [1, 2, 4, 6])
def test_expectation_gives_the_entropy(words: int) -> None:
    grammar = SmallGrammar.random(words)
    lexical = grammar.lexical(words, words)
    weights = np.array([tree.weight for tree in grammar.derivations(lexical)])
    p = weights / weights.sum()

    def with_logarithm(values):
        return values + 1j * np.where(values > 0, values * logarithm(np.maximum(values, 1e-300)), 0)

    index = pair_index(grammar.rules, grammar.interminals, grammar.preterminals)
    chart = inside(Expectation(), index, with_logarithm(grammar.weights), with_logarithm(lexical))
    total = root_value(Expectation(), grammar.interminals, chart, with_logarithm(grammar.root))
    shift = np.log(2) * chart.exponents.sum()
    entropy = np.log(total.real) + shift - total.imag / total.real
    assert entropy == pytest.approx(-(p * np.log(p)).sum(), abs=1e-9)


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1e30])
@pytest.mark.parametrize("seed", [3, 0])
def test_long_sentences_stay_in_range(scale: float, seed: int) -> None:
    """250 words whose probability is far below (or above) the range of floating point, in two halves unlike.

    Some spans of the second grammar have no tree.
    """
    grammar = SmallGrammar.random(seed, density=0.6 if seed == 3 else 0.25)
    lexical = grammar.lexical(250, 3) * scale
    lexical[125:] *= 1e-12
    weights = grammar.weights * 1e-3
    index = pair_index(grammar.rules, grammar.interminals, grammar.preterminals)
    chart = inside(Real(), index, weights, lexical)
    total = root_value(Real(), grammar.interminals, chart, grammar.root)
    in_logs = inside(Log(), index, logarithm(weights), logarithm(lexical))
    log_total = root_value(Log(), grammar.interminals, in_logs, logarithm(grammar.root))
    assert np.log(total) + np.log(2) * chart.exponents.sum() == pytest.approx(log_total, rel=1e-12)
    adjoints = outside(Real(), index, weights, chart, grammar.root, 0.0)
    of_words = (chart.tags * adjoints.tags).sum(axis=1) / total
    np.testing.assert_allclose(of_words, 1, rtol=1e-9)
