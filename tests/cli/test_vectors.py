"""Word vectors and their clusters as text, and clusters as features of a grammar."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import latentgram as lg


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vectors") / "vectors.lg"
    text = lg.Text.of(" ".join(tree.words) for tree in lg.demo_treebank(200, seed=0))
    lg.save(lg.fit(lg.WordVectors, text, by=lg.Spectral(states=6)), path)
    return path


def test_vectors_and_clusters_as_text(run: Callable, vectors: Path, tmp_path: Path) -> None:
    space = lg.load(vectors, lg.WordVectors)
    first, *lines = run("vectors", vectors).out.splitlines()
    assert first == f"{len(space)} {space.vectors.shape[1]}"
    word, *numbers = lines[3].split(" ")
    np.testing.assert_allclose(np.array(numbers, float), space[word], rtol=1e-4, atol=1e-5)
    written = run("vectors", vectors, "--clusters", 8).out
    assert run("vectors", vectors, "--clusters", 8, "-o", tmp_path / "paths").status == 0
    assert (tmp_path / "paths").read_text(encoding="utf-8") == written
    rows = [line.split("\t") for line in written.splitlines()]
    assert [bits for bits, _, _ in rows] == sorted(bits for bits, _, _ in rows)
    assert len({bits for bits, _, _ in rows}) <= 8
    clusters = space.clusters(8)
    assert {word: bits for bits, word, _ in rows} == {word: clusters[word] for word in space.words}
    assert sum(float(count) for _, _, count in rows) == pytest.approx(space.count.sum(), abs=len(rows))


def test_clusters_of_a_file_are_features(run: Callable, vectors: Path, tmp_path: Path) -> None:
    """A grammar with the clusters of a file is the one with the vectors that they were made of."""
    bank = lg.demo_treebank(60, seed=1)
    bank.write(tmp_path / "train.mrg")
    paths = tmp_path / "paths.txt"
    assert run("vectors", vectors, "--clusters", 256, "-o", paths).status == 0
    for name, given in (("one", paths), ("two", vectors)):
        options = ("--by", "spectral", "--states", 2, "--vectors", given, "-o", tmp_path / f"{name}.lg")
        result = run("train", "lpcfg", tmp_path / "train.mrg", *options)
        assert result.status == 0, result.err
    one, two = (lg.load(tmp_path / f"{name}.lg").model for name in ("one", "two"))
    np.testing.assert_allclose(one.rule_tensor, two.rule_tensor, atol=1e-9)
    plain = lg.fit(lg.LPCFG, bank, by=lg.Spectral(states=2))
    assert one.rule_tensor.shape != plain.rule_tensor.shape or not np.allclose(one.rule_tensor, plain.rule_tensor)
    trees = lg.demo_dependencies(30)
    with pytest.raises(lg.errors.SettingError, match="latent trees need word vectors"):
        lg.fit(lg.LatentTree, trees, by=lg.Spectral(vectors=lg.WordClusters.read(paths)))
    assert lg.fit(lg.SHAG, trees, by=lg.Counting(vectors=lg.WordClusters.read(paths), clusters=4))
