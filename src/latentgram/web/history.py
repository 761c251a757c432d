"""The history of a treebank: what was accepted on the page, and how good the parser was then.

It is a database of SQLite beside the treebank (`NAME.history.sqlite`), which itself stays a plain file for other
programs. A tree and its row in the history come together or not at all, and once: the row is written first, with
the text of the tree and the size of the treebank; then the text is appended; then it is taken out of the row. Who
finds a row with a text, after a crash at whatever moment, does what is missing: the tree is there if the treebank
has its text behind the old end. So a request that is sent again after a crash finds its id in the history, and its
tree is never appended twice. The lock of the database is the lock of the treebank: tabs and servers wait for each
other. Appending is O(size of the treebank), a few milliseconds for 3,000 trees.

Earlier versions kept lines of JSON (`NAME.history.jsonl`) and a journal (`.NAME.journal`): they are taken over.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from latentgram.data.files import read_lines, replacing
from latentgram.errors import DataError

PATIENCE = 30.0
"""Seconds to wait for the lock."""

_TABLES = (
    "CREATE TABLE accepted (id UNIQUE, agreement, fixes, words, digest, text, gap, size)",
    "CREATE TABLE measured (version, accepted, score, digest)",
    "PRAGMA user_version = 1",
)
_ACCEPTED = "INSERT OR IGNORE INTO accepted VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_MEASURED = "INSERT INTO measured VALUES (?, ?, ?, ?)"


class Accepted(NamedTuple):
    """One accepted tree: how much of it the parser had right, and what it took to correct the rest."""

    id: str
    agreement: float | None
    fixes: int
    words: int
    digest: str = ""
    """Of the tree; histories of older versions lack it."""

    def check(self, digest: str) -> None:
        """Refuse another tree under the same id."""
        if self.digest != digest and self.digest and digest:
            raise DataError(f"the id {self.id} was given to another tree: a new tree needs a new id")


class Measured(NamedTuple):
    """The score of a version of the parser, in percent, and how many trees had been accepted by then."""

    version: int
    accepted: int
    score: float
    digest: str = ""
    """Of the held-out trees."""


@dataclass(frozen=True)
class History:
    """Appends to a treebank, and tells what was appended."""

    treebank: Path

    @property
    def path(self) -> Path:
        """Where the database is, whatever links lead to the treebank."""
        target = Path(os.path.realpath(self.treebank))
        return target.with_name(f"{target.name}.history.sqlite")

    @property
    def _lines(self) -> Path:
        """Where the history of an earlier version may be."""
        return self.treebank.with_name(f"{self.treebank.name}.history.jsonl")

    @property
    def _journal(self) -> Path:
        """Where an earlier version may have left what it had not finished."""
        target = Path(os.path.realpath(self.treebank))
        return target.with_name(f".{target.name}.journal")

    def read(self) -> tuple[list[Accepted], list[Measured]]:
        """All that is known; what a crash has left undone is done."""
        if not any(path.exists() for path in (self.path, self._lines, self._journal)):
            return [], []
        with self._locked() as base:
            accepted = base.execute("SELECT id, agreement, fixes, words, digest FROM accepted ORDER BY rowid")
            measured = base.execute("SELECT version, accepted, score, digest FROM measured ORDER BY rowid")
            return [Accepted(*row) for row in accepted], [Measured(*row) for row in measured]

    def append(self, entry: Accepted, text: str, gap: str) -> None:
        """Append the text of a tree to the treebank; `gap` is as for `append_text`."""
        with self._locked() as base:
            for (digest,) in base.execute("SELECT digest FROM accepted WHERE id = ?", (entry.id,)):
                entry.check(digest)
            size = os.path.getsize(self.treebank) if self.treebank.exists() else 0
            base.execute(_ACCEPTED, (*entry, text, gap, size))
        with self._locked():
            pass  # which does what is written down

    def note(self, measured: Measured) -> None:
        """Keep a score on held-out trees."""
        with self._locked() as base:
            base.execute(_MEASURED, measured)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[sqlite3.Connection]:
        """The database, for this program alone until the block ends, with nothing left undone."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
            with contextlib.closing(connection) as base:
                base.execute("BEGIN IMMEDIATE")
                with base:
                    if base.execute("PRAGMA user_version").fetchone() == (0,):
                        self._begin(base)
                    unfinished = self._journal.exists()
                    if unfinished:
                        self._take_over_journal(base)
                    self._finish(base)
                    yield base
                if unfinished:
                    self._journal.unlink()
        except sqlite3.OperationalError as error:
            busy = "another program has been writing to it for long" if "locked" in str(error) else str(error)
            raise DataError(f"the history cannot be written ({busy})", path=self.path) from error
        except sqlite3.DatabaseError:
            raise DataError("this is not a history of latentgram; move it away", path=self.path) from None

    def _begin(self, base: sqlite3.Connection) -> None:
        """Make the tables, and take over the history of an earlier version."""
        for statement in _TABLES:
            base.execute(statement)
        if not self._lines.exists():
            return
        with contextlib.suppress(DataError):
            for _, line in read_lines(self._lines):
                # A line that a crash has torn, or of another version, tells nothing.
                with contextlib.suppress(ValueError, TypeError):
                    fields = json.loads(line)
                    if "score" in fields:
                        base.execute(_MEASURED, Measured(**fields))
                    else:
                        base.execute(_ACCEPTED, (*Accepted(**fields), None, "", 0))

    def _take_over_journal(self, base: sqlite3.Connection) -> None:
        """What an earlier version has not finished; if its line is in the history, the tree is in the treebank."""
        try:
            entry = json.loads(self._journal.read_text("utf-8"))
            accepted = Accepted(**json.loads(entry["line"]))
            base.execute(_ACCEPTED, (*accepted, entry["text"], entry["after"], entry["size"]))
        except (ValueError, TypeError, KeyError):
            raise DataError("this is not a journal of latentgram; move it away", path=self._journal) from None

    def _finish(self, base: sqlite3.Connection) -> None:
        """Append what is written down and not done yet."""
        undone = base.execute("SELECT rowid, text, gap, size FROM accepted WHERE text IS NOT NULL").fetchall()
        for row, text, gap, size in undone:
            if not _holds(self.treebank, text, size):
                append_text(self.treebank, text, gap)
            base.execute("UPDATE accepted SET text = NULL WHERE rowid = ?", (row,))


def _holds(path: Path, text: str, begin: int) -> bool:
    """Whether a file has a text behind some place."""
    return path.exists() and text.encode() in path.read_bytes()[begin:]


def append_text(path: Path, text: str, gap: str) -> None:
    r"""Put text at the end of a file: a crash leaves the old file or the new one, both whole.

    `gap` is what the old contents must end with (a blank line for CoNLL-U); it is added where it is missing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bank = Path(folder, "a.mrg")
    ...     append_text(bank, "(S (NN a))", "\n")
    ...     append_text(bank, "(S (NN b))\n", "\n")
    ...     print(bank.read_text(), end="")
    (S (NN a))
    (S (NN b))
    """
    old = path.read_bytes() if path.exists() else b""
    there = max(length for length in range(len(gap) + 1) if old.endswith(gap[:length].encode()))
    with replacing(path) as out:
        out.write(old + (gap[there:].encode() if old else b"") + text.encode())
