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
def sums_of(
    made: Coded, rows: Rows, table: Floats, scale_step: float, none: NDArray[np.floating], sums: Floats
) -> None:
    """The sums of v = 2^(scale · scale_step) · table[code] in the precision of `none`."""
    times, size, sum_of, along_rows = rows
    codes, scales = made
    place, row, kind = 0, 0, none.dtype.type
    for piece in range(len(times)):
        for time in range(times[piece]):
            end = place + size[piece]
            greatest, total = 2.0 ** (scales[row] * scale_step), np.float64(0.0)
            if along_rows:
                for at in range(place, end):
                    sums[sum_of[piece] + at - place] += kind(greatest * table[codes[at]])
            else:
                for at in range(place, end):
                    total = total + kind(greatest * table[codes[at]])
                sums[sum_of[piece] + time] += total
            place = end
            row += 1


@njit()
def values_of(
    made: Coded,
    rows: Rows,
    table: Floats,
    scale_step: float,
    factor: Floats,
    kept: int,
    values: NDArray[np.floating],
) -> None:
    """Each v times the factor of its sum, rounded towards 0: of the product only the bits `kept` are."""
    times, size, sum_of, along_rows = rows
    codes, scales = made
    place, row, longest, kind = 0, 0, 0, values.dtype.type
    for piece in range(len(times)):
        if times[piece] > 0:
            longest = max(longest, size[piece])
    products = np.empty(longest)
    bits = products.view(np.int64)
    for piece in range(len(times)):
        number = size[piece]
        for time in range(times[piece]):
            greatest, first = 2.0 ** (scales[row] * scale_step), sum_of[piece]
            if along_rows:
                for at in range(number):
                    products[at] = kind(greatest * table[codes[place + at]]) * factor[first + at]
            else:
                of_row = factor[first + time]
                for at in range(number):
                    products[at] = kind(greatest * table[codes[place + at]]) * of_row
            for at in range(number):
                bits[at] &= kept
            for at in range(number):
                values[place + at] = products[at]
            place += number
            row += 1


@njit()
def look_up(codes: NDArray[np.uint8], table: Codes, values: Codes) -> None:
    """v = table[code]."""
    for at in range(len(codes)):
        values[at] = table[codes[at]]
