"""Learners of latent trees: exact moments give the exact model, EM climbs, more data means less error."""

import dataclasses
import itertools

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.alphabet import Alphabet
from latentgram.data.dependency_symbols import WordSymbols
from latentgram.errors import DataError, SettingError
from latentgram.latent_tree.model import LatentTree
from latentgram.latent_tree.spectral import (
    _leaning,
    corrected_operators,
    spectral_operators,
    symbol_vectors,
    vectors_of_symbols,
)
from latentgram.latent_tree.statistics import Nodes, Tally, TreeCounts
from oracles.state_trees import arrays, exact_counts, random_model, topologies

RNG = np.random.default_rng(0)
TRUTH = random_model(3, 8, RNG)
HEADS = topologies(60, 7, RNG)


def learned(counts: TreeCounts, *, printed: bool = False) -> LatentTree:
    operators = spectral_operators(counts, 3, 0.0, printed=printed)
    return LatentTree.of(TRUTH.symbols, operators, TRUTH.unigram)


def errors(model: LatentTree, seed: int = 9) -> np.ndarray:
    trees = arrays(HEADS)
    words, _ = TRUTH.sample_nodes(trees, seed)
    return np.abs(model.scores_of_nodes(trees, words)[0] - TRUTH.scores_of_nodes(trees, words)[0])


def test_exact_moments_give_the_exact_model() -> None:
    model = learned(exact_counts(TRUTH, HEADS))
    assert errors(model).max() < 1e-10
    assert errors(model.with_states).max() < 1e-7


def test_the_printed_equations_are_exact_for_stationary_trees_only() -> None:
    assert np.median(errors(learned(exact_counts(TRUTH, HEADS), printed=True))) > 0.05
    even = random_model(3, 3, np.random.default_rng(1))
    turn = np.stack([0.7 * np.roll(np.eye(3), shift, 0) + 0.1 for shift in (0, 1)])
    truth = LatentTree(even.symbols, np.full(3, 1 / 3), turn, even.word, even.product, even.unigram)
    operators = spectral_operators(exact_counts(truth, HEADS), 3, 0.0, printed=True)
    model = LatentTree.of(truth.symbols, operators, truth.unigram)
    trees = arrays(HEADS)
    words, _ = truth.sample_nodes(trees, 2)
    assert np.abs(model.scores_of_nodes(trees, words)[0] - truth.scores_of_nodes(trees, words)[0]).max() < 1e-8


def test_more_triples_mean_less_error() -> None:
    found = []
    for times in (20, 800):
        trees = arrays(HEADS * times)
        found.append(np.median(errors(learned(TreeCounts.of(trees, TRUTH.sample_nodes(trees, 1)[0], 8)))))
    assert found[0] < 0.5
    assert found[1] < 0.3 * found[0]


def drawn_bank(trees: int, seed: int) -> lg.Treebank:
    """Trees drawn from the truth, its symbols being their tags."""
    shapes = (HEADS * (trees // len(HEADS) + 1))[:trees]
    words, _ = TRUTH.sample_nodes(arrays(shapes), seed)
    tags = np.array(TRUTH.symbols.words.alphabet.symbols)[words].reshape(trees, -1)
    return lg.Treebank.of(
        lg.DependencyTree(tuple(row), tuple(heads), xpos=tuple(row))
        for row, heads in zip(tags.tolist(), shapes, strict=True)
    )


@pytest.mark.parametrize("learner", [lg.Spectral(valency=0), lg.Spectral(valency=0, states=3, smoothing=0)])
def test_the_default_converges(learner: lg.Spectral) -> None:
    fresh = drawn_bank(len(HEADS), 9)
    exact = TRUTH.logprobs(list(fresh))
    found = []
    for trees in (600, 6_000, 60_000):
        model = lg.fit(lg.LatentTree, drawn_bank(trees, 1), by=learner)
        found.append(np.median(np.abs(model.logprobs(list(fresh)) - exact)))
    assert found[1] < 0.8 * found[0]
    assert found[2] < 0.8 * found[1]
    assert found[2] < 0.1


def test_a_ridge_counts_in_units_of_the_noise() -> None:
    counts = exact_counts(TRUTH, HEADS)
    left, right, siblings, *lines = (
        Tally(each.tuples, each.count * 100) for each in (*counts.pairs, counts.siblings, *counts.lines)
    )
    many = TreeCounts(counts.symbol * 100, counts.root * 100, (left, right), siblings, tuple(lines))
    vectors = symbol_vectors(counts, 3)
    one, ten = corrected_operators(counts, vectors, 1.0), corrected_operators(many, vectors, 10.0)
    assert ten.child == pytest.approx(one.child)
    assert ten.product == pytest.approx(one.product)
    assert np.abs(ten.child - corrected_operators(many, vectors, 1.0).child).max() > 1e-3


def test_the_printed_form_has_no_ridge() -> None:
    with pytest.raises(SettingError, match="no ridge"):
        lg.fit(lg.LatentTree, lg.demo_dependencies(20, seed=0), by=lg.Spectral(form="printed", ridge=1.0))


def test_vectors_that_cancel_out_are_refused_in_a_sentence() -> None:
    trees = [lg.DependencyTree(("x", "y"), (0, 1), upos=(tag, tag)) for tag in ("B", "A")]
    with pytest.raises(DataError, match="unrelated in so few trees and states"):
        lg.fit(lg.LatentTree, lg.Treebank.of(trees), by=lg.Spectral(states=1))
    model = lg.fit(lg.LatentTree, lg.Treebank.of(trees), by=lg.Spectral())
    assert np.isfinite(model.logprobs(trees)).all()


def test_any_vectors_of_full_rank_serve_as_u() -> None:
    vectors = np.random.default_rng(4).standard_normal((8, 3))
    operators = corrected_operators(exact_counts(TRUTH, HEADS), vectors, 0.0)
    assert errors(LatentTree.of(TRUTH.symbols, operators, TRUTH.unigram)).max() < 1e-6


def test_words_that_the_treebank_lacks_lean_on_their_vectors() -> None:
    """With U_x = p(h | x), y(x) / p(x) is linear in U_x: the words that are seen say all of those that are not."""
    counts = exact_counts(TRUTH, HEADS)
    prior = np.linalg.lstsq(TRUTH.word, counts.symbol / counts.symbol.sum(), rcond=None)[0]
    vectors = TRUTH.word * prior / (TRUTH.word @ prior)[:, None]
    whole = corrected_operators(counts, vectors, 0.0).word
    unseen = 5
    expected = _leaning(
        np.where(np.arange(8)[:, None] == unseen, 0.0, whole), masked(counts.symbol, unseen), vectors
    )
    assert expected[unseen] / np.linalg.norm(expected[unseen]) == pytest.approx(
        whole[unseen] / np.linalg.norm(whole[unseen]), abs=1e-6
    )


def masked(counts: np.ndarray, symbol: int) -> np.ndarray:
    return np.where(np.arange(len(counts)) == symbol, 0.0, counts)


def test_vectors_from_raw_text_tell_of_words_that_the_treebank_lacks() -> None:
    """Chains of words w<kind><i> whose kinds follow one another; the treebank has half of the words."""
    rng = np.random.default_rng(5)

    def chain(letters: str, length: int = 6) -> list[str]:
        kind = rng.integers(3)
        return [f"w{(kind + place) % 3}{letters[rng.integers(len(letters))]}" for place in range(length)]

    text = lg.Text.of([" ".join(chain("abcd")) for _ in range(2000)])
    vectors = lg.fit(lg.WordVectors, text, by=lg.Spectral(states=4, least=0))
    bank = lg.Treebank.of(tree_of(chain("ab")) for _ in range(400))
    by = lg.Spectral(states=4, symbols="forms", valency=0, vectors=vectors)
    model = lg.fit(lg.LatentTree, bank, by=by)
    right, wrong = tree_of(["w0c", "w1d", "w2c"]), tree_of(["w0c", "w0d", "w2c"])
    assert "w0c" not in {word for tree in bank for word in tree.words}
    assert model.logprob(right) > model.logprob(wrong) + 1
    literal = lg.fit(lg.LatentTree, bank, by=dataclasses.replace(by, form="printed"))
    assert literal.word.shape == model.word.shape
    assert len(literal.start) == literal.states


def tree_of(words: list[str]) -> lg.DependencyTree:
    """Each word depends on the one before it."""
    return lg.DependencyTree(tuple(words), tuple(range(len(words))), xpos=("X",) * len(words))


def test_symbols_without_vectors_take_those_of_their_tag() -> None:
    vectors = lg.WordVectors(Alphabet(("a", "b")), np.array([[1.0, 0.0], [0.0, 1.0]]), np.ones(2), "context")
    bank = lg.Treebank.of([lg.DependencyTree(("a", "b", "z"), (0, 1, 2), xpos=("X", "Y", "X"))])
    nodes = Nodes.of(bank, WordSymbols.rule("forms", vectors.words), 0)
    names = list(nodes.symbols.words.alphabet)
    assert names == ["X", "a^", "b^"]
    found = vectors_of_symbols(bank.sentences(), nodes, vectors, 2)
    assert found.tolist() == [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(DataError, match="no word of the treebank"):
        vectors_of_symbols([lg.Sentence(("y",), xpos=("X",))], nodes, vectors, 2)


def test_counts_of_parts_add_up_and_do_not_depend_on_their_number() -> None:
    trees = arrays(HEADS)
    words, _ = TRUTH.sample_nodes(trees, 3)
    half = 7 * 30
    parts = TreeCounts.of(arrays(HEADS[:30]), words[:half], 8) + TreeCounts.of(arrays(HEADS[30:]), words[half:], 8)
    whole = TreeCounts.of(trees, words, 8)
    assert np.array_equal(parts.siblings.tuples, whole.siblings.tuples)
    assert np.array_equal(parts.siblings.count, whole.siblings.count)
    assert parts.siblings.total == sum(
        sum(head == word for head in tree[: word - 1]) * sum(head == word for head in tree[word:])
        for tree in HEADS
        for word in range(1, 8)
    )


@pytest.mark.parametrize("valency", [0, 3])
def test_the_likelihood_rises_under_em(valency: int) -> None:
    bank = lg.demo_dependencies(150, seed=2)
    model = lg.fit(lg.LatentTree, bank, by=lg.EM(states=4, iterations=12, valency=valency, smoothing=0.0))
    bounds = [record["bound"] for record in model.provenance.trace]
    assert all(later >= earlier - 1e-9 * abs(earlier) for earlier, later in itertools.pairwise(bounds))
    assert model.logprobs(list(bank)).sum() > bounds[-1] - 1e-6


@pytest.mark.parametrize("form", ["corrected", "printed"])
def test_spectral_models_of_a_treebank_are_finite_everywhere(form: str) -> None:
    bank = lg.demo_dependencies(300, seed=3)
    model = lg.fit(lg.LatentTree, bank, by=lg.Spectral(states=4, form=form))
    logs, low = model.scores(bank.arrays, bank.sentences())
    assert np.isfinite(logs).all()
    assert model.provenance.trace[0]["at the floor"] == low.sum()
    assert model.posterior(bank[0]).sum(1) == pytest.approx(np.ones(len(bank[0])))
    absolute = lg.fit(lg.LatentTree, bank, by=lg.Spectral(states=4, form=form, absolute=True))
    np.testing.assert_allclose(absolute.scores(bank.arrays, bank.sentences())[0][~low], logs[~low])
