"""Learners of latent-variable grammars on trees drawn from a grammar that is known."""

import dataclasses
import math
from collections import Counter

import numpy as np
import pytest
from tests.oracles.latent_truth import tree_probability, truth

from latentgram.data.demo import demo_treebank
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context, recipe_of
from latentgram.kinds.learners import EM, Clustering, Combining, Counting, Spectral
from latentgram.kinds.settings import Settings
from latentgram.learn.fit import fit
from latentgram.lpcfg.clustering import labelled_counts
from latentgram.lpcfg.draw import draw_trees
from latentgram.lpcfg.em import random_counts, shared_counts
from latentgram.lpcfg.em_steps import expect, maximise, shards_of
from latentgram.lpcfg.lexicon import LexiconPlan
from latentgram.lpcfg.model import LPCFG, Ensemble
from latentgram.lpcfg.printed_lexicon import PrintedLexicon
from latentgram.lpcfg.smaller import truncated
from latentgram.lpcfg.spectral import spectral_grammar
from latentgram.lpcfg.statistics import GrammarData
from latentgram.lpcfg.update import update
from latentgram.lpcfg.views import ViewSettings, project
from latentgram.parallel import InProcess
from latentgram.parser.parser import Parser

HERE = InProcess()
RAW = {"rare": 0, "backoff": 0.0, "pull": 0.0}
"""No smoothing: the estimators as Cohen et al. (2012) have them."""


@pytest.fixture(scope="module")
def bank() -> Treebank:
    return Treebank.of(draw_trees(truth(), 20_000, seed=1))


@pytest.fixture(scope="module")
def common(bank: Treebank) -> list[tuple[object, float]]:
    """The hundred commonest trees of other data, with their probabilities."""
    drawn = Counter(draw_trees(truth(), 3_000, seed=2))
    return [(tree, tree_probability(truth(), tree)) for tree, _ in drawn.most_common(100)]


def error(grammar: LPCFG, common: list[tuple[object, float]]) -> float:
    """Σ |p̂ - p| / Σ p over the common trees."""
    found = [tree_probability(grammar, tree) for tree, _ in common]
    return float(sum(abs(p - q) for p, (_, q) in zip(found, common, strict=True)) / sum(q for _, q in common))


def resolved(learner: Settings) -> Settings:
    return learner.settings(recipe_of("LPCFG", type(learner).__name__).settings_class(), "test")


@pytest.fixture(scope="module")
def pcfg_error(bank: Treebank, common: list[tuple[object, float]]) -> float:
    return error(fit(LPCFG, bank, by=Counting(rare=0)), common)


def test_spectral_moments_find_the_truth(
    bank: Treebank, common: list[tuple[object, float]], pcfg_error: float
) -> None:
    two = fit(LPCFG, bank, by=Spectral(states=2, **RAW))
    assert not two.nonnegative
    assert error(two, common) < 0.12 < 0.3 < pcfg_error


def test_one_spectral_state_is_the_pcfg(bank: Treebank, common: list[tuple[object, float]]) -> None:
    one = fit(LPCFG, bank, by=Spectral(states=1, features="simple", **RAW))
    assert one.states.max() == 1
    # With one coordinate a symbol's vectors still differ, but whole trees agree with relative frequencies nearly.
    assert error(one, common) == pytest.approx(error(fit(LPCFG, bank, by=Counting(rare=0)), common), rel=0.35)


def test_more_data_smaller_error(common: list[tuple[object, float]]) -> None:
    errors = []
    for number in (300, 3_000, 30_000):
        bank = Treebank.of(draw_trees(truth(), number, seed=3))
        errors.append(error(fit(LPCFG, bank, by=Spectral(states=2, **RAW)), common))
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < errors[0] / 3


def test_a_smaller_grammar_is_a_slice(bank: Treebank) -> None:
    small = fit(LPCFG, bank[:2000], by=Spectral(states=2))
    large = fit(LPCFG, bank[:2000], by=Spectral(states=5))
    cut = truncated(large, np.full(len(large.states), 2))
    for name in ("states", "rule_offset", "lexicon_offset", "root_offset"):
        assert np.array_equal(getattr(cut, name), getattr(small, name)), name
    for name in ("rule_tensor", "lexicon_vector", "root_vector", "mean_inside", "mean_outside"):
        assert np.abs(getattr(cut, name)) == pytest.approx(np.abs(getattr(small, name)), abs=1e-7), name


def test_unsmoothed_em_raises_the_likelihood_and_beats_the_pcfg(
    bank: Treebank, common: list[tuple[object, float]], pcfg_error: float
) -> None:
    learned = fit(LPCFG, bank, by=EM(states=2, iterations=150, seed=3, **RAW))
    bounds = [record["bound"] for record in learned.provenance.trace]
    assert len(bounds) == 150
    assert np.all(np.diff(bounds) > -1e-6 * abs(bounds[0]))
    assert error(learned, common) < 0.12 < pcfg_error


def test_clusters_and_a_few_rounds_find_the_truth(
    bank: Treebank, common: list[tuple[object, float]], pcfg_error: float
) -> None:
    learned = fit(LPCFG, bank, by=Clustering(states=2, dimensions=2, iterations=40, **RAW))
    assert learned.nonnegative
    assert error(learned, common) < 0.15 < pcfg_error


def test_em_from_spectral_coordinates_finds_the_truth(
    bank: Treebank, common: list[tuple[object, float]], pcfg_error: float
) -> None:
    learned = fit(LPCFG, bank, by=EM(states=2, start="spectral", iterations=40, **RAW))
    assert learned.nonnegative
    assert error(learned, common) < 0.15 < pcfg_error


def test_shares_of_one_state_are_labels(bank: Treebank) -> None:
    data = GrammarData.of(bank[:200], resolved(Spectral()), HERE)
    states = np.array([3, 2, 1, 2], np.int32)[: data.derivations.symbols]
    label = np.random.default_rng(0).integers(0, states[data.derivations.symbol])
    known, shared = (
        labelled_counts(data.derivations, states, label),
        shared_counts(data.derivations, states, np.eye(3)[label]),
    )
    for name in ("rule", "entry", "root"):
        assert getattr(shared, name) == pytest.approx(getattr(known, name))


def test_em_starts_from_fewer_coordinates_than_were_asked_for(bank: Treebank) -> None:
    grammar = fit(LPCFG, bank[:20], by=EM(states=500, iterations=1, start="spectral"))
    assert grammar.states.max() < 500
    assert grammar.root_vector.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "learner",
    [EM(states=3, iterations=2), Clustering(states=4, iterations=1)],
    ids=lambda learner: type(learner).__name__,
)
def test_grammars_of_probabilities_are_proper(bank: Treebank, learner: object) -> None:
    grammar = fit(LPCFG, bank[:3000], by=learner)
    total = np.zeros((len(grammar.states), grammar.states.max()))
    for number, (a, b, c) in enumerate(grammar.rules):
        tensor = grammar.rule_tensor[grammar.rule_offset[number] : grammar.rule_offset[number + 1]]
        total[a, : grammar.states[a]] += tensor.reshape(grammar.states[a], -1).sum(1)
        assert tensor.size == grammar.states[a] * grammar.states[b] * grammar.states[c]
    for number, (a, _) in enumerate(grammar.lexicon):
        vector = grammar.lexicon_vector[grammar.lexicon_offset[number] : grammar.lexicon_offset[number + 1]]
        total[a, : grammar.states[a]] += vector
    total[: len(grammar.interminals)] += grammar.unseen[: len(grammar.interminals), None]
    used = np.arange(total.shape[1]) < grammar.states[:, None]
    assert total[used] == pytest.approx(1.0)
    assert grammar.root_vector.sum() == pytest.approx(1.0)
    assert min(grammar.rule_tensor.min(), grammar.lexicon_vector.min()) >= 0


def test_counts_of_shards_add_up_to_those_of_the_whole(bank: Treebank, monkeypatch: pytest.MonkeyPatch) -> None:
    data = GrammarData.of(bank[:500], resolved(EM(rare=0)), HERE)
    d = data.derivations
    states = np.full(d.symbols, 3, np.int32)
    grammar = maximise(d, states, random_counts(d, states, np.random.default_rng(0)), 10.0, 5.0, HERE)
    whole, bound = expect(shards_of(d), grammar, HERE)
    monkeypatch.setattr("latentgram.lpcfg.em_steps.SHARD", 64)
    assert len(shards_of(d)) == 8
    parts, same_bound = expect(shards_of(d), grammar, HERE)
    assert bound == pytest.approx(same_bound)
    for name in ("rule", "entry", "root"):
        assert getattr(whole, name) == pytest.approx(getattr(parts, name), abs=1e-9), name
    assert whole.rule.sum() == pytest.approx(d.rule_count.sum())


def test_expected_counts_are_those_of_all_states(bank: Treebank) -> None:
    """Against the sum over every assignment of states to the nodes of one tree."""
    data = GrammarData.of(bank[:200], resolved(EM(rare=0)), HERE)
    d = data.derivations
    states = np.array([2, 3, 2, 1], np.int32)[: d.symbols]
    grammar = maximise(d, states, random_counts(d, states, np.random.default_rng(5)), 0.0, 0.0, HERE)
    rule_offset = np.concatenate(([0], np.cumsum(np.prod(states[d.rules], axis=1))))
    entry_offset = np.concatenate(([0], np.cumsum(states[d.lexicon[:, 0]])))
    nodes = range(d.start[1])
    rule, entry, total = np.zeros(len(grammar.rule)), np.zeros(len(grammar.entry)), 0.0
    for assignment in np.ndindex(*states[d.symbol[list(nodes)]]):
        weight, used_rules, used_entries = grammar.root[d.symbol[0], assignment[0]], [], []
        for v in nodes:
            if d.rule[v] < 0:
                place = entry_offset[d.entry[v]] + assignment[v]
                weight *= grammar.entry[place]
                used_entries.append(place)
            else:
                b, c = states[d.rules[d.rule[v], 1:]]
                place = (assignment[v] * b + assignment[d.left[v]]) * c + assignment[d.right[v]]
                weight *= grammar.rule[rule_offset[d.rule[v]] + place]
                used_rules.append(rule_offset[d.rule[v]] + place)
        np.add.at(rule, used_rules, weight)
        np.add.at(entry, used_entries, weight)
        total += weight
    tree = dataclasses.replace(d, start=d.start[:2])
    counts, bound = expect(shards_of(tree), grammar, HERE)
    assert bound == pytest.approx(np.log(total))
    assert counts.rule == pytest.approx(rule / total, abs=1e-12)
    assert counts.entry == pytest.approx(entry / total, abs=1e-12)


def test_the_best_round_on_dev_is_kept(bank: Treebank) -> None:
    scores = iter([1.0, 5.0, 2.0, 3.0])
    learned = fit(LPCFG, bank[:300], by=EM(states=2, iterations=3), dev_score=lambda grammar: next(scores))
    kept = fit(LPCFG, bank[:300], by=EM(states=2, iterations=1))
    assert np.array_equal(learned.rule_tensor, kept.rule_tensor)


def test_same_seed_same_grammar_and_number_of_workers_does_not_matter(bank: Treebank) -> None:
    for learner in (Spectral(states=3), Clustering(states=3, iterations=1, seed=4)):
        first, second = fit(LPCFG, bank[:400], by=learner), fit(LPCFG, bank[:400], by=learner, n_jobs=2)
        for field in dataclasses.fields(LPCFG):
            if isinstance(getattr(first, field.name), np.ndarray):
                assert np.array_equal(getattr(first, field.name), getattr(second, field.name)), field.name


def test_back_off_shrinks_rare_rules_towards_independence(bank: Treebank) -> None:
    data = GrammarData.of(bank[:300], resolved(Spectral(rare=0)), HERE)
    views = project(data, ViewSettings(states=3), Context())
    lexicon = LexiconPlan.of(data, 0.0)
    raw, far = (spectral_grammar(data, views, backoff, lexicon, HERE) for backoff in (0.0, 1e9))
    for number, (a, b, c) in enumerate(raw.rules):
        tensor = far.rule_tensor[far.rule_offset[number] : far.rule_offset[number + 1]]
        shaped = tensor.reshape(far.states[[a, b, c]])
        parts = [
            vector[far.root_offset[s] : far.root_offset[s + 1]]
            for vector, s in ((far.mean_inside, a), (far.mean_outside, b), (far.mean_outside, c))
        ]
        share = raw.rule_count[number] / data.derivations.symbol_count[a] * (1 - raw.unseen[a])
        assert shaped == pytest.approx(share * np.einsum("i,j,k->ijk", *parts), abs=1e-6)


@pytest.mark.parametrize("cutoff", [0, 4, 10_000])
def test_the_printed_lexicon_is_that_of_the_printed_formula(cutoff: int) -> None:
    """ν E^{a→x} + (1 − ν) E^a below the cut-off (Cohen et al. 2013, §3.2), leaf by leaf."""
    data = GrammarData.of(demo_treebank(80, seed=4), resolved(Spectral(rare=2)), HERE)
    d = data.derivations
    view = np.random.default_rng(0).normal(size=(len(d.symbol), 3))
    seen: dict[tuple[int, str], list[np.ndarray]] = {}
    for leaf in d.leaf.tolist():
        seen.setdefault((int(d.symbol[leaf]), d.words[d.word[leaf]]), []).append(view[leaf])
    printed = PrintedLexicon(data, 0.6, cutoff)
    vectors = printed.vectors(view, d.leaf, HERE)
    assert len(vectors) == len(seen) > 20
    for (symbol, word), vector in zip(printed.entries.tolist(), vectors, strict=True):
        mine = seen[symbol, printed.words[word]]
        others = [z for (a, _), rows in seen.items() if a == symbol for z in rows]
        own, share = np.mean(mine, axis=0), 0.6 if len(mine) < cutoff else 1.0
        smoothed = share * own + (1 - share) * np.mean(others, axis=0)
        np.testing.assert_allclose(vector, len(mine) / len(others) * smoothed, atol=1e-12)


def test_a_grammar_with_the_printed_lexicon_parses_and_grows() -> None:
    """Rare and unknown words are those of their tags, whether the tags are told or not."""
    train = demo_treebank(120, seed=4)
    grammar = fit(LPCFG, train, by=Spectral(states=3, lexicon="printed"))
    assert all(word in grammar.rare_words.known or word.startswith("‹=") for word in grammar.words)
    for model in (grammar, update(grammar, demo_treebank(3, seed=9))):
        for sentence in (train[0].sentence, Sentence.of(["Zzyzx", *train[0].words])):
            parse = Parser(model).parse(sentence)
            assert math.isfinite(parse.logprob)
    for wrong in (Spectral(lexical_share=0.5), Spectral(lexicon="printed", pull=1.0)):
        with pytest.raises(SettingError, match="has no meaning for the lexicon"):
            fit(LPCFG, train, by=wrong)


def test_bad_settings_and_empty_data_are_refused(bank: Treebank) -> None:
    with pytest.raises(SettingError, match="there is no feature set 'none'; known: simple, paper, full"):
        fit(LPCFG, bank[:50], by=Spectral(features="none"))
    with pytest.raises(DataError, match="no trees"):
        fit(LPCFG, bank[:0], by=Spectral())


@pytest.mark.parametrize(
    "learner", [Spectral(), Clustering(), EM(iterations=1)], ids=lambda learner: type(learner).__name__
)
def test_one_tree_is_enough(learner: object) -> None:
    tree = Tree("S", (Tree("NP", (Tree("N", word="κατά"), Tree("N", word="β"))), Tree("V", word="γ")))
    smoothed = fit(LPCFG, Treebank.of([tree]), by=learner)
    assert 0 < tree_probability(smoothed, tree) < 1
    raw = fit(LPCFG, Treebank.of([tree]), by=dataclasses.replace(learner, **RAW))
    # Moments know the tree by heart, but for what is kept for rules never seen, and use each rule once; with one
    # state a word is half of N, and half is left for unknown words.
    by_heart = np.prod(1.0 - raw.unseen[raw.rules[:, 0]])
    expected = by_heart if isinstance(learner, Spectral) else 0.25 / 8
    assert tree_probability(raw, tree) == pytest.approx(expected)


def test_states_can_be_bounded_by_the_spectrum_and_by_the_number_of_nodes(bank: Treebank) -> None:
    free = fit(LPCFG, bank[:1000], by=Spectral(states=6))
    assert free.states.max() == 6
    assert fit(LPCFG, bank[:1000], by=Spectral(states=6, cutoff=1.0)).states.max() == 1
    assert fit(LPCFG, bank[:1000], by=Spectral(states=6, growth=1e9)).states.max() == 1
    scarce = fit(LPCFG, bank[:4], by=Spectral(states=6, growth=3.0))
    assert scarce.states.max() > 1
    assert scarce.states.min() < scarce.states.max()


def test_states_are_searched_within_the_budget(bank: Treebank) -> None:
    tried = []

    def score(grammar: LPCFG) -> float:
        """Held-out accuracy of a made-up kind: the wish for many states of X, and few of the others."""
        tried.append(grammar.states.copy())
        return float(2 * grammar.states[1] - grammar.states.sum())

    learned = fit(LPCFG, bank[:500], by=Spectral(states=8, search=30), dev_score=score)
    assert len(tried) <= 30
    assert learned.states.tolist() == [1, 8, 1, 1]
    assert len(learned.provenance.trace) == len(tried)
    with pytest.raises(SettingError, match="needs held-out trees"):
        fit(LPCFG, bank[:100], by=Spectral(search=5))


def test_an_ensemble_shares_one_chart(bank: Treebank) -> None:
    ensemble = fit(Ensemble, bank[:600], by=Combining(states=6, members=7, iterations=1))
    assert [grammar.nonnegative for grammar in ensemble.grammars] == [True] * 6 + [False]
    assert len({grammar.rule_tensor.tobytes() for grammar in ensemble.grammars}) == 7
    assert [grammar.provenance.learner for grammar in ensemble.grammars][5:] == ["Clustering", "Spectral"]


@pytest.mark.parametrize("kind", ["dropout", "gaussian"])
def test_noise_makes_grammars_differ_by_their_seed(bank: Treebank, kind: str) -> None:
    plain, first, again, other = (
        fit(LPCFG, bank[:200], by=Spectral(states=2, noise=noise, noise_kind=kind, seed=seed))
        for noise, seed in ((0.0, 0), (0.2, 0), (0.2, 0), (0.2, 1))
    )
    np.testing.assert_array_equal(first.rule_tensor, again.rule_tensor)
    for one, two in ((plain, first), (first, other)):
        assert one.rule_tensor.shape != two.rule_tensor.shape or not np.allclose(one.rule_tensor, two.rule_tensor)
    noisy = fit(Ensemble, bank[:200], by=Combining(states=2, members=3, noise=0.2, noise_kind=kind, iterations=1))
    assert [grammar.provenance.fields["features"] for grammar in noisy.grammars] == ["paper"] * 3
    assert len({grammar.rule_tensor.tobytes() for grammar in noisy.grammars}) == 3


def test_words_that_look_like_symbols_of_the_lexicon_are_told_from_them() -> None:
    """The form of a word without letters is `‹.›`; a tag may be `.`, and a word may be anything."""
    odd = ("‹.›", "‹=.›", "‹a›", "!", "?", "one", "two")
    trees = [Tree("S", (Tree("N", word="word"), Tree(".", word=word))) for word in odd for _ in range(3)]
    grammar = fit(LPCFG, Treebank.of(trees), by=Clustering(states=2))
    assert len(np.unique(grammar.lexicon, axis=0)) == len(grammar.lexicon)
    assert not {"‹.›", "‹=.›", "‹a›"} & set(grammar.rare_words.known)
    assert {"‹.›", "‹=.›", "‹a›"} <= set(grammar.words)
    symbol = grammar.rare_words.symbols(["word", "‹=.›"])[1]
    assert symbol in grammar.rare_words.signatures
