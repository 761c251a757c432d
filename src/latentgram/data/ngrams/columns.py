"""Columns of n-grams in memory or on disk, and the two steps that need random access.

Estimating a model reads and writes numbers of the n-grams of one order row by row, which needs no memory. But the
suffix of a row may be anywhere in the order below:

    tally(i)  = how many rows have i as their suffix
    values[i] = a number of the suffix of each row

Both are done for a range of the lower order at a time that fits into memory: the column of suffixes is read once
for each range. The values found for a range are written in the order of the rows; merged, these parts give the
whole column. Cost: rows · ranges, a few nanoseconds each; no row is ever sorted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Floats
from latentgram.data.ngrams.kernels import gather_range, tally_range

Numbers = NDArray[np.bool_ | np.number]
BLOCK = 1 << 17
"""Rows that are read at a time."""
VALUE_BYTES = 16
"""Memory for each row of a range: twice that of a number."""


class Column(Protocol):
    """Numbers of rows, that can be read in pieces."""

    def __len__(self) -> int: ...

    def read(self, begin: int, end: int) -> Numbers:
        """The numbers of the rows `begin : end`."""


class Filled(Column, Protocol):
    """A column that grows."""

    def add(self, values: Numbers) -> None:
        """Put numbers behind those that are there."""


class Held:
    """A column in memory.

    >>> column = Held(np.zeros(3))
    >>> column.add(np.array([1.0, 2.0]))
    >>> column.read(0, 2), len(column)
    (array([1., 2.]), 3)
    """

    def __init__(self, array: Numbers) -> None:
        self.array = array
        self._filled = 0

    def __len__(self) -> int:
        return len(self.array)

    def read(self, begin: int, end: int) -> Numbers:
        """A view of the rows."""
        return self.array[begin:end]

    def add(self, values: Numbers) -> None:
        """Fill the next rows."""
        end = self._filled + len(values)
        self.array[self._filled : end] = values
        self._filled = end


@dataclass(frozen=True)
class Stored:
    """A column in a file; or one of several whose numbers take turns in it."""

    path: Path
    kind: np.dtype[np.bool_ | np.number]
    together: int = 1
    place: int = 0

    def __len__(self) -> int:
        return self.path.stat().st_size // (self.kind.itemsize * self.together)

    def read(self, begin: int, end: int) -> Numbers:
        """The rows from the file."""
        width = self.kind.itemsize * self.together
        numbers = np.fromfile(self.path, self.kind, (end - begin) * self.together, offset=begin * width)
        return numbers[self.place :: self.together]

    def add(self, values: Numbers) -> None:
        """Write behind the end."""
        with self.path.open("ab") as out:
            np.ascontiguousarray(values, self.kind).tofile(out)


@dataclass(frozen=True)
class AtLeast:
    """Which rows of a column of counts reach a cut-off."""

    count: Column
    least: int

    def __len__(self) -> int:
        return len(self.count)

    def read(self, begin: int, end: int) -> Numbers:
        """True for rows that do."""
        return np.asarray(self.count.read(begin, end) >= self.least)


@dataclass(frozen=True)
class Rows:
    """The n-grams of one order: parts are rows of the order below; that of words has none."""

    prefix: Column
    suffix: Column
    count: Column
    kept: Column | None = None
    """Which of them a model is to have; None: all."""

    def __len__(self) -> int:
        return len(self.count)


@dataclass(frozen=True)
class Space:
    """Where new columns are made: in memory, or in a folder with so much memory for a range."""

    folder: Path | None = None
    memory: int = 0

    def column(self, name: str, kind: type[np.int32 | np.int64 | np.float64], size: int) -> Filled:
        """An empty column for so many rows."""
        if self.folder is None:
            return Held(np.empty(size, kind))
        path = self.folder / name
        path.unlink(missing_ok=True)
        path.touch()
        return Stored(path, np.dtype(kind))

    def ranges(self, size: int) -> list[tuple[int, int]]:
        """The rows of an order in parts that fit into memory."""
        most = max(size if self.folder is None else self.memory // VALUE_BYTES, 1)
        return [(begin, min(begin + most, size)) for begin in range(0, size, most)]


def blocks(size: int) -> Iterator[tuple[int, int]]:
    """Rows to be read at a time."""
    for begin in range(0, size, BLOCK):
        yield begin, min(begin + BLOCK, size)


def tally(suffix: Column, size: int, space: Space) -> Filled:
    """[size] how many rows have each row of the order below as their suffix.

    >>> tally(Held(np.array([2, 0, 2], np.int32)), 4, Space()).read(0, 4)
    array([1, 0, 2, 0], dtype=int32)
    """
    seen = space.column("tally", np.int32, size)
    for first, last in space.ranges(size):
        part = np.zeros(last - first, np.int32)
        for begin, end in blocks(len(suffix)):
            tally_range(suffix.read(begin, end), first, part)
        seen.add(part)
    return seen


class Gathered:
    """A number of the suffix of each row, to be read in order.

    >>> Gathered(Held(np.array([0.5, 0.25])), Held(np.array([1, 0, 1], np.int32)), Space()).read(0, 3)
    array([0.25, 0.5 , 0.25])
    """

    def __init__(self, values: Column, suffix: Column, space: Space) -> None:
        self._suffix = suffix
        self._ranges = space.ranges(len(values))
        self._whole = values.read(0, len(values)) if len(self._ranges) < 2 else None
        self._parts: list[Filled] = []
        self._done = [0] * len(self._ranges)
        if self._whole is not None:
            return
        for number, (first, last) in enumerate(self._ranges):
            part = space.column(f"gathered-{number}", np.float64, len(suffix))
            own = values.read(first, last)
            for begin, end in blocks(len(suffix)):
                taken = np.empty(end - begin)
                part.add(taken[: gather_range(suffix.read(begin, end), first, own, taken)])
            self._parts.append(part)

    def read(self, begin: int, end: int) -> Floats:
        """The numbers of the next rows."""
        suffix = self._suffix.read(begin, end)
        if self._whole is not None:
            return np.asarray(self._whole[suffix], np.float64)
        numbers = np.empty(len(suffix))
        for place, ((first, last), part) in enumerate(zip(self._ranges, self._parts, strict=True)):
            here = np.flatnonzero((suffix >= first) & (suffix < last))
            numbers[here] = part.read(self._done[place], self._done[place] + len(here))
            self._done[place] += len(here)
        return numbers
