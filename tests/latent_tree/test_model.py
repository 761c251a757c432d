"""Hidden Markov trees against enumeration of the states; scores that are always finite; draws."""

from dataclasses import replace

import numpy as np
import pytest

import latentgram as lg
from latentgram.errors import DataError
from latentgram.latent_tree.kernels import Operators
from latentgram.latent_tree.model import FLOOR, LatentTree, expectations
from latentgram.latent_tree.statistics import above_of
from oracles.equality import same
from oracles.projective import projective_trees
from oracles.state_trees import arrays, enumerate_states, random_model, topologies


def test_probabilities_and_expected_counts_equal_enumeration() -> None:
    rng = np.random.default_rng(0)
    model = random_model(3, 5, rng)
    for tree in [*projective_trees(4), (2, 3, -1, 2)]:
        above = list(tree)
        symbol = rng.integers(0, 5, 4)
        weights = enumerate_states(model, above, symbol.tolist())
        total = sum(weights.values())
        trees = arrays([[head + 1 for head in above]])
        (root, child, word, *_), logs, posterior = expectations(model, trees, symbol)
        assert logs[0] == pytest.approx(np.log(total), abs=1e-12)
        expected = np.zeros((4, 3))
        steps = np.zeros((2, 3, 3))
        for states, weight in weights.items():
            expected[np.arange(4), states] += weight / total
            for node, head in enumerate(above):
                if head >= 0:
                    steps[int(node > head), states[node], states[head]] += weight / total
        assert posterior == pytest.approx(expected, abs=1e-12)
        assert child == pytest.approx(steps, abs=1e-12)
        assert root == pytest.approx(expected[above.index(-1)], abs=1e-12)
        assert word.sum(1) == pytest.approx(np.bincount(symbol, minlength=5))


def test_many_trees_at_once_are_scored_like_each_alone() -> None:
    rng = np.random.default_rng(1)
    model = random_model(2, 4, rng)
    heads = topologies(20, 6, rng) + topologies(5, 1, rng)
    trees = arrays(heads)
    symbol = rng.integers(0, 4, len(trees.heads))
    together, _ = model.scores_of_nodes(trees, symbol)
    alone = [
        model.scores_of_nodes(arrays([tree]), symbol[begin : begin + len(tree)])[0][0]
        for tree, begin in zip(heads, trees.offsets, strict=False)
    ]
    assert together == pytest.approx(alone)


def test_a_node_with_hundreds_of_children_does_not_underflow() -> None:
    rng = np.random.default_rng(2)
    model = random_model(2, 50, rng)
    heads = [[0] + [1] * 400]
    symbol = rng.integers(0, 50, 401)
    (_, _, word, *_), logs, posterior = expectations(model, arrays(heads), symbol)
    messages = model.word[symbol[1:]] @ model.child[1]
    weights = np.log(model.root * model.word[symbol[0]]) + np.log(messages).sum(0)
    assert logs[0] == pytest.approx(np.logaddexp(*weights))
    assert posterior.sum(1) == pytest.approx(np.ones(401))
    assert word.sum() == pytest.approx(401)


def test_a_bad_estimate_gets_the_floor_and_is_counted() -> None:
    model = random_model(2, 3, np.random.default_rng(3))
    broken = LatentTree(model.symbols, -model.root, model.child, model.word, model.product, model.unigram)
    nothing = LatentTree(model.symbols, 0 * model.root, model.child, model.word, model.product, model.unigram)
    trees, symbol = arrays([[2, 0], [0]]), np.array([0, 1, 2])
    excess = LatentTree(model.symbols, 1e9 * model.root, model.child, model.word, model.product, model.unigram)
    for bad in (broken, nothing, excess):
        logs, low = bad.scores_of_nodes(trees, symbol)
        assert low.all()
        assert logs == pytest.approx(np.log(FLOOR) + np.log(1 / 3) * np.array([2, 1]))
    assert not model.scores_of_nodes(trees, symbol)[1].any()


def test_without_a_floor_the_size_of_an_estimate_is_told() -> None:
    model = random_model(2, 3, np.random.default_rng(3))
    trees, symbol = arrays([[2, 0], [0]]), np.array([0, 1, 2])
    right, _ = model.scores_of_nodes(trees, symbol)
    for factor, no_probability in ((1.0, False), (-1e-9, True), (1e-9, False), (1e9, True), (0.0, True)):
        scaled = replace(model, root=factor * model.root, absolute=True)
        logs, low = scaled.scores_of_nodes(trees, symbol)
        with np.errstate(divide="ignore"):
            assert logs == pytest.approx(right + np.log(abs(factor)))
        assert (low == no_probability).all()


@pytest.mark.parametrize("valency", [0, 2])
def test_draws_follow_the_distribution_given_the_topology(valency: int) -> None:
    rng = np.random.default_rng(4)
    model = random_model(2, 2, rng, valency=valency)
    heads = [2, 0, 2]
    count = 20_000
    words, _ = model.sample_nodes(arrays([heads] * count), seed=5)
    seen = np.bincount(words.reshape(count, 3) @ [4, 2, 1], minlength=8) / count
    one = arrays([heads])
    logs = [
        model.scores_of_nodes(one, model.symbols.of_nodes(np.array(drawn), above_of(one)))[0][0]
        for drawn in np.ndindex(2, 2, 2)
    ]
    expected = np.exp(logs) / np.exp(logs).sum()
    assert seen == pytest.approx(expected, abs=5 * np.sqrt(0.25 / count))
    assert np.array_equal(words, model.sample_nodes(arrays([heads] * count), seed=5)[0])


def test_draws_for_trees_are_named() -> None:
    bank = lg.demo_dependencies(30, seed=1)
    model = lg.fit(lg.LatentTree, bank, by=lg.EM(states=2, iterations=2))
    numbers, _ = model.sample_nodes(bank.arrays, seed=3)
    drawn = model.sample(bank, seed=3)
    assert [len(names) for names in drawn] == [len(tree) for tree in bank]
    assert [name for names in drawn for name in names] == [model.symbols.words.alphabet[i] for i in numbers]
    assert model.sample(bank[0], seed=3) == model.sample([bank[0]], seed=3)[0]
    for wrong in ("a b", 3, [bank[0].sentence]):
        with pytest.raises(DataError, match="words are sampled for dependency trees"):
            model.sample(wrong)


def test_lists_of_trees_of_a_sentence_are_scored_like_trees(tmp_path) -> None:
    bank = lg.demo_dependencies(50, seed=1)
    model = lg.fit(lg.LatentTree, bank, by=lg.EM(states=2, iterations=2))
    tree = next(tree for tree in bank if len(tree) > 3)
    heads = np.array([tree.heads, tree.heads])
    assert model.logprobs_of_heads(tree.sentence, heads) == pytest.approx([model.logprob(tree)] * 2)
    lg.save(model, tmp_path / "tree.lg")
    assert same(lg.load(tmp_path / "tree.lg"), model)


def test_children_come_before_the_word_in_algorithm_1() -> None:
    """A tree worked by hand: a ← b → c with c∞ = (1, 0), E_L = 1, E_R the exchange of both coordinates.

    D(e₁) = [1 1; 0 1] and D(e₂) = [1 0; 1 1] do not commute. Words a and b have y = e₁, c has e₂:
    r_a = c∞ᵀD(e₁) = (1, 1),  r_c = c∞ᵀD(e₂) = (1, 0),  D(E_Lᵀr_a) = [2 1; 1 2],  D(E_Rᵀr_c) = D(e₂),
    r_b = (1, 0)·[2 1; 1 2]·[1 0; 1 1]·[1 1; 0 1] = (2, 1)·[1 0; 1 1]·[1 1; 0 1] = (3, 1)·[1 1; 0 1] = (3, 4).
    """
    symbols = random_model(2, 2, np.random.default_rng(0)).symbols
    product = np.array([[[1, 1], [1, 0]], [[0, 1], [1, 1]]], float)
    operators = Operators(
        np.array([1.0, 2.0]) / 32,
        np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], float),
        np.eye(2),
        product,
        np.array([1.0, 0.0]),
    )
    model = LatentTree.of(symbols, operators, np.full(2, 0.5))
    tree = arrays([[2, 0, 2]])
    assert np.exp(model.scores_of_nodes(tree, np.array([0, 0, 1]))[0]) == pytest.approx([(3 + 2 * 4) / 32])
    word_first = replace(model, start=np.zeros(0))
    assert np.exp(word_first.scores_of_nodes(tree, np.array([0, 0, 1]))[0]) != pytest.approx([11 / 32])
