"""The EM loop on a mixture of two coins, whose statistics and bound are easily written down."""

import itertools

import numpy as np
import pytest

from latentgram.numeric.em import ascend

HEADS = np.array([9, 8, 1, 2, 7, 0, 9, 1])
TOSSES = 10


def likelihoods(model: np.ndarray) -> np.ndarray:
    weight, biases = model[0], model[1:]
    prior = np.array([weight, 1 - weight])
    return prior * biases ** HEADS[:, None] * (1 - biases) ** (TOSSES - HEADS[:, None])


def expect(model: np.ndarray) -> tuple[np.ndarray, float]:
    joint = likelihoods(model)
    posterior = joint / joint.sum(1, keepdims=True)
    return posterior, float(np.log(joint.sum(1)).sum())


def maximise(posterior: np.ndarray) -> np.ndarray:
    return np.concatenate(([posterior[:, 0].mean()], HEADS @ posterior / posterior.sum(0) / TOSSES))


START = np.array([0.5, 0.6, 0.5])


def test_the_bound_rises_and_the_truth_is_found() -> None:
    found = ascend(START, expect, maximise, iterations=100)
    bounds = [record["bound"] for record in found.trace]
    assert all(later >= earlier - 1e-12 for earlier, later in itertools.pairwise(bounds))
    assert found.model == pytest.approx([0.5, 0.825, 0.1], abs=0.01)
    assert found.round == 100


def test_it_stops_when_the_bound_stands_still() -> None:
    found = ascend(START, expect, maximise, iterations=1000, tolerance=1e-9)
    assert found.round < 200
    assert found.model == pytest.approx(ascend(START, expect, maximise, iterations=1000).model, abs=1e-3)


def test_the_best_scored_round_is_kept() -> None:
    target = ascend(START, expect, maximise, iterations=3).model
    found = ascend(START, expect, maximise, iterations=9, score=lambda model: -float(abs(model - target).sum()))
    assert found.round == 3
    assert np.array_equal(found.model, target)
    assert len(found.trace) == 9


def test_the_start_is_kept_when_every_round_scores_worse() -> None:
    found = ascend(START, expect, maximise, iterations=3, score=lambda model: float(model is START))
    assert found.round == 0
    assert found.model is START


def test_every_round_is_reported() -> None:
    seen = []

    class Recorder:
        def step(self, stage: str, done: int, total: int | None = None, **figures: float) -> None:
            seen.append((stage, done, total, sorted(figures)))

    ascend(START, expect, maximise, iterations=2, progress=Recorder(), stage="coins")
    assert seen == [("coins", 1, 2, ["bound"]), ("coins", 2, 2, ["bound"])]
