"""Grammars with one state per symbol by the one engine, against the enumeration of all their trees."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pytest

import latentgram as lg
from latentgram.errors import SettingError
from latentgram.lpcfg.parse.backend import PLAIN, PhraseBackend
from latentgram.lpcfg.parse.cascade import LONG, Cascade
from latentgram.lpcfg.parse.pruning import Pruning
from latentgram.lpcfg.projection import Leaves, undiscounted
from oracles.binary_trees import Derivation, SmallGrammar
from oracles.chart_items import edges_of, places_of
from oracles.latent_grammar import item_posteriors, random_lpcfg, tree_probabilities

WORDS = ["the", "dog", "barks", "dog", "the", "barks"]
CUTTING = dataclasses.replace(PLAIN, coarse_threshold=0.2)
"""Decoders are given few items: what is called exact must not depend on it."""


def trees_of(cascade: Cascade, leaves: Leaves, root: np.ndarray | None = None) -> list[Derivation]:
    """All trees of a plain PCFG over some leaves, with their probabilities."""
    grammar = cascade.finest[0]
    first, words = len(grammar.interminals), len(leaves.begin) - 1
    lexical = np.zeros((words, len(grammar.preterminals)))
    lexical[np.repeat(np.arange(words), np.diff(leaves.begin)), leaves.symbol - first] = leaves.weight
    root = grammar.root_vector if root is None else root
    small = SmallGrammar(first, lexical.shape[1], grammar.rules, grammar.rule_tensor, root)
    return [tree for tree in small.derivations(lexical) if tree.weight > 0]


def case(seed: int, words: int, pruning: Pruning) -> tuple[PhraseBackend, lg.Sentence, list[Derivation]]:
    """A parser, a sentence, and its trees."""
    backend = PhraseBackend(random_lpcfg(seed, states=1), pruning=pruning)
    assert backend.cascade.plain
    sentence = lg.Sentence.of(WORDS[:words])
    return backend, sentence, trees_of(backend.cascade, backend.cascade.leaves.of(sentence))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("words", [1, 2, 3, 5])
def test_without_pruning_all_posteriors_are_exact(seed: int, words: int) -> None:
    backend, sentence, trees = case(seed, words, Pruning.none())
    posterior = backend.cascade.posterior(backend.cascade.leaves.of(sentence))
    if not trees:
        assert posterior is None
        return
    total = sum(tree.weight for tree in trees)
    items, edges = defaultdict(float), defaultdict(float)
    for tree in trees:
        for item in tree.items:
            items[item] += tree.weight / total
        for edge in tree.edges:
            edges[edge] += tree.weight / total
    assert posterior.logprob == pytest.approx(math.log(total), abs=1e-9)
    place = places_of(posterior.chart)
    assert dict(zip(place, posterior.item, strict=True)) == pytest.approx(dict(items), abs=1e-9)
    named = {
        (rule, place[left][1], place[left][2], place[right][2]): mass
        for (_, rule, left, right), mass in zip(edges_of(posterior.chart), posterior.edge, strict=True)
    }
    assert named == pytest.approx(dict(edges), abs=1e-9)


@pytest.mark.parametrize("pruning", [Pruning.none(), PLAIN, CUTTING], ids=["none", "plain", "cutting"])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("count", [1, 7, 2000])
def test_the_most_probable_trees(pruning: Pruning, seed: int, count: int) -> None:
    """p(sentence) and the list are exact whatever decoders are given."""
    backend, sentence, trees = case(seed, 5, pruning)
    best = sorted((math.log(tree.weight) for tree in trees), reverse=True)[:count]
    assert len(best) >= min(count, 100)
    parses = backend.nbest(sentence, count)
    logs = [parse.tree_logprob for parse in parses]
    np.testing.assert_allclose(logs, best, atol=1e-9)
    assert logs == sorted(logs, reverse=True)
    total = math.log(sum(tree.weight for tree in trees))
    assert {round(parse.logprob - total, 9) for parse in parses} == {0.0}
    symbols, sizes = _phrases(backend, sentence).most_probable(count)
    weight = {tree.items: tree.weight for tree in trees}
    found = [_items(*tree) for tree in zip(symbols, sizes, strict=True)]
    assert len(set(found)) == len(found)
    np.testing.assert_allclose([math.log(weight[items]) for items in found], best, atol=1e-9)
    [viterbi] = PhraseBackend(backend.grammar, lg.Viterbi(), pruning).parse([sentence])
    assert viterbi.tree_logprob == pytest.approx(best[0], abs=1e-9)


def _phrases(backend: PhraseBackend, sentence: lg.Sentence):
    _, phrases = backend._analyse(sentence)
    assert phrases is not None
    return phrases


def _items(symbols: np.ndarray, sizes: np.ndarray) -> tuple[tuple[int, int, int], ...]:
    """The items of a tree given in preorder."""
    items, starts = [], [0]
    for place, (symbol, size) in enumerate(zip(symbols.tolist(), sizes.tolist(), strict=True)):
        start, width = starts.pop(), (size + 1) // 2
        items.append((symbol, start, start + width))
        if width > 1:
            starts += [start + (int(sizes[place + 1]) + 1) // 2, start]
    return tuple(items)


def test_a_chart_that_is_cut_as_it_grows_does_not_change_which_trees_are_best() -> None:
    backend, sentence, trees = case(1, 4, dataclasses.replace(PLAIN, beam=0.9, floor=0.1))
    posterior = backend.cascade.posterior(backend.cascade.leaves.of(sentence))
    best = sorted((math.log(tree.weight) for tree in trees), reverse=True)[:9]
    assert posterior.logprob < math.log(sum(tree.weight for tree in trees)) - 0.01
    np.testing.assert_allclose([parse.tree_logprob for parse in backend.nbest(sentence, 9)], best, atol=1e-9)
    assert {parse.tree.words for parse in backend.sample(sentence, 5, seed=0)} == {tuple(WORDS[:4])}


@pytest.mark.parametrize("pruning", [Pruning.none(), CUTTING], ids=["none", "cutting"])
def test_samples_have_their_posterior_frequencies(pruning: Pruning) -> None:
    """Chi-square over the trees of a sentence, rare ones together, with a fixed seed."""
    backend, sentence, trees = case(1, 5, pruning)
    total, draws = sum(tree.weight for tree in trees), 20_000
    uniforms = np.random.default_rng(0).random((draws, 5))
    symbols, sizes = _phrases(backend, sentence).draws(uniforms)
    seen = Counter(_items(*tree) for tree in zip(symbols, sizes, strict=True))
    assert set(seen) <= {tree.items for tree in trees}
    frequent = [tree for tree in trees if tree.weight / total * draws >= 20]
    assert len(frequent) > 50
    expected = np.array([tree.weight / total * draws for tree in frequent])
    observed = np.array([seen[tree.items] for tree in frequent])
    statistic = ((observed - expected) ** 2 / expected).sum()
    assert abs(statistic - len(frequent)) < 4 * np.sqrt(2 * len(frequent))


@pytest.mark.parametrize("decoder", [lg.Goodman(), lg.Goodman(over="rules"), lg.MaxRule()])
@pytest.mark.parametrize(("seed", "words"), [(1, 2), (2, 3), (3, 5), (4, 6)])
def test_decoders_take_the_best_of_all_trees(decoder: lg.Goodman | lg.MaxRule, seed: int, words: int) -> None:
    backend, sentence, trees = case(seed, words, Pruning.none())
    total = sum(tree.weight for tree in trees)
    items, edges = Counter(), Counter()
    for tree in trees:
        items.update(dict.fromkeys(tree.items, tree.weight / total))
        edges.update(dict.fromkeys(tree.edges, tree.weight / total))

    def objective(tree: Derivation) -> float:
        over_words = [item for item in tree.items if item[2] - item[1] == 1]
        if isinstance(decoder, lg.Goodman) and decoder.over == "rules":
            return sum(edges[edge] for edge in tree.edges) + sum(items[item] for item in over_words)
        if isinstance(decoder, lg.Goodman):
            return sum(items[item] for item in tree.items)
        return sum(math.log(edges[edge]) for edge in tree.edges) + sum(math.log(items[i]) for i in over_words)

    symbols, sizes = decoder.trees(_phrases(backend, sentence), 1)
    # Two rules may join the same items: then the objective is that of the better one.
    chosen = max(objective(tree) for tree in trees if tree.items == _items(symbols[0], sizes[0]))
    assert chosen == pytest.approx(max(map(objective, trees)), abs=1e-9)
    several, _ = decoder.trees(_phrases(backend, sentence), 3)
    np.testing.assert_array_equal(several[0], symbols[0])


@pytest.mark.parametrize("threshold", [0.02, 0.1])
def test_two_stages_keep_the_items_that_are_probable_without_states(threshold: float) -> None:
    """Exactly those of at least the threshold under the one-state grammar, and all edges between them."""
    cascade = Cascade((random_lpcfg(7, states=3),), Pruning.two_stage(threshold), unseen=False)
    leaves = cascade.leaves.of(lg.Sentence.of(WORDS[:5]))
    grammar, posterior = cascade.finest[0], cascade.posterior(leaves)
    one_state = dataclasses.replace(grammar, rule_tensor=cascade.projection.rule)
    trees = trees_of(dataclasses.replace(cascade, finest=(one_state,)), leaves, cascade.projection.root)
    total, items, edges = sum(tree.weight for tree in trees), Counter(), set()
    for tree in trees:
        items.update(dict.fromkeys(tree.items, tree.weight / total))
    kept = {item for item, probability in items.items() if probability >= threshold}
    for tree in trees:
        edges |= {edge for edge, used in zip(tree.edges, _joined(tree), strict=True) if used <= kept}
    assert posterior is not None
    assert 10 < len(kept) < len(items)
    places = places_of(posterior.chart)
    assert set(places) == kept
    found = [(rule, *places[parent][1:], places[left][2]) for parent, rule, left, _ in edges_of(posterior.chart)]
    assert {(rule, first, split, end) for rule, first, end, split in found} == edges


def _joined(tree: Derivation) -> list[set[tuple[int, int, int]]]:
    """The parent and the children of each inner node, in preorder."""
    by_first = {item[1:]: item for item in tree.items}
    return [{by_first[i, j], by_first[i, split], by_first[split, j]} for (_, i, split, j) in tree.edges]


def test_fragments_are_the_best_of_all_covers() -> None:
    """A span is worth the sum over the trees of its best symbol, by how often this heads any part, less a cost."""
    grammar = random_lpcfg(5, states=1)
    keep = grammar.rules[:, 0] == 1
    none = dataclasses.replace(
        grammar,
        root_vector=np.array([1.0, 0, 0, 0, 0, 0]),
        root_count=np.array([1.0, 0, 0, 0, 0, 0]),
        rules=grammar.rules[keep],
        rule_tensor=grammar.rule_tensor[keep],
        rule_count=grammar.rule_count[keep],
        rule_offset=grammar.rule_offset[: keep.sum() + 1],
    )
    cascade = Cascade((none,), Pruning.none())
    leaves = cascade.leaves.of(lg.Sentence.of(WORDS))
    assert cascade.posterior(leaves) is None

    def worth(first: int, end: int) -> float:
        mass: Counter[int] = Counter()
        for tree in trees_of(cascade, leaves.between(first, end), cascade.projection.anywhere):
            mass[tree.items[0][0]] += tree.weight
        return math.log(max(mass.values())) - 10.0 if mass else -math.inf

    values = {span: worth(*span) for span in itertools.combinations(range(7), 2)}
    divisions = [[0, 6]]
    for cut in range(1, 6):
        divisions += [sorted({*division, cut}) for division in divisions]
    best = max(divisions, key=lambda ends: sum(values[span] for span in itertools.pairwise(ends)))
    assert cascade.fragments(leaves) == list(itertools.pairwise(best))
    [parse] = PhraseBackend(none, pruning=Pruning.none()).parse([lg.Sentence.of(WORDS)])
    assert parse.fallback
    assert parse.tree.words == tuple(WORDS)


@pytest.mark.parametrize("seed", range(3))
def test_one_state_of_signed_numbers_is_parsed_by_them(seed: int) -> None:
    """The numbers of such a grammar are coordinates: counts would give other probabilities."""
    grammar = random_lpcfg(seed, states=1, signed=True)
    assert not grammar.plain
    words = WORDS[:4]
    probabilities = tree_probabilities(grammar, words)
    cascade = Cascade((grammar,), Pruning.none(), unseen=False)
    posterior = cascade.posterior(cascade.leaves.of(lg.Sentence.of(words)))
    total = sum(probabilities.values())
    assert posterior.logprob == pytest.approx(math.log(abs(total)), abs=1e-9)
    assert posterior.negative == (total < 0)
    expected = item_posteriors(probabilities)
    for item, value in zip(places_of(posterior.chart), posterior.item, strict=True):
        assert value == pytest.approx(expected.get(item, 0.0), abs=1e-9)


@pytest.mark.parametrize("states", [1, 3])
def test_spectral_grammars_of_rank_one_give_the_shares_of_the_trees(states: int) -> None:
    trees = [lg.parse_tree(text) for text in ("(S (A a) (B b))", "(S (A a) (B b))", "(S (B b) (A a))")]
    by = lg.Spectral(states=states, rare=0, backoff=0, pull=0)
    grammar = lg.fit(lg.LPCFG, lg.Treebank.of(trees), by=by)
    assert grammar.states.max() == 1
    everything = undiscounted(grammar)
    cascade = Cascade((everything,), Pruning.none(), unseen=False)
    for words, share in (("a b", 2 / 3), ("b a", 1 / 3)):
        posterior = cascade.posterior(cascade.leaves.of(lg.Sentence.of(words)))
        assert math.exp(posterior.logprob) == pytest.approx(share)
    # The rest is kept for rules that were never seen.
    parser, seen = lg.Parser(grammar), 1 - grammar.unseen[0]
    assert 0 < seen < 1
    shares = np.log([2 / 3 * seen, 1 / 3 * seen])
    assert [parser.score(tree).tree_logprob for tree in trees[1:]] == pytest.approx(shares)


def test_only_trees_of_plain_grammars_can_be_searched_by_probability() -> None:
    grammar = lg.fit(lg.LPCFG, lg.demo_treebank(40, seed=0), by=lg.Spectral(states=2))
    with pytest.raises(SettingError, match="with hidden states the most probable tree cannot be computed"):
        lg.Parser(grammar, lg.Viterbi()).parse("the dog sleeps .")


@pytest.mark.parametrize("words", [6, LONG + 1])
def test_rules_kept_in_single_precision_are_widened_where_a_chart_needs_it(words: int) -> None:
    """The same numbers in either precision give the same; the charts of long sentences are in double precision."""
    grammar = random_lpcfg(3, states=2)
    single = dataclasses.replace(grammar, rule_tensor=grammar.rule_tensor.astype(np.float32))
    double = dataclasses.replace(grammar, rule_tensor=single.double_tensor)
    sentence = lg.Sentence.of(list(itertools.islice(itertools.cycle(WORDS), words)))
    kept, wide = (Cascade((each,), Pruning()) for each in (single, double))
    posterior, expected = (each.posterior(each.leaves.of(sentence)) for each in (kept, wide))
    assert posterior is not None
    assert posterior.tensors.rule.dtype == (np.float64 if words > LONG else np.float32)
    assert posterior.logprob == expected.logprob
    np.testing.assert_array_equal(posterior.item, expected.item)
    np.testing.assert_array_equal(posterior.edge, expected.edge)
