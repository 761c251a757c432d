"""The pipeline component, where spaCy is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

import latentgram as lg

spacy = pytest.importorskip("spacy", reason="spaCy is not installed")

TEXT = "The doctors thanked the captain. The songs ended."


@pytest.fixture(scope="module")
def phrases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("phrases") / "model.lg"
    lg.save(lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(100, seed=1), by=lg.Counting())), path)
    return path


@pytest.fixture(scope="module")
def arcs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, bank = tmp_path_factory.mktemp("arcs") / "model.lg", lg.demo_dependencies(100, seed=1)
    tagger = lg.fit(lg.Tagger, bank, by=lg.Gradient(passes=2))
    lg.save(lg.Parser(lg.fit(lg.SHAG, bank, by=lg.Counting()), tagger=tagger), path)
    return path


def pipeline(model: Path):
    """A pipeline that knows the component by its entry point alone."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("latentgram", config={"model": str(model)})
    return nlp


def test_phrases(phrases: Path) -> None:
    doc = pipeline(phrases)(TEXT)
    first, second = doc.sents
    assert first._.parse.tree.words == tuple(token.text for token in first)
    assert [token.tag_ for token in first] == list(first._.parse.tree.tags)
    assert second._.confidence == pytest.approx(second._.parse.expected)
    assert all(0 <= token._.tag_prob <= 1 for token in doc)
    assert doc[0]._.head_prob is None
    label, words = first._.constituents[0]
    assert (label, words.text) == (first._.parse.tree.label, first.text)


def test_without_sentences_a_document_is_one(phrases: Path, arcs: Path) -> None:
    for model in (phrases, arcs):
        nlp = spacy.blank("en")
        nlp.add_pipe("latentgram", config={"model": str(model)})
        (whole,) = nlp(TEXT).sents
        assert len(whole._.parse.tree.words) == len(whole)
        assert list(nlp("").sents) == []


def test_arcs(arcs: Path) -> None:
    doc = pipeline(arcs)(TEXT)
    for sentence in doc.sents:
        tree = sentence._.parse.tree
        for number, token in enumerate(sentence):
            head = tree.heads[number]
            assert token.head.i == sentence.start + (head - 1 if head else number)
            assert (token.dep_, token.tag_) == (tree.deprels[number], tree.xpos[number])
            assert token._.head_prob == pytest.approx(sentence._.parse.confidence[number])


@pytest.mark.parametrize("kind", ["phrases", "arcs"])
def test_documents_survive_bytes_and_bins(kind: str, request: pytest.FixtureRequest) -> None:
    nlp = pipeline(request.getfixturevalue(kind))
    doc = nlp(TEXT)
    again = spacy.tokens.Doc(nlp.vocab).from_bytes(doc.to_bytes())
    binned = spacy.tokens.DocBin(store_user_data=True, docs=[doc]).to_bytes()
    (unbinned,) = spacy.tokens.DocBin(store_user_data=True).from_bytes(binned).get_docs(nlp.vocab)
    for copy in (again, unbinned):
        assert [s._.parse.tree for s in copy.sents] == [s._.parse.tree for s in doc.sents]
        assert [t._.tag_prob for t in copy] == [t._.tag_prob for t in doc]


def test_two_processes_give_the_same(arcs: Path) -> None:
    nlp = pipeline(arcs)
    texts = [TEXT, "The captain sleeps."]
    heads = [[token.head.i for token in doc] for doc in nlp.pipe(texts)]
    assert [[token.head.i for token in doc] for doc in nlp.pipe(texts, n_process=2)] == heads


def test_a_pipeline_goes_to_disk_with_its_model(phrases: Path, tmp_path: Path) -> None:
    nlp = pipeline(phrases)
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert [s._.parse.tree for s in again(TEXT).sents] == [s._.parse.tree for s in nlp(TEXT).sents]


def test_without_a_model_one_sentence_says_so() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("latentgram")
    with pytest.raises(lg.LatentgramError, match="no model"):
        nlp("Hello.")
