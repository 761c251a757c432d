"""Rules as sums of products: the sums against tensors of known rank, the chart against all trees."""

from pathlib import Path

import numpy as np
import pytest
from tests.oracles.latent_grammar import item_posteriors, random_lpcfg, tree_probabilities

from latentgram.data.demo import demo_treebank
from latentgram.data.sentence import Sentence
from latentgram.errors import SettingError
from latentgram.kinds.learners import Clustering, Spectral
from latentgram.learn.fit import fit
from latentgram.lpcfg.low_rank import low_rank, parallel_factors
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.parse.cascade import Cascade, Posterior
from latentgram.lpcfg.parse.pruning import Pruning
from latentgram.lpcfg.update import update
from latentgram.parser.parser import Parser
from latentgram.store import load, save
from oracles.chart_items import places_of

EXACT = Pruning(precision="float64", small_states=100).none()
WORDS = ["the", "dog", "barks", "dog"]


def posterior(grammar: LPCFG, words: list[str], *, unseen: bool) -> Posterior:
    cascade = Cascade((grammar,), EXACT, unseen=unseen)
    found = cascade.posterior(cascade.leaves.of(Sentence.of(words)))
    assert found is not None
    return found


def test_sums_of_products_are_found_again() -> None:
    rng = np.random.default_rng(1)
    parts = [rng.normal(size=(4, size, 3)) for size in (9, 8, 7)]
    tensors = np.einsum("nil,njl,nkl->nijk", *parts)
    found = np.einsum("nil,njl,nkl->nijk", *parallel_factors(tensors, 3, rounds=200))
    assert found == pytest.approx(tensors, abs=1e-4 * np.abs(tensors).max())


def test_more_products_come_nearer_to_the_tensor() -> None:
    tensors = np.random.default_rng(2).normal(size=(3, 6, 6, 6))
    errors = []
    for rank in (1, 3, 6):
        found = np.einsum("nil,njl,nkl->nijk", *parallel_factors(tensors, rank))
        errors.append(np.linalg.norm(found - tensors))
    assert errors[0] > errors[1] > errors[2]
    # One product at its best is what the power method finds: no other scaling of its three parts is nearer.
    u, v, w = parallel_factors(tensors[:1], 1, rounds=200)
    best = np.einsum("nijk,nil,njl,nkl->n", tensors[:1], u, v, w)
    assert best == pytest.approx(np.prod([np.square(part).sum() for part in (u, v, w)]), rel=1e-6)


@pytest.mark.parametrize("rank", [1, 2, 9])
def test_the_chart_of_sums_gives_the_posteriors_of_all_trees(rank: int) -> None:
    whole = random_lpcfg(3, signed=True)
    grammar = low_rank(whole, rank)
    assert (grammar.rule_rank == np.minimum(np.sort(whole.states[whole.rules])[:, :2].prod(1), rank)).all()
    if rank == 9:
        assert grammar.rule_tensor == pytest.approx(whole.rule_tensor, abs=1e-12)
    probabilities = tree_probabilities(grammar, WORDS)
    found = posterior(grammar, WORDS, unseen=False)
    assert found.logprob == pytest.approx(np.log(abs(sum(probabilities.values()))), abs=1e-9)
    expected = item_posteriors(probabilities)
    places = places_of(found.chart)
    assert set(expected) <= set(places)
    for item, value in zip(places, found.item, strict=True):
        assert value == pytest.approx(expected.get(item, 0.0), abs=1e-9)


def test_sums_and_their_tensors_parse_alike_rules_never_seen_among_them() -> None:
    bank = demo_treebank(60, seed=1)
    grammar = fit(LPCFG, bank, by=Spectral(states=6, rank=2))
    whole = grammar.whole
    assert grammar.rule_rank.max() == 2
    assert not whole.rule_rank.size
    for words in (bank[0].words, bank[1].words):
        one, other = (posterior(each, list(words), unseen=True) for each in (grammar, whole))
        assert (one.chart.parent_rule < 0).any()
        assert one.item == pytest.approx(other.item, abs=1e-9)
        assert one.edge == pytest.approx(other.edge, abs=1e-9)


def test_sums_are_stored_and_a_grammar_that_grows_has_whole_tensors(tmp_path: Path) -> None:
    bank = demo_treebank(60, seed=1)
    grammar = fit(LPCFG, bank, by=Spectral(states=4, rank=2))
    save(grammar, tmp_path / "grammar.lg")
    stored = load(tmp_path / "grammar.lg")
    np.testing.assert_array_equal(stored.rule_factor, grammar.rule_factor)
    save(grammar, tmp_path / "compact.lg", precision="compact")
    compact = load(tmp_path / "compact.lg")
    np.testing.assert_array_equal(compact.rule_tensor, grammar.rule_tensor)  # what the products sum to
    grown = update(grammar, demo_treebank(5, seed=2))
    assert isinstance(grown, LPCFG)
    assert not grown.rule_rank.size
    assert Parser(grown).parse(bank[0].sentence).tree.words == bank[0].words
    with pytest.raises(SettingError, match="cannot be sums of few products"):
        low_rank(fit(LPCFG, bank[:20], by=Clustering(states=2, iterations=0)), 2)
