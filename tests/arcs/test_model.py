"""The arc-factored parser: its scores against its own features, its learner on trees with a rule behind them."""

import dataclasses

import numpy as np
import pytest

import latentgram as lg
from latentgram.arcs import mira
from latentgram.arcs.kernels.features import ARC_FEATURES, arc_buckets, last_alike, role_codes
from latentgram.arcs.model import ArcScores
from oracles.projective import projective_trees


@pytest.fixture(scope="module")
def bank():
    return lg.demo_dependencies(160, seed=1)


@pytest.fixture(scope="module", params=[1, 2])
def model(request, bank):
    return lg.fit(lg.ArcFactored, bank[:120], by=lg.MIRA(order=request.param, passes=3, bits=16))


def test_scores_of_trees_agree(model, bank):
    """The score of a tree from its parts, from the lists of the parser and in the k-best list is one number."""
    for tree in bank[:10]:
        symbols = model.encode(tree.sentence)
        scores = model.scores(symbols)
        for heads, score in zip(*scores.k_best(5), strict=True):
            other = tree.replace(heads=tuple((heads + 1).tolist()))
            assert model.tree_score(other) == pytest.approx(score, abs=1e-4)
            assert scores.of_heads(heads) == pytest.approx(score, abs=1e-9)


def test_posteriors_are_the_normalised_scores(model, bank):
    """p(y | sentence) ∝ exp(scale · score) over all projective trees."""
    tree = next(tree for tree in bank if len(tree) == 6)
    parser = lg.Parser(model)
    arcs = np.zeros((7, 6))
    total = 0.0
    for heads in projective_trees(6):
        places = tuple(head + 1 for head in heads)
        probability = np.exp(parser.score(tree.replace(heads=places)).tree_logprob)
        arcs[places, range(6)] += probability
        total += probability
    assert total == pytest.approx(1.0, abs=1e-6)
    parse = parser.parse(tree.sentence)
    np.testing.assert_allclose(parse.confidence, arcs[parse.tree.heads, range(6)], atol=1e-6)


def test_learns_what_the_trees_follow(model, bank):
    score = lg.Parser(model).evaluate(bank[120:])
    assert score.uas > 85
    assert score.las > 80


def test_survives_storage(model, bank, tmp_path):
    path = tmp_path / "arcs.lg"
    lg.save(lg.Parser(model), path)
    again = lg.load(path)
    first, second = (parser.parse(bank[0].sentence) for parser in (lg.Parser(model), again))
    assert first.tree == second.tree
    assert first.tree_logprob == second.tree_logprob


def test_same_seed_same_weights(bank):
    learner = lg.MIRA(order=1, passes=1, bits=14, folds=1)
    one, other = (lg.fit(lg.ArcFactored, bank[:30], by=learner) for _ in range(2))
    np.testing.assert_array_equal(one.weights.value, other.weights.value)
    another = lg.fit(lg.ArcFactored, bank[:30], by=dataclasses.replace(learner, seed=5))
    assert not np.array_equal(one.weights.dense, another.weights.dense)


def test_features_tell_arcs_apart(model, bank):
    """Arcs whose words, tags and surroundings differ have other buckets; the same arc has the same ones."""
    symbols = model.encode(bank[0].sentence)
    codes, last = role_codes(symbols), last_alike(symbols)
    rows = {}
    for head, word in ((1, 2), (2, 1), (0, 2), (1, 3)):
        buckets = np.empty(ARC_FEATURES, np.uint32)
        count = arc_buckets(codes, last, head, word, np.uint64(40), buckets)
        rows[head, word] = tuple(buckets[:count])
    assert len(set(rows.values())) == len(rows)


def test_product_with_a_grammar_is_exact(bank):
    """shag · exp(scale · score) over all trees of a sentence, by enumeration."""
    arcs = lg.fit(lg.ArcFactored, bank[:60], by=lg.MIRA(order=1, passes=1, bits=14, folds=1))
    shag = lg.fit(lg.SHAG, bank[:60], by=lg.EM(states=2, iterations=3))
    product = shag * lg.ArcWeights(arcs)
    tree = next(tree for tree in bank if len(tree) == 6)
    expected, total = np.zeros((7, 6)), 0.0
    for heads in projective_trees(6):
        other = tree.replace(heads=tuple(head + 1 for head in heads))
        weight = np.exp(shag.tree_logprob(other) + arcs.scale * arcs.tree_score(other))
        expected[other.heads, range(6)] += weight
        total += weight
    found = product.posteriors(tree.sentence)
    np.testing.assert_allclose(found.arcs, expected[1:] / total, atol=1e-6)
    np.testing.assert_allclose(found.roots, expected[0] / total, atol=1e-6)
    assert found.logprob == pytest.approx(np.log(total), abs=1e-5)
    assert lg.Parser(product).parse(tree.sentence).tree.words == tree.words


def test_samples_agree_with_posteriors(model, bank):
    sentence = bank[3].sentence
    parser = lg.Parser(model)
    drawn = np.array([parse.tree.heads for parse in parser.sample(sentence, 400, seed=2)])
    best = parser.parse(sentence)
    share = (drawn == np.array(best.tree.heads)).mean(0)
    np.testing.assert_allclose(share, best.confidence, atol=0.1)


def test_bad_input():
    with pytest.raises(lg.LatentgramError, match="no trees"):
        lg.fit(lg.ArcFactored, lg.demo_dependencies(5, seed=0)[:0], by=lg.MIRA())
    model = lg.fit(lg.ArcFactored, lg.demo_dependencies(5, seed=0), by=lg.MIRA(order=1, passes=1, bits=12))
    with pytest.raises(lg.LatentgramError, match="tags"):
        lg.Parser(model).parse("no tags here")


def test_the_scale_is_not_fitted_to_a_sentence_that_takes_minutes(monkeypatch):
    """To fit it goes through its sentences many times, each in cubic time."""
    lengths = []
    marginals = ArcScores.marginals

    def noted(scores, scale):
        lengths.append(len(scores.trees.root))
        return marginals(scores, scale)

    monkeypatch.setattr(ArcScores, "marginals", noted)
    monkeypatch.setattr(mira, "FITTED_CUBES", 20**3)
    long = lg.DependencyTree(("a",) * 30, tuple(range(30)), upos=("N",) * 30)
    short = [tree for tree in lg.demo_dependencies(20, seed=1) if len(tree) <= 10][:6]
    lg.fit(lg.ArcFactored, [long, *short], by=lg.MIRA(order=1, passes=1, bits=10))
    assert lengths
    assert max(lengths) <= 10
