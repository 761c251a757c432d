"""Counting n-grams of text that does not fit into memory: sorted runs on disk, merged.

The text is read once; its words are numbered and written to disk as numbers. Then, for each order, the text is
processed in pieces as long as the memory allows: each is counted as kernels.py counts text, and its n-grams are
written as a sorted run. The runs are merged, n-grams below their cut-off are dropped, and every position is
assigned the number of the n-gram that ends there, from which the next order is counted. So the a-priori rule holds
for the whole text: n-grams that are too rare in all of it are never looked up as parts of longer ones.

Memory: `memory` for a piece, and the n-grams kept (20 bytes each, about 60 during construction). Disk: 8 bytes per
token, 20 for each n-gram of each run of one order, 20 for each n-gram kept. The result is that of
`NGramCounts.of`. Tables can be written straight from the disk: then not even the n-grams kept need fit into
memory.
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

from latentgram.arrays import Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.files import PathLike, expand, metered, write_bytes
from latentgram.data.ngrams.columns import Rows, Stored
from latentgram.data.ngrams.counts import UNKNOWN, Level, NGramCounts, cutoffs_of, frequent_words, unigrams
from latentgram.data.ngrams.kernels import count_extensions, count_sorted, without_rare
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
    row_bytes: int | None = None,
    advice: str = "give more, raise the cut-offs, or write them as a table",
) -> NGramCounts:
    """`NGramCounts.read` by way of files in the folder `temporary`, which are gone when it returns or fails.

    What is kept is refused if its n-grams need more memory, `row_bytes` each.
    """
    budget = memory_size(memory)
    with merged_counts(paths, budget, temporary, cutoffs, dictionary, progress or Silent()) as merged:
        rows = sum(len(level) for level in merged.levels)
        needed = rows * (row_bytes or ROW_BYTES)
        if needed > budget:
            raise SettingError(
                f"the {rows:,} n-grams that reach their cut-off need {needed / 2**30:.1f}G of memory; {advice}"
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
        raise SettingError(f"cut-offs that fall with the order ({cutoffs}) cannot be written directly to a table")
    shown = progress or Silent()
    with (
        merged_counts(paths, memory_size(memory), temporary, cutoffs, None, shown) as merged,
        write_bytes(output) as out,
    ):
        total = sum(len(level) for level in merged.levels)
        written, writer = 0, RowWriter(merged.words, BEGIN)
        for level in merged.levels:
            for grams, counts in level.blocks():
                out.write(writer.lines(grams, counts))
                written += len(counts)
                shown.step("writing", written, total)
        return [len(level) for level in merged.levels]


@dataclass(frozen=True)
class Merged:
    """All n-grams that reach their cut-off, on disk, and what else makes up `NGramCounts`."""

    words: Alphabet
    classes: WordClasses | None
    provenance: Provenance
    levels: list[MergedLevel]

    def read_levels(self) -> list[Level]:
        """The same in memory."""
        levels = [unigrams(self.levels[0].counts())]
        for level in self.levels[1:]:
            key, suffix = level.keys(), np.fromfile(level.suffix_file, np.int32)
            prefix, word = (key >> 32).astype(np.int32), (key & 0xFFFFFFFF).astype(np.int32)
            levels.append(Level(prefix, word, suffix, level.counts()))
        return levels


@contextmanager
def merged_counts(
    paths: PathLike | Iterable[PathLike],
    memory: int,
    temporary: PathLike | None,
    cutoffs: tuple[int, ...],
    dictionary: TagDictionary | None,
    progress: Progress,
    unknown: bool = False,
) -> Iterator[Merged]:
    """Read, count and merge in a folder that is removed at the end, whatever happens; with `<unk>` if asked."""
    with _workplace(temporary) as folder:
        paths = expand(paths)
        seen, count, size = _number_words(paths, folder / "text", progress)
        if size == 1:
            raise DataError("there are no sentences to count", path=next(iter(paths), None))
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
        if unknown and UNKNOWN not in final:
            final, moved = Alphabet((END, *sorted((*final.symbols[1:], UNKNOWN)))), final
            onward = final.encode(moved.symbols)[onward]
        seal = hashlib.sha256("\n".join(words.symbols).encode())
        pieces: list[_Piece] = []
        for tokens in _cut(folder / "text", max(memory // TOKEN_BYTES, LEAST_PIECE)):
            in_order = place[tokens]
            seal.update(in_order[1 if pieces else 0 :].tobytes())
            pieces.append(_Piece.of(folder, len(pieces), onward[in_order]))
        (folder / "text").unlink()
        single = np.bincount(onward, sums, minlength=len(final)).astype(np.int64)
        single[BOUNDARY] -= 1  # the boundary before the first sentence ends none
        levels = [MergedLevel.of_words(folder, single)]
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
        yield Merged(final, classes, provenance, levels)


@dataclass(frozen=True)
class _Piece:
    """A piece of text on disk, which n-gram ends at each token, and the run of these n-grams.

    A run has the sorted keys of the n-grams, their counts and suffixes. The key of an n-gram is (number of its
    prefix among the merged n-grams one order lower, word): 64 bits whatever the order.
    """

    folder: Path
    number: int

    @classmethod
    def of(cls, folder: Path, number: int, tokens: Ints32) -> _Piece:
        piece = cls(folder, number)
        tokens.tofile(piece._file("tokens"))
        return piece

    def _file(self, kind: str) -> Path:
        return self.folder / f"{kind}-{self.number}"

    def _read(self, kind: str, begin: int = 0, size: int = -1) -> Ints32:
        return np.fromfile(self._file(kind), np.int32, size, offset=4 * begin)

    def count_pairs(self, single: Ints, least: int) -> None:
        """Make the run of bigrams whose words occur often enough."""
        tokens = self._read("tokens")
        at, prefix, word, suffix, count = count_extensions(tokens, without_rare(tokens, single, least), True)
        key = (prefix.astype(np.int64) << 32) | word
        order = np.argsort(key)
        row = np.empty(len(order) + 1, np.int32)
        row[order], row[-1] = np.arange(len(order), dtype=np.int32), -1
        self._write(row[at], key[order], count[order].astype(np.int32), suffix[order])

    def count_longer(self) -> None:
        """Make the run of n-grams one longer than those of the last run, after its merger."""
        at, key, count, suffix = count_sorted(self._read("tokens"), self._read("at"), self._read("place"))
        self._file("place").unlink()
        self._write(at, key, count, suffix)

    def _write(self, at: Ints32, key: Ints, count: Ints32, suffix: Ints32) -> None:
        for kind, column in (("at", at), ("key", key), ("count", count), ("suffix", suffix)):
            column.tofile(self._file(kind))

    def __len__(self) -> int:
        return self._file("key").stat().st_size // 8

    def read_run(self, begin: int, size: int) -> tuple[Ints, Ints32, Ints32]:
        """Some keys, counts and suffixes."""
        key = np.fromfile(self._file("key"), np.int64, size, offset=8 * begin)
        return key, self._read("count", begin, size), self._read("suffix", begin, size)

    def write_places(self, place: Ints32) -> None:
        """Add the numbers that the next keys got among the merged n-grams."""
        with self._file("place").open("ab") as out:
            place.tofile(out)


@dataclass(frozen=True)
class MergedLevel:
    """The merged n-grams of one order on disk: keys, counts and suffixes, and the level below."""

    folder: Path
    order: int
    below: MergedLevel | None = None

    @classmethod
    def of_words(cls, folder: Path, count: Ints) -> MergedLevel:
        """Order 1: every word, its key its number."""
        level = cls(folder, 1)
        np.arange(len(count), dtype=np.int64).tofile(level.key_file)
        count.tofile(level.count_file)
        np.full(len(count), -1, np.int32).tofile(level.suffix_file)
        return level

    @property
    def key_file(self) -> Path:
        """int64: prefix << 32 | word."""
        return self.folder / f"{self.order}.key"

    @property
    def count_file(self) -> Path:
        """int64."""
        return self.folder / f"{self.order}.total"

    @property
    def suffix_file(self) -> Path:
        """int32: the number of the n-gram without its first word one order lower."""
        return self.folder / f"{self.order}.suffix"

    @property
    def rows(self) -> Rows:
        """The columns, to be read in pieces."""
        prefix = Stored(self.key_file, np.dtype("<i4"), 2, 1)
        return Rows(
            prefix, Stored(self.suffix_file, np.dtype(np.int32)), Stored(self.count_file, np.dtype(np.int64))
        )

    def __len__(self) -> int:
        return self.key_file.stat().st_size // 8

    def keys(self, begin: int = 0, size: int = -1) -> Ints:
        """The keys of some rows."""
        return np.fromfile(self.key_file, np.int64, size, offset=8 * begin)

    def counts(self, begin: int = 0, size: int = -1) -> Ints:
        """The counts of some rows."""
        return np.fromfile(self.count_file, np.int64, size, offset=8 * begin)

    def blocks(self) -> Iterator[tuple[Ints, Ints]]:
        """The words [rows, order] and counts of all rows, some at a time."""
        for begin in range(0, len(self), BUFFER):
            counts = self.counts(begin, BUFFER)
            yield self.grams(begin, begin + len(counts)), counts

    def grams(self, begin: int, end: int) -> Ints:
        """The words of the rows `begin : end`; their prefixes lie side by side one order lower."""
        keys = self.keys(begin, end - begin)
        if self.below is None or end == begin:
            return keys[:, None]
        prefix = keys >> 32
        shorter = self.below.grams(int(prefix[0]), int(prefix[-1]) + 1)
        return np.concatenate([shorter[prefix - prefix[0]], (keys & 0xFFFFFFFF)[:, None]], 1)


def _merge_runs(
    pieces: list[_Piece], below: MergedLevel, least: int, extended: int, memory: int, progress: Progress
) -> MergedLevel:
    """The next level: sums of at least `least`; those of at least `extended` can be part of longer n-grams.

    Of each run some rows are read; those up to the least key that ends such a part are sorted and summed.
    """
    level = MergedLevel(below.folder, below.order + 1, below)
    rows = min(BUFFER, max(LEAST_BUFFER, memory // (64 * max(len(pieces), 1))))
    done, sizes, kept_before, bound = [0] * len(pieces), [len(piece) for piece in pieces], 0, 0
    with (
        level.key_file.open("wb") as key_file,
        level.count_file.open("wb") as count_file,
        level.suffix_file.open("wb") as suffix_file,
    ):
        while bound < LAST_KEY:
            parts = [piece.read_run(begin, rows) for piece, begin in zip(pieces, done, strict=True)]
            ends = zip(parts, done, sizes, strict=True)
            bound = min(
                (int(key[-1]) for (key, *_), begin, size in ends if begin + len(key) < size), default=LAST_KEY
            )
            taken = [int(np.searchsorted(key, bound, "right")) for key, *_ in parts]
            key = np.concatenate([part[0][:end] for part, end in zip(parts, taken, strict=True)])
            count, suffix = (
                np.concatenate([part[i][:end] for part, end in zip(parts, taken, strict=True)]) for i in (1, 2)
            )
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
            suffix[order[first[kept]]].tofile(suffix_file)
            sums[kept].tofile(count_file)
            kept_before += int(kept.sum())
            done = [begin + end for begin, end in zip(done, taken, strict=True)]
            progress.step(f"merging order {level.order}", sum(done), sum(sizes))
    return level


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
            f"temporary files cannot be written ({error.strerror or error}; {free:.1f}G free); "
            "name a folder with more space",
            path=folder.parent,
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _number_words(
    paths: PathLike | Iterable[PathLike], target: Path, progress: Progress
) -> tuple[list[str], Ints, int]:
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


def _cut(text: Path, most: int) -> Iterator[Ints32]:
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
