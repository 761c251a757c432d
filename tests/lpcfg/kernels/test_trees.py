"""k-best lists and samples against the enumeration of all trees."""

from __future__ import annotations

import numpy as np
import pytest

from latentgram.lpcfg.kernels.cky import inside, pair_index
from latentgram.lpcfg.kernels.kbest import best_trees
from latentgram.lpcfg.kernels.sampling import rule_table, trees_below_root
from latentgram.numeric.semiring import Max, Real
from oracles.binary_trees import SmallGrammar


def logarithm(values):
    with np.errstate(divide="ignore"):
        return np.log(values)


def items_of(symbols, widths):
    """The items of a tree given in preorder."""
    found, stack = [], [0]
    for symbol, width in zip(symbols.tolist(), widths.tolist(), strict=True):
        start = stack.pop()
        found.append((symbol, start, start + width))
        if width > 1:
            left = widths[len(found)]
            stack += [start + int(left), start]
    return tuple(found)


@pytest.mark.parametrize(("seed", "words"), [(seed, words) for seed in range(4) for words in (1, 2, 4, 6)])
@pytest.mark.parametrize("count", [1, 7, 300])
def test_kbest_is_sorted_enumeration(seed: int, words: int, count: int) -> None:
    grammar = SmallGrammar.random(seed)
    lexical = grammar.lexical(words, seed)
    trees = sorted(grammar.derivations(lexical), key=lambda tree: -tree.weight)
    weight_of = {tree.items: tree.weight for tree in trees}
    weights, root = logarithm(grammar.weights), logarithm(grammar.root)
    index = pair_index(grammar.rules, grammar.interminals, grammar.preterminals)
    chart = inside(Max(), index, weights, logarithm(lexical))
    table = rule_table(grammar.rules, grammar.interminals)
    symbols, widths, scores = best_trees(Max(), table, weights, chart, root, count)
    np.testing.assert_allclose(np.exp(scores), [tree.weight for tree in trees[:count]], rtol=1e-9)
    found = [items_of(*tree) for tree in zip(symbols, widths, strict=True)]
    assert len(set(found)) == len(found)
    np.testing.assert_allclose([weight_of[items] for items in found], np.exp(scores), rtol=1e-9)
    symbols, widths = trees_below_root(Max(), table, weights, chart, root, np.zeros((1, words)))
    assert weight_of[items_of(symbols[0], widths[0])] == pytest.approx(trees[0].weight, rel=1e-9)


def test_samples_have_their_posterior_frequencies() -> None:
    """Chi-square over the trees of a sentence, rare ones together, with a fixed seed."""
    grammar = SmallGrammar.random(1)
    lexical = grammar.lexical(5, 1)
    trees = grammar.derivations(lexical)
    posterior = {tree.items: tree.weight for tree in trees}
    total = sum(posterior.values())
    index = pair_index(grammar.rules, grammar.interminals, grammar.preterminals)
    chart = inside(Real(), index, grammar.weights, lexical)
    table = rule_table(grammar.rules, grammar.interminals)
    draws = 20_000
    uniforms = np.random.default_rng(0).random((draws, 5))
    symbols, widths = trees_below_root(Real(), table, grammar.weights, chart, grammar.root, uniforms)
    seen = dict.fromkeys(posterior, 0)
    for tree in zip(symbols, widths, strict=True):
        seen[items_of(*tree)] += 1
    frequent = [items for items, weight in posterior.items() if weight / total * draws >= 20]
    assert len(frequent) > 50
    expected = np.array([posterior[items] / total * draws for items in frequent])
    observed = np.array([seen[items] for items in frequent])
    statistic = ((observed - expected) ** 2 / expected).sum()
    assert abs(statistic - len(frequent)) < 4 * np.sqrt(2 * len(frequent))
