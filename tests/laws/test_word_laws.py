"""Laws of what is not a parser, on odd treebanks and odd sentences: taggers, n-grams, lemmas, segmentation.

One tree, one-word trees, unary chains, one label, every tag once; words and tags never seen; 1 and 500 words.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import latentgram as lg
from fuzz.odd_data import BANKS
from latentgram.kinds.kind import kinds
from laws.cases import CASES, ODD_BANKS, Case, fitted, odd

ANY_BANK = ("", *ODD_BANKS)
"""The usual data, and the odd ones."""
TAGGED = [case for case in CASES if kinds()[case.model].tagger]
SCORED = [case for case in CASES if kinds()[case.model].scores == "sentences"]
ALL = 3000
"""More sequences of tags than short sentences have."""


def model_of(case: Case, bank: str) -> Any:
    return odd(case, bank) if bank else fitted(case)


def sentences(bank: str) -> list[lg.Sentence]:
    """Some of the treebank's words, one, unknown ones, 500; with tags never seen, or none."""
    known = lg.parse_tree(BANKS[bank][0]).words[:4] if bank else ("the", "dog", "sees", "a")
    many = tuple(itertools.islice(itertools.cycle((*known, "qwertz", "12")), 500))
    groups = [known[:3], known[:1], ("qwertz",), ("Zzz", *known[:1], "12"), many]
    return [
        sentence
        for words in groups
        for sentence in (lg.Sentence(words), lg.Sentence(words, *2 * (("never",) * len(words),)))
    ]


@pytest.mark.parametrize("bank", ANY_BANK)
@pytest.mark.parametrize("case", TAGGED, ids=str)
def test_tags_keep_the_laws(case: Case, bank: str) -> None:
    """Posteriors of a word sum to one, and sequences of tags, too; the best is the first of the list."""
    tagger = model_of(case, bank)
    if tagger is None:
        return
    posteriors = getattr(tagger, "tag_posteriors", None) or tagger.posteriors
    for sentence in sentences(bank):
        tagging = tagger.tag(sentence, decoder="viterbi")
        assert len(tagging.tags) == len(sentence)
        assert (np.array(tagging.confidence) >= 0.0).all()
        assert (np.array(tagging.confidence) <= 1.0).all()
        table = posteriors(sentence)
        assert ((table >= 0.0) & (table <= 1.0)).all()
        np.testing.assert_allclose(table.sum(1), 1.0, atol=1e-6)
        if len(sentence) < 500:
            taggings = tagger.nbest(sentence, ALL)
            logs = np.array([each.tags_logprob for each in taggings])
            assert (np.diff(logs) <= 1e-9).all()
            assert taggings[0].tags == tagging.tags or logs[0] == pytest.approx(logs[1])
            total = np.logaddexp.reduce(logs)
            assert total <= 1e-6
            if len(taggings) < ALL:
                assert total == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("bank", ANY_BANK)
@pytest.mark.parametrize("case", SCORED, ids=str)
def test_sentences_keep_the_laws(case: Case, bank: str) -> None:
    """No sentence is more probable than one, or than all of its length; adding a word makes it no likelier."""
    model = model_of(case, bank)
    if model is None:
        return
    for sentence in sentences(bank):
        log = model.logprob(sentence.words)
        assert not np.isnan(log)
        if model.is_distribution:
            assert log <= 1e-9
            longer = model.logprob((*sentence.words, *sentence.words[:1]))
            assert np.logaddexp(log, longer) <= 1e-9


@pytest.mark.parametrize("bank", ANY_BANK)
def test_lemmas_keep_the_laws(bank: str) -> None:
    lemmatiser = model_of(Case("Lemmatiser", "Gradient"), bank)
    if lemmatiser is None:
        return
    for sentence in sentences(bank):
        choices, (lemmas, sure) = lemmatiser.probabilities(sentence), lemmatiser.lemmas(sentence)
        assert len(choices) == len(lemmas) == len(sure) == len(sentence)
        for shares, lemma, share in zip(choices, lemmas, sure, strict=True):
            assert sum(shares.values()) == pytest.approx(1.0, abs=1e-6)
            assert 0.0 <= share <= 1.0
            assert shares[lemma] == pytest.approx(max(shares.values()))


@pytest.mark.parametrize("bank", ANY_BANK)
def test_segmentation_keeps_all_signs(bank: str) -> None:
    """And nothing but blanks is lost, or is new; one sentence is all of the text."""
    segmenter = model_of(Case("Segmenter", "Gradient"), bank)
    if segmenter is None:
        return
    for sentence in sentences(bank):
        text = " ".join(sentence.words)
        cut = list(segmenter.sentences(text))
        assert "".join(word for part in cut for word in part.words) == text.replace(" ", "")
        assert segmenter.sentence(text).words == tuple(word for part in cut for word in part.words)
    assert list(segmenter.sentences(" \n ")) == []
