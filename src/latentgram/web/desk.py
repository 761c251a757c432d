"""Annotators' notes on sentences: skipped, flagged, a comment, to whom it is assigned, and who has it open.

They are stored in the history of the treebank, by a digest of the words, so that all servers of one treebank share
them. A lease expires: nobody is blocked by someone who has left.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from latentgram.web.history import History

LEASE = 900.0
"""Seconds that a sentence is kept for the one who took it."""


class Note(NamedTuple):
    """What is known of a sentence besides its tree."""

    sentence: str
    skipped: bool = False
    flag: bool = False
    comment: str = ""
    assigned: str = ""
    lease: str = ""
    """The tab that has it."""
    until: float = 0.0
    holder: str = ""
    """Who sits there, if he said so."""

    def leased_to_another(self, client: str) -> bool:
        """Whether somebody else has it before him."""
        return self.until > time.time() and self.lease != client


_FIELDS = ", ".join(Note._fields)


@dataclass(frozen=True)
class Desk:
    """The notes beside a treebank."""

    book: History

    def read(self) -> dict[str, Note]:
        """All notes, by the digest of the sentence."""
        rows = self.book.look(lambda base: base.execute(f"SELECT {_FIELDS} FROM notes").fetchall()) or []
        return {row[0]: Note(row[0], bool(row[1]), bool(row[2]), *row[3:]) for row in rows}

    def set(self, sentence: str, **fields: bool | str | float) -> Note:
        """Change some of what is known of a sentence."""
        with self.book.locked() as base:
            return self._set(base, sentence, fields)

    def assign(self, people: Mapping[str, str]) -> None:
        """Say who is to do each of some sentences, all at once."""
        with self.book.locked() as base:
            for sentence, name in people.items():
                self._set(base, sentence, {"assigned": name})

    def _set(self, base: sqlite3.Connection, sentence: str, fields: dict[str, bool | str | float]) -> Note:
        base.execute("INSERT OR IGNORE INTO notes (sentence) VALUES (?)", (sentence,))
        for name, value in fields.items():
            if name not in Note._fields:
                raise KeyError(name)
            base.execute(f"UPDATE notes SET {name} = ? WHERE sentence = ?", (value, sentence))
        row = base.execute(f"SELECT {_FIELDS} FROM notes WHERE sentence = ?", (sentence,)).fetchone()
        return Note(row[0], bool(row[1]), bool(row[2]), *row[3:])

    def take(self, sentence: str, client: str, holder: str = "") -> Note:
        """Keep a sentence for a client for a while, unless somebody else has it; the note tells who has it."""
        with self.book.locked() as base:
            row = base.execute(f"SELECT {_FIELDS} FROM notes WHERE sentence = ?", (sentence,)).fetchone()
            if row is not None and (note := Note(*row)).leased_to_another(client):
                return note
            return self._set(base, sentence, {"lease": client, "until": time.time() + LEASE, "holder": holder})

    def release(self, sentence: str) -> None:
        """Let others have a sentence at once."""
        self.set(sentence, until=0.0)
