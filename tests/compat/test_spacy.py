"""The pipeline component, where spaCy is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

import latentgram as lg
from latentgram.compat.spacy import register

spacy = pytest.importorskip("spacy", reason="spaCy is not installed")


@pytest.fixture(autouse=True)
def registered() -> None:
    register()


def test_phrases(tmp_path: Path) -> None:
    parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(100, seed=1), by=lg.Counting()))
    lg.save(parser, tmp_path / "model.lg")
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("latentgram", config={"model": str(tmp_path / "model.lg")})
    doc = nlp("The doctors thanked the captain. The songs ended.")
    first, second = doc.sents
    assert first._.parse.tree.words == tuple(token.text for token in first)
    assert second._.confidence == pytest.approx(second._.parse.expected)
    assert all(0 <= token._.tag_prob <= 1 for token in doc)
    assert doc[0]._.head_prob is None


def test_arcs(tmp_path: Path) -> None:
    bank = lg.demo_dependencies(100, seed=1)
    lg.save(lg.Parser(lg.fit(lg.SHAG, bank, by=lg.Counting())), tmp_path / "model.lg")
    nlp = spacy.blank("en")
    nlp.add_pipe("latentgram", config={"model": str(tmp_path / "model.lg")})
    sentence = bank[0].sentence
    doc = spacy.tokens.Doc(nlp.vocab, words=list(sentence.words), tags=list(sentence.xpos or sentence.upos))
    doc = nlp.get_pipe("latentgram")(doc)
    parse = doc[:]._.parse
    for number, token in enumerate(doc):
        head = parse.tree.heads[number]
        assert token.head.i == (head - 1 if head else number)
        assert token._.head_prob == pytest.approx(parse.confidence[number])
