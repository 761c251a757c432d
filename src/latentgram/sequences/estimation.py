"""Smoothed models from text of any size, written as ARPA files: counted, estimated and written by way of the disk.

N-grams are counted as data/ngrams/external.py does, each with its suffix, and the estimate (smoothing.py) reads
and writes columns on disk; the lines of the file are written from these. Memory: `memory` for a piece of the text
while it is counted, and for a range of n-grams while they are estimated; and the words. Disk: 20 bytes for each
n-gram of a run of one order, 44 for each n-gram. The file is the same, to the last byte, as without a limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from latentgram.arrays import Floats
from latentgram.data.files import PathLike, expand
from latentgram.data.ngrams.arpa import Entries, logs, write_arpa, write_entries
from latentgram.data.ngrams.columns import AtLeast, Column, Rows, Space, blocks
from latentgram.data.ngrams.counts import NGramCounts, cutoffs_of
from latentgram.data.ngrams.external import Merged, count_files, memory_size, merged_counts
from latentgram.data.ngrams.tables import is_table
from latentgram.errors import SettingError
from latentgram.kinds.learners import Counting
from latentgram.parallel import Engine
from latentgram.progress import Progress, Silent
from latentgram.sequences.counting import count_ngrams, smoothed_model
from latentgram.sequences.settings import CountingNGram
from latentgram.sequences.smoothing import check_smoothing, estimated

MODEL_BYTES = 200
"""Memory for each n-gram while a whole model is in memory."""


@dataclass(frozen=True)
class WrittenModel:
    """How many n-grams of each order a written model has, and what was mended on the way."""

    sizes: list[int]
    repairs: dict[str, int] = field(default_factory=dict)

    def summary(self) -> str:
        """One line about the size."""
        orders = ", ".join(f"{size:,}" for size in self.sizes)
        return f"language model of order {len(self.sizes)} with {sum(self.sizes):,} n-grams ({orders})"


def write_language_model(
    paths: PathLike | Iterable[PathLike],
    output: PathLike,
    *,
    by: Counting,
    order: int = 3,
    memory: int | str | None = None,
    temporary: PathLike | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> WrittenModel:
    """Estimate a smoothed model of text (or a table of n-grams) and write it as an ARPA file.

    With `memory` (bytes, or a size such as "2G") neither the text nor the model need fit into memory: temporary
    files in the folder `temporary` are used instead. Entropy pruning, however, needs the whole model in memory.
    Without `memory`, the n-grams can be counted by the workers of an `engine`.

    >>> import pathlib, tempfile, latentgram as lg
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = pathlib.Path(name)
    ...     _ = (folder / "text").write_text("a rose is a rose\\na rose is red\\n")
    ...     learner = lg.Counting(smoothing="witten-bell")
    ...     written = write_language_model(folder / "text", folder / "a.arpa", by=learner, memory="16M")
    ...     round(lg.read_arpa(folder / "a.arpa").logprob("a rose is red"), 3), written.sizes
    (-2.026, [6, 7, 7])
    """
    settings = by.settings(CountingNGram, "BackoffNGram by Counting")
    check_smoothing(settings.smoothing)
    files = expand(paths)
    if memory is None or settings.entropy or is_table(files):
        counts = count_for_model(files, order, memory, temporary, progress, engine)
        arpa = smoothed_model(counts, settings)
        write_arpa(arpa, output)
        return WrittenModel(np.diff(arpa.trie.level).tolist(), arpa.repairs)
    cutoffs = cutoffs_of(order, settings.cutoff, all_bigrams=True)
    if list(cutoffs[1:]) != sorted(cutoffs[1:]):
        raise SettingError(f"cut-offs that fall with the order ({cutoffs}) need the whole model in memory")
    shown, limit = progress or Silent(), memory_size(memory)
    with merged_counts(files, limit, temporary, (1,) * order, None, shown, unknown=True) as merged:
        return _write(merged, cutoffs, settings.smoothing, limit, output, shown)


def count_for_model(
    files: list[str],
    order: int,
    memory: int | str | None,
    temporary: PathLike | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> NGramCounts:
    """All n-grams of text, or those of a table; with `memory`, refused if a model of them does not fit into it."""
    if memory is None or is_table(files):
        return count_or_read(files, order, progress=progress, engine=engine)
    return count_files(
        files,
        cutoffs_of(order, 1, all_bigrams=True),
        memory,
        temporary,
        progress=progress,
        row_bytes=MODEL_BYTES,
        advice="give more, or write the model as an ARPA file, which needs no more than the memory given",
    )


def count_or_read(
    files: list[str],
    order: int,
    memory: int | str | None = None,
    temporary: PathLike | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
    *,
    cutoff: int = 1,
) -> NGramCounts:
    """The n-grams of text, or those of a table; several workers count text, without a limit of `memory`."""
    if engine is not None and engine.n_jobs > 1 and memory is None and not is_table(files):
        return count_ngrams(files, order=order, cutoff=cutoff, engine=engine)
    return NGramCounts.read(
        files, order=order, cutoff=cutoff, memory=memory, temporary=temporary, progress=progress
    )


def _write(
    merged: Merged, cutoffs: tuple[int, ...], smoothing: str, limit: int, output: PathLike, progress: Progress
) -> WrittenModel:
    """Estimate what was counted, and write it."""
    levels = [level.rows for level in merged.levels]
    if max(cutoffs[1:], default=1) > 1:
        pairs = zip(levels[1:], cutoffs[1:], strict=True)
        levels[1:] = [replace(rows, kept=AtLeast(rows.count, least)) for rows, least in pairs]
    estimate = estimated(levels, smoothing, Space(merged.levels[0].folder, limit), progress)
    sizes = [_kept(rows) for rows in levels]
    while levels[-1].kept is not None and len(sizes) > 1 and not sizes[-1]:
        sizes.pop()
    written = 0

    def entries(order: int) -> Iterator[Entries]:
        nonlocal written
        level, rows = merged.levels[order - 1], levels[order - 1]
        prob, weight = estimate.prob[order - 1], estimate.weight[order - 1]
        for begin, end in blocks(len(rows)):
            entry = (
                level.grams(begin, end),
                logs(_read(prob, begin, end), -np.inf),
                logs(_read(weight, begin, end)),
            )
            if rows.kept is not None:
                chosen = np.flatnonzero(rows.kept.read(begin, end))
                entry = entry[0][chosen], entry[1][chosen], entry[2][chosen]
            written += len(entry[0])
            progress.step("writing", written, sum(sizes))
            yield entry

    write_entries(merged.words, sizes, entries, output)
    return WrittenModel(sizes, estimate.repairs)


def _kept(rows: Rows) -> int:
    """How many n-grams of an order the model has."""
    kept = rows.kept
    return len(rows) if kept is None else sum(int(kept.read(*block).sum()) for block in blocks(len(rows)))


def _read(column: Column, begin: int, end: int) -> Floats:
    return cast(Floats, column.read(begin, end))
