"""What words and tags are called means nothing, and neither do states beyond those that the data tell apart."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import latentgram as lg
from laws.cases import CASES, Case, fitted

TEXT = ["a b", "a c", "b a b", "c", "a b b", "c a", "a b a c"]
FORMLESS = [case for case in CASES if case.model in ("HMM", "OperatorAutomaton", "SHAG", "LatentTree")]
"""Models that look at no forms of words. Those of LPCFG, which may, are in test_probability_laws.py."""


def renamed(item: Any) -> Any:
    """A sentence or a tree with other names for words and tags, which have the same order."""
    parts = {name: getattr(item, name) for name in ("words", "xpos", "upos")}
    return dataclasses.replace(
        item, **{name: part and tuple(f"x{each}" for each in part) for name, part in parts.items()}
    )


@pytest.mark.parametrize("case", FORMLESS, ids=str)
def test_names_mean_nothing(case: Case) -> None:
    """The same trees, or sentences, have the same probability under other names."""
    data, model = case.data, fitted(case)
    source = Case("HMM", "EM").data if isinstance(data, lg.NGramCounts) else data
    items = [item if isinstance(item, lg.DependencyTree) else lg.Sentence.of(item) for item in source]
    others = [renamed(item) for item in items]
    made: Any = others
    if isinstance(data, lg.Treebank):
        made = lg.Treebank.of(others)
    elif isinstance(data, lg.Text | lg.NGramCounts):
        made = lg.Text.of(others)
        made = lg.NGramCounts.of(made, order=3) if isinstance(data, lg.NGramCounts) else made
    twin = lg.fit(type(model), made, by=case.by)
    ask = "tree_logprob" if case.model == "SHAG" else "logprob"
    for pair in zip(items[:6], others, strict=False):
        asked = (each.words if case.model == "OperatorAutomaton" else each for each in pair)
        one, two = (getattr(each, ask)(item) for each, item in zip((model, twin), asked, strict=True))
        assert one == pytest.approx(two, rel=1e-7, nan_ok=True)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.model in ("LexicalSHAG", "ProductSHAG", "ArcDistance", "TopDown")],
    ids=str,
)
def test_names_of_words_mean_nothing(case: Case) -> None:
    """To models that know coordination and punctuation by their tags, which keep their names."""
    bank, model = case.data, fitted(case)
    others = [tree.replace(words=tuple(f"x{word}" for word in tree.words)) for tree in bank]
    twin = lg.fit(type(model), lg.Treebank.of(others), by=case.by)
    for tree, other in zip(bank[:6], others, strict=False):
        rated = [each.rate(item.sentence, np.array([item.heads])) for each, item in ((model, tree), (twin, other))]
        np.testing.assert_allclose(*rated, rtol=1e-9)


def test_names_mean_nothing_to_neighbours_and_histories() -> None:
    """Words that are renamed keep their order, and so their numbers."""
    sentences = list(Case("HMM", "EM").data)
    others = [lg.Sentence(tuple(f"x{word}" for word in sentence.words)) for sentence in sentences]
    texts = [lg.Text.of(each) for each in (sentences, others)]
    one, two = (lg.fit(lg.WordVectors, each, by=lg.Spectral(states=3)) for each in texts)
    np.testing.assert_allclose(two.vectors, one.vectors)
    for smoothing in ("none", "witten-bell", "kneser-ney"):
        by, counts = lg.Counting(smoothing=smoothing), [lg.NGramCounts.of(each, order=3) for each in texts]
        models = [lg.fit(lg.BackoffNGram, each, by=by) for each in counts]
        for sentence, other in zip(sentences[:6], others, strict=False):
            assert models[0].logprob(sentence.words) == pytest.approx(models[1].logprob(other.words), rel=1e-9)


@pytest.mark.parametrize("states", [8, 12])
def test_states_beyond_the_rank_change_nothing_of_strings(states: int) -> None:
    text = lg.Text.of(TEXT)
    one, two = (lg.fit(lg.OperatorAutomaton, text, by=lg.Spectral(states=number)) for number in (7, states))
    for string in (*TEXT, "b", "a a"):
        assert one.probability(string) == pytest.approx(two.probability(string), abs=1e-9)


def test_states_beyond_the_rank_change_nothing_of_trees() -> None:
    bank = lg.demo_dependencies(6, seed=2)
    one, two = (lg.fit(lg.SHAG, bank, by=lg.Spectral(states=number)) for number in (12, 20))
    assert np.isfinite(one.tree_logprob(bank[0]))
    for tree in bank:
        assert one.tree_logprob(tree) == pytest.approx(two.tree_logprob(tree), abs=1e-6, nan_ok=True)
