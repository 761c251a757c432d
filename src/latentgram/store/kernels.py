"""Logarithms of numbers to codes, and back (see rounding.py): O(numbers), one pass each way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Floats
from latentgram.compiling import njit
from latentgram.data.rounding import Rows

Codes = NDArray[np.unsignedinteger]
Scales = NDArray[np.int32]


class Coded(NamedTuple):
    """Codes of numbers, and the scales of their rows."""

    codes: Codes
    scales: Scales


@njit()
def codes_of(
    values: Floats, rows: Rows, step: float, scale_step: float, most: int, made: Coded, sums: Floats
) -> None:
    """Scales ⌊log₂ max |v| / scale_step⌉ of rows, codes 1 + ⌊(log₂ max |v| − log₂ |v|) / step⌉, or 0 if v is."""
    codes, scales = made
    times, size, sum_of, along_rows = rows
    place = row = 0
    for piece in range(len(times)):
        for time in range(times[piece]):
            end = place + size[piece]
            greatest = 0.0
            for at in range(place, end):
                greatest = max(greatest, abs(values[at]))
            top = 0.0
            if greatest > 0.0:
                scales[row] = round(np.log2(greatest) / scale_step)
                top = np.log2(greatest)
            for at in range(place, end):
                value = abs(values[at])
                if value > 0.0:
                    codes[at] = 1 + min(max(round((top - np.log2(value)) / step), 0), most)
                else:
                    codes[at] = 0
                sums[sum_of[piece] + (at - place if along_rows else time)] += values[at]
            place = end
            row += 1


@njit()
def values_of(
    made: Coded, rows: Rows, table: Floats, scale_step: float, values: NDArray[np.floating], sums: Floats
) -> None:
    """v = 2^(scale · scale_step) · table[code], and the sums of v."""
    times, size, sum_of, along_rows = rows
    codes, scales = made
    place = row = 0
    for piece in range(len(times)):
        for time in range(times[piece]):
            end = place + size[piece]
            greatest, total = 2.0 ** (scales[row] * scale_step), 0.0
            for at in range(place, end):
                value = greatest * table[codes[at]]
                values[at] = value
                total += values[at]
            if along_rows:
                for at in range(place, end):
                    sums[sum_of[piece] + at - place] += values[at]
            else:
                sums[sum_of[piece] + time] += total
            place = end
            row += 1


@njit()
def multiply(values: NDArray[np.floating], rows: Rows, factor: Floats) -> None:
    """Multiply each number by the factor of its sum, rounding towards 0."""
    times, size, sum_of, along_rows = rows
    place, kind = 0, values.dtype.type
    for piece in range(len(times)):
        for time in range(times[piece]):
            for at in range(place, place + size[piece]):
                wanted = values[at] * factor[sum_of[piece] + (at - place if along_rows else time)]
                values[at] = wanted
                if values[at] > wanted:
                    values[at] = np.nextafter(values[at], kind(0.0))
            place += size[piece]


@njit()
def look_up(codes: NDArray[np.uint8], table: Codes, values: Codes) -> None:
    """v = table[code]."""
    for at in range(len(codes)):
        values[at] = table[codes[at]]
