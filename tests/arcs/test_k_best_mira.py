"""k-best MIRA: the step is the smallest that meets all constraints, and parsers learn by it."""

import numpy as np
import pytest

import latentgram as lg
from latentgram.arcs.kernels.k_best_mira import _factors, k_best_pass
from latentgram.arcs.model import ArcFactored, ArcRelations, HashedWeights
from latentgram.arcs.symbols import ArcSymbols, projective_treebank
from latentgram.data.alphabet import Alphabet


@pytest.fixture(scope="module")
def bank() -> lg.Treebank:
    return lg.demo_dependencies(80, seed=3)


@pytest.mark.parametrize("limit", [1e9, 0.05])
def test_the_step_is_the_smallest_that_meets_the_constraints(limit: float) -> None:
    """The conditions of Karush, Kuhn and Tucker: no constraint is missed but by a rival at its limit, none is met
    by more than needed if its rival counts."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        vectors, lacking = rng.standard_normal((4, 12)), rng.standard_normal(4) + 0.5
        factors = _factors(vectors @ vectors.T, lacking, limit)
        slack = vectors @ (factors @ vectors) - lacking
        assert ((factors >= 0) & (factors <= limit)).all()
        assert (slack[factors < limit] > -1e-6).all()
        assert (slack[factors > 0] < 1e-6).all()


def test_after_a_step_the_right_tree_wins_by_the_losses(bank: lg.Treebank) -> None:
    projective, _ = projective_treebank(bank[:1])
    symbols = ArcSymbols.of(projective.sentences(), 0)
    data = symbols.encode(projective.sentences())._replace(heads=projective.arrays.heads.astype(np.int64))
    weights, summed = np.zeros(1 << 16, np.float32), np.zeros(1 << 16)
    unnamed = ArcRelations(Alphabet(("_",)), HashedWeights.of(np.zeros(2)))

    def scores(weights: np.ndarray):
        model = ArcFactored(symbols, 1, HashedWeights.of(weights), None, 1.0, 1e-3, unnamed)
        return model.scores(data.sentence(0))

    rivals, _ = scores(weights).k_best(5)
    k_best_pass(np.array([0]), data, 5, 1e9, 0.0, weights, summed)
    after, gold = scores(weights), data.heads - 1
    for rival in rivals:
        wrong = int((rival != gold).sum())
        assert after.of_heads(gold) - after.of_heads(rival) > wrong - 1e-4
    assert (rivals != gold).any()


@pytest.mark.parametrize("order", [1, 2])
def test_parsers_learn_by_it(bank: lg.Treebank, order: int) -> None:
    by = lg.MIRA(order=order, best=4, passes=3, bits=16)
    parser = lg.Parser(lg.fit(lg.ArcFactored, bank, by=by))
    assert parser.evaluate(bank, gold_tags=True).headline > 90
