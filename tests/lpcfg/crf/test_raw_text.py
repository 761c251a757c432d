"""Raw text beside a treebank: what its trees teach, and what is refused."""

from __future__ import annotations

import dataclasses
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import latentgram as lg
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context
from latentgram.lpcfg.crf.model import ChartCRF
from latentgram.lpcfg.crf.raw_text import LONGEST, WEIGHT, annotated
from oracles.equality import same

BY = lg.Gradient(states=2, passes=2, bits=14, tagger_up_to=0)


@cache
def bank() -> lg.Treebank[lg.Tree]:
    return lg.demo_treebank(400, seed=5)


@cache
def text() -> lg.Text:
    return lg.Text.of(sentence.words for sentence in bank()[40:].sentences())


@cache
def alone() -> ChartCRF:
    return lg.fit(lg.ChartCRF, bank()[:40], by=BY)


@cache
def taught() -> ChartCRF:
    return lg.fit(lg.ChartCRF, bank()[:40], by=dataclasses.replace(BY, text=text()))


def test_the_grammar_counts_the_trees_that_the_first_layer_finds() -> None:
    """All of them once, those of the treebank more often; a sentence without a parse is no tree."""
    found = annotated(text(), alone(), Context())
    parses = [parse for parse in lg.Parser(alone()).parse_many(list(text())) if not parse.fallback]
    assert [str(tree) for tree in found] == [str(parse.tree) for parse in parses]
    assert taught().grammars[0].root_count.sum() == WEIGHT * 40 + len(parses)


def test_the_layer_is_taught_by_the_treebank_only() -> None:
    """There are as many lessons as without text, so a pass is not longer; its loss shows other charts."""
    assert len(taught().provenance.trace) == len(alone().provenance.trace) == 2
    assert not np.array_equal(taught().weights, alone().weights)


def test_words_of_the_text_are_known() -> None:
    """Tags of words that the treebank lacks are right more often."""
    held = lg.demo_treebank(150, seed=6)
    before, after = (lg.Parser(model).evaluate(held, gold_tags=False) for model in (alone(), taught()))
    assert after.accuracy > before.accuracy
    assert after.f1 > before.f1


def test_the_number_of_workers_changes_nothing() -> None:
    shared = lg.fit(lg.ChartCRF, bank()[:40], by=dataclasses.replace(BY, text=text()), n_jobs=2)
    assert np.array_equal(shared.weights, taught().weights)
    assert same(shared.grammar, taught().grammar)


def test_layers_of_a_committee_share_the_trees_of_the_text() -> None:
    by = dataclasses.replace(BY, text=text(), layers=2)
    committee = lg.fit(lg.Committee, bank()[:40], by=by)
    sizes = {int(layer.grammars[0].root_count.sum()) for layer in committee.layers}
    assert sizes == {int(taught().grammars[0].root_count.sum())}


def test_what_was_learned_from_is_kept_in_the_file(tmp_path: Path) -> None:
    lg.save(lg.Parser(taught()), tmp_path / "m.lg")
    fields = lg.load(tmp_path / "m.lg", lg.Parser).model.provenance.fields
    assert fields["text"] == repr(text())
    assert repr(text()).startswith("Text(360 sentences, ")


def test_very_long_lines_are_left_out() -> None:
    long = lg.Text.of([" ".join(["the dog"] * LONGEST), "the dog sleeps ."])
    assert [tree.words for tree in annotated(long, alone(), Context())] == [("the", "dog", "sleeps", ".")]


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ("raw.txt", SettingError, r"text must be a Text, such as Text.read\('raw.txt'\), not str"),
        (lg.Text.of([]), DataError, "the raw text has no sentences"),
        (lg.Text.of([" ".join(["the"] * 200)]), DataError, "no sentence of the raw text has a parse"),
    ],
)
def test_other_things_are_refused(wrong: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        lg.fit(lg.ChartCRF, bank()[:5], by=lg.Gradient(text=wrong))  # type: ignore[arg-type]
