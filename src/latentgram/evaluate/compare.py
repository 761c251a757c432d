"""Is one output better than another, or is the difference due to chance? The paired bootstrap over sentences.

Both outputs are scored sentence by sentence on the same gold data: rows of counts whose sum gives the figure (F1,
UAS, accuracy). Sentences are resampled with replacement, the same ones for both; over many samples the difference
of the two figures is distributed around the observed difference δ, which gives a percentile interval and

    p = 2 · (1 + #{samples whose difference is 0 or has the opposite sign of δ}) / (1 + samples), at most 1,

two-sided (Efron and Tibshirani 1993, ch. 16; Koehn 2004). A sentence that EVALB skips for one output contributes
nothing to that output's figure, as in EVALB; check `no_parse` before trusting a difference.

Cost: O(samples × sentences), as matrix products.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from latentgram.arrays import Floats
from latentgram.errors import DataError
from latentgram.evaluate.kernels.brackets import GOLD, MATCHED, OUTPUT

Figure = Callable[[Floats], Floats]
"""From summed counts [draws, columns] to one figure per draw, in percent."""

_BLOCK = 256


def bracketing_f1(sums: Floats) -> Floats:
    """F1 of sums of `BracketingRows.counts`."""
    return _rate(2 * sums[:, MATCHED], sums[:, GOLD] + sums[:, OUTPUT])


def attachment_uas(sums: Floats) -> Floats:
    """UAS of sums of `attachment_rows`."""
    return _rate(sums[:, 1], sums[:, 0])


def attachment_las(sums: Floats) -> Floats:
    """LAS of sums of `attachment_rows`."""
    return _rate(sums[:, 2], sums[:, 0])


def _rate(part: Floats, whole: Floats) -> Floats:
    return 100 * np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


@dataclass(frozen=True)
class Comparison:
    """Two figures, their difference (second less first), its interval, and how likely it is by chance."""

    first: float
    second: float
    low: float
    high: float
    p_value: float
    draws: int
    confidence: float

    @property
    def difference(self) -> float:
        """How much more the second has."""
        return self.second - self.first

    def to_json(self) -> dict[str, object]:
        """All of it by name."""
        names = ("first", "second", "difference", "low", "high", "p_value", "draws", "confidence")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        return (
            f"{self.first:.2f} → {self.second:.2f}: {self.difference:+.2f} "
            f"[{self.low:+.2f}, {self.high:+.2f}] ({100 * self.confidence:g} % interval), p = {self.p_value:.4f}"
        )


def paired_bootstrap(
    first: ArrayLike,
    second: ArrayLike,
    figure: Figure,
    *,
    draws: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """Compare two outputs by rows of counts for the same sentences.

    >>> rows = np.array([[10, 9, 9]] * 50 + [[10, 7, 7]] * 50)
    >>> better = rows + [0, 1, 1]
    >>> print(paired_bootstrap(rows, better, attachment_uas, draws=999))
    80.00 → 90.00: +10.00 [+10.00, +10.00] (95 % interval), p = 0.0020
    """
    rows, others = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if rows.shape != others.shape or rows.ndim != 2 or not len(rows):
        raise DataError(
            f"two outputs must have one row for each of the same sentences; got {len(rows)} and {len(others)} rows"
        )
    both = np.concatenate((rows, others), axis=1)
    observed = _difference(both.sum(axis=0, keepdims=True), figure)[0]
    random = np.random.default_rng(seed)
    share = np.full(len(rows), 1 / len(rows))
    blocks = [min(_BLOCK, draws - done) for done in range(0, draws, _BLOCK)]
    drawn = np.concatenate(
        [
            _difference(random.multinomial(len(rows), share, size).astype(np.float64) @ both, figure)
            for size in blocks
        ]
    )
    against = int(np.sum(drawn <= 0 if observed > 0 else drawn >= 0))
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Comparison(
        float(figure(rows.sum(axis=0, keepdims=True))[0]),
        float(figure(others.sum(axis=0, keepdims=True))[0]),
        float(low),
        float(high),
        min(1.0, 2 * (1 + against) / (1 + draws)),
        draws,
        confidence,
    )


def _difference(sums: Floats, figure: Figure) -> Floats:
    """The second figure less the first, of sums with the columns of both."""
    width = sums.shape[1] // 2
    return figure(sums[:, width:]) - figure(sums[:, :width])
