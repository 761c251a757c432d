"""The conditional random field over a chart against the enumeration of all its trees."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.binarisation import Symbol
from latentgram.data.head_rules import HeadRules
from latentgram.lpcfg.crf.charts import Teacher
from latentgram.lpcfg.crf.kernels.features import (
    EDGE_FEATURES,
    ITEM_FEATURES,
    edge_buckets,
    item_buckets,
    span_keys,
    split_keys,
)
from latentgram.lpcfg.crf.kernels.learning import Lesson
from latentgram.lpcfg.crf.kernels.marginals import add_gradient, score_chart, shift_of
from latentgram.lpcfg.crf.kernels.view import NARROW, WIDE, view_of
from latentgram.lpcfg.crf.symbols import WordCodes
from latentgram.lpcfg.kernels.chart import PackedChart
from latentgram.lpcfg.kernels.edgewise import Scores, log_shares, marginals, tree_log_share
from latentgram.lpcfg.parse.cascade import Cascade
from latentgram.lpcfg.parse.labels import NameTable
from latentgram.lpcfg.parse.pruning import Pruning

BITS = 12


@cache
def bank() -> lg.Treebank[lg.Tree]:
    return lg.demo_treebank(60, seed=3)


@cache
def grammar() -> lg.LPCFG:
    return lg.fit(lg.LPCFG, bank()[:40], by=lg.Clustering(states=2))


@cache
def lessons() -> list[Lesson]:
    """Charts of a few short sentences, large enough to hold many trees."""
    made = list(Teacher(grammar(), HeadRules.learn(bank().forest)).lessons(bank()[40:].forest))
    return [lesson for lesson in made if 1 < len(list(islice(trees(lesson.chart), 500))) < 500][:8]


def edges_of(chart: PackedChart) -> Iterator[tuple[int, int, int, int]]:
    """The parent, the children and the number of each edge, by the definition of its number."""
    for group in range(len(chart.split_begin) - 1):
        splits = range(chart.split_begin[group], chart.split_begin[group + 1])
        parents = range(chart.parent_begin[group], chart.parent_begin[group + 1])
        for p, entry in enumerate(parents):
            for s, split in enumerate(splits):
                number = int(chart.edge_begin[group]) + p * len(splits) + s
                yield (
                    int(chart.parent_item[entry]),
                    int(chart.split_left[split]),
                    int(chart.split_right[split]),
                    number,
                )


def trees(chart: PackedChart) -> Iterator[tuple[list[int], list[int]]]:
    """The items, in preorder, and the edges of every tree."""
    below: dict[int, list[tuple[int, int, int]]] = {}
    for parent, left, right, number in edges_of(chart):
        below.setdefault(parent, []).append((left, right, number))

    def at(item: int) -> Iterator[tuple[list[int], list[int]]]:
        if item < chart.cell_begin[chart.length]:
            yield [item], []
        for left, right, number in below.get(item, []):
            for items, edges in at(left):
                for more_items, more_edges in at(right):
                    yield [item, *items, *more_items], [number, *edges, *more_edges]

    for root in range(chart.cell_begin[-2], chart.cell_begin[-1]):
        yield from at(root)


def random_weights(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.3, 1 << BITS)


def scores_of(lesson: Lesson, trust: float, weights: np.ndarray) -> Scores:
    view = view_of(*lesson[:5])
    return score_chart(view, log_shares(*lesson[:3]), trust, weights, shift_of(weights))


def spans_of(chart: PackedChart) -> list[tuple[int, int]]:
    """The first word of each item, and one past its last, by the order of the cells."""
    spans = [
        (first, first + width) for width in range(1, chart.length + 1) for first in range(chart.length - width + 1)
    ]
    return [span for cell, span in enumerate(spans) for _ in range(*chart.cell_begin[cell : cell + 2])]


def test_the_target_has_most_gold_nodes_of_all_trees() -> None:
    """A node that the gold tree has counts one, any other costs a half."""
    codes, binarisation = WordCodes(), grammar().binarisation
    gold_of = {codes.of(tree.words).tobytes(): tree for tree in bank()[40:]}
    names = [*grammar().interminals, *grammar().preterminals]
    for lesson in lessons():
        spans = spans_of(lesson.chart)
        gold = Counter(binarisation.stripped(lg.Forest.of([gold_of[lesson.words.tobytes()]]))[0].spans())

        symbols = [Symbol.read(names[symbol]) for symbol in lesson.chart.item_symbol]
        nodes = [
            [(label, *span) for label in symbol.chain if not symbol.intermediate]
            for symbol, span in zip(symbols, spans, strict=True)
        ]

        def worth(items: Iterable[int], nodes: list[Any] = nodes, gold: Counter[Any] = gold) -> float:
            found = Counter(node for item in items for node in nodes[item])
            right = (found & gold).total()
            return right - 0.5 * (found.total() - right)

        best = max(worth(items) for items, _ in trees(lesson.chart))
        assert worth(lesson.target_item.tolist()) == best
        assert sorted(lesson.target_edge.tolist()) in [
            sorted(edges) for items, edges in trees(lesson.chart) if items == lesson.target_item.tolist()
        ]


def test_there_are_charts_with_choices() -> None:
    assert len(lessons()) >= 4


@pytest.mark.parametrize("number", range(4))
def test_marginals_are_those_of_all_trees(number: int) -> None:
    lesson = lessons()[number]
    scores = scores_of(lesson, 0.7, random_weights(number))
    first = lesson.chart.cell_begin[-2]
    items, edges, total = np.zeros(len(lesson.item)), np.zeros(len(lesson.edge)), 0.0
    for tree, used in trees(lesson.chart):
        weight = np.exp(scores.item[tree].sum() + scores.edge[used].sum() + scores.root[tree[0] - first])
        items[tree] += weight
        edges[used] += weight
        total += weight
    log_total, item, edge = marginals(lesson.chart, scores)
    assert log_total == pytest.approx(np.log(total))
    np.testing.assert_allclose(item, items / total, atol=1e-12)
    np.testing.assert_allclose(edge, edges / total, atol=1e-12)


@pytest.mark.parametrize("number", range(6))
def test_a_tree_has_its_share_of_all_trees(number: int) -> None:
    """By the scores of all its derivations; trees that are not in the chart have none, and an intermediate root
    makes no treebank tree."""
    lesson, names = lessons()[number], NameTable(grammar(), Cascade((grammar(),), Pruning.none()).projection.index)
    chart, scores = lesson.chart, scores_of(lesson, 0.7, random_weights(number))
    log_total, item, edge = marginals(chart, scores)
    leaves, first = chart.cell_begin[chart.length], chart.cell_begin[-2]
    expected: defaultdict[tuple[bytes, bytes], float] = defaultdict(float)
    for tree, used in trees(chart):
        name, size = names.of_derivation(chart.item_symbol[tree], sizes(tree, int(leaves)))
        score = scores.item[tree].sum() + scores.edge[used].sum() + scores.root[tree[0] - first]
        if name[0] >= 0:
            expected[name.tobytes(), size.tobytes()] += np.exp(score - log_total)
    for nodes, share in expected.items():
        name, size = (np.frombuffer(part, np.int32).copy() for part in nodes)
        assert tree_log_share(chart, item, edge, names.nodes, name, size) == pytest.approx(np.log(share))
    assert sum(expected.values()) == pytest.approx(1)
    other = name.copy()
    other[0] = np.setdiff1d(np.arange(len(names.nodes.left)), names.nodes.of_symbol[chart.item_symbol])[0]
    assert tree_log_share(chart, item, edge, names.nodes, other, size) == -np.inf


def sizes(tree: list[int], leaves: int) -> np.ndarray:
    """The sizes of the subtrees of a binary tree in preorder."""
    size = np.ones(len(tree), np.int32)
    pending: list[int] = []
    for place in range(len(tree) - 1, -1, -1):
        if tree[place] >= leaves:
            size[place] += pending.pop() + pending.pop()
        pending.append(int(size[place]))
    return size


def test_without_weights_the_posteriors_are_those_of_the_grammar() -> None:
    for lesson in lessons():
        _, item, edge = marginals(lesson.chart, scores_of(lesson, 1.0, np.zeros(1 << BITS)))
        np.testing.assert_allclose(item, lesson.item, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(edge, lesson.edge, rtol=1e-4, atol=1e-6)


def log_likelihood(lesson: Lesson, trust: float, weights: np.ndarray) -> float:
    scores = scores_of(lesson, trust, weights)
    log_total, _, _ = marginals(lesson.chart, scores)
    target = scores.item[lesson.target_item].sum() + scores.edge[lesson.target_edge].sum()
    return float(target + scores.root[lesson.target_item[0] - lesson.chart.cell_begin[-2]] - log_total)


@pytest.mark.parametrize("templates", [NARROW, WIDE])
@pytest.mark.parametrize("number", range(3))
def test_the_gradient_is_that_of_differences(number: int, templates: int) -> None:
    lesson, weights = lessons()[number], random_weights(number)
    lesson = lesson._replace(symbols=lesson.symbols._replace(templates=templates))
    view, shift = view_of(*lesson[:5]), shift_of(weights)
    _, item, edge = marginals(lesson.chart, scores_of(lesson, 0.7, weights))
    item_difference, edge_difference = -item, -edge
    item_difference[lesson.target_item] += 1
    edge_difference[lesson.target_edge] += 1
    gradient = np.zeros(1 << BITS)
    touched = add_gradient(view, item_difference, edge_difference, 0.0, shift, gradient)
    assert set(np.flatnonzero(gradient)) <= set(touched.tolist())
    largest = np.argsort(-np.abs(gradient))[:20]
    random = np.random.default_rng(number).choice(touched, 20)
    for bucket in (*largest, *random):
        ends = []
        for step in (1e-4, -1e-4):
            moved = weights.copy()
            moved[bucket] += step
            ends.append(log_likelihood(lesson, 0.7, moved))
        assert gradient[bucket] == pytest.approx((ends[0] - ends[1]) / 2e-4, abs=1e-5)


@pytest.mark.parametrize("templates", [NARROW, WIDE])
def test_no_two_features_of_an_item_or_edge_are_the_same(templates: int) -> None:
    """By their keys, all of whose bits count; the room for them is large enough, and not much larger."""
    most = [0, 0]
    for lesson in lessons():
        view = view_of(*lesson[:4], lesson.symbols._replace(templates=templates))
        keys, buckets = np.zeros((2, 2 * max(ITEM_FEATURES, EDGE_FEATURES)), np.uint64)
        whole = np.uint64(0)
        for some in range(len(lesson.item)):
            shared = span_keys(view, view.first[some], view.end[some], keys)
            most[0] = max(most[0], distinct(buckets, item_buckets(view, some, keys, shared, whole, buckets)))
        for parent, left, right, number in edges_of(lesson.chart):
            both = split_keys(view, left, right, keys)
            entry = int(np.flatnonzero(lesson.chart.parent_item == parent)[0])
            count = edge_buckets(view, number, entry, left, right, keys, both, whole, buckets)
            most[1] = max(most[1], distinct(buckets, count))
    room = np.array([ITEM_FEATURES, EDGE_FEATURES])
    assert (np.array(most) <= room).all()
    assert templates == NARROW or (np.array(most) > 0.9 * room).all()


def distinct(buckets: np.ndarray, count: int) -> int:
    """How many there are, no two of which are the same."""
    assert len(set(buckets[:count].tolist())) == count
    return count
