"""Cells that stay closed: the scores against a sum written out, learning, the choice of the least score, and what
closing may and may not change."""

import dataclasses

import numpy as np
import pytest

import latentgram as lg
from latentgram.lpcfg import closing
from latentgram.lpcfg.kernels import closing as kernel
from latentgram.lpcfg.kernels.chart import CLOSED, OPEN, SpanMasks, everything
from latentgram.lpcfg.lexicon import LexiconPlan, outline
from latentgram.lpcfg.parse.backend import WITH_CLOSING, PhraseBackend
from latentgram.lpcfg.projection import LeafTable
from latentgram.lpcfg.settings import ClusteringLPCFG
from latentgram.lpcfg.statistics import GrammarData
from latentgram.parallel.local import InProcess, LocalProcesses

BANK = lg.demo_treebank(300, seed=0)


@pytest.fixture(scope="module")
def grammar() -> lg.LPCFG:
    return lg.fit(lg.LPCFG, BANK, by=lg.Clustering(states=2, iterations=1))


def closed_but_for(grammar: lg.LPCFG, least: float) -> lg.LPCFG:
    return dataclasses.replace(grammar, closing_least=least)


def test_scores_are_sums_over_the_places_of_both_gaps() -> None:
    random = np.random.default_rng(0)
    weights = random.integers(-9, 9, 1 << kernel.BITS).astype(np.int8)
    tag, word = random.integers(0, 2**32, (2, 5))
    scores, mask = kernel.span_scores(tag, word, weights), len(weights) - 1
    ends, seen = kernel.gaps(tag, word)
    cell = 0
    for width in range(1, 6):
        for first in range(5 - width + 1):
            places = np.empty(12, np.uint32)
            kernel.pair_places(ends, first, first + width, mask, places)
            with np.errstate(over="ignore"):
                alone = [
                    kernel._place.py_func(kernel._mix.py_func(hashed, np.int64(side)), mask)
                    for gap, side in ((first, 11), (first + width, 13))
                    for hashed in seen[gap]
                ]
            assert scores[cell] == weights[places].sum(dtype=int) + weights[alone].sum(dtype=int)
            cell += 1


def test_a_gap_is_known_by_the_words_and_tags_around_it_alone() -> None:
    """What is three words away changes nothing; what is next to it changes all that has a word or tag of it."""
    tag, word = np.arange(6), np.arange(10, 16)
    _, before = kernel.gaps(tag, word)
    _, far = kernel.gaps(np.append(tag[:5], 99), np.append(word[:5], 99))
    _, near = kernel.gaps(np.concatenate((tag[:2], [99], tag[3:])), word)
    np.testing.assert_array_equal(before[:4], far[:4])
    assert (before[2] != near[2]).sum() == 5


def test_learning_tells_nodes_from_other_spans() -> None:
    """Every sentence has the same tags and the same node over the words 1 and 2."""
    tag, is_node = np.arange(4), np.zeros(10, bool)
    is_node[5] = True
    weights, squares = np.zeros(1 << kernel.BITS, np.float32), np.full(1 << kernel.BITS, 1e-6, np.float32)
    for _ in range(50):
        kernel.learn_sentence(tag, tag, is_node, weights, squares, 0.07, 3.0)
    scores = kernel.UNIT * kernel.span_scores(tag, tag, np.rint(weights / kernel.UNIT).astype(np.int8))
    assert scores[5] > 1.0
    assert (np.delete(scores[4:9], 1) < -1.0).all()


def test_only_cells_of_which_nothing_is_known_are_closed() -> None:
    tag, masks = np.arange(4), everything(4, 3)
    known = SpanMasks(np.ones((2, 3), bool), masks.of_cell.copy())
    known.of_cell[5] = 1
    everywhere = kernel.Closing(np.zeros(1 << kernel.BITS, np.int8), 1.0, tag)
    closed = kernel.close_cells(tag, tag, everywhere, known).of_cell
    np.testing.assert_array_equal(closed, [OPEN] * 4 + [CLOSED, 1, CLOSED, CLOSED, CLOSED, OPEN])
    np.testing.assert_array_equal(known.of_cell[4:], [OPEN, 1, OPEN, OPEN, OPEN, OPEN])


def test_the_least_score_is_chosen_on_trees_kept_out(grammar: lg.LPCFG, monkeypatch: pytest.MonkeyPatch) -> None:
    """No lesson that scores are taken from was learned from before; few of its nodes lie below the least score."""
    learned, asked = [], []
    learn, scores = closing._Weights.learn, closing._Weights.scores_of_nodes

    def noted_learn(self, lessons):
        if not hasattr(self, "known"):
            self.known = set()
            learned.append(self.known)
        self.known.update(lessons.tolist())
        learn(self, lessons)

    def noted_scores(self, first, end):
        asked.extend((lesson, lesson in self.known) for lesson in range(first, end))
        return scores(self, first, end)

    monkeypatch.setattr(closing._Weights, "learn", noted_learn)
    monkeypatch.setattr(closing._Weights, "scores_of_nodes", noted_scores)
    again = closing.with_closing(grammar, BANK, InProcess())
    assert asked
    assert not any(known for _, known in asked)
    assert all(len(known) == len(learned[-1]) for known in learned)
    assert again.closing_least == grammar.closing_least
    np.testing.assert_array_equal(again.closing_weight, grammar.closing_weight)


def test_closing_is_learned_from_counts_alone(grammar: lg.LPCFG) -> None:
    """An outline that has no hidden states yet teaches the same, whatever the number of threads: learners begin
    with it beside other work."""
    settings = ClusteringLPCFG()
    data = GrammarData.of(BANK, settings, InProcess())
    learned = closing.learn_closing(outline(data, LexiconPlan.of(data, settings.pull)), BANK, LocalProcesses(3))
    assert learned is not None
    assert learned.least == grammar.closing_least
    np.testing.assert_array_equal(learned.weight, grammar.closing_weight)


def test_trees_of_two_words_teach_nothing() -> None:
    pairs = lg.Treebank.of([lg.Tree("S", (lg.Tree("A", word="a"), lg.Tree("B", word="b")))] * 50)
    assert lg.fit(lg.LPCFG, pairs, by=lg.Spectral(states=1)).closing_weight.size == 0


def test_leaves_of_several_sentences_are_those_of_each_one_after_the_other(grammar: lg.LPCFG) -> None:
    table, sentences = LeafTable(grammar), [*BANK[:9].sentences(), lg.Sentence(("unheard-of", "words"))]
    asked = [
        (name, tag, not place)
        for sentence in sentences
        for place, (name, tag) in enumerate(zip(sentence.words, sentence.tags or (None, None), strict=True))
    ]
    distinct = sorted(set(asked), key=str)
    joined = LeafTable(grammar).of_all(distinct, np.array([distinct.index(each) for each in asked]))
    word = 0
    for sentence in sentences:
        alone = table.of(sentence)
        for one, other in zip(joined.between(word, word + len(sentence)), alone, strict=True):
            np.testing.assert_array_equal(one, other)
        word += len(sentence)


def test_few_trees_close_nothing() -> None:
    small = lg.fit(lg.LPCFG, BANK[:20], by=lg.Clustering(states=2, iterations=1))
    assert small.closing_weight.size == 0
    assert not PhraseBackend(small).cascade.closes


def test_closing_is_kept_in_files(grammar: lg.LPCFG, tmp_path) -> None:
    lg.save(lg.Parser(grammar), tmp_path / "model.lg")
    again = lg.load(tmp_path / "model.lg").model
    np.testing.assert_array_equal(again.closing_weight, grammar.closing_weight)
    assert again.closing_least == grammar.closing_least
    assert grammar.closing_weight.size


def test_what_is_asked_for_its_probability_never_closes(grammar: lg.LPCFG) -> None:
    """Even if all cells would be closed: scores, marginals and charts that nothing prunes stay what they are."""
    shut, gold = closed_but_for(grammar, 1e9), lg.demo_treebank(5, seed=7)
    none = dataclasses.replace(grammar, closing_weight=np.zeros(0, np.int8))
    prunings = WITH_CLOSING, lg.Pruning.none()
    pairs = [tuple(lg.Parser(model, pruning=each) for model in (shut, none)) for each in prunings]
    for closing_parser, plain in pairs:
        for tree in gold:
            assert closing_parser.score(tree).to_json() == plain.score(tree).to_json()
            assert closing_parser.marginals(tree.words) == plain.marginals(tree.words)
    exact, same = (parser.parse(gold[0].words) for parser in pairs[1])
    assert (exact.logprob, exact.tree) == (same.logprob, same.tree)


def test_a_sentence_that_closing_leaves_without_a_tree_is_parsed_without_it(grammar: lg.LPCFG) -> None:
    shut = closed_but_for(grammar, 1e9)
    none = dataclasses.replace(grammar, closing_weight=np.zeros(0, np.int8))
    for tree in lg.demo_treebank(5, seed=7):
        one, other = (lg.Parser(model, pruning=WITH_CLOSING).parse(tree.words) for model in (shut, none))
        assert one.to_json() == other.to_json()
        assert not one.fallback


def test_trees_obey_constraints_though_cells_are_closed(grammar: lg.LPCFG) -> None:
    parser = lg.Parser(closed_but_for(grammar, 0.0))
    for tree in lg.demo_treebank(8, seed=9):
        spans = [span for span in tree.spans() if 1 < span[2] - span[1] < len(tree)][:1]
        asked = [(first, end, label) for label, first, end in spans]
        for parse in (parser.parse(tree.words, spans=asked), *parser.nbest(tree.words, 3, spans=asked)):
            assert set(spans) <= set(parse.tree.spans())


def test_closing_loses_next_to_nothing(grammar: lg.LPCFG) -> None:
    held_out = lg.demo_treebank(60, seed=5)
    none = dataclasses.replace(grammar, closing_weight=np.zeros(0, np.int8))
    assert lg.Parser(grammar).evaluate(held_out).f1 >= lg.Parser(none).evaluate(held_out).f1 - 0.5
