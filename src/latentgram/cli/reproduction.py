"""What reproductions of several papers share: the row of a table, and the parts of a treebank."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from latentgram.data.treebank import Treebank
from latentgram.errors import DataError


@dataclass(frozen=True)
class Row:
    """One grammar: its name, states, rounds of EM, score on the development part, and seconds of learning."""

    name: str
    states: int
    rounds: int
    dev: float
    seconds: float


def parts_of(folder: Path, suffix: str) -> tuple[Treebank[Any], Treebank[Any]]:
    """The training and the development part of a treebank."""
    if not (folder / f"train.{suffix}").exists():
        reason = f"there is no train.{suffix}: the folder of a treebank has train, dev and test"
        raise DataError(reason, path=folder)
    return Treebank.read(folder / f"train.{suffix}"), Treebank.read(folder / f"dev.{suffix}")
