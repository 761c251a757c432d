"""Calibration: are predictions made with probability p correct in a proportion p of the cases?

Pairs (p, correct) are grouped into bins of equal width; bin b has n_b pairs, mean probability p̄_b and proportion
correct r_b.

    expected calibration error = Σ_b n_b / N · |p̄_b − r_b|,    Brier score = mean of (p − correct)²

The bins contain sums, so they can be added. O(pairs).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from latentgram.arrays import Flags
from latentgram.errors import DataError
from latentgram.evaluate.score import Score, Sums

_SLACK = 1e-6
"""How far a probability may lie outside of [0, 1] through rounding; it is then moved in."""


@dataclass(frozen=True)
class Calibration(Score):
    """Bins of equal width over [0, 1], each with its pairs, the sum of their probabilities and those right.

    >>> sure = calibration([0.9, 0.9, 0.9, 0.9], [True, True, True, False])
    >>> print(sure)
    calibration error 15.00, Brier 0.2100, 4 probabilities
    >>> print((sure + calibration([0.15], [False])).reliability())
     from    to      n  mean p   right
     0.10  0.20      1   15.00    0.00
     0.90  1.00      4   90.00   75.00
    """

    HEADLINE: ClassVar = "negative_error"

    bins: tuple[Bin, ...]

    @property
    def count(self) -> int:
        """All pairs."""
        return sum(bin.count for bin in self.bins)

    @property
    def error(self) -> float:
        """The expected calibration error, in percent."""
        gaps = sum(abs(bin.probability - bin.right) for bin in self.bins)
        return 100 * gaps / self.count if self.count else 0.0

    @property
    def negative_error(self) -> float:
        """The error with its sign turned, since less is better."""
        return -self.error

    @property
    def brier(self) -> float:
        """The mean squared difference of probability and outcome."""
        return sum(bin.squares for bin in self.bins) / self.count if self.count else 0.0

    def reliability(self) -> str:
        """The bins that are not empty as a table; mean probability and share right in percent."""
        lines = [" from    to      n  mean p   right"]
        for i, bin in enumerate(self.bins):
            if bin.count:
                low, high = i / len(self.bins), (i + 1) / len(self.bins)
                mean, right = 100 * bin.probability / bin.count, 100 * bin.right / bin.count
                lines.append(f"{low:5.2f} {high:5.2f} {bin.count:6d} {mean:7.2f} {right:7.2f}")
        return "\n".join(lines)

    def table(self) -> str:
        """The reliability table and the figures."""
        return f"{self.reliability()}\n{self}"

    def rows(self) -> list[dict[str, float | None]]:
        """The bins by the names of their columns."""
        return [
            {
                "from": i / len(self.bins),
                "to": (i + 1) / len(self.bins),
                "count": bin.count,
                "mean_probability": bin.probability / bin.count if bin.count else None,
                "right": bin.right / bin.count if bin.count else None,
            }
            for i, bin in enumerate(self.bins)
        ]

    def to_json(self) -> dict[str, object]:
        """The figures and the bins; the calibration error in percent."""
        return {"calibration_error": self.error, "brier": self.brier, "count": self.count, "bins": self.rows()}

    def _repr_html_(self) -> str:
        """The reliability plot, in a notebook."""
        from latentgram.view.plots import reliability_plot

        return reliability_plot(self)

    def __str__(self) -> str:
        return f"calibration error {self.error:.2f}, Brier {self.brier:.4f}, {self.count} probabilities"


@dataclass(frozen=True)
class Bin(Sums):
    """Sums over the pairs of one bin: how many, their probabilities, how many right, the squared differences."""

    count: int
    probability: float
    right: int
    squares: float


def calibration(probability: ArrayLike, right: ArrayLike, *, bins: int = 10) -> Calibration:
    """The calibration of probabilities, given which of the predictions were correct.

    >>> round(calibration([0.9, 0.9, 0.9, 0.9], [True, True, True, False]).error, 1)
    15.0
    """
    p = np.asarray(probability, np.float64).ravel()
    outcome: Flags = np.asarray(right, np.bool_).ravel()
    if len(p) != len(outcome):
        raise DataError(f"there are {len(p)} probabilities but {len(outcome)} outcomes")
    if not np.all((p >= -_SLACK) & (p <= 1 + _SLACK)):
        raise DataError("a probability is outside [0, 1]")
    p = np.clip(p, 0, 1)
    place = np.minimum((p * bins).astype(np.int64), bins - 1)
    columns = (None, p, outcome, (p - outcome) ** 2)
    count, total, hits, squares = (np.bincount(place, weights, minlength=bins) for weights in columns)
    return Calibration(
        tuple(Bin(int(count[b]), float(total[b]), int(hits[b]), float(squares[b])) for b in range(bins))
    )
