"""Long output that survives an interruption: it is marked how much is valid, and continued from there.

During the work, `NAME.part` grows and `NAME.progress` contains the last mark: an identification of the work, the
number of valid bytes and their digest, and what is needed to continue. A mark is written, by renaming,
after the bytes it describes have reached the disk. So whatever ends the work, even a kill or a power cut, leaves
a valid mark, possibly with additional bytes after it that are cut off on resuming. When the work is finished,
`NAME.part` becomes `NAME` and the mark is removed; after a kill between the two, the mark fits `NAME`, which is
then renamed back. While a run writes `NAME.part` it holds a lock on it, so that no other run does.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypedDict

from latentgram.data.files import PACKED, PathLike, replacing
from latentgram.errors import DataError

MARK_SECONDS = 1.0
"""Time between marks: at most so much work is lost."""
_CHUNK = 1 << 20
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)


State = dict[str, int | str]
"""What a mark remembers of the work."""


class _Mark(TypedDict):
    identity: dict[str, object]
    bytes: int
    digest: str
    state: State


class PartialOutput:
    """Text that grows towards a file; use `partial_output`."""

    def __init__(self, path: Path, identity: Mapping[str, object]) -> None:
        self.path, self.identity = path, dict(identity)
        self.part, self.mark_file = part_of(path), Path(f"{path}.progress")
        self.state: State = {}
        """What the last mark remembers of the work; empty at the beginning."""
        self._file: BinaryIO
        self._digest, self._bytes, self._marked = hashlib.sha256(), 0, time.monotonic()

    def begin(self) -> None:
        """Start from nothing."""
        self._check_names()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._open()
        if self.part.stat().st_size:
            self._file.close()
            raise DataError(
                "this was left by an interrupted run: continue it with --resume, or delete it", path=self.part
            )
        self._mark()

    def resume(self) -> None:
        """Take up the last mark; without one, begin."""
        self._check_names()
        if not self.mark_file.exists():
            if self.path.exists():
                raise DataError("the file is complete: there is nothing to resume", path=self.path)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._open()
            self._file.truncate(0)  # nothing was marked, so nothing of it is known to be good
            self._mark()
            return
        mark = self._read_mark()
        # The run may have been ended between giving the name and removing the mark.
        named = not self.part.exists() and self.path.is_file() and self.path.stat().st_size == mark["bytes"]
        if named:
            self.path.replace(self.part)
        if not self.part.exists():
            raise self._mismatch()
        self._open()
        try:
            self._take_up(mark, self.path if named else self.part)
        except BaseException:
            self._file.close()
            if named:
                self.part.replace(self.path)
            raise

    def _take_up(self, mark: _Mark, at: Path) -> None:
        """Go to where a mark says, if all is as it says; `at` is where the output was found."""
        for name, value in self.identity.items():
            if mark["identity"].get(name) != value:
                raise DataError(
                    f"it was started with another {name}: resume with the same one, or delete it", path=at
                )
        while chunk := self._file.read(min(_CHUNK, mark["bytes"] - self._bytes)):
            self._digest.update(chunk)
            self._bytes += len(chunk)
        if (self._bytes, self._digest.hexdigest()) != (mark["bytes"], mark["digest"]):
            raise DataError("it was changed after the interrupted run and cannot be resumed", path=at)
        self._file.truncate(self._bytes)
        self._file.seek(self._bytes)
        self.state = mark["state"]

    def _check_names(self) -> None:
        """Refuse what is no file of a run: a link is not followed, and a pipe not waited for."""
        for path in (self.part, self.mark_file):
            if path.is_symlink():
                raise DataError("this is a symbolic link, which is not followed: delete it", path=path)
            if path.exists() and not path.is_file():
                raise DataError("this is not a regular file: delete it, or name another output", path=path)

    def _open(self) -> None:
        """Open the part for this run alone."""
        number = os.open(self.part, os.O_RDWR | os.O_CREAT | _NO_LINKS | _BINARY, 0o666)
        self._file = open(number, "r+b")  # noqa: SIM115 (closed by partial_output)
        # Between opening and locking another run may have given the file its final name.
        if not _locked(number) or not _is_at(number, self.part):
            self._file.close()
            raise DataError("another run is writing it: wait for that, or name another output", path=self.part)

    def append(self, text: str, state: State) -> None:
        """Add text; `state` is what is needed to go on behind it."""
        raw = text.encode("utf-8", "replace")
        self._file.write(raw)
        self._digest.update(raw)
        self._bytes += len(raw)
        self.state = dict(state)
        if time.monotonic() - self._marked >= MARK_SECONDS:
            self._mark()

    def finish(self) -> None:
        """Give the output its name."""
        self._mark()
        self._file.close()
        self.part.replace(self.path)
        self.mark_file.unlink()

    def close(self) -> None:
        """Leave the work as it is, to be taken up again; if there is none yet, leave nothing."""
        if not self._bytes:
            self._file.close()
            self.part.unlink(missing_ok=True)
            self.mark_file.unlink(missing_ok=True)
            return
        with suppress(OSError):
            self._mark()
        self._file.close()

    def _mark(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        mark = _Mark(identity=self.identity, bytes=self._bytes, digest=self._digest.hexdigest(), state=self.state)
        with replacing(self.mark_file) as file:
            file.write(json.dumps(mark, indent=1).encode())
        self._marked = time.monotonic()

    def _read_mark(self) -> _Mark:
        with suppress(ValueError, RecursionError):
            match json.loads(self.mark_file.read_bytes()):
                case {"identity": dict(identity), "bytes": int(size), "digest": str(digest), "state": dict(state)}:
                    known = all(isinstance(value, int | str) for value in state.values())
                    if known and size >= 0 and (state or not size):  # text without its state is no beginning
                        return _Mark(identity=identity, bytes=size, digest=digest, state=state)
        raise self._mismatch()

    def _mismatch(self) -> DataError:
        return DataError(f"it does not match {self.part.name}: the run cannot be resumed", path=self.mark_file)


def _locked(number: int) -> bool:
    """Lock an open file for as long as it is open, if no other process has; where there are no locks, go on."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _is_at(number: int, path: Path) -> bool:
    """Whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(number), os.stat(path))
    except FileNotFoundError:
        return False


def part_of(path: PathLike) -> Path:
    """Where an output stands until it is complete."""
    return Path(f"{os.fspath(path)}.part")


@contextmanager
def partial_output(
    path: PathLike, identity: Mapping[str, object], *, resume: bool = False
) -> Iterator[PartialOutput]:
    """An output that is complete when the block ends, and can be taken up again where the block was left.

    `identity` names what makes the output what it is; to resume it must be the same.

    >>> import tempfile
    >>> name = os.path.join(tempfile.mkdtemp(), "numbers.txt")
    >>> with suppress(KeyboardInterrupt), partial_output(name, {"first": 1}) as output:
    ...     output.append("1\\n", {"done": 1})
    ...     raise KeyboardInterrupt
    >>> with partial_output(name, {"first": 1}, resume=True) as output:
    ...     output.append(f"{int(output.state['done']) + 1}\\n", {"done": 2})
    >>> Path(name).read_text()
    '1\\n2\\n'
    """
    target = Path(path)
    if target.suffix.lower() in PACKED:
        raise DataError("this output cannot be compressed while it is written: compress it afterwards", path=path)
    if target.exists() and not target.is_file():
        raise DataError("this output must be a regular file", path=path)
    output = PartialOutput(target, identity)
    try:
        (output.resume if resume else output.begin)()
    except OSError as error:
        raise DataError(f"the file cannot be written ({error.strerror or error})", path=path) from error
    try:
        yield output
    except BaseException:
        output.close()
        raise
    output.finish()
