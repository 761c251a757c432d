"""Two files that grow together: a tree in the treebank and its line in the history, both or none, once.

What is to be done is written down first (`.NAME.journal` beside the treebank: the text, the line, and how long
both files are), then done, then crossed out. A program that finds a journal, after a crash at whatever moment,
does what is missing: the tree is there if the treebank has its text behind the old end, the line likewise in the
history. So a request that is sent again after a crash finds its id in the history, and its tree is never appended
twice. All of it happens under the lock of the treebank, and nothing of it reads or copies the history.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from latentgram.data.append import append_line, append_unlocked, locked
from latentgram.data.files import read_text, write_text
from latentgram.errors import DataError


@dataclass(frozen=True)
class Journal:
    """Appends to a treebank and to its history."""

    treebank: Path
    history: Path

    @property
    def path(self) -> Path:
        """Where it is written down."""
        target = Path(os.path.realpath(self.treebank))
        return target.with_name(f".{target.name}.journal")

    def append(self, text: str, line: str, *, after: str = "\n") -> None:
        """Append a text to the treebank (`after` is as for `append_text`) and a line to the history."""
        with locked(self.treebank):
            self._finish()
            entry = {"size": _size(self.treebank), "history": _size(self.history)}
            with write_text(self.path) as out:
                out.write(json.dumps({**entry, "text": text, "after": after, "line": line}))
            self._finish()

    def note(self, line: str) -> None:
        """Append a line to the history alone."""
        with locked(self.treebank):
            self._finish()
            append_line(self.history, line)

    def recover(self) -> None:
        """Do what a program that crashed has left undone."""
        if self.path.exists():
            with locked(self.treebank):
                self._finish()

    def _finish(self) -> None:
        """Do what is written down and not done yet."""
        if not self.path.exists():
            return
        entry = self._read()
        if not _holds(self.treebank, entry["text"], entry["size"]):
            append_unlocked(self.treebank, entry["text"], after=entry["after"])
        if not _holds(self.history, f"{entry['line']}\n", entry.get("history", 0)):
            append_line(self.history, entry["line"])
        os.unlink(self.path)

    def _read(self) -> dict[str, Any]:
        try:
            entry: dict[str, Any] = json.loads(read_text(self.path))
            if not {"size", "text", "after", "line"} <= entry.keys():
                raise ValueError
        except (ValueError, AttributeError):
            raise DataError("this is not a journal of latentgram; move it away", path=self.path) from None
        return entry


def _size(path: Path) -> int:
    return os.path.getsize(path) if path.exists() else 0


def _holds(path: Path, text: str, begin: int) -> bool:
    """Whether a file has a text behind some place."""
    if not path.exists():
        return False
    with open(path, "rb") as file:
        file.seek(begin)
        return text.encode() in file.read()
