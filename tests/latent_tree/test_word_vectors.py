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


def test_a_vector_of_rounding_errors_has_no_direction() -> None:
    vectors = lg.WordVectors(
        lg.Alphabet("abc"), np.array([[1.0, 0.0], [1e-16, 0.0], [2.0, 0.0]]), np.ones(2), "context"
    )
    assert dict(vectors.neighbours("a")) == {"c": 1.0, "b": pytest.approx(0.0, abs=1e-6)}


@pytest.mark.parametrize("view", ["context", "singular", "lr-mvl"])
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


def test_clusters_are_the_kinds_and_their_bits_a_tree() -> None:
    found = lg.fit(lg.WordVectors, text(5), by=lg.Spectral(states=KINDS, least=0))
    clusters = found.clusters(KINDS + 1)  # one for the boundary of sentences
    for word in found.words:
        if word[0] == "w":
            assert clusters[word] == clusters[f"{word[:2]}a"]
    bits = [bits for bits, _ in clusters.members()]
    assert len(bits) == len(clusters) == KINDS + 1
    assert sum(2.0 ** -len(each) for each in bits) == 1.0  # the leaves of a full binary tree
    assert bits == sorted(bits)
    assert sorted(word for _, words in clusters.members() for word in words) == sorted(found.words)


def test_alike_clusters_have_a_common_beginning() -> None:
    """Two pairs of kinds that follow the same kinds: the first bit tells the pairs apart, the rest the kinds."""
    rng = np.random.default_rng(6)
    lines = []
    for _ in range(3000):
        pair, kind = rng.integers(2, size=2)
        middle = f"m{pair}{kind}{'xyz'[rng.integers(3)]}"
        lines.append(f"b{pair} {middle} e{pair if rng.random() < 0.8 else 2 + 2 * pair + kind}")
    clusters = lg.fit(lg.WordVectors, lg.Text.of(lines), by=lg.Spectral(states=6, least=0)).clusters(20)

    def common(one: str, other: str) -> int:
        pairs = zip(clusters[one], clusters[other], strict=False)
        return next((place for place, (a, b) in enumerate(pairs) if a != b), 99)

    assert common("m00x", "m01x") > common("m00x", "m10x")


def test_lr_mvl_sees_further_than_bigrams() -> None:
    """Which of two kinds a word is of shows two words away only."""
    rng = np.random.default_rng(7)
    lines = []
    for _ in range(4000):
        kind = rng.integers(2)
        lines.append(f"s{kind} and w{kind}{'abc'[rng.integers(3)]} or t{kind}")
    nearest = {}
    for view in ("context", "lr-mvl"):
        found = lg.fit(lg.WordVectors, lg.Text.of(lines), by=lg.Spectral(states=8, least=0, view=view))
        words = [f"w{kind}{each}" for kind in "01" for each in "abc"]
        cosines = np.corrcoef([found[word] / np.linalg.norm(found[word]) for word in words])
        nearest[view] = cosines[:3, :3].min() - cosines[:3, 3:].max()
    assert nearest["lr-mvl"] > 0.5
    assert nearest["context"] < 0.3


def test_lr_mvl_needs_text() -> None:
    with pytest.raises(SettingError, match="needs text"):
        lg.fit(lg.WordVectors, NGramCounts.of(text(0, 10), order=3), by=lg.Spectral(view="lr-mvl"))
