"""What stands for a grammar: smaller ones, the contexts its counts expect, and which are their own projection."""

import dataclasses
import itertools

import numpy as np
import pytest
from tests.oracles.latent_grammar import random_lpcfg, tree_probabilities

from latentgram.lpcfg.parse.projection import expected_boundaries, smaller

WORDS = ["the", "dog", "barks"]


def split_in_two(grammar, seed=0):
    """Every state as two that rewrite alike and are reached unequally."""
    share = np.random.default_rng(seed).uniform(0.2, 0.8, len(grammar.states))

    def twice(vector):
        return np.repeat(vector, 2)

    def shared(vector, symbol):
        return (vector[:, None] * [share[symbol], 1 - share[symbol]]).ravel()

    tensors = []
    for number, (parent, left, right) in enumerate(grammar.rules):
        begin, end = grammar.rule_offset[number : number + 2]
        tensor = grammar.rule_tensor[begin:end].reshape(grammar.states[[parent, left, right]])
        for axis, symbol in ((1, left), (2, right)):
            weights = np.tile([share[symbol], 1 - share[symbol]], grammar.states[symbol])
            tensor = np.repeat(tensor, 2, axis) * np.expand_dims(weights, tuple({0, 1, 2} - {axis}))
        tensors.append(np.repeat(tensor, 2, 0).ravel())

    def roots(flat, change):
        offset = grammar.root_offset
        return np.concatenate([change(flat[offset[s] : offset[s + 1]], s) for s in range(len(grammar.states))])

    return dataclasses.replace(
        grammar,
        states=grammar.states * 2,
        rule_tensor=np.concatenate(tensors),
        rule_offset=np.cumsum([0, *(tensor.size for tensor in tensors)]),
        lexicon_vector=twice(grammar.lexicon_vector),
        lexicon_offset=grammar.lexicon_offset * 2,
        root_vector=roots(grammar.root_vector, shared),
        root_offset=grammar.root_offset * 2,
        mean_inside=twice(grammar.mean_inside),
        mean_outside=roots(grammar.mean_outside, shared),
    )


@pytest.mark.parametrize("seed", range(3))
def test_merging_equal_states_changes_no_tree(seed):
    grammar = dataclasses.replace(random_lpcfg(seed))
    doubled = split_in_two(grammar)
    before = tree_probabilities(grammar, WORDS)
    assert tree_probabilities(doubled, WORDS) == pytest.approx(before)
    merged = smaller(doubled, int(grammar.states.max()))
    assert merged.states.max() == grammar.states.max()
    assert tree_probabilities(merged, WORDS) == pytest.approx(before)


def test_truncation_keeps_the_first_coordinates():
    grammar = random_lpcfg(3, states=4, signed=True)
    small = smaller(grammar, 2)
    np.testing.assert_array_equal(small.states, np.minimum(grammar.states, 2))
    for number, rule in enumerate(grammar.rules):
        begin, end = grammar.rule_offset[number : number + 2]
        tensor = grammar.rule_tensor[begin:end].reshape(grammar.states[rule])
        begin, end = small.rule_offset[number : number + 2]
        np.testing.assert_allclose(small.rule_tensor[begin:end].reshape(small.states[rule]), tensor[:2, :2, :2])


def test_small_grammars_have_no_smaller_one():
    assert smaller(random_lpcfg(0, states=2), 2) is None


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
