"""Trees scored by arcs and adjacent siblings against enumeration."""

import numpy as np
import pytest

from latentgram.numeric.semiring import Log
from latentgram.numeric.sibling_trees import draw_heads, k_best_heads
from latentgram.numeric.siblings import best_heads, inside, list_arcs, marginals, score_heads
from oracles.projective import ROOT, modifiers, projective_trees


def random_scores(rng, n_words, share):
    """Random scores of the arcs of which `share` are kept, and the dense tables they were listed from."""
    kept = rng.random((n_words, n_words)) < share
    np.fill_diagonal(kept, False)
    arc = np.where(kept, rng.standard_normal((n_words, n_words)), -np.inf)
    sibling = rng.standard_normal((n_words, n_words, n_words))
    offset, modifier, sibling_offset = list_arcs(kept)
    listed, pairs = np.empty(len(modifier)), np.empty(sibling_offset[-1])
    for source in range(2 * n_words):
        head, begin = source % n_words, offset[source]
        for a in range(begin, offset[source + 1]):
            listed[a] = arc[head, modifier[a]]
            before = [head, *modifier[begin:a]]
            pairs[sibling_offset[a] : sibling_offset[a + 1]] = sibling[head, before, modifier[a]]
    root = rng.standard_normal(n_words)
    return arc, sibling, root, (offset, modifier, listed, sibling_offset, pairs, root)


def scored(arc, sibling, root):
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
def test_equals_enumeration(n_words, share):
    rng = np.random.default_rng(n_words)
    arc, sibling, root, listed = random_scores(rng, n_words, share)
    trees = scored(arc, sibling, root)
    found, found_scores = k_best_heads(*listed, 25)
    assert [tuple(row) for row in found.tolist()] == [heads for _, heads in trees[:25]]
    np.testing.assert_allclose(found_scores, [score for score, _ in trees[:25]], atol=1e-10)
    if not trees:
        assert best_heads(*listed)[1] == -np.inf
        return
    for score, heads in trees[:10]:
        assert score_heads(*listed, np.array(heads)) == pytest.approx(score)
    heads, score = best_heads(*listed)
    assert tuple(heads) == trees[0][1]
    assert score == pytest.approx(trees[0][0])
    weights = np.exp([score for score, _ in trees])
    expected = np.zeros((n_words + 1, n_words))
    for weight, (_, heads) in zip(weights / weights.sum(), trees, strict=True):
        expected[heads, range(n_words)] += weight
    arcs, roots, total = marginals(Log(), *listed)
    assert total == pytest.approx(np.log(weights.sum()), abs=1e-10)
    np.testing.assert_allclose(roots, expected[ROOT], atol=1e-10)
    offset, modifier = listed[:2]
    head = np.repeat(np.tile(np.arange(n_words), 2), np.diff(offset))
    np.testing.assert_allclose(arcs, expected[head, modifier], atol=1e-10)


def test_all_trees_once():
    """Asked for more trees than there are, the list holds each of them once."""
    _, _, _, listed = random_scores(np.random.default_rng(0), 5, 1.0)
    heads, scores = k_best_heads(*listed, 1000)
    assert sorted(map(tuple, heads.tolist())) == sorted(projective_trees(5))
    assert (np.diff(scores) <= 0).all()


def test_draws_follow_the_posterior():
    rng = np.random.default_rng(3)
    arc, sibling, root, listed = random_scores(rng, 4, 1.0)
    trees = scored(arc, sibling, root)
    weights = np.exp([score for score, _ in trees])
    expected = dict(zip([heads for _, heads in trees], 4000 * weights / weights.sum(), strict=True))
    charts = inside(Log(), *listed)[:3]
    drawn = [tuple(draw_heads(*charts, *listed, row).tolist()) for row in rng.random((4000, 16))]
    counts = np.array([drawn.count(heads) for heads in expected])
    assert counts.sum() == 4000
    common = np.array(list(expected.values())) > 5
    share = np.array(list(expected.values()))[common]
    assert ((counts[common] - share) ** 2 / share).sum() < 2 * common.sum()


def test_an_arc_that_is_not_listed_has_no_score():
    _, _, _, listed = random_scores(np.random.default_rng(1), 3, 0.0)
    assert score_heads(*listed, np.array([1, ROOT, 1])) == -np.inf
