"""Lists of trees of deterministic head automata, against all projective trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import latentgram as lg
from oracles.projective import projective_trees


@pytest.fixture(scope="module")
def bank() -> lg.Treebank:
    return lg.demo_dependencies(80, seed=3)


def models(bank: lg.Treebank) -> dict[str, Any]:
    lexical = lg.fit(lg.LexicalSHAG, bank, by=lg.Counting())
    distance = lg.fit(lg.ArcDistance, bank, by=lg.Counting())
    return {
        "none": lg.fit(lg.SHAG, bank, by=lg.Counting(memory="none")),
        "first": lg.fit(lg.SHAG, bank, by=lg.Counting(memory="first")),
        "lexical": lexical,
        "product": lexical * distance**0.5,
        "automata": (automata := lg.fit(lg.SHAG, bank, by=lg.Spectral(states=4)).determinise(3, trees=bank)),
        "product of automata": automata**0.5 * lg.fit(lg.SHAG, bank, by=lg.Counting(memory="first")) * lexical,
    }


@pytest.mark.parametrize("name", ["none", "first", "lexical", "product", "automata", "product of automata"])
def test_most_probable_trees(bank: lg.Treebank, name: str) -> None:
    parser = lg.Parser(models(bank)[name])
    given = next(tree for tree in bank if len(tree) >= 5).sentence
    sentence = lg.Sentence(*(part and part[:5] for part in (given.words, given.xpos, given.upos)))
    shape = parser.parse(sentence).tree
    every = [parser.score(shape.replace(heads=tuple(h + 1 for h in heads))) for heads in projective_trees(5)]
    logs = sorted((parse.tree_logprob for parse in every), reverse=True)
    found = parser.nbest(sentence, 12)
    np.testing.assert_allclose([parse.tree_logprob for parse in found], logs[:12], atol=1e-8)
    assert len({parse.tree.heads for parse in found}) == 12
    assert np.logaddexp.reduce(logs) == pytest.approx(found[0].logprob)


def test_hidden_states_times_deterministic_automata(bank: lg.Treebank) -> None:
    """The logarithm of a tree's weight is the sum of those of the factors, and posteriors sum over all trees."""
    hidden = lg.fit(lg.SHAG, bank, by=lg.EM(states=3, iterations=2))
    automata = hidden.determinise(4)
    product = automata**0.7 * hidden
    given = next(tree for tree in bank if len(tree) >= 5)
    sentence = lg.Sentence(given.words[:5], given.xpos[:5], given.upos[:5])
    shape = lg.Parser(hidden).parse(sentence).tree
    logs, arcs = [], np.zeros((5, 5))
    for heads in projective_trees(5):
        tree = shape.replace(heads=tuple(head + 1 for head in heads))
        logs.append(product.tree_logprob(tree))
        assert logs[-1] == pytest.approx(0.7 * automata.tree_logprob(tree) + hidden.tree_logprob(tree), abs=1e-9)
        for word, head in enumerate(heads):
            if head >= 0:
                arcs[head, word] += np.exp(logs[-1])
    posteriors = product.posteriors(sentence)
    assert posteriors.logprob == pytest.approx(np.logaddexp.reduce(logs))
    np.testing.assert_allclose(posteriors.arcs, arcs / np.exp(posteriors.logprob), atol=1e-12)
    assert not product.deterministic
    # Nothing is impossible, so to the power 0 a factor changes nothing.
    assert (automata**0 * hidden).logprob(sentence) == pytest.approx(hidden.logprob(sentence))


def test_one_factor_has_hidden_states(bank: lg.Treebank) -> None:
    hidden = lg.fit(lg.SHAG, bank, by=lg.Spectral(states=3))
    with pytest.raises(lg.LatentgramError, match="at most one factor"):
        hidden * hidden
    with pytest.raises(lg.LatentgramError, match="only deterministic factors"):
        hidden**0.5
