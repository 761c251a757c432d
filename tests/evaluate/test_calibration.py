"""Reliability bins against their definition, and on probabilities that are true by construction."""

import numpy as np
import pytest

from latentgram.errors import DataError
from latentgram.evaluate.calibration import calibration


def test_against_the_definition() -> None:
    random = np.random.default_rng(0)
    p, right = random.random(500), random.random(500) < 0.4
    found = calibration(p, right, bins=7)
    error = 0.0
    for b in range(7):
        inside = [i for i in range(500) if b / 7 <= p[i] < (b + 1) / 7]
        error += abs(np.mean(p[inside]) - np.mean(right[inside])) * len(inside) / 500
    assert found.error == pytest.approx(100 * error)
    assert found.brier == pytest.approx(np.mean([(q - r) ** 2 for q, r in zip(p, right, strict=True)]))


def test_true_probabilities_are_calibrated_and_overconfident_ones_are_not() -> None:
    random = np.random.default_rng(1)
    p = random.random(200_000)
    right = random.random(len(p)) < p
    honest, bold = calibration(p, right), calibration(np.where(p > 0.5, 1.0, 0.0), right)
    assert honest.error < 0.5
    assert bold.error == pytest.approx(25, abs=0.5)
    assert honest.brier == pytest.approx(1 / 6, abs=0.005)
    assert honest > bold


def test_bins_add_to_the_last_count() -> None:
    random = np.random.default_rng(2)
    p, right = random.random(300), random.random(300) < 0.5
    whole = calibration(p, right)
    parts = sum(calibration(p[i : i + 70], right[i : i + 70]) for i in range(0, 300, 70))
    assert [bin.count for bin in parts.bins] == [bin.count for bin in whole.bins]
    assert parts.error == pytest.approx(whole.error)
    with pytest.raises(ValueError, match="10 and 5 bins cannot be added"):
        _ = whole + calibration(p, right, bins=5)


def test_ends_and_bad_input() -> None:
    ends = calibration([0.0, 1.0, 1.0 + 1e-9], [False, True, True])
    assert [bin.count for bin in ends.bins] == [1, 0, 0, 0, 0, 0, 0, 0, 0, 2]
    assert ends.error == 0
    assert calibration([], []).to_json()["calibration_error"] == 0
    with pytest.raises(DataError, match=r"outside \[0, 1\]"):
        calibration([1.1], [True])
    with pytest.raises(DataError, match="outside"):
        calibration([float("nan")], [True])
    with pytest.raises(DataError, match="2 probabilities but 1 outcomes"):
        calibration([0.1, 0.2], [True])
