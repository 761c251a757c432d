"""The first pass: tag bigrams against all tag sequences, the uncut chart against the enumeration of all trees and
against the latent kernel, and what is cut."""

import itertools
from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pytest

from latentgram.lpcfg.kernels import closing as beside
from latentgram.lpcfg.kernels import first_outside, first_pass
from latentgram.lpcfg.kernels.chart import (
    CLOSED,
    RuleIndex,
    SpanMasks,
    Unseen,
    Words,
    everything,
    index_rules,
    pack_chart,
)
from latentgram.lpcfg.kernels.chart_trees import best_cover
from latentgram.lpcfg.kernels.closing import Closing, Contexts
from latentgram.lpcfg.kernels.cut import CutRules, cell_begins, grow_widths, make_space, start_cut
from latentgram.lpcfg.kernels.cut_outside import first_stage, hand_down, start_outside
from latentgram.lpcfg.kernels.first_outside import Kept
from latentgram.lpcfg.kernels.first_pass import Limits
from latentgram.lpcfg.kernels.inside_outside import Tensors, inside, outside, vector_places
from latentgram.lpcfg.projection import Leaves
from latentgram.numeric.semiring import MaxProduct, Real
from oracles.binary_trees import SmallGrammar
from oracles.chart_items import complete_chart, edges_of, places_of

LEAF_BEGIN = np.array([0, 2, 3, 5, 7], np.int32)
LEAF_TAG = np.array([0, 1, 1, 0, 1, 0, 1], np.int32)


def sentence(seed):
    random = np.random.default_rng(seed)
    bigram = random.random((3, 3))
    return random, bigram / bigram.sum(1, keepdims=True), random.random(len(LEAF_TAG))


def tag_sequences(bigram, weight):
    """The leaves and the probability of every sequence of tags."""
    choices = [range(LEAF_BEGIN[word], LEAF_BEGIN[word + 1]) for word in range(4)]
    for leaves in itertools.product(*choices):
        tags = [2, *LEAF_TAG[list(leaves)], 2]
        steps = np.prod([bigram[a, b] for a, b in itertools.pairwise(tags)])
        yield leaves, steps * weight[list(leaves)].prod()


def test_filter_gives_posteriors_of_tags_and_the_probability_of_words():
    _, bigram, weight = sentence(0)
    forward, backward, scale = beside.filter_tags(LEAF_BEGIN, LEAF_TAG, weight, bigram)
    posterior, total = np.zeros(len(LEAF_TAG)), 0.0
    for leaves, probability in tag_sequences(bigram, weight):
        posterior[list(leaves)] += probability
        total += probability
    last = slice(LEAF_BEGIN[-2], LEAF_BEGIN[-1])
    assert scale.prod() * (forward[last] @ bigram[LEAF_TAG[last], 2]) == pytest.approx(total)
    np.testing.assert_allclose(forward * backward, posterior / total, rtol=1e-12)


def test_context_scores_sum_over_the_words_beside():
    random, bigram, weight = sentence(1)
    forward, backward, scale = beside.filter_tags(LEAF_BEGIN, LEAF_TAG, weight, bigram)
    after, before = random.random((3, 4)), random.random((3, 4))
    begins, ends = beside.context_scores(LEAF_BEGIN, LEAF_TAG, weight, forward, backward, scale, after, before)
    np.testing.assert_allclose(begins[0], after[2])
    np.testing.assert_allclose(ends[4], before[2])
    np.testing.assert_allclose(begins[2], forward[2] * after[1])
    here = weight[3:5] / scale[2] * backward[3:5]
    np.testing.assert_allclose(ends[2], here[0] * before[0] + here[1] * before[1])


def grow_cut(words, contexts, rules, limits, masks, space, start=start_cut, grow=grow_widths):
    """The whole cut chart, in one part."""
    return grow(start(words, rules, space), contexts, rules, limits, masks, space, 2, len(words.begin))


def outside_cut(chart, root, rules, space, item_least, joint_least, start=start_outside, go_on=hand_down):
    """Z, the outside numbers and the joints of a whole chart, in one part."""
    begun = start(chart, root, space)
    state = go_on(chart, rules, space, begun, item_least, joint_least, 0, int(chart.cells[0]))
    return state.total, state.outside, state.noted


class Problem(NamedTuple):
    """A random PCFG over four words; symbols 0 … 2 are interminals, 3 and 4 tags."""

    words: Words
    index: RuleIndex
    probability: np.ndarray
    beyond: np.ndarray
    """What the rules have beyond unseen ones: the factors of these are summed over all pairs."""
    contexts: Contexts
    root: np.ndarray

    def rules(self, precision="float64"):
        """As the cut pass reads them."""
        left, right = np.zeros((2, 5, 0))
        if self.index.unseen.weight:
            left, right = self.index.unseen.weight * self.index.unseen.left, self.index.unseen.right
        numbers = (np.ascontiguousarray(part, precision) for part in (self.beyond, left, right))
        table, bounds = self.index, np.ones((3, 3), precision)
        pairs = table.pair_of.ravel().astype(np.int16), table.pair_begin, table.parent
        return CutRules(*pairs, *numbers, np.arange(5, dtype=np.int32), np.ones((3, 3)), bounds, bounds)

    def cut(self, floor=0.0, beam=0.0, rigour=1.0, space=None, masks=None):
        """The cut chart."""
        rules = self.rules()
        limits = Limits(floor, beam, rigour)
        space = space or make_space(rules)
        return grow_cut(self.words, self.contexts, rules, limits, masks or everything(4, 3), space)


def problem(seed, unseen=False):
    random, _, weight = sentence(seed)
    rules = np.argwhere(random.random((3, 5, 5)) < 0.4).astype(np.int32)
    index, probability = index_rules(rules, 3, 5), random.random(len(rules))
    if unseen:
        index = index._replace(unseen=Unseen(0.1, random.random((5, 3)), random.random((5, 3))))
    contexts = Contexts(*random.random((2, 5, 3)))
    beyond = probability[index.rule].copy()
    if unseen:
        parent, left, right = rules[index.rule].T
        beyond -= 0.1 * index.unseen.left[left, parent] * index.unseen.right[right, parent]
    words = Words(LEAF_BEGIN, LEAF_TAG + np.int32(3), weight)
    return Problem(words, index, probability, beyond, contexts, random.random(5))


def cells_of(chart):
    """The symbols of each cell of a cut chart."""
    begin = cell_begins(chart)
    return [set(chart.symbol[a:b].tolist()) for a, b in itertools.pairwise(begin)]


def all_kept(chart):
    return Kept(chart.cell_begin, np.arange(len(chart.symbol)))


@pytest.mark.parametrize("unseen", [False, True])
@pytest.mark.parametrize("cut", [False, True])
def test_uncut_chart_equals_the_latent_kernel_with_one_state(unseen, cut):
    """Row by row where nothing can be cut, and item by item where nothing happens to be."""
    given = problem(2, unseen)
    _, index, probability, beyond, _, root = given
    if cut:
        rules, space = given.rules(), make_space(given.rules())
        grown = given.cut(1e-200, space=space)
        cell_begin = cell_begins(grown)
        symbol, alphas = grown.symbol[: cell_begin[-1]], grown.inside[: cell_begin[-1]]
        total, betas, _ = outside_cut(grown, root, rules, space, 0.0, 0.0)
        betas = betas[: cell_begin[-1]]
    else:
        grown = first_pass.grow_items(Real(), given.words, index, beyond, everything(4, 3))
        found = first_outside.outside_items(grown, root, index, beyond)
        cell_begin, symbol, alphas, total, betas = grown.cell_begin, grown.symbol, grown.inside, *found[:2]
        np.testing.assert_allclose(found.posterior, alphas * betas / total, rtol=1e-12)
    chart = complete_chart(4, cell_begin, symbol, index)
    begin = vector_places(symbol, np.ones(5, np.int32))
    alpha, beta = np.zeros(len(symbol)), np.zeros(len(symbol))
    alpha[: cell_begin[4]] = alphas[: cell_begin[4]]
    beta[cell_begin[-2] :] = root[symbol[cell_begin[-2] :]]
    ones, none = np.ones(5), np.zeros(0)
    tensors = Tensors(
        np.ones(5, np.int32),
        probability,
        np.arange(len(probability) + 1),
        none,
        np.zeros(1, np.int64),
        root,
        ones,
        ones,
        np.arange(6),
        index.unseen,
    )
    edge = np.empty(chart.edge_begin[-1])
    inside(chart, begin, tensors, alpha)
    outside(chart, begin, tensors, alpha, beta, edge)
    np.testing.assert_allclose(alphas, alpha, rtol=1e-12)
    np.testing.assert_allclose(betas, beta, rtol=1e-12)
    assert total == pytest.approx(alpha[cell_begin[-2] :] @ beta[cell_begin[-2] :])

    # The joints of at least a threshold are the pairs whose edges sum to it.
    expected = defaultdict(float)
    for (_, _, left, right), value in zip(edges_of(chart), edge, strict=True):
        expected[left, right] += value / total
    least = float(np.median(list(expected.values())))
    for threshold in (0.0, least):
        if cut:
            _, _, (starts, stops, lefts, rights) = outside_cut(grown, root, rules, space, 0.0, threshold)
            ranges = [range(a, b) for a, b in zip(starts, stops, strict=True)]
            pairs = {(int(lefts[place]), int(rights[place])) for each in ranges for place in each}
        else:
            joints = first_outside.probable_joints(grown, found, all_kept(grown), index, beyond, threshold)
            pairs = set(zip(joints.left.tolist(), joints.right.tolist(), strict=True))
        assert pairs == {
            pair for pair, value in expected.items() if value > 0 and value >= threshold * (1 - 1e-12)
        }


def test_one_sentence_after_the_other_in_the_same_space():
    """What a sentence leaves behind in the space does not touch the next one."""
    given = problem(5, unseen=True)
    rules = given.rules()
    space, least = make_space(rules, items=8, cells=2), (1e-3, 1e-3)
    masks, limits = everything(4, 3), Limits(1e-6, 1e-3)
    symbols, weight, none = LEAF_TAG + np.int32(3), given.words.inside, np.zeros(len(LEAF_TAG), np.int32)
    first, other = Leaves(LEAF_BEGIN, symbols, none, weight, np.zeros(4, np.int64)), weight[::-1].copy()
    closing = Closing(np.zeros(0, np.int8), 0.0, np.zeros(2, np.int32))
    stage = closing, rules, given.index, given.root, limits, masks, least
    fresh = first_stage(first, *stage, make_space(rules))
    first_stage(first._replace(symbol=first.symbol[::-1].copy(), weight=other), *stage, space)
    again = first_stage(first, *stage, space)
    assert again.total == fresh.total
    for part, same in zip((*again.chart[1:], *again[3:]), (*fresh.chart[1:], *fresh[3:]), strict=True):
        np.testing.assert_array_equal(part, same)


def grow(grammar, lexical, semiring):
    """The uncut chart of a small grammar, its rules, and the logarithm of what was taken out of the words."""
    words, symbols = len(lexical), grammar.interminals + grammar.preterminals
    word, tag = np.nonzero(lexical)
    leaves = Words(
        np.searchsorted(word, np.arange(words + 1)).astype(np.int32),
        (tag + grammar.interminals).astype(np.int32),
        lexical[word, tag] / lexical.max(axis=1)[word],
    )
    index = index_rules(grammar.rules, grammar.interminals, symbols)
    probability = grammar.weights[index.rule]
    grown = first_pass.grow_items(semiring, leaves, index, probability, everything(words, grammar.interminals))
    return grown, index, probability, np.log(lexical.max(axis=1)).sum() + np.log(2) * grown.exponent.sum()


def packed(grammar, lexical, threshold=0.0, edge_threshold=0.0):
    """The posteriors of a small grammar: log Z, the packed chart, and those of its items and edges."""
    words = len(lexical)
    grown, index, probability, taken_out = grow(grammar, lexical, Real())
    found = first_outside.outside_items(grown, grammar.root, index, probability)
    with np.errstate(divide="ignore"):
        log_z = np.log(found.total) + taken_out
    item = np.flatnonzero((found.posterior >= threshold) & (found.posterior > 0))
    kept = Kept(np.searchsorted(item, grown.cell_begin).astype(np.int32), item)
    joints = first_outside.probable_joints(grown, found, kept, index, probability, edge_threshold)
    chart = pack_chart(words, kept.cell_begin, grown.symbol[item], joints, index)
    edge = first_outside.edge_posteriors(
        chart, grammar.weights, index.unseen, grown.inside[item], found.outside[item] / found.total
    )
    return log_z, chart, found.posterior[item], edge


@pytest.mark.parametrize(("seed", "words"), [(seed, words) for seed in range(6) for words in (1, 2, 3, 4, 6)])
def test_sums_over_all_trees(seed, words):
    """Z and the posteriors of all items and edges, tree by tree."""
    grammar = SmallGrammar.random(seed)
    lexical = grammar.lexical(words, seed)
    trees = grammar.derivations(lexical)
    z = sum(tree.weight for tree in trees)
    items, edges = defaultdict(float), defaultdict(float)
    for tree in trees:
        for item in tree.items:
            items[item] += tree.weight / z
        for edge in tree.edges:
            edges[edge] += tree.weight / z
    log_z, chart, item, edge = packed(grammar, lexical)
    assert log_z == pytest.approx(np.log(z), abs=1e-9) if trees else log_z == -np.inf
    place = places_of(chart)
    assert dict(zip(place, item, strict=True)) == pytest.approx(dict(items), abs=1e-9)
    named = {
        (rule, place[left][1], place[left][2], place[right][2]): mass
        for (_, rule, left, right), mass in zip(edges_of(chart), edge, strict=True)
    }
    assert {key: mass for key, mass in named.items() if mass > 1e-12} == pytest.approx(dict(edges), abs=1e-9)


def test_a_tree_as_probable_as_the_threshold_survives():
    grammar = SmallGrammar.random(7)
    lexical = grammar.lexical(6, 7)
    trees = grammar.derivations(lexical)
    total = sum(tree.weight for tree in trees)
    _, chart, item, _ = packed(grammar, lexical, 0.01, 0.01)
    assert (item >= 0.01).all()
    place = places_of(chart)
    kept = {(rule, place[left][1], place[left][2], place[right][2]) for _, rule, left, right in edges_of(chart)}
    probable = [tree for tree in trees if tree.weight / total >= 0.01]
    assert probable
    assert all(set(tree.items) <= set(place) and set(tree.edges) <= kept for tree in probable)


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1e30])
@pytest.mark.parametrize("seed", [3, 0])
def test_long_sentences_stay_in_range(scale, seed):
    """150 words whose probability is far below (or above) the range of floating point, in two halves unlike.

    Some spans of the second grammar have no tree.
    """
    grammar = SmallGrammar.random(seed, density=0.6 if seed == 3 else 0.25)
    lexical = grammar.lexical(150, 3) * scale
    lexical[75:] *= 1e-12
    small = SmallGrammar(
        grammar.interminals, grammar.preterminals, grammar.rules, grammar.weights * 1e-3, grammar.root
    )
    log_z, chart, item, _ = packed(small, lexical, threshold=1e-12, edge_threshold=1.0)
    # A tree over n words has n − 1 rules: powers of a thousand that need no chart to take out.
    plain, *_ = packed(grammar, lexical, threshold=0.5, edge_threshold=1.0)
    assert log_z == pytest.approx(plain - 149 * np.log(1e3), rel=1e-12)
    assert log_z == pytest.approx(in_logs(small, lexical), rel=1e-12)
    word = np.repeat(np.arange(150), np.diff(chart.cell_begin[:151]))
    np.testing.assert_allclose(np.bincount(word, item[: chart.cell_begin[150]]), 1, rtol=1e-9)


def test_the_best_tree_of_a_long_sentence_stays_in_range():
    grammar = SmallGrammar.random(3)
    lexical = grammar.lexical(80, 3) * 1e-30
    chart, _, _, taken_out = grow(grammar, lexical, MaxProduct())
    root = slice(chart.cell_begin[-2], chart.cell_begin[-1])
    best = np.log((chart.inside[root] * grammar.root[chart.symbol[root]]).max()) + taken_out
    assert best == pytest.approx(in_logs(grammar, lexical, np.maximum), rel=1e-12)


def in_logs(grammar, lexical, plus=np.logaddexp):
    """log Z, or that of the best tree, by a chart of logarithms."""
    words, symbols = len(lexical), grammar.interminals + grammar.preterminals
    with np.errstate(divide="ignore"):
        leaf, weights, root = np.log(lexical), np.log(grammar.weights), np.log(grammar.root)
    chart = np.full((words + 1, words + 1, symbols), -np.inf)
    for i in range(words):
        chart[i, i + 1, grammar.interminals :] = leaf[i]
    for width in range(2, words + 1):
        for i in range(words - width + 1):
            j = i + width
            for (a, b, c), weight in zip(grammar.rules, weights, strict=True):
                sums = chart[i, i + 1 : j, b] + chart[i + 1 : j, j, c]
                chart[i, j, a] = plus(chart[i, j, a], weight + plus.reduce(sums))
    return plus.reduce(root + chart[0, words])


def test_items_that_only_unseen_rules_make_need_more_to_stay():
    given = problem(4, unseen=True)
    index = given.index
    free, cut = (cells_of(given.cut(floor=1e-9, rigour=rigour)) for rigour in (1.0, 1e30))
    for cell, word in zip(range(4, 7), range(3), strict=True):
        before, after = (LEAF_TAG[LEAF_BEGIN[w] : LEAF_BEGIN[w + 1]] + 3 for w in (word, word + 1))
        pairs = [index.pair_of[left, right] for left in before for right in after]
        made = {
            int(parent)
            for pair in pairs
            if pair >= 0
            for parent in index.parent[index.pair_begin[pair] : index.pair_begin[pair + 1]]
        }
        assert cut[cell] == made
        assert len(free[cell]) == 3
    assert sum(map(len, cut)) < sum(map(len, free))


def test_floor_and_beam_cut_by_estimated_posteriors():
    given = problem(3)
    begins, ends = given.contexts
    cell_begin, symbol, mass, *_ = first_pass.grow_items(
        Real(), given.words, given.index, given.beyond, everything(4, 3)
    )
    first_wide, wide = cell_begin[4], range(4, 7)  # cells of two words depend on the words alone
    merit = np.zeros(len(symbol))
    for cell in wide:
        for item in range(cell_begin[cell], cell_begin[cell + 1]):
            merit[item] = begins[cell - 4, symbol[item]] * mass[item] * ends[cell - 2, symbol[item]]
    floor = np.median(merit[first_wide : cell_begin[7]])
    cut, beam = cells_of(given.cut(floor=floor)), cells_of(given.cut(beam=0.5))
    for cell in wide:
        own = slice(cell_begin[cell], cell_begin[cell + 1])
        assert cut[cell] == set(symbol[own][merit[own] >= floor].tolist())
        assert beam[cell] == set(symbol[own][merit[own] >= 0.5 * merit[own].max(initial=0.0)].tolist())


def test_masks_close_cells_and_choose_symbols():
    given = problem(2, unseen=True)
    masks = everything(4, 3)
    only = SpanMasks(np.array([[True, True, True], [False, True, False]]), masks.of_cell.copy())
    only.of_cell[4], only.of_cell[5] = 1, CLOSED
    cells = cells_of(given.cut(floor=0.5, masks=only))
    assert cells[4] == {1}  # where something is known, nothing else is asked for
    assert cells[5] == set()


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_cut_charts_of_long_sentences_stay_in_range(scale, precision):
    """100 words, each far off the scale of one: the powers of two that are taken out make up for it."""
    index = index_rules(np.argwhere(np.ones((1, 2, 2))).astype(np.int32), 1, 2)
    words, ones = 100, np.ones((2, 1), precision)
    pairs = index.pair_of.ravel().astype(np.int16), index.pair_begin, index.parent
    none = np.zeros((2, 0), precision)
    beyond = np.array([0.1, 0.4, 0.3, 0.2]).astype(precision)
    rules = CutRules(*pairs, beyond, none, none, np.arange(2, dtype=np.int32), np.ones((2, 2)), ones, ones)
    inside = np.full(words, scale ** (1 / 8), precision)
    leaves = Words(np.arange(words + 1, dtype=np.int32), np.ones(words, np.int32), inside)
    contexts = Contexts(*np.ones((2, words + 1, 1), precision))
    chart = grow_cut(leaves, contexts, rules, Limits(0.0, 1e-30), everything(words, 1), make_space(rules))
    phrase = np.zeros(words + 1)  # of so many words; a single word is a tag
    for width in range(2, words + 1):
        left, right = phrase[1:width], phrase[width - 1 : 0 : -1]
        one = np.arange(1, width) == 1
        phrase[width] = (0.1 * left * right + 0.4 * left * one[::-1] + 0.3 * one * right).sum() + 0.2 * (
            width == 2
        )
    top = chart.inside[chart.begin[chart.at[words, 0]]]
    log = np.log(float(top)) + np.log(2) * chart.exponent.sum()
    assert log == pytest.approx(np.log(phrase[words]) + words * np.log(float(inside[0])), rel=1e-5)


def test_best_cover_is_best_of_all_covers():
    random = np.random.default_rng(4)
    length = 5
    spans = [(first, first + width) for width in range(1, length + 1) for first in range(length - width + 1)]
    sizes = [2 if end - first == 1 else random.integers(0, 3) for first, end in spans]
    cell_begin = np.cumsum([0, *sizes]).astype(np.int32)
    value = random.normal(size=cell_begin[-1]) * 3
    worth = {
        span: value[cell_begin[cell] : cell_begin[cell + 1]].max()
        for cell, span in enumerate(spans)
        if sizes[cell]
    }

    def covers(first):
        if first == length:
            yield []
        for span in worth:
            if span[0] == first:
                yield from ([span, *rest] for rest in covers(span[1]))

    for cost in (0.0, 2.0, 100.0):
        best = max(covers(0), key=lambda cover: sum(worth[span] - cost for span in cover))
        assert list(best_cover(cell_begin, value, cost)) == best


def test_rules_rarer_than_unseen_ones_stay_within_their_tables():
    """A rule may be seen less often than unseen ones are expected: what it has beyond them is negative."""
    words = 12
    index = index_rules(np.argwhere(np.ones((1, 2, 2))).astype(np.int32), 1, 2)
    index = index._replace(unseen=Unseen(0.5, np.ones((2, 1)), np.ones((2, 1))))
    beyond = np.array([-0.4, 0.1, 0.1, 0.1])
    leaves = Words(np.arange(words + 1, dtype=np.int32), np.ones(words, np.int32), np.ones(words))
    chart = first_pass.grow_items.py_func(Real(), leaves, index, beyond, everything(words, 1))
    plain = first_outside.outside_items.py_func(chart, np.ones(2), index, beyond)  # uncompiled, a step beyond a
    # table is an error
    compiled_chart = first_pass.grow_items(Real(), leaves, index, beyond, everything(words, 1))
    for part, compiled in zip(
        (*chart._replace(rows=()), *chart.rows),
        (*compiled_chart._replace(rows=()), *compiled_chart.rows),
        strict=True,
    ):
        np.testing.assert_allclose(part, compiled)
    compiled = first_outside.outside_items(chart, np.ones(2), index, beyond)
    np.testing.assert_allclose(plain.posterior, compiled.posterior)
    kept = all_kept(chart)
    joints = first_outside.probable_joints.py_func(chart, plain, kept, index, beyond, 0.0)
    for part, compiled in zip(
        joints, first_outside.probable_joints(chart, plain, kept, index, beyond, 0.0), strict=True
    ):
        np.testing.assert_array_equal(part, compiled)

    pairs, ones = (index.pair_of.ravel().astype(np.int16), index.pair_begin, index.parent), np.ones((2, 1))
    rules = CutRules(*pairs, beyond, 0.5 * ones, ones, np.arange(2, dtype=np.int32), np.ones((2, 2)), ones, ones)
    contexts, space = Contexts(*np.ones((2, words + 1, 1))), make_space(rules, 4, 4)
    given = leaves, contexts, rules, Limits(floor=1e-200), everything(words, 1)
    cut = grow_cut(*given, space, start_cut.py_func, grow_widths.py_func)
    np.testing.assert_allclose(chart.inside, cut.inside[: cut.begin[cut.cells[0]]])
    uncompiled = start_outside.py_func, hand_down.py_func
    total, below, _ = outside_cut(cut, np.ones(2), rules, make_space(rules, 4, 4), 0.0, 0.0, *uncompiled)
    assert total == pytest.approx(plain.total)
    np.testing.assert_allclose(below[: len(plain.outside)], plain.outside)
