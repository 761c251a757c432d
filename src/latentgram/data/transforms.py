"""Transforms of constituency trees, each with its inverse."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Binarisation:
    """How trees were made binary, so that parses can be turned back.

    `direction` is left, right or head; `horizontal` limits the siblings an intermediate symbol remembers (None:
    all; 0: none, the papers' @X); `vertical` is the number of ancestors a label remembers, itself included.
    """

    direction: str = "left"
    horizontal: int | None = 0
    vertical: int = 1
    root: str = "TOP"
