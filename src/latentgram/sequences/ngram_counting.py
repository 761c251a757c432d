"""N-gram counts of text by many workers: blocks of text out, counts back, one merge.

Counts add, and they are whole numbers: whatever the blocks and the workers, the sum is the same to the last bit.
The client reads the text once (twice if rare words are to become `<unk>`) and sends it as it is; a worker sends
back the distinct n-grams of its block. What has come back is merged whenever it has grown as large as the sum, so
that each n-gram is sorted O(log blocks) times. Memory: the distinct n-grams of the text, at 40 bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from latentgram.data.alphabet import Alphabet
from latentgram.data.files import PathLike, expand, read_blocks
from latentgram.data.ngrams.counts import UNKNOWN, NGramCounts, cutoffs_of
from latentgram.data.provenance import Provenance
from latentgram.data.text import END, Text
from latentgram.errors import DataError
from latentgram.parallel import Engine

Block = tuple[str, int, str]
"""A path, the number of the first line, and the text."""


def count_ngrams(
    paths: PathLike | Iterable[PathLike],
    *,
    order: int = 3,
    cutoff: int | Sequence[int] = 1,
    all_bigrams: bool = True,
    engine: Engine,
) -> NGramCounts:
    """The n-grams of files, counted by the workers of an engine; the same as `NGramCounts.read` counts.

    Only the digest of the data is another one: it is that of the text and not of its numbers.
    """
    files = expand(paths)
    cutoffs = cutoffs_of(order, cutoff, all_bigrams)
    frequent = None
    if cutoffs[0] > 1:
        singles = _sum(engine, _Count(1, None), _blocks(files, hashlib.sha256()), (cutoffs[0],))
        often = np.flatnonzero(singles.count[1:] >= cutoffs[0]) + 1
        frequent = frozenset(singles.words.decode(often.tolist()))
    digest = hashlib.sha256()
    counts = _sum(engine, _Count(order, frequent), _blocks(files, digest), cutoffs)
    if not counts.sentences:
        raise DataError("there is no sentence to count", path=files[0])
    known = Provenance(data_digest=digest.hexdigest(), data_size=counts.tokens)
    return NGramCounts(counts.words, counts.trie, counts.count, cutoffs, counts.repairs, None, known)


@dataclass(frozen=True)
class _Count:
    """Counts a block; a class, so that workers can be sent it."""

    order: int
    frequent: frozenset[str] | None

    def __call__(self, block: Block) -> NGramCounts:
        path, line, content = block
        text = Text.of_block(content, path, line)
        if self.frequent is not None:
            words = Alphabet((END, *sorted(self.frequent | {UNKNOWN})))
            text = Text(words, text.encoded_by(words, unknown=words.index(UNKNOWN)))
        return NGramCounts.of(text, order=self.order, cutoff=(1,) * self.order)


def _blocks(files: Sequence[str], digest: hashlib._Hash) -> Iterator[Block]:
    for path in files:
        for line, block in read_blocks(path):
            digest.update(block.encode())
            yield path, line, block


def _sum(engine: Engine, count: _Count, blocks: Iterator[Block], cutoffs: Sequence[int]) -> NGramCounts:
    """The counts of all blocks; whose they are, the caller says."""
    ones = (1,) * len(cutoffs)
    total: list[NGramCounts] = []
    waiting: list[NGramCounts] = []
    for part in engine.map(count, blocks):
        waiting.append(part)
        if sum(map(len, waiting)) >= sum(map(len, total)):
            total, waiting = [NGramCounts.merged([*total, *waiting], ones, Provenance())], []
    if not total:
        raise DataError("there is no sentence to count")
    return NGramCounts.merged([*total, *waiting], cutoffs, Provenance())
