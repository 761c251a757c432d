"""The fast tagger: close to the HMM it stands for, also on words and n-grams never seen."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.sequences.test_hmm import random_hmm

import latentgram as lg
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.sentence import Sentence
from latentgram.data.tag_dictionary import TagDictionary
from latentgram.data.text import Text
from latentgram.kinds.learners import Counting
from latentgram.sequences.counting import from_counts
from latentgram.sequences.hmm import HMM
from latentgram.sequences.ngram_tagger import remember_tags


@pytest.fixture(scope="module")
def known() -> tuple[HMM, list[Sentence]]:
    truth = random_hmm(2, seed=4)
    mass = np.bincount(truth.emit_tag, truth.emit_prob)
    truth = replace(truth, emit_prob=truth.emit_prob / mass[truth.emit_tag])
    return truth, [s for s in truth.sample(2000, seed=2) if len(s) < 40]


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("bigrams", [True, False])
def test_the_fast_tagger_agrees_with_the_hmm(
    known: tuple[HMM, list[Sentence]], classes: bool, bigrams: bool, tmp_path: Path
) -> None:
    _, tagged = known
    hmm = lg.fit(lg.HMM, tagged[:1500], by=Counting())
    text = Text.of([s.words for s in tagged[:1500]])
    dictionary = TagDictionary.of(tagged, 1) if classes else None
    cutoff = 5 if bigrams else [1, 700, 700, 700]
    counts = NGramCounts.of(text, order=4, cutoff=cutoff, dictionary=dictionary)
    fast = remember_tags(hmm, from_counts(counts))
    assert fast.lag == int(bigrams)
    fresh = [s.words for s in tagged[1500:]]
    pairs = [
        (one, other)
        for slow, quick in zip(hmm.tag_all(fresh), fast.tag_all(fresh), strict=True)
        for one, other in zip(slow.tags, quick.tags, strict=True)
    ]
    assert np.mean([one == other for one, other in pairs]) > (0.9 if bigrams else 0.8)
    lg.save(fast, tmp_path / "fast.lg")
    assert lg.load(tmp_path / "fast.lg").tag(fresh[0]).tags == fast.tag(fresh[0]).tags


def test_unknown_words_and_contexts(known: tuple[HMM, list[Sentence]]) -> None:
    hmm = lg.fit(lg.HMM, known[1], by=Counting())
    fast = remember_tags(hmm, from_counts(NGramCounts.of(Text.of(["a b", "b d"]), order=2)))
    found = fast.tag("zebra a d d")
    assert found.unknown == (True, False, False, False)
    assert all(tag in hmm.tags.symbols[1:] for tag in found.tags)
    assert found.tags[1] == "1"
    assert 0 < min(found.confidence) <= 1
