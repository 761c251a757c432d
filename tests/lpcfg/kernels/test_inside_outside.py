"""Latent inside–outside against the sum over all trees, written out by recursion over trees one at a time."""

import itertools

import numpy as np
import pytest

from latentgram.lpcfg.kernels.chart import NONE_UNSEEN, Unseen, index_rules
from latentgram.lpcfg.kernels.inside_outside import Tensors, inside, item_marginals, outside, vector_places
from oracles.chart_items import complete_chart, complete_items, spans_of


class RandomGrammar:
    """A small grammar with signed tensors and a different number of states for each symbol."""

    def __init__(self, seed, interminals=3, preterminals=2, density=0.5):
        random = np.random.default_rng(seed)
        symbols = interminals + preterminals
        self.interminals = interminals
        self.states = random.integers(1, 4, symbols).astype(np.int32)
        kept = random.random((interminals, symbols, symbols)) < density
        self.rules = np.argwhere(kept).astype(np.int32)
        self.tensors = [random.normal(size=self.states[rule]) for rule in self.rules]
        self.every_rule, self.every_tensor = self.rules.tolist(), self.tensors
        self.tensor = np.concatenate([tensor.ravel() for tensor in self.tensors])
        self.tensor_begin = np.cumsum([0] + [tensor.size for tensor in self.tensors])
        self.roots = [random.normal(size=self.states[a]) for a in range(interminals)]
        self.random = random
        self.unseen = NONE_UNSEEN
        self.mean_inside = [random.normal(size=m) for m in self.states]
        self.mean_outside = [random.normal(size=m) for m in self.states]

    def smoothed(self):
        """The same grammar with a rule for every parent and pair of children."""
        symbols = len(self.states)
        shape = (symbols, self.interminals)
        self.unseen = Unseen(0.3, self.random.random(shape), self.random.random(shape))
        seen = {tuple(rule) for rule in self.rules.tolist()}
        self.every_rule = [*self.rules.tolist()]
        self.every_tensor = [*self.tensors]
        for a, b, c in itertools.product(range(self.interminals), range(symbols), range(symbols)):
            if (a, b, c) not in seen:
                weight = self.unseen.weight * self.unseen.left[b, a] * self.unseen.right[c, a]
                factors = self.mean_inside[a], self.mean_outside[b], self.mean_outside[c]
                self.every_rule.append([a, b, c])
                self.every_tensor.append(weight * np.einsum("i,j,k->ijk", *factors))
        return self

    def as_tensors(self):
        none = np.zeros(0)
        return Tensors(
            self.states,
            self.tensor,
            self.tensor_begin,
            none,
            np.zeros(1, np.int64),
            none,
            np.concatenate(self.mean_inside),
            np.concatenate(self.mean_outside),
            np.cumsum([0, *self.states]),
            self.unseen,
        )

    def leaves(self, length):
        """For each word, the vectors of the preterminals that may stand over it."""
        return [
            {
                tag: self.random.normal(size=self.states[tag])
                for tag in range(self.interminals, len(self.states))
                if self.random.random() < 0.8 or tag == self.interminals
            }
            for _ in range(length)
        ]


def all_trees(grammar, leaves, symbol, first, end):
    """Every tree of a symbol over a span: its inside vector, its items and its edges."""
    if end - first == 1:
        if symbol in leaves[first]:
            yield leaves[first][symbol], {(symbol, first, end)}, set()
        return
    for number, (parent, left, right) in enumerate(grammar.every_rule):
        if parent != symbol:
            continue
        for middle in range(first + 1, end):
            for left_vector, left_items, left_edges in all_trees(grammar, leaves, left, first, middle):
                for right_vector, right_items, right_edges in all_trees(grammar, leaves, right, middle, end):
                    vector = np.einsum("ijk,j,k->i", grammar.every_tensor[number], left_vector, right_vector)
                    yield (
                        vector,
                        {(symbol, first, end)} | left_items | right_items,
                        {(parent, left, right, first, middle, end)} | left_edges | right_edges,
                    )


def enumerate_marginals(grammar, leaves, allowed=lambda item: True):
    """Z, and the unnormalised marginal of every item and edge, tree by tree."""
    total, items, edges = 0.0, {}, {}
    for root in range(grammar.interminals):
        for vector, tree_items, tree_edges in all_trees(grammar, leaves, root, 0, len(leaves)):
            if not all(allowed(item) for item in tree_items):
                continue
            weight = grammar.roots[root] @ vector
            total += weight
            for item in tree_items:
                items[item] = items.get(item, 0.0) + weight
            for edge in tree_edges:
                edges[edge] = edges.get(edge, 0.0) + weight
    return total, items, edges


def chart_marginals(grammar, leaves, allowed=lambda item: True):
    """The same three by the kernels."""
    length = len(leaves)
    leaf_begin = np.cumsum([0] + [len(leaf) for leaf in leaves]).astype(np.int32)
    leaf_symbol = np.array([tag for leaf in leaves for tag in sorted(leaf)], np.int32)
    cell_begin, item_symbol = complete_items(length, leaf_begin, leaf_symbol, grammar.interminals)
    cell = np.repeat(np.arange(len(cell_begin) - 1), np.diff(cell_begin))
    spans = spans_of(length)
    keep = np.array([allowed((int(s), *spans[c])) for s, c in zip(item_symbol, cell, strict=True)])
    item_symbol, cell = item_symbol[keep], cell[keep]
    cell_begin = np.searchsorted(cell, np.arange(len(spans) + 1)).astype(np.int32)
    index = index_rules(grammar.rules, grammar.interminals, len(grammar.states))._replace(unseen=grammar.unseen)
    chart = complete_chart(length, cell_begin, item_symbol, index)
    tensors = grammar.as_tensors()

    begin = vector_places(item_symbol, grammar.states)
    alpha, beta = np.zeros(begin[-1]), np.zeros(begin[-1])
    for item in range(cell_begin[length]):
        alpha[begin[item] : begin[item + 1]] = leaves[cell[item]][item_symbol[item]]
    inside(chart, begin, tensors, alpha)
    total = 0.0
    for item in range(cell_begin[-2], cell_begin[-1]):
        if item_symbol[item] < grammar.interminals:
            beta[begin[item] : begin[item + 1]] = grammar.roots[item_symbol[item]]
            total += grammar.roots[item_symbol[item]] @ alpha[begin[item] : begin[item + 1]]
    edge_marginal = np.zeros(chart.edge_begin[-1])
    outside(chart, begin, tensors, alpha, beta, edge_marginal)
    marginal = item_marginals(begin, alpha, beta, 1.0)
    items = {(int(item_symbol[i]), *spans[cell[i]]): marginal[i] for i in range(len(cell))}
    edges = {}
    for group in range(len(chart.split_begin) - 1):
        number = chart.edge_begin[group]
        for entry in range(chart.parent_begin[group], chart.parent_begin[group + 1]):
            for split in range(chart.split_begin[group], chart.split_begin[group + 1]):
                first, end = spans[cell[chart.parent_item[entry]]]
                middle = spans[cell[chart.split_left[split]]][1]
                family = chart.parent_item[entry], chart.split_left[split], chart.split_right[split]
                edges[*(int(item_symbol[item]) for item in family), first, middle, end] = edge_marginal[number]
                number += 1
    return total, items, edges


def assert_same(found, expected):
    """Equal up to 1e-9 of the largest number; what is not found must be zero."""
    scale = max((abs(value) for value in expected.values()), default=1.0)
    for key in found.keys() | expected.keys():
        assert abs(found.get(key, 0.0) - expected.get(key, 0.0)) <= 1e-9 * scale, key


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 6])
def test_unpruned_chart_equals_enumeration(length):
    grammar = RandomGrammar(length, density=0.5 if length < 6 else 0.25)
    leaves = grammar.leaves(length)
    expected_total, expected_items, expected_edges = enumerate_marginals(grammar, leaves)
    total, items, edges = chart_marginals(grammar, leaves)
    assert total == pytest.approx(expected_total, rel=1e-9)
    assert length == 1 or expected_items
    assert_same(items, expected_items)
    assert_same(edges, expected_edges)


@pytest.mark.parametrize("length", [3, 4, 5, 6])
def test_pruned_chart_equals_enumeration_of_the_trees_it_holds(length):
    grammar = RandomGrammar(10 + length, density=0.5 if length < 6 else 0.25)
    leaves = grammar.leaves(length)
    random = np.random.default_rng(length)
    dropped = {}

    def allowed(item):
        return dropped.setdefault(item, item[2] - item[1] in (1, length) or random.random() < 0.75)

    expected_total, expected_items, expected_edges = enumerate_marginals(grammar, leaves, allowed)
    total, items, edges = chart_marginals(grammar, leaves, allowed)
    assert expected_items
    assert total == pytest.approx(expected_total, rel=1e-9)
    assert_same(items, expected_items)
    assert_same(edges, expected_edges)


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_unseen_rules_equal_enumeration(length):
    grammar = RandomGrammar(20 + length, interminals=2, density=0.2).smoothed()
    leaves = grammar.leaves(length)
    expected_total, expected_items, expected_edges = enumerate_marginals(grammar, leaves)
    total, items, edges = chart_marginals(grammar, leaves)
    assert total == pytest.approx(expected_total, rel=1e-9)
    assert_same(items, expected_items)
    assert_same(edges, expected_edges)
