"""Learning with several workers gives the bits of learning with one, for every learner that shares its work."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.text import Text

TREES = 700
"""More than one shard of every learner but the largest."""


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    trees, dependencies = lg.demo_treebank(TREES, 0), lg.demo_dependencies(TREES, 0)
    return {"trees": trees, "dependencies": dependencies, "text": Text.of(trees.sentences())}


def bits(model: Any) -> list[bytes]:
    """All arrays of a model, as they lie in memory."""
    found: list[bytes] = []
    for field in dataclasses.fields(model):
        value = getattr(model, field.name)
        if isinstance(value, np.ndarray):
            found.append(np.ascontiguousarray(value).tobytes())
        elif dataclasses.is_dataclass(value) and field.name != "provenance":
            found += bits(value)
    return found


@pytest.mark.parametrize(
    ("model", "kind", "learner"),
    [
        (lg.LPCFG, "trees", lg.Counting()),
        (lg.LPCFG, "trees", lg.Spectral(states=4)),
        (lg.LPCFG, "trees", lg.EM(states=3, iterations=3)),
        (lg.LPCFG, "trees", lg.Clustering(states=4, iterations=2)),
        (lg.SHAG, "dependencies", lg.Spectral(states=4)),
        (lg.SHAG, "dependencies", lg.EM(states=3, iterations=5)),
        (lg.SHAG, "dependencies", lg.Clustering(states=3)),
        (lg.LatentTree, "dependencies", lg.EM(states=3, iterations=3)),
        (lg.LatentTree, "dependencies", lg.Spectral(states=3)),
        (lg.HMM, "text", lg.EM(states=5, iterations=3)),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "__name__", type(value).__name__),
)
def test_the_same_bits(
    model: Any, kind: str, learner: Any, data: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("latentgram.sequences.em.SHARD", 2000)
    monkeypatch.setattr("latentgram.lpcfg.em_steps.SHARD", 500)
    monkeypatch.setattr("latentgram.lpcfg.em_steps.PART", 100)
    alone, together = (lg.fit(model, data[kind], by=learner, n_jobs=workers) for workers in (1, 3))
    assert bits(alone) == bits(together)
    assert len(bits(alone)) > 2
