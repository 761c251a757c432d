"""Projective trees scored by arcs, and by arcs and adjacent siblings, against enumeration."""

import numpy as np
import pytest

from latentgram.numeric.projective import (
    best_heads,
    draw_heads,
    first_order,
    k_best_heads,
    marginals,
    score_heads,
    second_order,
)
from latentgram.numeric.semiring import Log
from oracles.projective import ROOT, modifiers, projective_trees


def scored(arc, root):
    """Every tree with its score, best first."""
    found = []
    for heads in projective_trees(len(root)):
        score = sum(root[word] if head == ROOT else arc[head, word] for word, head in enumerate(heads))
        found.append((score, heads))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("n_words", range(1, 7))
def test_the_first_order_equals_enumeration(n_words):
    rng = np.random.default_rng(n_words)
    arc, root = rng.standard_normal((n_words, n_words)), rng.standard_normal(n_words)
    scores = first_order(arc, root)
    trees = scored(arc, root)
    weights = np.exp([score for score, _ in trees])
    expected = np.zeros((n_words + 1, n_words))
    for weight, (_, heads) in zip(weights / weights.sum(), trees, strict=True):
        expected[heads, range(n_words)] += weight
    arcs, roots, total = marginals(Log(), scores)
    assert total == pytest.approx(np.log(weights.sum()), abs=1e-10)
    np.testing.assert_allclose(arcs, expected[:-1], atol=1e-10)
    np.testing.assert_allclose(roots, expected[ROOT], atol=1e-10)
    heads, score = best_heads(scores)
    assert tuple(heads) == trees[0][1]
    assert score == pytest.approx(trees[0][0])
    for score, heads in trees[:10]:
        assert score_heads(scores, np.array(heads)) == pytest.approx(score)
    for k in (1, 12, 1000):
        heads, merits = k_best_heads(scores, k)
        assert [tuple(row) for row in heads.tolist()] == [heads for _, heads in trees[:k]]
        np.testing.assert_allclose(merits, [score for score, _ in trees[:k]], atol=1e-10)


def test_ties_give_one_tree():
    heads, _ = best_heads(first_order(np.zeros((6, 6)), np.zeros(6)))
    assert tuple(heads) in set(projective_trees(6))


def test_forbidden_arcs_are_not_used():
    arc, root = np.full((4, 4), -np.inf), np.full(4, -np.inf)
    root[1], arc[1, 0], arc[1, 2], arc[2, 3], arc[1, 3] = 0.0, 0.0, 0.0, 1.0, 0.0
    heads, merits = k_best_heads(first_order(arc, root), 10)
    assert heads.tolist() == [[1, ROOT, 1, 2], [1, ROOT, 1, 1]]
    assert merits.tolist() == [1.0, 0.0]


def random_scores(rng, n_words, share):
    """Random scores of the arcs of which `share` are kept, and the dense tables they were listed from."""
    kept = rng.random((n_words, n_words)) < share
    np.fill_diagonal(kept, False)
    arc = np.where(kept, rng.standard_normal((n_words, n_words)), -np.inf)
    sibling = rng.standard_normal((n_words, n_words, n_words))
    scores = second_order(kept)
    scores.arc[kept] = arc[kept]
    for source in range(2 * n_words):
        head = source % n_words
        below = scores.modifier[scores.offset[source] : scores.offset[source + 1]]
        for rank, word in enumerate(below):
            place = scores.sibling_begin[head, word]
            scores.sibling[place : place + rank + 1] = sibling[head, [head, *below[:rank]], word]
    scores.root[:] = rng.standard_normal(n_words)
    return arc, sibling, scores


def scored_by_siblings(arc, sibling, root):
    """Every tree with its score by the definition, best first; the head itself stands for "no sibling"."""
    found = []
    for heads in projective_trees(len(root)):
        score = root[heads.index(ROOT)]
        for head in range(len(root)):
            for side in modifiers(heads, head):
                for before, word in zip([head, *side], side, strict=False):
                    score += arc[head, word] + sibling[head, before, word]
        if score > -np.inf:
            found.append((score, heads))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("share", [1.0, 0.6])
@pytest.mark.parametrize("n_words", range(1, 7))
def test_the_second_order_equals_enumeration(n_words, share):
    rng = np.random.default_rng(n_words)
    arc, sibling, listed = random_scores(rng, n_words, share)
    trees = scored_by_siblings(arc, sibling, listed.root)
    found, found_scores = k_best_heads(listed, 25)
    assert [tuple(row) for row in found.tolist()] == [heads for _, heads in trees[:25]]
    np.testing.assert_allclose(found_scores, [score for score, _ in trees[:25]], atol=1e-10)
    if not trees:
        assert best_heads(listed)[1] == -np.inf
        return
    for score, heads in trees[:10]:
        assert score_heads(listed, np.array(heads)) == pytest.approx(score)
    heads, score = best_heads(listed)
    assert tuple(heads) == trees[0][1]
    assert score == pytest.approx(trees[0][0])
    weights = np.exp([score for score, _ in trees])
    expected = np.zeros((n_words + 1, n_words))
    for weight, (_, heads) in zip(weights / weights.sum(), trees, strict=True):
        expected[heads, range(n_words)] += weight
    arcs, roots, total = marginals(Log(), listed)
    assert total == pytest.approx(np.log(weights.sum()), abs=1e-10)
    np.testing.assert_allclose(roots, expected[ROOT], atol=1e-10)
    np.testing.assert_allclose(arcs, expected[:-1], atol=1e-10)


def test_all_trees_once():
    """Asked for more trees than there are, the list holds each of them once."""
    _, _, listed = random_scores(np.random.default_rng(0), 5, 1.0)
    heads, scores = k_best_heads(listed, 1000)
    assert sorted(map(tuple, heads.tolist())) == sorted(projective_trees(5))
    assert (np.diff(scores) <= 0).all()


def test_draws_follow_the_posterior():
    rng = np.random.default_rng(3)
    arc, sibling, listed = random_scores(rng, 4, 1.0)
    trees = scored_by_siblings(arc, sibling, listed.root)
    weights = np.exp([score for score, _ in trees])
    expected = dict(zip([heads for _, heads in trees], 4000 * weights / weights.sum(), strict=True))
    drawn = list(map(tuple, draw_heads(listed, rng.random((4000, 16))).tolist()))
    counts = np.array([drawn.count(heads) for heads in expected])
    assert counts.sum() == 4000
    common = np.array(list(expected.values())) > 5
    share = np.array(list(expected.values()))[common]
    assert ((counts[common] - share) ** 2 / share).sum() < 2 * common.sum()


def test_an_arc_that_is_not_listed_has_no_score():
    _, _, listed = random_scores(np.random.default_rng(1), 3, 0.0)
    assert score_heads(listed, np.array([1, ROOT, 1])) == -np.inf
