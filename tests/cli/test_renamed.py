"""Former names of learners: they still work, and one line says what they are called now."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import latentgram as lg
from latentgram.parser.parser import Parser

LISTS = ("--order", 1, "--count", 3, "--folds", 2, "--raters", "templates")


@pytest.mark.parametrize(
    ("kind", "now", "flags"), [("reranker", "mira", LISTS), ("tagger", "gradient", ("--frequent", 9))]
)
def test_perceptron(run: Callable, tmp_path: Path, kind: str, now: str, flags: tuple[object, ...]) -> None:
    trees = tmp_path / "train.conllu"
    lg.demo_dependencies(20, seed=3).write(trees)
    models = []
    for by in ("perceptron", now):
        output = tmp_path / f"{len(models)}.lg"
        result = run("train", kind, trees, "--by", by, "--passes", 1, *flags, "-o", output)
        assert result.status == 0
        lines = [line for line in result.err.splitlines() if "former" in line or "Warning" in line]
        renamed = [f"latentgram: --by perceptron is now --by {now}; the former name is deprecated"]
        assert lines == (renamed if by == "perceptron" else [])
        loaded = lg.load(output)
        models.append(loaded.model if isinstance(loaded, Parser) else loaded)
    assert [model.provenance.learner.lower() for model in models] == [now, now]
    assert models[0].summary() == models[1].summary()
