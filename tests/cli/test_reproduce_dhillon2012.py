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
        assert set(table) == {"base", *systems}
        # No reranker can be better than the best tree of the list, which gets better with its length.
        assert oracle["1"] == table["base"]["uas"]
        assert oracle["1"] <= oracle["2"] <= oracle["5"]
        assert max(system["uas"] for system in table.values()) <= oracle["5"]
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
