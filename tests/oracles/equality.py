"""Equality to the last bit."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np


def same(left: Any, right: Any) -> bool:
    """Equality to the last bit, types and the order of dicts included."""
    if type(left) is not type(right):
        return False
    if dataclasses.is_dataclass(left):
        return all(same(getattr(left, f.name), getattr(right, f.name)) for f in dataclasses.fields(left))
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()
    if isinstance(left, dict):
        return same(list(left.items()), list(right.items()))
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right or (left != left and right != right)
