"""Parsing with latent grammars against the sum over all trees, and what happens when nothing is left."""

import dataclasses
import math

import numpy as np
import pytest
from tests.oracles.latent_grammar import item_posteriors, random_lpcfg, tree_probabilities

from latentgram.data.brackets import parse_forest, parse_tree
from latentgram.data.demo import demo_dependencies, demo_treebank
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError, SettingError
from latentgram.kinds.learners import EM, Clustering, Counting, Spectral
from latentgram.kinds.result import Parse
from latentgram.learn.fit import fit
from latentgram.lpcfg.decoders import Goodman
from latentgram.lpcfg.model import LPCFG, Ensemble
from latentgram.lpcfg.parse.backend import WITH_CLOSING, PhraseBackend, distinct
from latentgram.lpcfg.parse.cascade import Cascade
from latentgram.lpcfg.parse.pruning import Pruning
from latentgram.lpcfg.surprisal import Surprisal
from latentgram.parser.parser import Parser
from latentgram.shag.model import SHAG
from latentgram.store import load, save

EXACT = Pruning(precision="float64", small_states=100).none()
WORDS = ["the", "dog", "barks", "dog"]


def spans(length):
    return [(first, first + width) for width in range(1, length + 1) for first in range(length - width + 1)]


def items_of(posterior):
    chart = posterior.chart
    cell = np.repeat(np.arange(len(chart.cell_begin) - 1), np.diff(chart.cell_begin))
    places = spans(chart.length)
    return {
        (int(symbol), *places[c]): value
        for symbol, c, value in zip(chart.item_symbol, cell, posterior.item, strict=True)
    }


@pytest.mark.parametrize("signed", [False, True])
def test_posteriors_without_pruning_are_exact(signed):
    grammar = random_lpcfg(1, signed=signed)
    probabilities = tree_probabilities(grammar, WORDS)
    cascade = Cascade((grammar,), EXACT, unseen=False)
    posterior = cascade.posterior(cascade.leaves.of(Sentence.of(WORDS)))
    total = sum(probabilities.values())
    assert posterior.logprob == pytest.approx(math.log(abs(total)), abs=1e-9)
    assert posterior.negative == (total < 0)
    found, expected = items_of(posterior), item_posteriors(probabilities)
    for item in found.keys() | expected.keys():
        assert found.get(item, 0.0) == pytest.approx(expected.get(item, 0.0), abs=1e-9), item


def test_pruning_in_single_precision_keeps_what_is_probable():
    grammar = random_lpcfg(2, states=4)
    expected = item_posteriors(tree_probabilities(grammar, WORDS))
    pruning = Pruning(floor=1e-6, beam=1e-6, coarse_threshold=1e-6, threshold=1e-5, small_states=2)
    cascade = Cascade((grammar,), pruning, unseen=False)
    found = items_of(cascade.posterior(cascade.leaves.of(Sentence.of(WORDS))))
    for item, posterior in expected.items():
        assert found.get(item, 0.0) == pytest.approx(posterior, abs=2e-3)


def test_goodman_takes_the_tree_with_most_right_nodes():
    grammar = random_lpcfg(3)
    probabilities = tree_probabilities(grammar, WORDS)
    posterior = item_posteriors(probabilities)
    best = max(probabilities, key=lambda tree: sum(posterior[item] for item in tree))
    backend = PhraseBackend(grammar, Goodman())
    backend.cascade = Cascade((grammar,), EXACT, unseen=False)
    [parse] = backend.parse([Sentence.of(WORDS)])
    symbols = backend.symbols
    kept = [item for item in best if not symbols[item[0]].startswith("@")]
    assert list(parse.tree.spans()) == [("TOP", 0, 4), *((symbols[s], i, j) for s, i, j in kept)]
    np.testing.assert_allclose(parse.confidence, [1.0, *(posterior[item] for item in kept)], atol=1e-9)
    assert not parse.fallback


def rules_of(tree):
    """(node, left child, right child) of the phrases of a tree in preorder, and its nodes over words."""
    nodes, stack = [], []
    for item in reversed(tree):
        if item[2] - item[1] == 1:
            nodes.append((item,))
        else:
            nodes.append((item, stack.pop(), stack.pop()))
        stack.append(item)
    return nodes


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("signed", [False, True])
def test_goodman_over_rules_takes_the_greatest_sum_of_their_marginals(seed, signed):
    """Signed numbers, of which some sentences have a negative sum: sizes or signs of the marginals themselves."""
    grammar = random_lpcfg(seed, signed=True)
    probabilities = tree_probabilities(grammar, WORDS)
    marginal = {}
    for tree, probability in probabilities.items():
        for rule in rules_of(tree):
            marginal[rule] = marginal.get(rule, 0.0) + probability

    def objective(tree):
        return sum(marginal[rule] if signed else abs(marginal[rule]) for rule in rules_of(tree))

    backend = PhraseBackend(grammar, Goodman(signed=signed, over="rules"))
    backend.cascade = Cascade((grammar,), EXACT, unseen=False)
    best = max(probabilities, key=objective)
    symbols = backend.symbols
    kept = [item for item in best if not symbols[item[0]].startswith("@")]
    [parse] = backend.parse([Sentence.of(WORDS)])
    assert list(parse.tree.spans()) == [("TOP", 0, 4), *((symbols[s], i, j) for s, i, j in kept)]


@pytest.mark.parametrize("signed", [False, True])
def test_ensembles_choose_each_rule_by_geometric_means(signed):
    """By enumeration: p(tree | sentence), normalised, the posteriors of its nodes, and p(sentence), the mean."""
    one = random_lpcfg(4, signed=signed)
    random = np.random.default_rng(0)
    other = dataclasses.replace(one, rule_tensor=random.random(len(one.rule_tensor)) - 0.3 * signed)
    trees = [tree_probabilities(grammar, WORDS) for grammar in (one, other)]
    totals = [sum(probabilities.values()) for probabilities in trees]
    mean = {}
    for probabilities, total in zip(trees, totals, strict=True):
        found = {}
        for tree, probability in probabilities.items():
            for part in {*tree, *rules_of(tree)}:
                found[part] = found.get(part, 0.0) + probability / total
        for part, value in found.items():
            mean[part] = mean.get(part, 1.0) * math.sqrt(abs(value))
    share = {}
    for tree in trees[0]:
        choices = [rule for rule in rules_of(tree) if len(rule) == 3]
        share[tree] = mean[tree[0]] * math.prod(mean[rule] / mean[rule[0]] for rule in choices)
    share = {tree: value / sum(share.values()) for tree, value in share.items()}
    backend = PhraseBackend(Ensemble((one, other)))
    backend.cascade = cascade = Cascade((one, other), EXACT, unseen=False)
    posterior = cascade.posterior(cascade.leaves.of(Sentence.of(WORDS)))
    assert posterior.logprob == pytest.approx(math.log(abs(sum(totals) / 2)), abs=1e-9)
    assert posterior.negative == (sum(totals) < 0)
    expected = item_posteriors(share)
    for item, value in items_of(posterior).items():
        assert value == pytest.approx(expected.get(item, 0.0), abs=1e-9)
    for item, value in items_of(posterior._replace(item=posterior.means[0])).items():
        assert value == pytest.approx(mean.get(item, 0.0), abs=1e-9)
    listed = backend.nbest(Sentence.of(WORDS), 10_000)
    assert [parse.probability for parse in sorted(listed, key=lambda parse: -parse.probability)] == pytest.approx(
        sorted(share.values(), reverse=True), abs=1e-9
    )


@pytest.mark.parametrize("states", [(1, 2), (2, 1)])
def test_a_plain_pcfg_in_an_ensemble_keeps_its_p(states):
    """It has no rules but those it was seen with, whichever grammar comes first."""
    trees = "(S (N (A x) (A y)) (B x)) (S (A x)) (N (A y) (A x) (B y)) (S (N (S (B x) (A y)) (A x)) (N (A y)))"
    bank = Treebank.of(parse_forest(12 * trees))
    grammars = tuple(fit(LPCFG, bank, by=EM(states=count, rare=0, iterations=2)) for count in states)
    assert sorted(grammar.plain for grammar in grammars) == [False, True]
    parser, alone = Parser(Ensemble(grammars)).exact, [Parser(grammar).exact for grammar in grammars]
    for words in (["x", "y"], ["x", "y", "y"], [("x", "B"), ("y", "A")]):
        parses = parser.nbest(words, 1000)
        each = [np.exp(other.parse(words).logprob) for other in alone]
        assert parses[0].logprob == pytest.approx(np.log(np.mean(each)), abs=1e-9)
        assert np.logaddexp.reduce([parse.tree_logprob for parse in parses]) == pytest.approx(parses[0].logprob)
        assert Surprisal.of(parser.model, beam=0.0).logprob(words) == pytest.approx(parses[0].logprob, abs=1e-9)


def test_sentences_without_a_parse_get_a_flagged_tree():
    grammar = random_lpcfg(5)
    none = dataclasses.replace(
        grammar,
        root_vector=grammar.root_vector * 0.0,
        root_count=np.array([1.0, 0, 0, 0, 0, 0]),
        rules=grammar.rules[grammar.rules[:, 0] == 1],
        rule_count=grammar.rule_count[grammar.rules[:, 0] == 1],
        rule_offset=grammar.rule_offset[: (grammar.rules[:, 0] == 1).sum() + 1],
    )
    backend = PhraseBackend(none)
    for words in (["dog"], ["the", "dog"], WORDS, WORDS * 3):
        [parse] = backend.parse([Sentence.of(words)])
        assert parse.fallback
        assert parse.tree.words == tuple(words)


def test_one_word_and_many_words():
    backend = PhraseBackend(random_lpcfg(6))
    [short, long] = backend.parse([Sentence.of(["dog"]), Sentence.of(["the", "dog", "barks"] * 34)])
    assert short.tree.words == ("dog",)
    assert len(long.tree) == 102
    assert math.isfinite(long.logprob)
    assert not long.fallback
    assert ((long.confidence >= 0) & (long.confidence <= 1)).all()


CYRILLIC = {first + i: to + i for first, to in ((ord("a"), ord("а")), (ord("A"), ord("А"))) for i in range(26)}
"""Latin letters by Cyrillic ones, in their order and with their case."""


def written(tree: Tree) -> Tree:
    """A tree with words and labels in Cyrillic letters."""
    label = tree.label.translate(CYRILLIC)
    if tree.word is not None:
        return Tree(label, word=tree.word.translate(CYRILLIC))
    return Tree(label, tuple(map(written, tree.children)))


@pytest.mark.parametrize("learner", [Spectral(states=4), Clustering(states=4, iterations=1)])
def test_another_alphabet_and_other_labels_change_nothing(learner):
    train, new = demo_treebank(100, seed=1), demo_treebank(30, seed=2)
    latin = Parser(fit(LPCFG, train, by=learner))
    other = Parser(fit(LPCFG, Treebank.of(map(written, train)), by=learner))
    for given in (True, False):
        for sentence in new.sentences():
            words = tuple(word.translate(CYRILLIC) for word in sentence.words)
            tags = tuple(tag.translate(CYRILLIC) for tag in sentence.tags)
            parse = latin.parse(sentence if given else sentence.words)
            same = other.parse(Sentence(words, tags) if given else words)
            assert written(parse.tree) == same.tree
            assert parse.logprob == pytest.approx(same.logprob)


def test_a_parser_takes_its_pruning(tmp_path):
    bank = demo_treebank(60, seed=0)
    grammar = fit(LPCFG, bank, by=Spectral(states=2))
    sentence = Sentence(bank[3].words)
    exact, usual = Parser(grammar, pruning=EXACT), Parser(grammar)
    assert exact.backend.cascade.pruning == EXACT
    assert usual.backend.cascade.pruning == WITH_CLOSING
    whole, part = (parser.backend.cascade for parser in (exact, usual))
    items = [len(cascade.posterior(cascade.leaves.of(sentence)).item) for cascade in (whole, part)]
    assert items[0] > items[1]
    save(exact, tmp_path / "p.lg")
    assert load(tmp_path / "p.lg").pruning == EXACT
    with pytest.raises(SettingError, match="pruning applies only to constituency grammars"):
        Parser(fit(SHAG, demo_dependencies(20), by=Counting()), pruning=Pruning())
    with pytest.raises(SettingError, match="pruning must be a Pruning"):
        Parser(grammar, pruning=0.1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("floor", math.nan),
        ("threshold", -1),
        ("beam", 2.0),
        ("coarse_threshold", "x"),
        ("unseen_rigour", math.inf),
        ("small_states", 0),
        ("small_states", 1.5),
        ("precision", "float16"),
    ],
)
def test_thresholds_out_of_range(field, value):
    with pytest.raises(SettingError, match=f"Pruning.{field} must be"):
        Pruning(**{field: value})


def test_words_that_the_grammar_cannot_derive_have_trees_but_no_probability():
    bank = Treebank.of([parse_tree("(S (A a) (B b))"), parse_tree("(S (B b) (A c))")])
    parser = Parser(fit(LPCFG, bank, by=Counting(rare=0, pull=0.0)))
    parse = parser.parse(["b", "b"])
    assert parse.logprob == -math.inf
    assert parse.conditional
    assert 0 < parse.probability <= 1
    assert math.exp(parse.tree_logprob) == pytest.approx(parse.probability)
    again = Parse.from_json(parse.to_json())
    assert (again.logprob, again.tree_logprob, again.conditional) == (parse.logprob, parse.tree_logprob, True)
    assert not parser.parse(["a", "b"]).conditional


def test_lists_have_every_tree_however_many_derivations_there_are():
    """And say so where the search is given up."""
    bank = demo_treebank(60, seed=0)
    parser = Parser(fit(LPCFG, bank, by=Clustering(states=2, direction="head"))).exact
    sentence = min(bank.sentences(), key=len)
    listed = parser.nbest(sentence, 3000)
    assert len(listed) < 3000
    assert sum(parse.probability for parse in listed) == pytest.approx(1.0, abs=1e-9)
    assert len({str(parse.tree) for parse in listed}) == len(listed)
    phrases = parser.backend._analyse(sentence)[1]
    search = parser.backend.decoder.trees
    assert len(search(phrases, 1_000_000)[0]) > len(listed)
    with pytest.warns(UserWarning, match="although there may be more"):
        assert len(distinct(phrases, lambda count: search(phrases, count), len(listed), most=1)) < len(listed)


def test_pruned_charts_are_marked_and_exact_ones_are_not():
    bank = demo_treebank(60, seed=0)
    latent, plain = (Parser(fit(LPCFG, bank, by=by)) for by in (Clustering(states=2), Counting()))
    sentence = min(bank.sentences(), key=len)
    for parser, pruned in ((latent, True), (latent.exact, False), (plain, False), (plain.exact, False)):
        for parse in (parser.parse(sentence), parser.score(bank[0]), *parser.nbest(sentence, 2)):
            assert parse.pruned == pruned
            assert parse.to_json().get("pruned", False) == pruned
            assert Parse.from_json(parse.to_json()).pruned == pruned
    assert latent.parse(sentence).logprob <= latent.exact.parse(sentence).logprob + 1e-6


def test_charts_that_do_not_fit_into_memory_are_refused(monkeypatch):
    parser = Parser(fit(LPCFG, demo_treebank(60, seed=0), by=Clustering(states=2))).exact
    parser.parse("the teacher sleeps .")
    monkeypatch.setattr("latentgram.lpcfg.parse.first_stage.MOST_EDGES", 10)
    with pytest.raises(DataError, match="without pruning the chart of these 4 words has"):
        parser.parse("the teacher sleeps .")
