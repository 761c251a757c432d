"""`Committee`: a mixture of layers over grammars that have no symbols in common."""

from __future__ import annotations

import dataclasses
import itertools
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import latentgram as lg
from latentgram.kinds.kind import kind_of
from latentgram.lpcfg.committee.kernels import REST, span_chart
from latentgram.lpcfg.committee.learning import update
from latentgram.lpcfg.committee.model import Committee
from latentgram.lpcfg.committee.nodes import TreebankNodes
from latentgram.lpcfg.committee.parse import CommitteeBackend, MixedPhrases
from latentgram.lpcfg.crf.parse import ChartCRFBackend
from latentgram.lpcfg.kernels.chart_trees import k_best_trees
from latentgram.parallel import LocalProcesses
from latentgram.parser.suspects import find_suspects
from oracles.equality import same

BY = lg.Gradient(layers=2, states=2, passes=2, bits=14)
Span = tuple[int, int]
Node = tuple[str, int, int]


@cache
def bank() -> lg.Treebank[lg.Tree]:
    return lg.demo_treebank(80, seed=5)


@cache
def committee() -> Committee:
    return lg.fit(lg.Committee, bank(), by=BY)


@cache
def members() -> list[lg.Parser]:
    return [lg.Parser(crf) for crf in committee().layers]


def questions() -> list[lg.Sentence]:
    """Some short sentences, with tags and without."""
    tagged = [sentence for sentence in lg.demo_treebank(30, seed=9).sentences() if len(sentence) <= 9][:5]
    return [*tagged, *(sentence.without_tags() for sentence in tagged)]


def trees_over(first: int, end: int, chains: dict[Span, list[str]]) -> list[tuple[Node, ...]]:
    """All treebank trees over a span that can be put together of these chains of labels, as lists of nodes."""
    if end - first == 1:
        return [((chain, first, end),) for chain in chains.get((first, end), [])]
    below = []
    for count in range(1, end - first):
        for cuts in itertools.combinations(range(first + 1, end), count):
            spans = list(itertools.pairwise((first, *cuts, end)))
            below += list(itertools.product(*(trees_over(*span, chains) for span in spans)))
    return [
        ((chain, first, end), *itertools.chain(*children))
        for chain in chains.get((first, end), [])
        for children in below
    ]


@pytest.mark.parametrize("seed", range(6))
def test_the_chart_has_every_tree_of_its_nodes_once(seed: int) -> None:
    random, length = np.random.default_rng(seed), 5
    nodes = TreebankNodes.of([crf.grammars[0] for crf in committee().layers])
    names, inner = nodes.table.symbols, len(nodes.phrases)
    cells = [(first, first + width) for width in range(1, length + 1) for first in range(length - width + 1)]
    symbols = []
    for first, end in cells:
        kind = range(inner, len(names)) if end - first == 1 else range(1, inner)
        most = 2 if end - first in (1, length) else 3
        symbols.append(
            np.sort(random.choice(list(kind), random.integers(end - first in (1, length), most), False))
        )
    begin = np.cumsum([0, *map(len, symbols)])
    chart, source = span_chart(length, begin, np.concatenate(symbols), np.ones(len(cells), np.bool_))
    assert (chart.item_symbol[source < 0] == REST).all()
    gain = np.zeros(len(source))
    items, sizes = k_best_trees(chart, gain, np.zeros(int(chart.edge_begin[-1])), 100_000)
    found = [
        tuple(node for node in _nodes(symbol, size, names) if node[0] != "@")
        for symbol, size in zip(chart.item_symbol[items], sizes, strict=True)
    ]
    chains = {cell: [names[symbol] for symbol in part] for cell, part in zip(cells, symbols, strict=True)}
    wanted = trees_over(0, length, chains)
    assert len(found) == len(set(found)) == len(wanted) > 0
    assert set(found) == set(wanted)


def _nodes(symbol: NDArray[np.int32], size: NDArray[np.int32], names: lg.Alphabet) -> list[Node]:
    words = np.concatenate(([0], np.cumsum(size == 1)))
    return [(names[number], int(words[node]), int(words[node + size[node]])) for node, number in enumerate(symbol)]


def test_posteriors_are_the_mean_of_the_members() -> None:
    parser = lg.Parser(committee())
    for sentence in questions():
        mixed, each = parser.marginals(sentence), [member.marginals(sentence) for member in members()]
        for name in ("spans", "tags"):
            mean: dict[tuple[object, ...], float] = {}
            for marginals in each:
                for *what, p in getattr(marginals, name):
                    mean[tuple(what)] = mean.get(tuple(what), 0.0) + p / len(each)
            got = {tuple(what): p for *what, p in getattr(mixed, name)}
            assert got
            for what, p in mean.items():
                assert got.get(what, 0.0) == pytest.approx(p, abs=2e-3)
            assert set(got) <= set(mean)


def test_p_of_trees_and_sentences() -> None:
    """p(tree | sentence) and p(sentence) are means; draws come from the mixture."""
    parser = lg.Parser(committee())
    sentence = questions()[-1]
    parse, each = parser.parse(sentence), [member.parse(sentence) for member in members()]
    assert np.exp(parse.logprob) == pytest.approx(np.mean(np.exp([other.logprob for other in each])))
    assert parse.entropy == pytest.approx(np.mean([other.entropy for other in each]))
    tree = bank()[3]
    scored, by_members = parser.score(tree), [member.score(tree) for member in members()]
    assert scored.probability == pytest.approx(np.mean([other.probability for other in by_members]))
    np.testing.assert_allclose(scored.confidence, np.mean([other.confidence for other in by_members], axis=0))
    tagged = parser.parse(tree.sentence)
    again = parser.score(tagged.tree)
    assert tagged.probability == pytest.approx(again.probability, abs=1e-3)
    np.testing.assert_allclose(tagged.confidence, again.confidence, atol=2e-3)
    listed = parser.nbest(sentence, 3000)
    assert len({str(other.tree) for other in listed}) == len(listed)
    draws = parser.sample(sentence, 600, seed=1)
    share = np.mean([draw.tree == parse.tree for draw in draws])
    assert share == pytest.approx(parse.probability, abs=0.08)
    by_tree = {str(other.tree): other.probability for other in listed}
    known = [draw for draw in draws if str(draw.tree) in by_tree]
    assert len(known) > 500
    assert all(by_tree[str(draw.tree)] == pytest.approx(draw.probability) for draw in known)


@pytest.mark.parametrize("taggers", [False, True])
def test_trees_sum_to_no_more_than_p(taggers: bool) -> None:
    """The trees of the members' charts have together the p(sentence) of these charts; trees in none of them have
    what the grammars give them, which pruning has taken from p(sentence). With taggers beside the layers, too."""
    model = committee() if taggers else lg.fit(lg.Committee, bank(), by=dataclasses.replace(BY, tagger_up_to=0))
    assert all((layer.tagger is not None) == taggers for layer in model.layers)
    parser, reader = lg.Parser(model), kind_of("Committee").reads_words()(model, exact=True)
    assert isinstance(parser.backend, CommitteeBackend)
    for sentence in questions():
        listed = parser.nbest(sentence, 2000)
        _, phrases = parser.backend._analyse(sentence)
        assert isinstance(phrases, MixedPhrases)
        forest = lg.Treebank.of([parse.tree for parse in listed if isinstance(parse.tree, lg.Tree)]).forest
        shares = np.array([part.log_shares(forest) for part in phrases.parts])
        everywhere = np.exp(shares).mean(axis=0).sum()
        assert 0.8 < everywhere <= 1 + 1e-6
        p = sum(np.exp(parse.tree_logprob) for parse in listed)
        if sentence.tags is None:
            assert p <= np.exp(reader.read(sentence).logprob) * (1 + 1e-6)
        outside = [parse for parse, inside in zip(listed, shares.max(axis=0), strict=True) if np.isneginf(inside)]
        beside = sum(np.exp(parse.tree_logprob) for parse in outside)
        assert p - beside == pytest.approx(np.exp(listed[0].logprob) * everywhere)


def test_the_tree_of_the_greatest_expected_f1_is_chosen() -> None:
    """Of all trees that there are, and so no member's own tree is better."""
    parser = lg.Parser(committee())
    for sentence in questions():
        parse, listed = parser.parse(sentence), parser.nbest(sentence, 2000)
        assert listed[0].tree == parse.tree
        assert parse.expected >= max(other.expected for other in listed) - 1e-9
        for member in members():
            tree = member.parse(sentence).tree
            rivals = [other.expected for other in listed if other.tree == tree]
            assert len(rivals) <= 1
            assert all(rival <= parse.expected + 1e-9 for rival in rivals)


def test_a_committee_of_one_is_its_layer() -> None:
    alone, layer = lg.Parser(Committee(committee().layers[:1])), members()[0]
    for sentence in questions():
        one, other = alone.parse(sentence), layer.parse(sentence)
        assert one.logprob == other.logprob
        assert one.entropy == pytest.approx(other.entropy)
        assert one.expected >= other.expected - 1e-9
        if one.tree == other.tree:
            np.testing.assert_allclose(one.confidence, other.confidence, atol=1e-9)


def test_constraints_hold() -> None:
    parser, sentence = lg.Parser(committee()), bank()[7].sentence.without_tags()
    for first, end in ((0, 2), (1, 3), (2, 4)):
        for parse in (
            parser.parse(sentence, spans=[(first, end, None)]),
            *parser.nbest(sentence, 50, spans=[(first, end, None)]),
            *parser.sample(sentence, 20, spans=[(first, end, None)]),
        ):
            assert any((first, end) == span[1:] for span in parse.tree.spans())
    free = parser.parse(sentence).tree
    _, first, end = next(span for span in free.spans() if 1 < span[2] - span[1] < len(sentence))
    for parse in parser.nbest(sentence, 30, forbidden_spans=[(first, end, None)]):
        assert all(span[1:] != (first, end) for span in parse.tree.spans())
    with pytest.raises(lg.NoParse):
        parser.parse(sentence, spans=[(0, 2, "NEVER")])


def test_what_no_member_can_parse_gets_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what has no time; what one of them cannot parse has the trees of the others, and half p."""
    parser, sentence = lg.Parser(committee()), bank()[0].sentence
    hurried = lg.Parser(committee(), limit_seconds=1e-9).parse(sentence)
    assert hurried.coarse
    assert hurried.tree.words == sentence.words
    analyse, silent = ChartCRFBackend._analyse, committee().layers[:1]

    def silenced(self: ChartCRFBackend, *args: Any, **options: Any) -> Any:
        leaves, phrases = analyse(self, *args, **options)
        return leaves, None if any(self.model is crf for crf in silent) else phrases

    monkeypatch.setattr(ChartCRFBackend, "_analyse", silenced)
    parse = parser.parse(sentence)
    assert (parse.fallback, parse.conditional) == (False, False)
    alone = members()[1].score(parse.tree)
    assert parse.logprob == pytest.approx(alone.logprob - np.log(2), abs=0.02)
    assert parse.probability == pytest.approx(alone.probability, abs=0.02)
    silent = committee().layers
    parse = parser.parse(sentence)
    assert (parse.fallback, parse.logprob) == (True, -np.inf)
    assert parse.tree.words == sentence.words


def test_rules_have_no_posteriors() -> None:
    for decoder in (lg.MaxRule(), lg.Goodman(), lg.Viterbi()):
        with pytest.raises(lg.SettingError, match="Brackets"):
            lg.Parser(committee(), decoder=decoder).parse("The dog sleeps .")
    recall = lg.Parser(committee(), decoder=lg.Brackets("recall"))
    assert recall.parse(bank()[0].sentence).tree.words == bank()[0].words


def test_the_number_of_workers_changes_nothing() -> None:
    other = lg.fit(lg.Committee, bank(), by=BY, engine=LocalProcesses(2))
    assert all(
        same(one.grammar, two.grammar) and np.array_equal(one.weights, two.weights)
        for one, two in zip(other.layers, committee().layers, strict=True)
    )


def test_layers_are_those_of_chart_crf() -> None:
    """The first one is the `ChartCRF` of the same settings; the second one has other binary trees."""
    first, second = committee().layers
    alone = lg.fit(lg.ChartCRF, bank(), by=dataclasses.replace(BY, layers=None))
    assert np.array_equal(first.weights, alone.weights)
    assert first.provenance.fields == alone.provenance.fields
    assert second.grammars[0].binarisation.direction == "right"


def test_learning_goes_on() -> None:
    tree = lg.demo_treebank(30, seed=21)[4]
    before, model = lg.Parser(committee()).score(tree), committee()
    for _ in range(3):
        model = update(model, [tree])
    assert lg.Parser(model).score(tree).probability > before.probability
    assert update(model, []) is model


def test_calibration_suspects_and_reading() -> None:
    parser = lg.calibrate(lg.Parser(committee()), lg.demo_treebank(30, seed=11))
    assert parser.calibrator is not None
    found = find_suspects(lg.Parser(committee()), bank()[:6], 3)
    assert [suspect.per_word for suspect in found] == sorted(suspect.per_word for suspect in found)
    exact, words = lg.Parser(committee(), pruning=lg.Pruning.none()), bank()[0].words
    reading = kind_of("Committee").reads_words()(committee(), exact=True).read(lg.Sentence(words))
    assert reading.logprob == pytest.approx(exact.parse(words).logprob, abs=1e-9)


def test_what_cannot_be_together() -> None:
    with pytest.raises(lg.SettingError, match="at least one layer"):
        Committee(())
    bare = lg.fit(lg.ChartCRF, [tree.children[0] for tree in bank()], by=lg.Gradient(states=2, passes=1, bits=12))
    with pytest.raises(lg.SettingError, match="different roots"):
        Committee((committee().layers[0], bare))
