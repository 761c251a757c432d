"""`TreebankStream`: trees that stay on the disk and are read in pieces, as often as a learner asks for them.

A learner that sums over sentences takes the pieces one after the other and keeps numbers only. Held in memory are
one piece and what the learner makes of it. `Treebank` has the same `shards`, so a learner need not know which it
was given.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from latentgram.data import formats
from latentgram.data.files import STANDARD, PathLike
from latentgram.data.treebank import SHARD, Treebank, content_of
from latentgram.errors import DataError


class TreebankStream:
    """The trees of files or folders, never all in memory.

    `len` and `digest` are known once the trees have been gone through; to ask before costs a pass of its own.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "big.conllu")
    >>> import latentgram as lg
    >>> lg.demo_dependencies(30, seed=0).write(path)
    >>> stream = TreebankStream(path)
    >>> [len(part) for part in stream.shards(12)], len(stream)
    ([12, 12, 6], 30)
    >>> lg.fit(lg.SHAG, stream, by=lg.Counting()).provenance.data_size
    30
    """

    def __init__(self, paths: PathLike | Iterable[PathLike], format: str | None = None) -> None:
        self._files, self._format = formats.find_files(paths, format)
        if STANDARD in self._files:
            raise DataError("standard input can be read only once: a stream of trees needs files")
        self._known: tuple[int, str] | None = None

    def shards(self, size: int = SHARD) -> Iterator[Treebank[Any]]:
        """All trees, so many at a time, read anew."""
        content, number, held = hashlib.sha256(), 0, []
        for item in Treebank.stream(self._files, self._format):
            content.update(content_of(item))
            number += 1
            held.append(item)
            if len(held) == size:
                yield Treebank.of(held)
                held = []
        if held:
            yield Treebank.of(held)
        self._known = number, content.hexdigest()

    def _gone_through(self) -> tuple[int, str]:
        if self._known is None:
            for _ in self.shards():
                pass
        assert self._known is not None
        return self._known

    @property
    def kind(self) -> str:
        """The kind of the first tree."""
        return next((part.kind for part in self.shards(1)), "")

    def __len__(self) -> int:
        return self._gone_through()[0]

    @property
    def digest(self) -> str:
        """A name of the content; for dependency trees that of the `Treebank` with the same trees."""
        return self._gone_through()[1]

    def __repr__(self) -> str:
        return f"TreebankStream({len(self._files)} files, {self._format})"
