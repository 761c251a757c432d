"""The experiments of Dhillon et al. by command, small."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from latentgram.reproduce import dhillon2012 as reproduce_dhillon2012


def test_the_experiments_of_the_paper(
    run: Callable, dependencies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    systems = {
        "base features": (),
        "+ log p̂ as printed": ("latent-tree-printed",),
        "+ all generative": ("lexical",),
    }
    monkeypatch.setattr(reproduce_dhillon2012, "SYSTEMS", systems)
    options = ("--data", dependencies.parents[1], "--treebanks", "demo", "--orders", 1, "--count", 5, "--folds", 2)
    assert run("reproduce", "dhillon2012", *options, "--output", tmp_path, "--test").status == 0
    results = json.loads((tmp_path / "results.json").read_text("utf-8"))
    (one,) = results["runs"]
    for part in ("dev", "test"):
        table, oracle = one["systems"][part], one["oracle"][part]
        assert set(table) == {"base", reproduce_dhillon2012.KBEST, *systems, *reproduce_dhillon2012.PERCEPTRON}
        # No reranker can be better than the best tree of the list, which gets better with its length.
        assert oracle["1"] == table["base"]["uas"]
        assert oracle["1"] <= oracle["2"] <= oracle["5"]
        assert max(table[name]["uas"] for name in ("base", *systems)) <= oracle["5"]
        assert table["base"]["against_base"]["difference"] == 0
    assert set(one["weights"]["+ all generative"]) == {"base", "lexical"}
    page = (tmp_path / "results.md").read_text("utf-8")
    assert "+ all generative" in page
    assert (tmp_path / "oracle-test.svg").exists()


def test_a_missing_treebank_is_named(run: Callable, tmp_path: Path) -> None:
    lost = run("reproduce", "dhillon2012", "--data", tmp_path, "--output", tmp_path / "out")
    assert lost.status == 1
    assert "train.conllu" in lost.err
    assert not (tmp_path / "out").exists()


def test_tags_k_best_mira_and_word_vectors_as_in_the_paper(
    run: Callable, dependencies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduce_dhillon2012, "SYSTEMS", {"base features": (), "+ all generative": ("lexical",)})
    trees, vectors = dependencies / "train.conllu", tmp_path / "v.lg"
    assert run("train", "vectors", trees, "--view", "lr-mvl", "--states", 5, "-o", vectors).status == 0
    options = ("--data", dependencies.parents[1], "--treebanks", "demo", "--orders", 1, "--count", 4, "--folds", 2)
    more = ("--tags", 2, "--best", 3, "--vectors", vectors, "--printed")
    assert run("reproduce", "dhillon2012", *options, *more, "--output", tmp_path / "out").status == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))
    assert results["setup"] == {"count": 4, "folds": 2, "best": 3, "tags": 2, "printed": True}
    (one,) = results["runs"]
    rows = one["systems"]["dev"]
    systems = {*reproduce_dhillon2012.PERCEPTRON, *reproduce_dhillon2012.PRINTED_WORDS}
    assert set(rows) == {"base", reproduce_dhillon2012.KBEST, *systems}
    for name, weights in one["weights"].items():
        assert (weights["base"] == 0.0) == name.startswith("templates alone")
    assert {"tagger", "jackknifed tags"} <= set(one["seconds"])
    refused = run("reproduce", "dhillon2012", *options, "--tags", 1, "--output", tmp_path / "no")
    assert refused.status == 1
    assert "--tags" in refused.err
