"""Packed posteriors and decoders against the enumeration of all trees."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest

from latentgram.lpcfg.decoders import Goodman, MaxRule
from latentgram.lpcfg.kernels.chart import build_chart, index_rules
from latentgram.lpcfg.kernels.chart_trees import best_tree
from latentgram.lpcfg.kernels.cky import inside, outside, pair_index, root_value
from latentgram.lpcfg.kernels.cky_items import best_cover, edge_posteriors, surviving_items
from latentgram.numeric.semiring import Max, Real
from oracles.binary_trees import Derivation, SmallGrammar


def edges_of(tree: Derivation, rules: np.ndarray) -> list[tuple[int, int, int, int]]:
    """(rule, first word, split point, end) of the inner nodes of a tree, in preorder."""
    inner = [item for item in tree.items if item[2] - item[1] > 1]
    split = {}
    for parent, child in zip(tree.items, tree.items[1:], strict=False):
        if parent[2] - parent[1] > 1:
            split[parent] = child[2]
    return [(rule, i, split[a, i, j], j) for rule, (a, i, j) in zip(tree.rules, inner, strict=True)]


def packed_posteriors(grammar: SmallGrammar, lexical: np.ndarray, threshold: float):
    index = pair_index(grammar.rules, grammar.interminals, grammar.preterminals)
    chart = inside(Real(), index, grammar.weights, lexical)
    total = root_value(Real(), grammar.interminals, chart, grammar.root)
    adjoints = outside(Real(), index, grammar.weights, chart, grammar.root, 0.0)
    begin, symbol, below, above = surviving_items(grammar.interminals, chart, adjoints, total, threshold)
    rules = index_rules(grammar.rules, grammar.interminals + grammar.preterminals)
    packed = build_chart(len(lexical), begin, symbol, rules)
    return packed, below * above, edge_posteriors(packed, grammar.weights, below, above)


def spans(packed) -> list[tuple[int, int]]:
    """The span of each cell."""
    n = packed.length
    return [(i, i + width) for width in range(1, n + 1) for i in range(n - width + 1)]


@pytest.mark.parametrize(("seed", "words"), [(0, 1), (1, 2), (2, 3), (3, 5), (4, 6)])
def test_posteriors_and_decoders(seed: int, words: int) -> None:
    grammar = SmallGrammar.random(seed)
    lexical = grammar.lexical(words, seed)
    trees = grammar.derivations(lexical)
    total = sum(tree.weight for tree in trees)
    items, edges = defaultdict(float), defaultdict(float)
    for tree in trees:
        for item in tree.items:
            items[item] += tree.weight / total
        for edge in edges_of(tree, grammar.rules):
            edges[edge] += tree.weight / total

    packed, item, edge = packed_posteriors(grammar, lexical, 1e-12)
    cells = np.repeat(np.arange(len(packed.cell_begin) - 1), np.diff(packed.cell_begin))
    place = [(int(symbol), *spans(packed)[cell]) for symbol, cell in zip(packed.item_symbol, cells, strict=True)]
    assert dict(zip(place, item, strict=True)) == pytest.approx(dict(items), abs=1e-9)
    found = {}
    for group in range(len(packed.split_begin) - 1):
        number = packed.edge_begin[group]
        for entry in range(packed.parent_begin[group], packed.parent_begin[group + 1]):
            for split in range(packed.split_begin[group], packed.split_begin[group + 1]):
                _, i, k = place[packed.split_left[split]]
                _, _, j = place[packed.split_right[split]]
                found[int(packed.parent_rule[entry]), i, k, j] = edge[number]
                number += 1
    assert {key: mass for key, mass in found.items() if mass > 1e-12} == pytest.approx(dict(edges), abs=1e-9)

    leaves = packed.cell_begin[words]
    intermediate = np.zeros(len(item), bool)
    roots = np.zeros(len(item) - packed.cell_begin[-2])
    for decoder, objective in (
        (Goodman(), lambda tree: sum(items[each] for each in tree.items)),
        (
            MaxRule(),
            lambda tree: (
                sum(math.log(edges[each]) for each in edges_of(tree, grammar.rules))
                + sum(math.log(items[each]) for each in tree.items if each[2] - each[1] == 1)
            ),
        ),
    ):
        gains = decoder.gains(item, edge, leaves, intermediate)
        order, _, gain = best_tree(packed, *gains, roots)
        assert gain == pytest.approx(max(map(objective, trees)), abs=1e-9)
        chosen = [tree for tree in trees if list(tree.items) == [place[number] for number in order]]
        assert objective(chosen[0]) == pytest.approx(gain, abs=1e-9)


def test_a_tree_as_probable_as_the_threshold_survives() -> None:
    grammar = SmallGrammar.random(7)
    lexical = grammar.lexical(6, 7)
    trees = grammar.derivations(lexical)
    total = sum(tree.weight for tree in trees)
    packed, item, _ = packed_posteriors(grammar, lexical, 0.01)
    assert (item >= 0.01).all()
    cells = np.repeat(np.arange(len(packed.cell_begin) - 1), np.diff(packed.cell_begin))
    kept = {(int(symbol), *spans(packed)[cell]) for symbol, cell in zip(packed.item_symbol, cells, strict=True)}
    probable = [tree for tree in trees if tree.weight / total >= 0.01]
    assert probable
    assert all(set(tree.items) <= kept for tree in probable)


def test_cover_is_the_best_division() -> None:
    """Symbols 0 (over two words at most) and 1 (a tag): every division of five words is tried."""
    rules, weights = np.array([[0, 1, 1]], np.int32), np.log(np.array([0.25]))
    lexical = np.log(np.array([[0.5], [0.1], [0.9], [0.9], [0.3]]))
    prior, piece = np.log(np.array([0.3, 0.7])), -2.0
    chart = inside(Max(), pair_index(rules, 1, 1), weights, lexical)

    def value(i: int, j: int) -> float:
        if j - i == 1:
            return prior[1] + lexical[i, 0] + piece
        return prior[0] + weights[0] + lexical[i, 0] + lexical[i + 1, 0] + piece if j - i == 2 else -np.inf

    divisions = [[0, 5]]
    for cut in range(1, 5):
        divisions += [sorted({*division, cut}) for division in divisions]
    best = max(sum(value(i, j) for i, j in itertools.pairwise(ends)) for ends in divisions)
    cover = best_cover(1, chart, prior, piece).tolist()
    assert [word for i, j in cover for word in range(i, j)] == list(range(5))
    assert sum(value(i, j) for i, j in cover) == pytest.approx(best)
