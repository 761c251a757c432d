"""Derivations against a walk over the trees; counts of a sum are sums of counts, however a treebank is divided."""

import itertools
from collections import Counter
from functools import reduce
from operator import add

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.binarisation import Binarisation
from latentgram.data.brackets import parse_forest
from latentgram.data.forest import Forest
from latentgram.data.tree import Tree
from latentgram.errors import DataError
from latentgram.lpcfg.statistics import Derivations, GrammarCounts
from oracles.equality import same

TEXT = """
(TOP (S (NP (DT the) (JJ old) (NN cat)) (VP (VBZ sees) (NP (DT the) (NN dog))) (. .)))
(TOP (S (NP (NN rain)) (VP (VBZ falls) (ADVP (RB here)) (PP (IN in) (NP (NN autumn))))))
(TOP (NN stop))
(TOP (S (NP (DT the) (NN cat)) (VP (VBZ falls))))
"""


@pytest.fixture(scope="module")
def binary() -> Forest:
    forest = parse_forest(TEXT)
    return Binarisation.of(forest).binarise(forest)


def walk(tree: Tree) -> Counter[tuple[str, ...]]:
    counts: Counter[tuple[str, ...]] = Counter()
    for node in tree.nodes():
        below = (f"word {node.word}",) if node.word is not None else tuple(map(role, node.children))
        counts[(role(node), *below)] += 1
    return counts


def role(node: Tree) -> str:
    return f"{node.label} over words" if node.word is not None else node.label


def test_rules_and_entries_are_those_of_the_trees(binary: Forest) -> None:
    d = Derivations.of(binary)
    names = (*d.interminals, *d.preterminals)

    def name(symbol: int) -> str:
        return names[symbol] + (" over words" if symbol >= len(d.interminals) else "")

    found: Counter[tuple[str, ...]] = Counter()
    for (a, b, c), count in zip(d.rules, d.rule_count, strict=True):
        found[name(a), name(b), name(c)] += int(count)
    for (a, x), count in zip(d.lexicon, d.entry_count, strict=True):
        found[name(a), f"word {d.words[x]}"] += int(count)
    expected: Counter[tuple[str, ...]] = Counter()
    for tree in binary:
        expected += walk(tree)
    assert found == expected
    assert len(found) == len(d.rules) + len(d.lexicon)
    assert d.rules.tolist() == sorted(d.rules.tolist())
    assert [(x, a) for a, x in d.lexicon.tolist()] == sorted((x, a) for a, x in d.lexicon.tolist())


def test_neighbours_agree_with_each_other(binary: Forest) -> None:
    d = Derivations.of(binary)
    for v, (left, right) in enumerate(zip(d.left, d.right, strict=True)):
        if left < 0:
            assert d.width[v] == 1
            continue
        assert d.parent[left] == d.parent[right] == v
        assert d.rules[d.rule[v]].tolist() == [d.symbol[v], d.symbol[left], d.symbol[right]]
        assert d.width[v] == d.width[left] + d.width[right]
    names = (*d.interminals, *d.preterminals)
    assert [names[d.symbol[v]] for v in d.root] == [tree.label for tree in binary]
    assert d.root_count.sum() == len(binary)


def test_other_trees_are_refused() -> None:
    for text in ("(S (A a) (B b) (C c))", "(S (A (B b)) (C c))"):
        with pytest.raises(DataError, match="not binary"):
            Derivations.of(parse_forest(text))


@pytest.mark.parametrize("cuts", [[0, 40, 60], [0, 1, 2, 3, 60], [0, 10, 11, 35, 59, 60]])
def test_counts_add(cuts: list[int]) -> None:
    binary = Binarisation().binarise(lg.demo_treebank(60).forest)
    whole = GrammarCounts.of(Derivations.of(binary))
    parts = [
        GrammarCounts.of(Derivations.of(binary.select(np.arange(first, last)).compact()))
        for first, last in itertools.pairwise(cuts)
    ]
    assert same(reduce(add, parts), whole)
    assert same(reduce(add, reversed(parts)), whole)


def test_every_node_is_counted_once() -> None:
    binary = Binarisation().binarise(lg.demo_treebank(30).forest)
    counts = GrammarCounts.of(Derivations.of(binary))
    assert counts.symbol_count.sum() == len(binary.label)
    assert counts.lexicon_count.sum() == binary.lengths.sum()
    assert counts.root_count.sum() == len(binary)
    children = np.bincount(counts.rules[:, 1:].ravel(), np.repeat(counts.rule_count, 2), len(counts.symbol_count))
    np.testing.assert_array_equal(children + counts.root_count, counts.symbol_count)
