"""Rare and unknown words: a word seen too seldom is replaced by a signature of its form."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RareWords:
    """The rule by which rare and unknown words become signatures; stored with the model."""

    threshold: int = 5
