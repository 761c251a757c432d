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
    return read_part(folder / f"train.{suffix}"), read_part(folder / f"dev.{suffix}")


def read_part(path: Path) -> Treebank[Any]:
    """A part of a treebank, which has to have trees."""
    part = Treebank.read(path)
    if not len(part):
        raise DataError("there are no trees in this part of the treebank", path=path)
    return part
