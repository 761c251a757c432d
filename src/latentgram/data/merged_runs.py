"""Runs of counted n-grams of one order on disk, and their merger.

A run has the sorted keys of the n-grams of a piece of text and their counts. The key of an n-gram is (number of
its prefix among the merged n-grams one order lower, word): 64 bits whatever the order. Merged n-grams are numbered
in the order of their keys; each run is told the numbers of its own, or -1 for those that no longer n-gram can
begin or end with since they are too rare.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from latentgram.data.run_merging import build_heap, merge_buffers
from latentgram.progress import Progress

BUFFER = 1 << 16
LEAST_BUFFER = 1 << 10
"""Rows of a run that are in memory while it is merged, if the memory allows; and if not."""
OUTPUT = 1 << 20
"""Merged rows that are written at a time."""


@dataclass(frozen=True)
class Run:
    """The files of a run."""

    folder: Path
    number: int

    def _file(self, kind: str) -> Path:
        return self.folder / f"{kind}-{self.number}"

    def write(self, key: NDArray[np.int64], count: NDArray[np.int64]) -> None:
        """Write sorted keys and their counts."""
        key.tofile(self._file("key"))
        count.astype(np.int32).tofile(self._file("count"))

    def read(self, begin: int, size: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Some keys and counts."""
        key = np.fromfile(self._file("key"), np.int64, size, offset=8 * begin)
        return key, np.fromfile(self._file("count"), np.int32, size, offset=4 * begin)

    def write_places(self, place: NDArray[np.int32]) -> None:
        """Add the numbers that the next keys got."""
        with self._file("place").open("ab") as out:
            place.tofile(out)

    def take_places(self) -> NDArray[np.int32]:
        """The numbers of all keys; the run is then gone."""
        place = np.fromfile(self._file("place"), np.int32)
        for kind in ("key", "count", "place"):
            self._file(kind).unlink()
        return place

    def __len__(self) -> int:
        return self._file("key").stat().st_size // 8


@dataclass(frozen=True)
class MergedLevel:
    """The merged n-grams of one order on disk: keys and counts, and the level below."""

    folder: Path
    order: int
    below: MergedLevel | None = None

    @classmethod
    def of_words(cls, folder: Path, count: NDArray[np.int64]) -> MergedLevel:
        """Order 1: every word, its key its number."""
        level = cls(folder, 1)
        np.arange(len(count), dtype=np.int64).tofile(level.key_file)
        count.tofile(level.count_file)
        return level

    @property
    def key_file(self) -> Path:
        """int64: prefix << 32 | word."""
        return self.folder / f"{self.order}.key"

    @property
    def count_file(self) -> Path:
        """int64."""
        return self.folder / f"{self.order}.total"

    def __len__(self) -> int:
        return self.key_file.stat().st_size // 8

    def keys(self, begin: int = 0, size: int = -1) -> NDArray[np.int64]:
        """The keys of some rows."""
        return np.fromfile(self.key_file, np.int64, size, offset=8 * begin)

    def counts(self, begin: int = 0, size: int = -1) -> NDArray[np.int64]:
        """The counts of some rows."""
        return np.fromfile(self.count_file, np.int64, size, offset=8 * begin)

    def blocks(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The words [rows, order] and counts of all rows, some at a time."""
        for begin in range(0, len(self), BUFFER):
            counts = self.counts(begin, BUFFER)
            yield self.grams(begin, begin + len(counts)), counts

    def grams(self, begin: int, end: int) -> NDArray[np.int64]:
        """The words of the rows `begin : end`; their prefixes lie side by side one order lower."""
        keys = self.keys(begin, end - begin)
        if self.below is None or end == begin:
            return keys[:, None]
        prefix = keys >> 32
        shorter = self.below.grams(int(prefix[0]), int(prefix[-1]) + 1)
        return np.concatenate([shorter[prefix - prefix[0]], (keys & 0xFFFFFFFF)[:, None]], 1)


def merge_runs(
    runs: list[Run], below: MergedLevel, least: int, extended: int, memory: int, progress: Progress
) -> MergedLevel:
    """The next level: sums of at least `least`; those of at least `extended` can be part of longer n-grams."""
    level = MergedLevel(below.folder, below.order + 1, below)
    many = len(runs)
    rows = min(BUFFER, max(LEAST_BUFFER, memory // (64 * max(many, 1))))
    keys, counts = np.empty((many, rows + 1), np.int64), np.empty((many, rows), np.int64)
    places = np.empty((many, rows), np.int32)
    done, position, filled = np.zeros(many, np.int64), np.zeros(many, np.int64), np.zeros(many, np.int64)
    total, size = sum(map(len, runs)), 0

    def fill(number: int) -> None:
        runs[number].write_places(places[number, : filled[number]])
        key, count = runs[number].read(int(done[number]), rows)
        keys[number, : len(key)], counts[number, : len(key)] = key, count
        position[number], filled[number] = 0, len(key)
        done[number] += len(key)

    for number in range(many):
        fill(number)
    out_key, out_count = np.empty(OUTPUT, np.int64), np.empty(OUTPUT, np.int64)
    with level.key_file.open("wb") as key_file, level.count_file.open("wb") as count_file:
        while len(heap := np.flatnonzero(filled)):
            build_heap(heap, keys, position)
            kept = merge_buffers(
                heap, keys, counts, places, position, filled, least, extended, size, out_key, out_count
            )
            size += kept
            out_key[:kept].tofile(key_file)
            out_count[:kept].tofile(count_file)
            for number in np.flatnonzero((position == filled) & (filled > 0)).tolist():
                fill(number)
            progress.step(f"merging order {level.order}", int(done.sum()), total)
    return level
