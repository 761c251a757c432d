"""Counting n-grams of text that does not fit into memory: sorted runs on disk, merged.

The text is read once; its words are numbered and written to disk as numbers. Then, order by order, a piece of the
text at a time, as long as the memory allows, is counted as kernels.py counts text; its n-grams are written as a
sorted run; the runs are merged, n-grams below their cut-off dropped; and every position learns the number of the
n-gram that ends there, from which the next order is counted. So the a-priori rule holds for the whole text: what
is too rare in all of it is never looked up as part of something longer.

Memory: `memory` for a piece, and the n-grams that are kept (20 bytes each, about 60 while they are put together).
Disk: 8 bytes per token, 16 for each n-gram of each run of one order, 16 for each n-gram kept. The result is that
of `NGramCounts.of`. Tables can be written straight from the disk: not even what is kept need fit into memory.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.files import PathLike, expand, metered, write_text
from latentgram.data.ngrams.counts import Level, NGramCounts, cutoffs_of, frequent_words, unigrams
from latentgram.data.ngrams.kernels import count_extensions, without_rare
from latentgram.data.provenance import Provenance
from latentgram.data.tag_dictionary import TagDictionary, WordClasses
from latentgram.data.text import BEGIN, BOUNDARY, END, encoded_blocks, sorted_words
from latentgram.data.word_table import RowWriter, WordTable
from latentgram.errors import DataError, SettingError
from latentgram.interrupt import short_lived
from latentgram.progress import Progress, Silent

TOKEN_BYTES = 160
"""Memory that counting needs for each token of a piece when most of its n-grams are new."""
LEAST_PIECE = 1 << 12
LEAST_MEMORY = 1 << 24
ROW_BYTES = 60
"""Memory for each n-gram kept, while all are put together."""
BUFFER = 1 << 16
LEAST_BUFFER = 1 << 10
"""Rows of a run that are read at a time while it is merged, if the memory allows; and if not."""
DROPPED = -1
"""The number of an n-gram that no longer one has as a part."""
LAST_KEY = np.iinfo(np.int64).max


def memory_size(size: int | str) -> int:
    """Bytes of a size as people write it.

    >>> memory_size("2G"), memory_size("1.5G"), memory_size(100_000_000)
    (2147483648, 1610612736, 100000000)
    """
    number = str(size).strip().upper().removesuffix("IB").removesuffix("B")
    shift = {"K": 10, "M": 20, "G": 30, "T": 40}.get(number[-1:], 0)
    try:
        memory = int(float(number[:-1] if shift else number) * (1 << shift))
    except (ValueError, OverflowError):
        raise SettingError(f"a size of memory is a number with K, M, G or T, such as 2G; got {size!r}") from None
    if memory < LEAST_MEMORY:
        raise SettingError(f"counting needs at least {LEAST_MEMORY >> 20}M of memory, got {size}")
    return memory


def count_files(
    paths: PathLike | Iterable[PathLike],
    cutoffs: tuple[int, ...],
    memory: int | str,
    temporary: PathLike | None = None,
    dictionary: TagDictionary | None = None,
    progress: Progress | None = None,
) -> NGramCounts:
    """`NGramCounts.read` by way of files in the folder `temporary`, which are gone when it returns or fails."""
    budget = memory_size(memory)
    with _merged(paths, budget, temporary, cutoffs, dictionary, progress or Silent()) as merged:
        rows = sum(len(level) for level in merged.levels)
        if rows * ROW_BYTES > budget:
            raise SettingError(
                f"the {rows:,} n-grams that reach their cut-off need {rows * ROW_BYTES / 2**30:.1f}G of memory; "
                "give more, raise the cut-offs, or write them as a table"
            )
        levels = merged.read_levels()
    return NGramCounts.of_levels(merged.words, levels, cutoffs, merged.classes, merged.provenance)


def write_counts(
    paths: PathLike | Iterable[PathLike],
    output: PathLike,
    *,
    memory: int | str,
    temporary: PathLike | None = None,
    order: int = 3,
    cutoff: int | Sequence[int] = 1,
    all_bigrams: bool = True,
    progress: Progress | None = None,
) -> list[int]:
    """Write the table that `count_files` and `write_table` would, n-grams never in memory; how many of each order.

    Cut-offs must not fall with the order: parts of n-grams would have to be looked up.
    """
    cutoffs = cutoffs_of(order, cutoff, all_bigrams)
    if list(cutoffs[1:]) != sorted(cutoffs[1:]):
        raise SettingError(f"cut-offs that fall with the order ({cutoffs}) cannot be written straight to a table")
    shown = progress or Silent()
    with _merged(paths, memory_size(memory), temporary, cutoffs, None, shown) as merged, write_text(output) as out:
        total = sum(len(level) for level in merged.levels)
        written, writer = 0, RowWriter(merged.words, BEGIN)
        for level in merged.levels:
            for grams, counts in level.blocks():
                out.write(writer.lines(grams, counts))
                written += len(counts)
                shown.step("writing", written, total)
        return [len(level) for level in merged.levels]


@dataclass(frozen=True)
class _Merged:
    """All n-grams that reach their cut-off, on disk, and what else makes up `NGramCounts`."""

    words: Alphabet
    classes: WordClasses | None
    provenance: Provenance
    levels: list[_MergedLevel]

    def read_levels(self) -> list[Level]:
        """The same in memory, each n-gram with its suffix.

        The suffix of (prefix p, word w) is the n-gram (suffix of p, w), found among the keys one order lower.
        """
        levels = [unigrams(self.levels[0].counts())]
        keys = np.arange(len(levels[0].counts), dtype=np.int64)
        for level in self.levels[1:]:
            own, count = level.keys(), level.counts()
            prefix, word = (own >> 32).astype(np.int32), (own & 0xFFFFFFFF).astype(np.int32)
            below = levels[-1]
            wanted = (
                word.astype(np.int64) if len(levels) == 1 else (below.suffix[prefix].astype(np.int64) << 32) | word
            )
            levels.append(Level(prefix, word, np.searchsorted(keys, wanted).astype(np.int32), count))
            keys = own
        return levels


@contextmanager
def _merged(
    paths: PathLike | Iterable[PathLike],
    memory: int,
    temporary: PathLike | None,
    cutoffs: tuple[int, ...],
    dictionary: TagDictionary | None,
    progress: Progress,
) -> Iterator[_Merged]:
    """Read, count and merge in a folder that is removed at the end, whatever happens."""
    with _workplace(temporary) as folder:
        paths = expand(paths)
        seen, count, size = _number_words(paths, folder / "text", progress)
        if size == 1:
            raise DataError("there is no sentence to count", path=next(iter(paths), None))
        words, place = sorted_words(seen)
        sums = np.zeros(len(words), np.int64)
        sums[place] = count
        final, classes, onward = words, None, np.arange(len(words), dtype=np.int32)
        if dictionary is not None:
            classes = WordClasses.of_counts(words, sums, dictionary)
            final, onward = classes.reduced, classes.place
        if cutoffs[0] > 1:
            final, frequent = frequent_words(final, np.bincount(onward, sums, minlength=len(final)), cutoffs[0])
            onward = frequent[onward]
        seal = hashlib.sha256("\n".join(words.symbols).encode())
        pieces: list[_Piece] = []
        for tokens in _cut(folder / "text", max(memory // TOKEN_BYTES, LEAST_PIECE)):
            in_order = place[tokens]
            seal.update(in_order[1 if pieces else 0 :].tobytes())
            pieces.append(_Piece.of(folder, len(pieces), onward[in_order]))
        (folder / "text").unlink()
        single = np.bincount(onward, sums, minlength=len(final)).astype(np.int64)
        single[BOUNDARY] -= 1  # the boundary before the first sentence ends none
        levels = [_MergedLevel.of_words(folder, single)]
        for k in range(2, len(cutoffs) + 1):
            least, extended = min(cutoffs[k - 1 :]), min(cutoffs[k:], default=0)
            for done, piece in enumerate(pieces, 1):
                if k == 2:
                    piece.count_pairs(single, least)
                else:
                    piece.count_longer()
                progress.step(f"counting order {k}", done, len(pieces))
            levels.append(_merge_runs(pieces, levels[-1], least, extended, memory, progress))
        provenance = Provenance(data_digest=seal.hexdigest(), data_size=size - int(count[BOUNDARY]))
        yield _Merged(final, classes, provenance, levels)


@dataclass(frozen=True)
class _Piece:
    """A piece of text on disk, which n-gram ends at each token, and the run of these n-grams.

    A run has the sorted keys of the n-grams and their counts. The key of an n-gram is (number of its prefix among
    the merged n-grams one order lower, word): 64 bits whatever the order.
    """

    folder: Path
    number: int

    @classmethod
    def of(cls, folder: Path, number: int, tokens: NDArray[np.int32]) -> _Piece:
        piece = cls(folder, number)
        tokens.tofile(piece._file("tokens"))
        return piece

    def _file(self, kind: str) -> Path:
        return self.folder / f"{kind}-{self.number}"

    def _read(self, kind: str, begin: int = 0, size: int = -1) -> NDArray[np.int32]:
        return np.fromfile(self._file(kind), np.int32, size, offset=4 * begin)

    def count_pairs(self, single: NDArray[np.int64], least: int) -> None:
        """Make the run of bigrams whose words occur often enough."""
        tokens = self._read("tokens")
        self._count(tokens, without_rare(tokens, single, least), bigrams=True)

    def count_longer(self) -> None:
        """Make the run of n-grams one longer than those of the last run, after its merger."""
        shorter = _look_up(self._read("place"), self._read("at"))
        self._file("place").unlink()
        self._count(self._read("tokens"), shorter, bigrams=False)

    def _count(self, tokens: NDArray[np.int32], shorter: NDArray[np.int32], bigrams: bool) -> None:
        at, prefix, word, _, count = count_extensions(tokens, shorter, bigrams)
        key = (prefix.astype(np.int64) << 32) | word
        order = np.argsort(key)
        key[order].tofile(self._file("key"))
        count[order].astype(np.int32).tofile(self._file("count"))
        row = np.empty(len(order), np.int32)
        row[order] = np.arange(len(order), dtype=np.int32)
        _look_up(row, at).tofile(self._file("at"))

    def __len__(self) -> int:
        return self._file("key").stat().st_size // 8

    def read_run(self, begin: int, size: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Some keys and counts."""
        key = np.fromfile(self._file("key"), np.int64, size, offset=8 * begin)
        return key, self._read("count", begin, size)

    def write_places(self, place: NDArray[np.int32]) -> None:
        """Add the numbers that the next keys got among the merged n-grams."""
        with self._file("place").open("ab") as out:
            place.tofile(out)


@dataclass(frozen=True)
class _MergedLevel:
    """The merged n-grams of one order on disk: keys and counts, and the level below."""

    folder: Path
    order: int
    below: _MergedLevel | None = None

    @classmethod
    def of_words(cls, folder: Path, count: NDArray[np.int64]) -> _MergedLevel:
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


def _merge_runs(
    pieces: list[_Piece], below: _MergedLevel, least: int, extended: int, memory: int, progress: Progress
) -> _MergedLevel:
    """The next level: sums of at least `least`; those of at least `extended` can be part of longer n-grams.

    Of each run some rows are read; those up to the least key that ends such a part are sorted and summed.
    """
    level = _MergedLevel(below.folder, below.order + 1, below)
    rows = min(BUFFER, max(LEAST_BUFFER, memory // (64 * max(len(pieces), 1))))
    done, sizes, kept_before, bound = [0] * len(pieces), [len(piece) for piece in pieces], 0, 0
    with level.key_file.open("wb") as key_file, level.count_file.open("wb") as count_file:
        while bound < LAST_KEY:
            parts = [piece.read_run(begin, rows) for piece, begin in zip(pieces, done, strict=True)]
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
            for piece, places in zip(pieces, np.split(place, np.cumsum(taken)[:-1]), strict=True):
                piece.write_places(places)
            key[order[first[kept]]].tofile(key_file)
            sums[kept].tofile(count_file)
            kept_before += int(kept.sum())
            done = [begin + end for begin, end in zip(done, taken, strict=True)]
            progress.step(f"merging order {level.order}", sum(done), sum(sizes))
    return level


def _look_up(table: NDArray[np.int32], at: NDArray[np.int32]) -> NDArray[np.int32]:
    """Entries of a table, -1 where the number of the entry is -1."""
    return np.append(table, np.int32(-1))[at]


@contextmanager
def _workplace(temporary: PathLike | None) -> Iterator[Path]:
    """A folder for temporary files; what goes wrong with them is said with its name."""
    try:
        if temporary is not None:
            Path(temporary).mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="latentgram-", dir=temporary))
    except OSError as error:
        raise DataError(
            f"no temporary files can be made here ({error.strerror or error})", path=temporary
        ) from error
    try:
        with short_lived(folder):
            yield folder
    except OSError as error:
        free = shutil.disk_usage(folder).free / 2**30
        raise DataError(
            f"temporary files cannot be written ({error.strerror or error}; {free:.1f}G are free); "
            "name a folder with more room",
            path=folder.parent,
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _number_words(
    paths: PathLike | Iterable[PathLike], target: Path, progress: Progress
) -> tuple[list[str], NDArray[np.int64], int]:
    """Write the text as word numbers; words in order of first sight, how often each occurs, and all tokens."""
    files = expand(paths)
    words = WordTable([END])
    count = np.ones(1, np.int64)
    with target.open("wb") as out, metered(files) as meter:
        np.zeros(1, np.int32).tofile(out)
        size, ended = 1, True
        for piece in encoded_blocks(files, words):
            boundary = piece == BOUNDARY
            repeated = boundary & np.concatenate([[ended], boundary[:-1]])
            piece = piece[~repeated]
            if not len(piece):
                continue
            ended = bool(piece[-1] == BOUNDARY)
            piece.tofile(out)
            size += len(piece)
            seen = np.bincount(piece, minlength=len(words))
            count = np.concatenate([count, np.zeros(len(seen) - len(count), np.int64)]) + seen
            progress.step("reading", meter.done, meter.total or None)
    return list(words), count, size


def _cut(text: Path, most: int) -> Iterator[NDArray[np.int32]]:
    """Whole sentences, about `most` tokens at a time, a boundary at both ends."""
    size = text.stat().st_size // 4
    begin = 0
    while begin + 1 < size:
        wanted = most
        while True:
            piece = np.fromfile(text, np.int32, wanted, offset=4 * begin)
            last = int(np.flatnonzero(piece == BOUNDARY)[-1])
            if last > 0:
                break
            wanted *= 2  # a sentence longer than a piece
        yield piece[: last + 1]
        begin += last
