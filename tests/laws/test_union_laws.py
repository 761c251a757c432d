"""Statistics of a union are the sum of its parts', and symbols that nothing has change nothing.

Those of the other families: tests/lpcfg/test_statistics.py and test_learning.py, tests/shag/test_update.py,
tests/sequences/test_statistics.py and test_ngram_counting.py.
"""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.brackets import parse_forest
from latentgram.data.dependencies import DependencyArrays
from latentgram.data.tag_dictionary import open_dictionary
from latentgram.kinds.kind import Context
from latentgram.latent_tree.em import _expect
from latentgram.latent_tree.statistics import Nodes, Tally, TreeCounts
from latentgram.latent_tree.word_vectors import _seen
from latentgram.sequences.em import Corpus
from latentgram.sequences.parameters import Emissions, Expected, Prior, maximise, uniform
from laws.cases import CASES, Case, fitted
from laws.test_recipe_laws import bare
from oracles.equality import same

CUTS = [0, 1, 30, 31, 80]
"""Where data are cut into parts."""


def parts_of(nodes: Nodes) -> list[Nodes]:
    trees = np.arange(len(nodes.trees))
    return [nodes.select((first <= trees) & (trees < last)) for first, last in pairwise(CUTS)]


def close(one: Any, other: Any) -> bool:
    """Equal but for the order of additions."""
    if dataclasses.is_dataclass(one):
        return all(
            close(getattr(one, field.name), getattr(other, field.name)) for field in dataclasses.fields(one)
        )
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(close, one, other))
    return np.shape(one) == np.shape(other) and bool(np.allclose(one, other, rtol=1e-9, atol=1e-9))


@pytest.mark.parametrize("valency", [0, 3])
def test_counts_of_latent_trees_add(valency: int) -> None:
    nodes = Nodes.of(Case("LatentTree", "Spectral").data, "joined", valency)
    parts = [TreeCounts.of(part.trees, part.symbol, len(nodes.symbols)) for part in parts_of(nodes)]
    whole = TreeCounts.of(nodes.trees, nodes.symbol, len(nodes.symbols))
    assert same(parts[0] + parts[1] + parts[2] + parts[3], whole)
    assert same(parts[3] + parts[1] + parts[0] + parts[2], whole)
    assert same(whole + TreeCounts.of(DependencyArrays.of([]), nodes.symbol[:0], len(nodes.symbols)), whole)


def test_expected_counts_of_latent_trees_add() -> None:
    model = fitted(Case("LatentTree", "EM"))
    nodes = Nodes.of(Case("LatentTree", "EM").data, model.symbols.words, model.symbols.valency)
    parts = [_expect(model, part) for part in parts_of(nodes)]
    assert close(parts[0] + parts[1] + parts[2] + parts[3], _expect(model, nodes))


def test_tuples_of_many_symbols_are_told_apart() -> None:
    """Where the product of the columns' sizes is beyond 63 bits."""
    tuples = np.array([[2**40, 3, 2**40], [0, 2**40, 1], [2**40, 3, 2**40], [0, 2**40 - 1, 5]])
    tally = Tally.of(tuples)
    assert tally.tuples.tolist() == [[0, 2**40 - 1, 5], [0, 2**40, 1], [2**40, 3, 2**40]]
    assert tally.count.tolist() == [1.0, 1.0, 2.0]


def test_neighbours_of_words_add() -> None:
    text = Case("WordVectors", "Spectral").data
    sentences = list(text)
    words, whole = _seen(text, "context")
    total = np.zeros(whole.shape)
    for first, last in pairwise(CUTS):
        known, seen = _seen(lg.Text.of(sentences[first:last]), "context")
        place = words.encode(known)
        columns = np.concatenate([place, place + len(words)])
        total[np.ix_(place, columns)] += seen.toarray()
    np.testing.assert_array_equal(total, whole.toarray())


@pytest.mark.parametrize("order", [2, 3])
def test_expected_counts_of_sequences_add(order: int) -> None:
    text = Case("HMM", "EM").data
    shape = Emissions.of(text.words, open_dictionary(3))
    first = Corpus.of(text, shape, order, False).expect(uniform(shape, order, 0), Context())
    parameters = maximise(first, shape, Prior(0.1, 0.1))
    sentences = list(text)

    def expected(first: int, last: int) -> Expected:
        part = lg.Text.of(sentences[first:last])
        corpus = Corpus.of(lg.Text(text.words, part.encoded_by(text.words)), shape, order, False)
        return corpus.expect(parameters, Context())

    parts = [expected(*ends) for ends in pairwise(CUTS)]
    assert close(parts[0] + parts[1] + parts[2] + parts[3], expected(0, len(sentences)))


def padded(data: Any) -> Any:
    """The same data with words and labels in its alphabets that nothing has; None where it has no alphabets."""
    if isinstance(data, lg.NGramCounts):
        return lg.NGramCounts.of(padded(Case("HMM", "EM").data), order=3)
    if isinstance(data, lg.Text):
        end, *known = data.words
        words = lg.Alphabet((end, *sorted([*known, "aaa", "never", "zzz"])))
        return lg.Text(words, data.encoded_by(words))
    if isinstance(data, lg.Treebank) and isinstance(data[0], lg.Tree):
        return (lg.Treebank.of(parse_forest("(AAA (ABC aaa) (NEW (OLD never) (ZZZ zzz)))")) + data)[1:]
    return None


@pytest.mark.parametrize("case", [case for case in CASES if padded(case.data) is not None], ids=str)
def test_symbols_that_nothing_has_change_nothing(case: Case) -> None:
    """Models of dependencies and tagged text see sentences, which have no other words than their own."""
    model = fitted(case)
    assert same(bare(lg.fit(type(model), padded(case.data), by=case.by)), bare(model))
