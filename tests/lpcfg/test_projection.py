"""The contexts that the counts of a grammar expect."""

import itertools

import numpy as np

from latentgram.lpcfg.projection import expected_boundaries

# 0 S, 1 A, 2 B | 3 x, 4 y, 5 z
RULES = np.array([(0, 1, 2), (0, 1, 3), (0, 4, 2), (1, 3, 4), (1, 5, 3), (2, 3, 5), (2, 4, 4)], np.int32)
PROBABILITY = np.array([0.5, 0.2, 0.3, 0.6, 0.4, 0.7, 0.3])
EDGE = 3


def trees(symbol, first=0):
    """(probability, tags, nodes) of every tree, nodes as (symbol, first word, end)."""
    if symbol >= 3:
        yield 1.0, (symbol - 3,), ((symbol, first, first + 1),)
        return
    for (parent, left, right), probability in zip(RULES.tolist(), PROBABILITY, strict=True):
        if parent == symbol:
            for p, tags, nodes in trees(left, first):
                for q, more_tags, more_nodes in trees(right, first + len(tags)):
                    end = first + len(tags) + len(more_tags)
                    yield probability * p * q, tags + more_tags, ((symbol, first, end), *nodes, *more_nodes)


def test_contexts_and_bigrams_equal_enumeration():
    pairs, after, before = np.zeros((4, 4)), np.zeros((4, 6)), np.zeros((4, 6))
    count, rule_count = np.zeros(6), np.zeros(len(RULES))
    for probability, tags, nodes in trees(0):
        padded = (EDGE, *tags, EDGE)
        for one, other in itertools.pairwise(padded):
            pairs[one, other] += probability
        for symbol, first, end in nodes:
            count[symbol] += probability
            after[padded[first], symbol] += probability
            before[padded[end + 1], symbol] += probability
    for number, (parent, _, _) in enumerate(RULES):
        rule_count[number] = count[parent] * PROBABILITY[number]
    root_count = np.array([1.0, 0, 0, 0, 0, 0])
    found = expected_boundaries(RULES, rule_count, root_count, 3, 6, unseen=0.0)
    tags = np.append(count[3:], 1.0)
    np.testing.assert_allclose(found.bigram, pairs / tags[:, None], atol=1e-12)
    np.testing.assert_allclose(found.after, after[:, :3] / tags[:, None], atol=1e-12)
    np.testing.assert_allclose(found.before, before[:, :3] / count[:3], atol=1e-12)


def test_no_sequence_of_tags_is_impossible():
    found = expected_boundaries(RULES, 10 * PROBABILITY, np.array([10.0, 0, 0, 0, 0, 0]), 3, 6)
    assert (found.bigram > 0).all()
    np.testing.assert_allclose(found.bigram.sum(1), 1.0)
