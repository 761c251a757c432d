"""The history of a treebank: what was done to it on the page, by whom, and how good the parser was then.

It is an SQLite database next to the treebank (`NAME.history.sqlite`), which itself stays a plain file for other
programs. A change of the file and its row in the history are made together or not at all, exactly once: the row is
written first, with the text of the tree and the state of the file; then the file is written; then the row is
marked as done. If a row is found that is not done, after a crash at any moment, the missing steps are completed.
So a request that is repeated after a crash finds its id in the history, and its tree is never appended twice. If
the file cannot be written (a full disk, a protected file), the row is removed: a change that was reported as
failed is never made later. The lock of the database is the lock of the treebank: tabs and servers wait for each
other. A change is O(size of the treebank), a few milliseconds for 3,000 trees.

Earlier versions had lines of JSON (`NAME.history.jsonl`) and a journal (`.NAME.journal`): they are imported,
and so are databases of earlier versions.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from latentgram.data.files import read_lines, replacing
from latentgram.errors import DataError
from latentgram.web.pieces import changed, name_of, pieces

PATIENCE = 30.0
"""Seconds to wait for the lock."""

Found = TypeVar("Found")

_TABLES = (
    "CREATE TABLE accepted (id UNIQUE, agreement, fixes, words, digest, text, gap, size)",
    "CREATE TABLE measured (version, accepted, score, digest)",
    "PRAGMA user_version = 1",
)
_SECOND = (
    "ALTER TABLE accepted ADD COLUMN sentence DEFAULT ''",
    "ALTER TABLE accepted ADD COLUMN annotator DEFAULT ''",
    "ALTER TABLE accepted ADD COLUMN time DEFAULT 0",
    "ALTER TABLE accepted ADD COLUMN tree DEFAULT ''",
    "ALTER TABLE accepted ADD COLUMN place DEFAULT 'file'",
    "CREATE TABLE changes (id UNIQUE, time, annotator, action, of, number, old, new, before, after, done)",
    "CREATE TABLE notes (sentence PRIMARY KEY, skipped DEFAULT 0, flag DEFAULT 0, comment DEFAULT '', "
    "assigned DEFAULT '', lease DEFAULT '', until DEFAULT 0)",
    "PRAGMA user_version = 2",
)
_THIRD = ("ALTER TABLE notes ADD COLUMN holder DEFAULT ''", "PRAGMA user_version = 3")
_COLUMNS = "id, agreement, fixes, words, digest, sentence, annotator, time, tree, place"
_ACCEPTED = f"INSERT OR IGNORE INTO accepted ({_COLUMNS}, text, gap, size) VALUES ({', '.join('?' * 13)})"
_FORGET = (
    "DELETE FROM accepted WHERE id = ? AND text IS NOT NULL",
    "DELETE FROM accepted WHERE place = 'beside' AND id IN (SELECT of FROM changes WHERE id = ? AND NOT done)",
    "DELETE FROM changes WHERE id = ? AND NOT done",
)
"""What takes back that something is to be done."""
_GONE = """
    SELECT COALESCE(SUM(CASE WHEN new = '' THEN 1 ELSE -1 END), 0) FROM changes
    WHERE (old = :tree AND new = '') OR (old = '' AND new = :tree)
"""
"""How often a tree was removed and not put back."""
_MEASURED = "INSERT INTO measured VALUES (?, ?, ?, ?)"


class Accepted(NamedTuple):
    """One accepted tree: how much of it the parser had right, and what it took to correct the rest."""

    id: str
    agreement: float | None
    fixes: int
    words: int
    digest: str = ""
    """Of the tree; histories of older versions lack it, and all that follows."""
    sentence: str = ""
    """A digest of the words."""
    annotator: str = ""
    time: float = 0.0
    tree: str = ""
    place: str = "file"
    """Where the tree is: in the `file`, `beside` it (a second annotation), or `gone`."""

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


class Change(NamedTuple):
    """A tree that became another, or none; `of` is the id of what was accepted, where it was on the page."""

    id: str
    time: float
    annotator: str
    action: str
    of: str
    number: int
    old: str
    new: str


class Taken(DataError):
    """Somebody has given this sentence its tree already."""

    def __init__(self, message: str, other: Accepted) -> None:
        super().__init__(message)
        self.other = other


@dataclass(frozen=True)
class History:
    """Changes a treebank, and tells what was changed."""

    treebank: Path
    phrases: bool = True

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
        with self.locked() as base:
            measured = base.execute("SELECT version, accepted, score, digest FROM measured ORDER BY rowid")
            return self._accepted(base), [Measured(*row) for row in measured]

    def accepted(self) -> list[Accepted]:
        """What was accepted, by whichever server."""
        return self.look(self._accepted) or []

    def look(self, read: Callable[[sqlite3.Connection], Found]) -> Found | None:
        """Read something without waiting for one that writes, if there is a history."""
        if not self.path.exists():
            return None
        with (
            contextlib.suppress(sqlite3.OperationalError),
            contextlib.closing(sqlite3.connect(self.path, timeout=PATIENCE)) as base,
        ):
            return read(base)
        with self.locked() as base:  # the tables of a new history, or of an earlier version, are in the making
            return read(base)

    def _accepted(self, base: sqlite3.Connection) -> list[Accepted]:
        rows = base.execute(f"SELECT {_COLUMNS} FROM accepted WHERE place != 'gone' ORDER BY rowid")
        return [Accepted(*row) for row in rows]

    def append(
        self,
        entry: Accepted,
        text: str | Callable[[int], str],
        gap: str,
        ask: bool = False,
        instead: Accepted | None = None,
        name: str = "",
    ) -> Accepted:
        """Append the text of a tree to the treebank, or put it in the place of another.

        `gap` is as for `append_text`. A text may depend on the number of the row. With `ask` a sentence that has
        its tree already, by another id, raises `Taken`, unless both have a `name` (a sent_id) and these differ. An
        entry that is to stand `beside` the file is only written down.
        """
        with self.locked() as base:
            for (digest,) in base.execute("SELECT digest FROM accepted WHERE id = ?", (entry.id,)):
                entry.check(digest)
            if ask:
                self._check_free(base, entry, name)
            (last,) = base.execute("SELECT COALESCE(MAX(rowid), 0) FROM accepted").fetchone()
            written = text if isinstance(text, str) else text(last + 1)
            size = os.path.getsize(self.treebank) if self.treebank.exists() else 0
            entry = entry._replace(tree=written)
            if instead is not None:
                change = Change(
                    entry.id, entry.time, entry.annotator, "replace", entry.id, -1, instead.tree, written
                )
                base.execute(_ACCEPTED, (*entry._replace(place="beside"), None, gap, size))
                self._write_down(base, change)
            else:
                base.execute(_ACCEPTED, (*entry, written if entry.place == "file" else None, gap, size))
        self._carry_out(entry.id)
        return entry

    def _check_free(self, base: sqlite3.Connection, entry: Accepted, name: str) -> None:
        query = f"SELECT {_COLUMNS} FROM accepted WHERE sentence = ? AND id != ? AND place = 'file'"
        for row in base.execute(query, (entry.sentence, entry.id)):
            other = Accepted(*row)
            if name and name_of(other.tree) != name:
                continue
            who = other.annotator or "somebody"
            if other.annotator and other.annotator == entry.annotator:
                who = "you"
            when = time.strftime("%d %b, %H:%M", time.localtime(other.time))
            raise Taken(f"{who} accepted a tree of this sentence on {when}", other)

    def change(self, change: Change) -> bool:
        """Put another tree in the place of one, or none; the same id is carried out once: whether it was now."""
        with self.locked() as base:
            if base.execute("SELECT id FROM changes WHERE id = ?", (change.id,)).fetchone() is not None:
                return False
            if change.action == "undo" and not change.old:
                _check_gone(base, change.new)
            self._write_down(base, change)
        self._carry_out(change.id)
        return True

    def _write_down(self, base: sqlite3.Connection, change: Change) -> None:
        content = self.treebank.read_bytes() if self.treebank.exists() else b""
        after = changed(content, self.phrases, change.number, change.old, change.new)
        row = (*change, _digest(content), _digest(after), 0)
        base.execute(f"INSERT INTO changes VALUES ({', '.join('?' * 11)})", row)

    def changes(self, count: int = 200) -> list[Change]:
        """What was done last, the newest first."""
        if not self.path.exists():
            return []
        with self.locked() as base:
            rows = base.execute(
                f"SELECT {', '.join(Change._fields)} FROM changes ORDER BY rowid DESC LIMIT ?",
                (count,),
            )
            return [Change(*row) for row in rows]

    def settle(self, sentence: str, chosen: str) -> None:
        """Of the trees of a sentence one was chosen: the others are no rivals any more."""
        with self.locked() as base:
            base.execute(
                "UPDATE accepted SET place = 'settled' WHERE sentence = ? AND id != ? AND place = 'beside'",
                (sentence, chosen),
            )

    def note(self, measured: Measured) -> None:
        """Keep a score on held-out trees."""
        with self.locked() as base:
            base.execute(_MEASURED, measured)

    def _carry_out(self, id: str) -> None:
        """Do what is written down; if that cannot be done, it is not to be done later either."""
        try:
            with self.locked():
                pass  # which does it
        except DataError as error:
            try:
                with self.locked(finish=False) as base:
                    for statement in _FORGET:
                        base.execute(statement, (id,))
            except DataError:
                raise DataError(
                    f"{error.message}; the change is recorded and will be made when this is fixed", path=error.path
                ) from error
            raise

    @contextlib.contextmanager
    def locked(self, finish: bool = True) -> Iterator[sqlite3.Connection]:
        """The database, for this program alone until the block ends, with nothing left undone."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
            with contextlib.closing(connection) as base:
                base.execute("BEGIN IMMEDIATE")
                with base:
                    self._begin(base)
                    unfinished = finish and self._journal.exists()
                    if unfinished:
                        self._take_over_journal(base)
                    if finish:
                        self._finish(base)
                    yield base
                if unfinished:
                    self._journal.unlink()
        except sqlite3.OperationalError as error:
            busy = "another program has been writing to it for long" if "locked" in str(error) else str(error)
            raise DataError(f"the history cannot be written ({busy})", path=self.path) from error
        except sqlite3.DatabaseError:
            raise DataError("this is not a history file of latentgram; move it away", path=self.path) from None
        except OSError as error:
            raise DataError(
                f"the history cannot be written ({error.strerror or error})", path=self.path
            ) from error

    def _begin(self, base: sqlite3.Connection) -> None:
        """Make the tables, and take over the history of an earlier version."""
        (version,) = base.execute("PRAGMA user_version").fetchone()
        for statements in (_TABLES, _SECOND, _THIRD)[version:]:
            for statement in statements:
                base.execute(statement)
        if version or not self._lines.exists():
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
        """Do what is written down and not done yet."""
        undone = base.execute("SELECT rowid, text, gap, size FROM accepted WHERE text IS NOT NULL").fetchall()
        for row, text, gap, size in undone:
            if not _holds(self.treebank, text, size):
                append_text(self.treebank, text, gap)
            base.execute("UPDATE accepted SET text = NULL WHERE rowid = ?", (row,))
        query = "SELECT rowid, of, number, old, new, before, after FROM changes WHERE NOT done"
        for row, of, number, old, new, before, after in base.execute(query).fetchall():
            self._change(number, old, new, before, after)
            place = "file" if new else "gone"
            base.execute("UPDATE accepted SET place = 'gone' WHERE tree = ? AND place = 'file'", (old,))
            base.execute("UPDATE accepted SET tree = ?, place = ? WHERE id = ?", (new, place, of))
            base.execute("UPDATE changes SET done = 1 WHERE rowid = ?", (row,))

    def _change(self, number: int, old: str, new: str, before: str, after: str) -> None:
        """Change a tree of the file, unless that was done already: then the file is as it should be."""
        content = self.treebank.read_bytes() if self.treebank.exists() else b""
        if _digest(content) == after and before != after:
            return
        if (
            not old
            and _digest(content) != before
            and any(piece.text.strip() == new.strip() for piece in pieces(content, self.phrases))
        ):
            return
        try:
            wanted = changed(content, self.phrases, number, old, new)
        except DataError:
            if _digest(content) == before:
                raise
            return  # it was done, and another program went on from there
        with replacing(self.treebank) as out:
            out.write(wanted)


def _check_gone(base: sqlite3.Connection, tree: str) -> None:
    """A tree is put back as often as it was removed, and not twice for one removal."""
    (gone,) = base.execute(_GONE, {"tree": tree}).fetchone()
    if gone < 1:
        raise DataError("this was undone before: the tree is back in the treebank")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:24]


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
