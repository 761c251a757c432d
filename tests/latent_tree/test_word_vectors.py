"""Word vectors: words used alike are near, noise is told from structure, and counts serve as well as text."""

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.errors import DataError, SettingError

KINDS = 4


def text(seed: int, sentences: int = 1500) -> lg.Text:
    """Words w<kind><i> whose kinds follow one another in a circle, mostly; the words of a kind are alike."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(sentences):
        kind, words = int(rng.integers(KINDS)), []
        for _ in range(8):
            words.append(f"w{kind}{'abcde'[rng.integers(5)]}")
            kind = (kind + 1) % KINDS if rng.random() < 0.9 else int(rng.integers(KINDS))
        lines.append(" ".join(words))
    return lg.Text.of(lines)


@pytest.mark.parametrize("view", ["context", "singular"])
def test_words_of_a_kind_are_neighbours(view: str) -> None:
    found = lg.fit(lg.WordVectors, text(0), by=lg.Spectral(states=KINDS, least=0, view=view))
    for word in found.words:
        if word[0] == "w":
            assert {near[:2] for near, _ in found.neighbours(word, 4)} == {word[:2]}


def test_the_number_of_dimensions_is_that_of_the_structure() -> None:
    found = lg.fit(lg.WordVectors, text(1), by=lg.Spectral(states=15, least=1.1))
    assert KINDS - 1 <= found.vectors.shape[1] <= KINDS + 2
    rng = np.random.default_rng(2)
    noise = lg.Text.of(" ".join(f"w{i}" for i in rng.integers(0, 20, 8)) for _ in range(1500))
    assert lg.fit(lg.WordVectors, noise, by=lg.Spectral(states=15, least=1.1)).vectors.shape[1] <= 4


def test_counts_do_as_well_as_text() -> None:
    given = text(3)
    learner = lg.Spectral(states=3, least=0)
    by_text, by_counts = (
        lg.fit(lg.WordVectors, data, by=learner) for data in (given, NGramCounts.of(given, order=3))
    )
    assert by_text.vectors == pytest.approx(by_counts.vectors)


def test_vectors_of_trees(tmp_path) -> None:
    trees = lg.demo_dependencies(200, seed=1)
    found = lg.fit(lg.WordVectors, trees, by=lg.Spectral(states=5, view="tree"))
    assert found["the"].shape == (found.vectors.shape[1],)
    lg.save(found, tmp_path / "v.lg")
    assert lg.load(tmp_path / "v.lg").neighbours("the", 3) == found.neighbours("the", 3)
    with pytest.raises(DataError, match="no vector"):
        found["nosuchword"]
    with pytest.raises(SettingError, match="treebank"):
        lg.fit(lg.WordVectors, text(4, 10), by=lg.Spectral(view="tree"))
