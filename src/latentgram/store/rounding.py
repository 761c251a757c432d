"""Numbers as small whole numbers, as the fields of classes allow it (data/rounding.py).

Logarithms: with M the greatest |v| of a row, s = ⌊log₂ M · 1024⌉ and

    code(v) = 1 + min(⌊log₂(M / |v|) / step⌉, span / step),   code(0) = 0,
    v′ = sign(v) · 2^(s / 1024 − step · (code − 1)),

so nothing possible becomes impossible, and what is less than 2^−span · M is that. If no number is negative, v′ is
then multiplied so that the sums that rows tell of are what they were, in single precision and never above (a sum
of one is one but for the last digit): probabilities stay probabilities. In the mean the logarithm of a number
moves by step / 4 bits, and hardly more if it is read and rounded again, for most codes stay the same.

Numbers that follow from other fields of their object are not stored at all.

Weights: ⌊v / step⌉ in a byte, most of them 0, and the few that need more as they are. O(numbers), all of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.data.rounding import RoundedLogs, RoundedSteps, Rounding, Rows

Array = NDArray[np.generic]

SPAN = 25.0
"""Bits between the greatest number of a row and the smallest one that is told from others."""
SCALE_STEP = 1 / 1024
_SINGLE = -1 << 29
"""The bits of a number of double precision that one of single precision has, too."""
SIGNED = 1 / 5
"""By how much steps are smaller where numbers have signs: sums of those cancel, and little is left of them."""


def rounded(array: Array, rounding: Rounding, owner: object) -> dict[str, object]:
    """The parts of an array of numbers, rounded; `owner` is the object with the field."""
    if isinstance(rounding, RoundedSteps):
        return _steps(array, rounding.step)
    if rounding.made(owner) is not None:
        return {"made": True}
    from latentgram.store.kernels import Coded, codes_of

    rows, flat = rounding.rows(owner), np.ascontiguousarray(array, np.float64)
    _check(rows, flat.shape, rows.times.sum())
    negative = flat < 0
    signed = bool(negative.any())
    step = rounding.step * SIGNED if signed else rounding.step
    codes = np.empty(flat.size, np.uint16)
    scales, sums = np.zeros(int(rows.times.sum()), np.int32), np.zeros(_sums(rows))
    codes_of(flat, rows, step, SCALE_STEP, round(SPAN / step), Coded(codes, scales), sums)
    return {
        "codes": codes,
        "scales": scales,
        "step": step,
        "signs": np.packbits(negative) if signed else None,
        "sums": None if signed else _below(sums),
    }


def restored(parts: Mapping[str, object], rounding: Rounding, owner: object) -> Array:
    """The array again; ValueError if the parts do not make one."""
    from latentgram.store.kernels import Coded, sums_of, values_of

    if parts.get("made") is True and isinstance(rounding, RoundedLogs):
        made = rounding.made(owner)
        if made is None:
            raise ValueError("numbers that should follow from others do not")
        return made
    step = parts.get("step")
    if not isinstance(step, float) or not 0 < step < SPAN:
        raise ValueError(f"a step of {step} rounds no numbers")
    if isinstance(rounding, RoundedSteps):
        return _multiples(parts, step)
    rows = rounding.rows(owner)
    codes, scales = _part(parts, "codes", "u"), _part(parts, "scales", "i")
    _check(rows, codes.shape, len(scales))
    # 2^(−step · (code − 1)), and nothing for the code 0.
    table = np.append(0.0, 2.0 ** (-step * np.arange(int(codes.max(initial=0)))))
    values: NDArray[np.floating] = np.empty(len(codes), "f4" if rounding.single else "f8")
    coded, factor = Coded(codes, scales), np.ones(_sums(rows))
    signed = parts.get("signs") is not None
    if not signed:
        kept, sums = _part(parts, "sums", "f"), np.zeros_like(factor)
        sums_of(coded, rows, table, SCALE_STEP, values[:0], sums)
        # Files of earlier versions have sums that may be too great by half of a last digit.
        kept = np.where(kept < 1.0, np.nextafter(kept, kept.dtype.type(0.0)), kept)
        np.divide(kept, sums, out=factor, where=sums > 0)
    values_of(coded, rows, table, SCALE_STEP, factor, _SINGLE if rounding.single else -1, values)
    if signed:
        negative = np.unpackbits(_part(parts, "signs", "u"), count=len(codes)).view(np.bool_)
        np.negative(values, out=values, where=negative)
    return values


def _below(sums: NDArray[np.float64]) -> NDArray[np.float32]:
    """The numbers in single precision, rounded towards 0."""
    near = sums.astype(np.float32)
    return np.where(near > sums, np.nextafter(near, np.float32(0.0)), near)


def _steps(array: Array, step: float) -> dict[str, object]:
    """Multiples of a step, in a byte each, and the few numbers for which a byte is too small."""
    steps = np.rint(array.astype(np.float32) / np.float32(step))
    large = np.abs(steps) > 127
    steps[large] = 0
    return {
        "steps": steps.astype(np.int8),
        "step": step,
        "large_at": np.flatnonzero(large),
        "large": array[large],
    }


def _multiples(parts: Mapping[str, object], step: float) -> Array:
    from latentgram.store.kernels import look_up

    steps, large, place = _part(parts, "steps", "i"), _part(parts, "large", "f"), _part(parts, "large_at", "i")
    if steps.dtype != np.int8 or len(large) != len(place) or place.min(initial=0) < 0:
        raise ValueError("rounded numbers have no steps")
    # Entry i stands for the byte i: 0 … 127, −128 … −1.
    table = (np.float32(step) * np.arange(256, dtype=np.uint8).view(np.int8)).astype(large.dtype)
    values = np.empty(steps.shape, large.dtype)
    bits = f"u{large.dtype.itemsize}"  # as kernels have no numbers of half precision
    look_up(steps.reshape(-1).view(np.uint8), table.view(bits), values.reshape(-1).view(bits))
    values.reshape(-1)[place] = large
    return values


def _part(parts: Mapping[str, object], name: str, kind: str) -> NDArray[Any]:
    """An array of this kind among the parts."""
    array = parts.get(name)
    if not isinstance(array, np.ndarray) or array.dtype.kind != kind or (kind == "u" and array.itemsize > 2):
        raise ValueError(f"rounded numbers have no {name}")
    return array


def _check(rows: Rows, shape: tuple[int, ...], count: int) -> None:
    """Raise unless there are so many rows, and they are those of a flat array of this shape: kernels trust it."""
    times, size = rows.times.astype(np.float64), rows.size.astype(np.float64)
    least = min(part.min(initial=0) for part in rows[:3])
    if least < 0 or (float(times @ size),) != shape or times.sum() != count:
        raise ValueError("numbers to be rounded are not as many as their rows have")


def _sums(rows: Rows) -> int:
    """How many sums there are."""
    return int((rows.sum_of + (rows.size if rows.along_rows else rows.times)).max(initial=0))
