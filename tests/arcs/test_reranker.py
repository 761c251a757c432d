"""Reranking: scores by the definition, weights that find what decides, features by name."""

import dataclasses

import numpy as np
import pytest

import latentgram as lg
from latentgram.arcs.kernels.reranking import template_codes
from latentgram.arcs.model import HashedWeights
from latentgram.arcs.nbest import WORST, NBestList, nbest_lists
from latentgram.arcs.reranking import RatedLists, learn_weights, train_reranker
from latentgram.arcs.settings import MIRAReranker
from latentgram.errors import DataError, SettingError


@pytest.fixture(scope="module")
def bank():
    return lg.demo_dependencies(90, seed=4)


@pytest.fixture(scope="module")
def base(bank):
    return lg.fit(lg.ArcFactored, bank[:60], by=lg.MIRA(order=1, passes=1, bits=14, folds=1))


@pytest.fixture(scope="module")
def learner():
    return MIRAReranker(count=8)


def test_templates_by_their_definition():
    # 2 is the root word; its modifiers are 1 and 4, and 3 depends on 4. Tags 0 … 3; root 4, none 5.
    codes = np.empty(8, np.int64)
    template_codes(np.array([0, 1, 2, 3]), np.array([2, 0, 4, 2]), 6, codes)

    def code(kind, *tags):
        return int("".join(str(digit) for digit in (kind, *tags)), 6)

    heads = [code(0, 5, 0, 5), code(0, 0, 1, 3), code(0, 5, 2, 5), code(0, 2, 3, 5)]
    words = [code(1, 0, 1, 4), code(2, 1, 4, 5), code(1, 2, 3, 1), code(2, 3, 1, 4)]
    assert codes.tolist() == heads + words


def test_ratings_are_always_numbers(base, bank):
    candidates = nbest_lists(base, bank[:1], 4)[0]
    odd = iter([2.0, -np.inf, 3.0, -1e9])
    np.testing.assert_array_equal(candidates.rated_by(lambda tree: next(odd)), [-1.0, -WORST, 0.0, -WORST])
    np.testing.assert_array_equal(candidates.rated_by(lambda tree: -np.inf), np.zeros(4))


@pytest.mark.parametrize("bad", [np.nan, np.inf, None, "much"])
def test_a_function_that_gives_no_number_is_named(base, bank, learner, bad):
    lists = nbest_lists(base, bank[60:70], 8)
    with pytest.raises(DataError, match=r"the feature 'odd' of a tree must be a number, got"):
        RatedLists.of(lists, {"odd": lambda tree: bad})
    said = [0.0]
    scorers = {"even": len, "odd": lambda tree: said[-1]}
    reranker = train_reranker(RatedLists.of(lists, scorers), base, scorers, learner)
    said.append(bad)
    with pytest.raises(DataError, match="the feature 'odd' of a tree"):
        lg.Parser(reranker).parse(bank[70].sentence)


def test_no_lists():
    with pytest.raises(DataError, match="there are no n-best lists"):
        RatedLists.of([], {"length": len})


def test_several_models_rate_by_their_average(base, bank):
    candidates = nbest_lists(base, bank[:1], 4)[0]
    spectral = lg.fit(lg.SHAG, bank, by=lg.Spectral(states=2))
    counted = lg.fit(lg.SHAG, bank, by=lg.Counting())
    average = candidates.rated_by((spectral, counted))
    np.testing.assert_allclose(2 * average, candidates.rated_by(spectral) + candidates.rated_by(counted))


def test_a_rating_that_knows_the_truth_gets_all_the_weight(base, bank, learner):
    lists = nbest_lists(base, bank[60:], 8)
    truth = {tree.words: tree.heads for tree in bank}

    def oracle(tree):
        return float(sum(a == b for a, b in zip(tree.heads, truth[tree.words], strict=True)))

    rated = RatedLists.of(lists, {"oracle": oracle})
    eager = dataclasses.replace(learner, passes=20, step=1.0)
    reranker = train_reranker(rated, base, {"oracle": oracle}, eager, templates=False)
    assert reranker.weights_by_name()["oracle"] > 0
    for candidates in lists:
        assert candidates.right[np.argmax(reranker.scores(candidates))] == candidates.right.max()


def test_weights_do_not_depend_on_the_unit_of_a_rating(base, bank, learner):
    lists = nbest_lists(base, bank[60:], 8)
    rated = RatedLists.of(lists, {"length": lambda tree: -sum(abs(h - i) for i, h in enumerate(tree.heads, 1))})
    scaled = RatedLists(lists, {**rated.ratings, "length": [10 * each for each in rated.ratings["length"]]})
    one, _ = learn_weights(rated, base, ("base", "length"), learner, templates=True)
    other, _ = learn_weights(scaled, base, ("base", "length"), learner, templates=True)
    np.testing.assert_allclose(one, other * [1, 10], rtol=1e-9)


def test_from_a_treebank_to_parses(bank, tmp_path):
    raters = "templates,lexical,latent-tree"
    reranker = lg.fit(lg.Reranker, bank[:60], by=lg.MIRA(order=1, count=5, folds=2, raters=raters))
    assert reranker.names == ("base", "lexical", "latent-tree")
    assert "under" in " ".join(name for name, _ in reranker.strongest_templates(50))
    parser = lg.Parser(reranker)
    sentence = bank[70].sentence
    five = parser.nbest(sentence, 5)
    listed = {parse.tree.heads for parse in lg.Parser(reranker.base).nbest(sentence, 5)}
    assert {parse.tree.heads for parse in five} == listed
    assert five[0].tree == parser.parse(sentence).tree
    lg.save(parser, tmp_path / "reranker.lg")
    assert lg.load(tmp_path / "reranker.lg").parse(sentence).tree == five[0].tree


def test_a_top_down_model_is_two_features(base, bank, learner, tmp_path):
    model = lg.fit(lg.TopDown, bank[:60], by=lg.Gradient(passes=1))
    lists = nbest_lists(base, bank[60:], 8)
    rated = RatedLists.of(lists, {"top-down": model})
    reranker = train_reranker(rated, base, {"top-down": model}, learner)
    assert reranker.names == ("base", "top-down modifiers", "top-down ends")
    for place, candidates in enumerate(lists):
        np.testing.assert_array_equal(reranker.features(candidates), rated.dense(reranker.names)[place])
    total = lists[0].columns(model).sum(1)
    whole = [model.logprob(tree) for tree in lists[0].trees()]
    np.testing.assert_allclose(total - total[0], np.array(whole) - whole[0], atol=1e-9)
    lg.save(lg.Parser(reranker), tmp_path / "reranker.lg")
    again = lg.load(tmp_path / "reranker.lg").model
    np.testing.assert_array_equal(again.scores(lists[0]), reranker.scores(lists[0]))


@pytest.mark.parametrize("raters", [["templates"], {"x": len}, 3])
def test_raters_are_names_in_a_string(raters):
    with pytest.raises(SettingError, match=r"MIRA.raters must be a string, got"):
        lg.MIRA(raters=raters)


def test_unknown_raters_are_named(bank):
    with pytest.raises(lg.LatentgramError, match="'magic' is not a feature of trees; known: templates, shag"):
        lg.fit(lg.Reranker, bank[:9], by=lg.MIRA(raters="magic"))


def test_weights_that_do_not_fit_are_refused(base, bank, learner):
    """Kernels look up templates and features without asking: what does not belong together is told before."""
    lists = nbest_lists(base, bank[60:70], 4)
    reranker = train_reranker(RatedLists.of(lists, {"length": len}), base, {"length": len}, learner)
    with pytest.raises(SettingError, match=r"over \d+ tags have \d+ weights, or none, got 7"):
        dataclasses.replace(reranker, templates=HashedWeights.of(np.ones(7)))
    assert not len(dataclasses.replace(reranker, templates=HashedWeights.of(np.zeros(0))).templates)
    with pytest.raises(
        SettingError, match="has 2 features with a name and a weight each, got 2 names and 3 weights"
    ):
        dataclasses.replace(reranker, weights=np.ones(3))
    with pytest.raises(SettingError, match="has 1 features"):
        dataclasses.replace(reranker, scorers=())


def test_the_perceptron_takes_whole_steps_as_worked_by_hand(base, bank):
    """Two trees per list, the second right; features (base, good) of (0, 0) and (−1, 2), weights from (1, 0) on.

    The first list is a mistake (0 against −1), so w becomes (1, 0) + (−1, 2) and ranks the other two lists right:
    the average over three sentences is w − (1/3) · (−1, 2). All of it in units of the spread of the features.
    """
    sentence = bank[0].sentence
    wrong = tuple(0 if word == 0 else 1 for word in range(len(sentence)))
    right = tuple(0 if word == 1 else 2 for word in range(len(sentence)))
    lists = [NBestList(sentence, np.array([wrong, right]), np.array([1.0, 0.0]), right)] * 3
    ratings = {"base": [np.array([0.0, -1.0])] * 3, "good": [np.array([0.0, 2.0])] * 3}
    learner = MIRAReranker(count=2, passes=1, rule="perceptron")
    found, _ = learn_weights(RatedLists(lists, ratings), base, ("base", "good"), learner, templates=False)
    spread = np.sqrt([1 / 2, 4 / 2])
    start, step = np.array([1.0, 0.0]), np.array([-1.0, 2.0]) / spread
    assert found == pytest.approx((start + step - step / 3) / spread)


def test_the_perceptron_finds_what_decides(base, bank):
    lists = nbest_lists(base, bank[60:], 8)
    gold = {tree.words: tree.heads for tree in bank}
    oracle = {"oracle": lambda tree: float(sum(a == b for a, b in zip(tree.heads, gold[tree.words], strict=True)))}
    learner = MIRAReranker(count=8, rule="perceptron")
    reranker = train_reranker(RatedLists.of(lists, oracle), base, oracle, learner, templates=False)
    chosen = sum(int(candidates.right[np.argmax(reranker.scores(candidates))]) for candidates in lists)
    first, best = (sum(int(pick(candidates.right)) for candidates in lists) for pick in (lambda r: r[0], np.max))
    assert best > first
    assert chosen >= first + 0.9 * (best - first)
