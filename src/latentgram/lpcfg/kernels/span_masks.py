"""Which symbols may stand over which spans: how constraints reach a chart.

A node of a binary tree stands over the words i … j−1 just when no other node crosses this span (the smallest node
that holds the span would else split it). So a required span closes all cells that cross it, and the chart shrinks;
over the span itself only some symbols are let in.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

CLOSED = -1
"""A cell in which nothing may stand."""
OPEN = 0
"""A cell about which nothing is known."""


class SpanMasks(NamedTuple):
    """Sets of interminals, and the set that each cell allows (cells go by width, then by first word)."""

    allowed: NDArray[np.bool_]
    """[sets, interminals]; the first set is all of them."""
    of_cell: NDArray[np.int32]
    """[cells] the number of a set, or `CLOSED`."""


@njit(cache=True)
def everything(length, interminals):
    """Masks that allow all."""
    return SpanMasks(np.ones((1, interminals), np.bool_), np.zeros(length * (length + 1) // 2, np.int32))
