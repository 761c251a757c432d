"""The first pass: tag bigrams against all tag sequences, and the uncut chart against the latent kernel."""

import itertools

import numpy as np
import pytest

from latentgram.lpcfg.kernels import first_pass as beam
from latentgram.lpcfg.kernels.chart import Unseen, build_chart, index_rules
from latentgram.lpcfg.kernels.inside_outside import Tensors, inside, outside, vector_places
from latentgram.lpcfg.kernels.span_masks import everything

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
    forward, backward, scale = beam.filter_tags(LEAF_BEGIN, LEAF_TAG, weight, bigram)
    posterior, total = np.zeros(len(LEAF_TAG)), 0.0
    for leaves, probability in tag_sequences(bigram, weight):
        posterior[list(leaves)] += probability
        total += probability
    last = slice(LEAF_BEGIN[-2], LEAF_BEGIN[-1])
    assert scale.prod() * (forward[last] @ bigram[LEAF_TAG[last], 2]) == pytest.approx(total)
    np.testing.assert_allclose(forward * backward, posterior / total, rtol=1e-12)


def test_context_scores_sum_over_the_words_beside():
    random, bigram, weight = sentence(1)
    forward, backward, scale = beam.filter_tags(LEAF_BEGIN, LEAF_TAG, weight, bigram)
    after, before = random.random((3, 4)), random.random((3, 4))
    begins, ends = beam.context_scores(LEAF_BEGIN, LEAF_TAG, weight, forward, backward, scale, after, before)
    np.testing.assert_allclose(begins[0], after[2])
    np.testing.assert_allclose(ends[4], before[2])
    np.testing.assert_allclose(begins[2], forward[2] * after[1])
    here = weight[3:5] / scale[2] * backward[3:5]
    np.testing.assert_allclose(ends[2], here[0] * before[0] + here[1] * before[1])


def uncut(seed, floor=0.0, keep=0.0, unseen=False, rigour=1.0):
    """A random PCFG's items over four words; symbols 0 … 2 are interminals, 3 and 4 tags."""
    random, _, weight = sentence(seed)
    rules = np.argwhere(random.random((3, 5, 5)) < 0.4).astype(np.int32)
    index, probability = index_rules(rules, 5), random.random(len(rules))
    if unseen:
        index = index._replace(unseen=Unseen(0.1, random.random((5, 3)), random.random((5, 3))))
    contexts = random.random((2, 5, 3))
    # The factors of unseen rules are summed over all pairs, so seen rules get what they have beyond them.
    beyond = probability[index.rule].copy()
    if unseen:
        parent, left, right = rules[index.rule].T
        beyond -= 0.1 * index.unseen.left[left, parent] * index.unseen.right[right, parent]
    leaves = LEAF_BEGIN, LEAF_TAG + np.int32(3), weight
    items = beam.grow_items(*leaves, *contexts, index, beyond, floor, keep, rigour, everything(4, 3))
    return items, index, probability, beyond, contexts, random.random(5)


@pytest.mark.parametrize("unseen", [False, True])
def test_uncut_chart_equals_the_latent_kernel_with_one_state(unseen):
    (cell_begin, symbol, mass), index, probability, beyond, _, root = uncut(2, unseen=unseen)
    total, posterior, joints = beam.outside_items(cell_begin, symbol, mass, root, index, beyond, 0.0)
    chart = build_chart(4, cell_begin, symbol, index)
    begin = vector_places(symbol, np.ones(5, np.int32))
    alpha, beta = np.zeros(len(symbol)), np.zeros(len(symbol))
    alpha[: cell_begin[4]] = mass[: cell_begin[4]]
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
    np.testing.assert_allclose(mass, alpha, rtol=1e-12)
    assert total == pytest.approx(alpha[cell_begin[-2] :] @ beta[cell_begin[-2] :])
    np.testing.assert_allclose(posterior, alpha * beta / total, rtol=1e-12)

    # The joints of at least a threshold are the pairs whose edges sum to it.
    expected = {}
    for group in range(len(chart.split_begin) - 1):
        splits = range(chart.split_begin[group], chart.split_begin[group + 1])
        shared = edge[chart.edge_begin[group] : chart.edge_begin[group + 1]].reshape(-1, len(splits)).sum(0)
        for split, value in zip(splits, shared / total, strict=True):
            expected[int(chart.split_left[split]), int(chart.split_right[split])] = value
    least = float(np.median(list(expected.values())))
    for threshold in (0.0, least):
        _, _, joints = beam.outside_items(cell_begin, symbol, mass, root, index, beyond, threshold)
        found = set(zip(joints.left.tolist(), joints.right.tolist(), strict=True))
        assert found == {
            pair for pair, value in expected.items() if value > 0 and value >= threshold * (1 - 1e-12)
        }


def test_items_that_only_unseen_rules_make_need_more_to_stay():
    (free_begin, free_symbol, _), index, *_ = uncut(4, floor=1e-9, unseen=True)
    (cell_begin, symbol, _), *_ = uncut(4, floor=1e-9, unseen=True, rigour=1e30)
    for cell, word in zip(range(4, 7), range(3), strict=True):
        before, after = (LEAF_TAG[LEAF_BEGIN[w] : LEAF_BEGIN[w + 1]] + 3 for w in (word, word + 1))
        pairs = [index.pair_of[left, right] for left in before for right in after]
        made = {
            int(parent)
            for pair in pairs
            if pair >= 0
            for parent in index.parent[index.pair_begin[pair] : index.pair_begin[pair + 1]]
        }
        assert set(symbol[cell_begin[cell] : cell_begin[cell + 1]].tolist()) == made
        assert free_begin[cell + 1] - free_begin[cell] == 3
    assert len(symbol) < len(free_symbol)


def test_floor_and_beam_cut_by_estimated_posteriors():
    (cell_begin, symbol, mass), _, _, _, (begins, ends), _ = uncut(3)
    first_wide, wide = cell_begin[4], range(4, 7)  # cells of two words depend on the words alone
    merit = np.zeros(len(symbol))
    for cell in wide:
        for item in range(cell_begin[cell], cell_begin[cell + 1]):
            merit[item] = begins[cell - 4, symbol[item]] * mass[item] * ends[cell - 2, symbol[item]]
    floor = np.median(merit[first_wide : cell_begin[7]])
    (cut_begin, cut_symbol, _), *_ = uncut(3, floor=floor)
    (beam_begin, beam_symbol, _), *_ = uncut(3, keep=0.5)
    for cell in wide:
        own = slice(cell_begin[cell], cell_begin[cell + 1])
        np.testing.assert_array_equal(
            np.sort(cut_symbol[cut_begin[cell] : cut_begin[cell + 1]]), np.sort(symbol[own][merit[own] >= floor])
        )
        near_best = merit[own] >= 0.5 * merit[own].max(initial=0.0)
        np.testing.assert_array_equal(
            np.sort(beam_symbol[beam_begin[cell] : beam_begin[cell + 1]]), np.sort(symbol[own][near_best])
        )


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
        assert list(beam.best_cover(cell_begin, value, cost)) == best


def test_rules_rarer_than_unseen_ones_stay_within_their_tables():
    """A rule may be seen less often than unseen ones are expected: what it has beyond them is negative."""
    words = 12
    index = index_rules(np.argwhere(np.ones((1, 2, 2))).astype(np.int32), 2)
    index = index._replace(unseen=Unseen(0.5, np.ones((2, 1)), np.ones((2, 1))))
    beyond = np.array([-0.4, 0.1, 0.1, 0.1])
    ones = np.ones((words + 1, 1))
    leaves = np.arange(words + 1, dtype=np.int32), np.ones(words, np.int32), np.ones(words)
    given = (*leaves, ones, ones, index, beyond, 0.0, 0.0, 1.0, everything(words, 1))
    chart = beam.grow_items.py_func(*given)  # uncompiled, a step beyond a table is an error
    found = beam.outside_items.py_func(*chart, np.ones(2), index, beyond, 0.0)
    for plain, compiled in zip(chart, beam.grow_items(*given), strict=True):
        np.testing.assert_allclose(plain, compiled)
    np.testing.assert_allclose(found[1], beam.outside_items(*chart, np.ones(2), index, beyond, 0.0)[1])
