"""Tagging under constraints, against the tag sequences that obey among all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import latentgram as lg
from latentgram.errors import DataError, NoParse

TEXT = [
    [("a", "X"), ("b", "Y"), ("a", "Y")],
    [("b", "X"), ("a", "X"), ("b", "Y"), ("c", "X")],
    [("c", "Y"), ("a", "X")],
]
WORDS = "a b a c"


@pytest.fixture(scope="module")
def hmm() -> lg.HMM:
    bank = lg.Treebank.of([lg.Sentence.of(sentence) for sentence in TEXT])
    return lg.fit(lg.HMM, bank, by=lg.Counting(transition_prior=0.5, emission_prior=0.1))


@pytest.mark.parametrize(
    "parts", [{"tags": {1: "X"}}, {"tags": {0: "Y", 3: "X"}}, {"forbidden_tags": [(2, "X")]}], ids=str
)
@pytest.mark.parametrize("decoder", ["posterior", "viterbi"])
def test_sum_over_those_that_obey(hmm: lg.HMM, parts: dict[str, Any], decoder: str) -> None:
    known = lg.Constraints.of(**parts)
    every = [(found.logprob + found.tags_logprob, found.tags) for found in hmm.nbest(WORDS, 100)]
    obeying = [(log, tags) for log, tags in every if known.obeyed_by(_Tagged(tags))]
    assert 0 < len(obeying) < len(every)
    found = hmm.tag(WORDS, decoder, known)
    total = np.logaddexp.reduce([log for log, _ in obeying])
    assert found.logprob == pytest.approx(total)
    for place, (tag, said) in enumerate(zip(found.tags, found.confidence, strict=True)):
        assert said == pytest.approx(sum(np.exp(log - total) for log, tags in obeying if tags[place] == tag))
    listed = hmm.nbest(WORDS, 100, known)
    assert [one.tags for one in listed] == [tags for _, tags in obeying]
    assert sum(np.exp(one.tags_logprob) for one in listed) == pytest.approx(1)
    assert {one.tags for one in hmm.sample_tags(WORDS, 50, 1, known)} <= {tags for _, tags in obeying}


class _Tagged:
    """Tags that look like a tree to `Constraints`."""

    def __init__(self, tags: tuple[str, ...]) -> None:
        self.sentence = lg.Sentence(tuple(WORDS.split()), tags)

    def spans(self) -> list[tuple[str, int, int]]:
        return []


def test_impossible_tags(hmm: lg.HMM) -> None:
    with pytest.raises(NoParse, match=r"no possible tag of word 0 satisfies: tags \(0, NOSUCH\)"):
        hmm.tag(WORDS, known=lg.Constraints.of(tags={0: "NOSUCH"}))
    with pytest.raises(DataError, match="no word 7"):
        hmm.tag(WORDS, known=lg.Constraints.of(tags={7: "X"}))
