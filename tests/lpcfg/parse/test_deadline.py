"""Sentences that have little time, and very long ones: what they get, what it says, and where work can stop."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

import latentgram as lg
from latentgram.interrupt import _HEARD
from latentgram.lpcfg.parse import cascade, first_stage
from latentgram.lpcfg.parse.backend import usual_pruning
from latentgram.lpcfg.parse.cascade import Cascade
from latentgram.lpcfg.parse.pruning import PASSED, Deadline, OutOfTime

SOON = 1e-9
WORDS = lg.Sentence.of("the old man saw the teacher in the garden and the boy sleeps .").words


@pytest.fixture(scope="module")
def grammar() -> lg.LPCFG:
    return lg.fit(lg.LPCFG, lg.demo_treebank(300, seed=0), by=lg.Clustering(states=6))


def test_part_by_part_is_the_same_as_at_once(grammar: lg.LPCFG, monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = list(lg.demo_treebank(20, seed=1).sentences())
    whole = list(lg.Parser(grammar).parse_many(sentences))
    monkeypatch.setattr(first_stage, "_AT_ONCE", 2)
    monkeypatch.setattr(first_stage, "_CELLS", 5)
    parts = list(lg.Parser(grammar).parse_many(sentences))
    assert [parse.tree for parse in parts] == [parse.tree for parse in whole]
    assert [parse.logprob for parse in parts] == [parse.logprob for parse in whole]


def test_the_coarse_tree_is_that_of_the_first_grammar(grammar: lg.LPCFG) -> None:
    """Its posteriors are consistent: those of the edges of an item sum to the item's, unseen rules included."""
    stages = Cascade((grammar,), lg.Pruning(floor=1e-12, beam=1e-12, coarse_threshold=0, coarse_edge_threshold=0))
    posterior = stages.posterior(stages.leaves.of(lg.Sentence.of(WORDS)), deadline=PASSED)
    assert posterior is not None
    assert posterior.coarse
    chart = posterior.chart
    assert (chart.parent_rule < 0).any()
    parents = np.repeat(chart.parent_item, np.repeat(np.diff(chart.split_begin), np.diff(chart.parent_begin)))
    sums = np.bincount(parents, posterior.edge, len(posterior.item))
    above_words = slice(chart.cell_begin[chart.length], None)
    np.testing.assert_allclose(sums[above_words], posterior.item[above_words], atol=1e-4)
    np.testing.assert_allclose(posterior.item[chart.cell_begin[-2] :].sum(), 1, atol=1e-5)


@pytest.mark.parametrize("long", [False, True])
def test_a_sentence_without_time_gets_a_tree_that_says_so(
    grammar: lg.LPCFG, long: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the stage that was reached, or, where none was, of parts; for lists and draws, too."""
    if long:
        monkeypatch.setattr(first_stage, "_AT_ONCE", 2)
    parser = lg.Parser(grammar, limit_seconds=SOON)
    for parse in [parser.parse(WORDS), *parser.nbest(WORDS, 2), *parser.sample(WORDS, 2)]:
        assert isinstance(parse.tree, lg.Tree)
        assert parse.tree.words == WORDS
        assert parse.coarse
        assert not parse.fallback
        assert math.isnan(parse.logprob)
        assert lg.Parse.from_json(parse.to_json()).coarse
    assert bool(parser.marginals(WORDS).spans) is not long
    assert math.isfinite(parser.score(lg.demo_treebank(1)[0]).logprob)
    if long:
        with pytest.raises(lg.NoParse, match="allow more time"):
            parser.parse(WORDS, spans=[(0, 3, "NP")])


def test_time_enough_changes_nothing(grammar: lg.LPCFG) -> None:
    limited, free = (lg.Parser(grammar, limit_seconds=limit).parse(WORDS) for limit in (1e6, None))
    assert not limited.coarse
    assert "coarse" not in limited.to_json()
    assert (limited.tree, limited.logprob) == (free.tree, free.logprob)


def test_a_layer_leaves_coarse_trees_alone(grammar: lg.LPCFG) -> None:
    trees = lg.demo_treebank(60, seed=0)
    layer = lg.fit(lg.ChartCRF, trees, by=lg.Gradient(passes=1, states=2))
    assert lg.Parser(layer, limit_seconds=SOON).parse(WORDS).coarse


def test_very_long_sentences_are_pruned_more_tightly_and_say_so(
    grammar: lg.LPCFG, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not lg.Parser(grammar).parse(WORDS).tightened
    monkeypatch.setattr(cascade, "_VERY_LONG", 5)
    parse = lg.Parser(grammar).parse(WORDS)
    assert parse.tightened
    assert lg.Parse.from_json(parse.to_json()).tightened
    # Where nothing is left of such a sentence, pruning is not loosened: parts of it are joined.
    nothing = dataclasses.replace(usual_pruning((grammar,)), floor=1.0)
    parse = lg.Parser(grammar, pruning=nothing).parse(WORDS)
    assert parse.fallback
    assert isinstance(parse.tree, lg.Tree)
    assert parse.tree.words == WORDS


def test_signals_are_obeyed_between_parts() -> None:
    parts = Deadline().parts(0, 9, 4)
    assert next(parts) == (0, 4)
    _HEARD.append(2)
    try:
        with pytest.raises(KeyboardInterrupt):
            next(parts)
    finally:
        _HEARD.clear()
    with pytest.raises(OutOfTime):
        next(PASSED.parts(0, 9, 4))


def test_limits_that_make_no_sense(grammar: lg.LPCFG) -> None:
    for limit in (0, -1.0, math.nan, math.inf, True, "2"):
        with pytest.raises(lg.SettingError, match="number of seconds above 0"):
            lg.Parser(grammar, limit_seconds=limit)  # type: ignore[arg-type]
    arcs = lg.fit(lg.SHAG, lg.demo_dependencies(20), by=lg.Counting())
    with pytest.raises(lg.SettingError, match="only to constituency grammars"):
        lg.Parser(arcs, limit_seconds=1)


def test_a_parser_keeps_its_limit_in_a_file(grammar: lg.LPCFG, tmp_path: Path) -> None:
    lg.save(lg.Parser(grammar, limit_seconds=2.5), tmp_path / "limited.lg")
    assert lg.load(tmp_path / "limited.lg").limit_seconds == 2.5
