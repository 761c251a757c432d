"""Laws that every model keeps, whoever learned it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.provenance import Provenance
from latentgram.kinds.kind import kinds, learner_of, recipe_of
from latentgram.kinds.settings import defaults_of
from latentgram.parser.trials import DATA
from laws.cases import CASES, Case, fitted
from oracles.equality import same

PARSED = [case for case in CASES if kinds()[case.model].parser]


def bare(model: Any) -> Any:
    """A model without the record of how long learning took."""
    return dataclasses.replace(model, provenance=Provenance())


def test_every_recipe_is_tried() -> None:
    read = {(recipe.reads or kind.reads).name for kind in kinds().values() for recipe in kind.recipes.values()}
    assert not read - set(DATA), "add data of these forms to latentgram.parser.trials"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_learning_twice_gives_the_same_bits(case: Case) -> None:
    assert same(bare(case.fit()), bare(fitted(case)))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_model_says_where_it_came_from(case: Case) -> None:
    provenance = fitted(case).provenance
    assert provenance.learner == case.learner
    assert set(provenance.fields) == set(defaults_of(recipe_of(case.model, case.learner).settings_class()))
    assert provenance.data_size == len(case.data)
    assert provenance.data_digest == getattr(case.data, "digest", "")
    assert len(fitted(case).summary().splitlines()) == 1


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_model_can_be_retrained_as_it_was_learned(case: Case) -> None:
    provenance = fitted(case).provenance
    wanted = recipe_of(case.model, case.learner).settings_class()
    again = learner_of(case.model, provenance).settings(wanted, str(case))
    assert again.plain() == provenance.fields


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_stored_model_is_the_same_model(case: Case, tmp_path: Path) -> None:
    lg.save(fitted(case), tmp_path / "model.lg")
    assert same(lg.load(tmp_path / "model.lg"), fitted(case))


@pytest.mark.parametrize("case", PARSED, ids=str)
def test_every_sentence_is_parsed(case: Case, tmp_path: Path) -> None:
    """Words are kept, order is kept, batches change nothing, and a stored parser parses alike."""
    parser = lg.Parser(fitted(case))
    sentences = case.data.sentences()[:40]
    parses = list(parser.parse_many(sentences))
    assert [parse.tree.words for parse in parses] == [sentence.words for sentence in sentences]
    assert same(parser.parse(sentences[3]).tree, parses[3].tree)
    lg.save(parser, tmp_path / "parser.lg")
    again = list(lg.load(tmp_path / "parser.lg").parse_many(sentences))
    assert all(same(one.tree, other.tree) for one, other in zip(parses, again, strict=True))
    assert all(np.isfinite(parse.confidence).all() for parse in parses)
    assert not any(parse.fallback for parse in parses)


@pytest.mark.parametrize("case", [case for case in CASES if case.model == "LPCFG"], ids=str)
def test_probabilities_of_a_symbol_sum_to_one(case: Case) -> None:
    """Over all rules, seen and unseen, and words, for each hidden state of each symbol; and over all roots."""
    grammar = fitted(case)
    if not grammar.nonnegative:
        pytest.skip("a spectral grammar holds coordinates, not probabilities")
    inner = len(grammar.interminals)
    mass = np.repeat(np.append(grammar.unseen[:inner], np.zeros(len(grammar.states) - inner)), grammar.states)
    place = np.concatenate(([0], np.cumsum(grammar.states)))
    for (a, *_), begin, end in zip(grammar.rules, grammar.rule_offset[:-1], grammar.rule_offset[1:], strict=True):
        tensor = grammar.rule_tensor[begin:end].reshape(grammar.states[a], -1)
        mass[place[a] : place[a + 1]] += tensor.sum(axis=1)
    offsets = grammar.lexicon_offset
    for (a, _), begin, end in zip(grammar.lexicon, offsets[:-1], offsets[1:], strict=True):
        mass[place[a] : place[a + 1]] += grammar.lexicon_vector[begin:end]
    np.testing.assert_allclose(mass, 1, atol=1e-9)
    assert grammar.root_vector.sum() == pytest.approx(1)
