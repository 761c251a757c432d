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

from latentgram.progress import Progress

BUFFER = 1 << 16
LEAST_BUFFER = 1 << 10
"""Rows of a run that are read at a time while it is merged, if the memory allows; and if not."""
DROPPED = -1
"""The number of an n-gram that no longer one has as a part."""
LAST_KEY = np.iinfo(np.int64).max


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
    """The next level: sums of at least `least`; those of at least `extended` can be part of longer n-grams.

    Of each run some rows are read; those up to the least key that ends such a part are sorted and summed.
    """
    level = MergedLevel(below.folder, below.order + 1, below)
    rows = min(BUFFER, max(LEAST_BUFFER, memory // (64 * max(len(runs), 1))))
    done, sizes, kept_before, bound = [0] * len(runs), [len(run) for run in runs], 0, 0
    with level.key_file.open("wb") as key_file, level.count_file.open("wb") as count_file:
        while bound < LAST_KEY:
            parts = [run.read(begin, rows) for run, begin in zip(runs, done, strict=True)]
            ends = zip(parts, done, sizes, strict=True)
            bound = min(
                (int(key[-1]) for (key, _), begin, size in ends if begin + len(key) < size), default=LAST_KEY
            )
            taken = [int(np.searchsorted(key, bound, "right")) for key, _ in parts]
            key = np.concatenate([part[:end] for (part, _), end in zip(parts, taken, strict=True)])
            count = np.concatenate([part[:end] for (_, part), end in zip(parts, taken, strict=True)])
            order = np.argsort(key, kind="stable")  # which merges what is sorted in parts
            first = np.flatnonzero(np.diff(key[order], prepend=-1))
            sums = np.add.reduceat(count[order], first, dtype=np.int64) if len(key) else count
            kept = sums >= least
            number = np.where(kept & (sums >= extended), kept_before + np.cumsum(kept) - 1, DROPPED)
            place = np.empty(len(key), np.int32)
            place[order] = np.repeat(number, np.diff(first, append=len(key)))
            for run, places in zip(runs, np.split(place, np.cumsum(taken)[:-1]), strict=True):
                run.write_places(places)
            key[order[first[kept]]].tofile(key_file)
            sums[kept].tofile(count_file)
            kept_before += int(kept.sum())
            done = [begin + end for begin, end in zip(done, taken, strict=True)]
            progress.step(f"merging order {level.order}", sum(done), sum(sizes))
    return level
