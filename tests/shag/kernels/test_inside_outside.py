"""Inside–outside over head automata against the sum over all trees."""

import numpy as np
import pytest

from latentgram.shag.kernels.inside_outside import HeadWeights, log_partition, marginals
from oracles.head_trees import random_grammar, weight
from oracles.projective import ROOT, projective_trees


@pytest.mark.parametrize("n_words", range(1, 7))
@pytest.mark.parametrize(("n_states", "n_classes"), [(1, 1), (3, 1), (2, 3)])
def test_equals_enumeration(n_words, n_states, n_classes):
    rng = np.random.default_rng(10 * n_words + n_states)
    grammar = random_grammar(rng, n_words, n_states, n_classes)
    trees = list(projective_trees(n_words))
    weights = np.array([weight(heads, *grammar) for heads in trees])
    partition = weights.sum()
    expected = np.zeros((n_words, n_words))
    roots = np.zeros(n_words)
    for heads, value in zip(trees, weights, strict=True):
        for word, head in enumerate(heads):
            if head == ROOT:
                roots[word] += value / partition
            else:
                expected[head, word] += value / partition
    arcs, root, log_weight, sign = marginals(grammar)
    scale = max(1.0, np.abs(weights).sum() / abs(partition))
    assert sign == np.sign(partition)
    assert log_weight == pytest.approx(np.log(abs(partition)), abs=1e-10 * scale)
    np.testing.assert_allclose(arcs, expected, atol=1e-10 * scale)
    np.testing.assert_allclose(root, roots, atol=1e-10 * scale)
    assert log_partition(grammar) == pytest.approx((log_weight, sign), abs=1e-10 * scale)


def test_number_of_trees():
    """With all weights 1 and a free root, Z counts the projective trees: binom(3n−2, n−1) / n."""
    counts = []
    for n_words in range(1, 8):
        weights = HeadWeights.without_states(np.ones((n_words, n_words, 2)), np.ones(n_words))
        log_count, _ = log_partition(weights)
        counts.append(round(np.exp(log_count)))
    assert counts == [1, 2, 7, 30, 143, 728, 3876]


@pytest.mark.parametrize("size", [1e-30, 1e20])
def test_long_sentences_neither_overflow_nor_underflow(size):
    rng = np.random.default_rng(0)
    n_words = 120
    random = random_grammar(rng, n_words, 2, 1)
    grammar = HeadWeights(*(abs(array) + 0.1 if array.dtype == float else array for array in random))
    plain, _ = log_partition(grammar)
    arcs, root, scaled, sign = marginals(grammar._replace(arc=grammar.arc * size))
    assert sign == 1
    assert scaled == pytest.approx(plain + (n_words - 1) * np.log(size), rel=1e-12)
    np.testing.assert_allclose(arcs.sum(0) + root, 1.0, rtol=1e-9)


def test_a_sentence_without_trees():
    grammar = random_grammar(np.random.default_rng(1), 4, 2, 1)
    arcs, root, log_weight, sign = marginals(grammar._replace(root=np.zeros(4)))
    assert (log_weight, sign) == (-np.inf, 0.0)
    assert not arcs.any()
    assert not root.any()
