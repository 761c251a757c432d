"""A tagger, and a parser with one, under constraints on tags."""

from __future__ import annotations

import numpy as np
import pytest

import latentgram as lg
from latentgram.errors import NoParse
from latentgram.parser.pipeline import fit_parser


@pytest.fixture(scope="module")
def parser() -> lg.Parser:
    return fit_parser(lg.SHAG, lg.demo_dependencies(100, seed=0), by=lg.Counting(), tagger=lg.Gradient(passes=2))


def test_posteriors_add_up_over_the_cases(parser: lg.Parser) -> None:
    """p(t₂ | x) = Σ_A p(t₁ = A | x) p(t₂ | x, t₁ = A)."""
    tagger, words = parser.tagger, "the dog sleeps ."
    free = tagger.posteriors(words)
    mixed = np.zeros_like(free)
    for name in sorted(set(tagger.tags)):
        share = free[1, [tag == name for tag in tagger.tags]].sum()
        if share > 0:
            told = tagger.posteriors(words, lg.Constraints.of(tags={1: name}))
            mixed += share * told
            assert told[1, [tag == name for tag in tagger.tags]].sum() == pytest.approx(1)
    np.testing.assert_allclose(mixed, free, atol=1e-5)


def test_required_and_forbidden_tags(parser: lg.Parser) -> None:
    words = "the dog sleeps ."
    free = parser.parse(words).tree
    other = next(tag for tag in parser.tagger.tags if tag != free.xpos[1])
    assert parser.parse(words, tags={1: other}).tree.xpos[1] == other
    assert parser.parse(words, forbidden_tags=[(1, free.xpos[1])]).tree.xpos[1] != free.xpos[1]
    with pytest.raises(NoParse, match="no possible tag of 'dog'"):
        parser.parse(words, tags={1: "NOSUCH"})
