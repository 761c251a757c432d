"""Adding to a file that others may be adding to, without ever losing what is there.

`append_text` writes the old contents and the new under a temporary name, flushes them to the disk and renames: a
crash at any moment leaves the old file or the new one, both whole. A lock beside the file (`.NAME.lock`) makes
all that append wait for each other, so that two programs, or two tabs of a page, never write over each other.
O(size of the file), which for a treebank of 3,000 trees is a few milliseconds. `append_line` is for logs, whose
readers pass over a line that a crash has torn: O(length of the line), however long the log is.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from latentgram.data.files import PACKED, PathLike, replacing
from latentgram.errors import DataError

PATIENCE = 30.0
"""Seconds to wait for a lock."""
_PAUSE = 0.02


@contextmanager
def locked(path: PathLike, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of a file; the system lets go of it when the program ends, however it ends."""
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.lock")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(beside, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise DataError(f"the file cannot be locked ({error.strerror or error})", path=path) from error
    try:
        deadline = time.monotonic() + patience
        while not _take(handle):
            if time.monotonic() > deadline:
                raise DataError(f"another program has been writing to it for {patience:.0f} s", path=path)
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


def append_text(path: PathLike, text: str, *, after: str = "\n") -> None:
    """Put text at the end of a plain UTF-8 file, which is made if it is not there.

    `after` is what the old contents must end with (a blank line for CoNLL-U); it is added where it is missing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     append_text(f"{folder}/a.mrg", "(S (NN a))")
    ...     append_text(f"{folder}/a.mrg", "(S (NN b))\\n")
    ...     print(Path(folder, "a.mrg").read_text(), end="")
    (S (NN a))
    (S (NN b))
    """
    with locked(path):
        append_unlocked(path, text, after=after)


def append_unlocked(path: PathLike, text: str, *, after: str = "\n") -> None:
    """`append_text` for who holds the lock of the file already."""
    name = os.fspath(path)
    if name.lower().endswith(PACKED):
        raise DataError("a compressed file cannot be added to; unpack it first", path=name)
    with replacing(name) as out:
        if os.path.exists(name):
            with open(name, "rb") as old:
                shutil.copyfileobj(old, out, 1 << 20)
                out.write(_gap(old.tell(), name, after))
        out.write(text.encode())


def append_line(path: PathLike, line: str) -> None:
    """Put a line at the end of a log and flush it to the disk; a torn line before it is ended first.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Path(folder, "log")
    ...     _ = log.write_text("one\\ntor")
    ...     append_line(log, "two")
    ...     log.read_text()
    'one\\ntor\\ntwo\\n'
    """
    try:
        with open(path, "ab") as log:
            log.write(_gap(log.tell(), os.fspath(path), "\n") + f"{line}\n".encode())
            log.flush()
            os.fsync(log.fileno())
    except OSError as error:
        raise DataError(f"the file cannot be added to ({error.strerror or error})", path=path) from error


def _gap(size: int, name: str, after: str) -> bytes:
    """What is missing of `after` at the end of a file that is not empty."""
    wanted = after.encode()
    with open(name, "rb") as old:
        old.seek(max(size - len(wanted), 0))
        end = old.read()
    if not end:
        return b""
    there = next(length for length in range(len(wanted), -1, -1) if end.endswith(wanted[:length]))
    return wanted[there:]
