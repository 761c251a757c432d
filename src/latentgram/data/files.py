"""Opening and writing files: plain, `.gz`, `.xz`, `.bz2` or `-` (the standard streams), UTF-8, errors with lines.

Text is read in blocks of about a megabyte that end at a separator (a newline, a blank line), so a file of any
size is read in constant memory, and still decoded and split at full speed. Output is written under a temporary
name and renamed, so no incomplete file is ever left behind.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import secrets
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, TextIO, TypeVar, cast

from latentgram.errors import DataError
from latentgram.interrupt import naming, pause, short_lived

PathLike = str | os.PathLike[str]
"""What names a file; `-` is standard input or output."""

Precision = Literal["compact", "full"]
"""Of a model file: packed, with what matters little rounded; or every number to the last bit."""

Item = TypeVar("Item")

STANDARD = "-"
_Packed = gzip.GzipFile | lzma.LZMAFile | bz2.BZ2File
_PACKERS: dict[str, Callable[[BinaryIO, Literal["rb", "wb"]], _Packed]] = {
    # No name and no time inside: same content, same bytes.
    ".gz": lambda file, mode: gzip.GzipFile("", mode, fileobj=file, mtime=0),
    ".xz": lzma.LZMAFile,
    ".bz2": bz2.BZ2File,
}
PACKED = tuple(_PACKERS)
"""The endings of compressed files."""
BLOCK_BYTES = 1 << 20
"""How much of a file is read at a time."""
_UNDECODED = re.compile("[\udc80-\udcff]")
_FOREIGN = {
    b"\x1f\x8b": "gzip: its name must end in .gz",
    b"\xfd7zXZ\0": "xz: its name must end in .xz",
    b"BZh": "bzip2: its name must end in .bz2",
    b"\x28\xb5\x2f\xfd": "zstd: of compressed files gz, xz and bz2 are read",
    b"PK\x03\x04": "a zip archive: of compressed files gz, xz and bz2 are read",
}
"""How files begin that are no text, and what to say of them."""
_BINARY = getattr(os, "O_BINARY", 0)


MOST_DIGITS = 100
"""Longer numbers are not read: they mean nothing."""


def whole_number(text: str) -> int | None:
    """A number as people and programs write it, plain digits only; None for anything else, and for absurd ones.

    >>> whole_number("42"), whole_number("-1"), whole_number("²"), whole_number("9" * 5000)
    (42, None, None, None)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None


def is_pipe(path: PathLike) -> bool:
    """Whether a path is that of something that can be read only once, such as a pipe.

    >>> is_pipe("."), is_pipe("nowhere")
    (False, False)
    """
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def plain_suffix(path: PathLike) -> str:
    """The last suffix of a name in lower case, not counting that of a compression.

    >>> plain_suffix("wsj/train.MRG.gz"), plain_suffix("-")
    ('.mrg', '')
    """
    name = Path(path)
    return (name.with_suffix("") if name.suffix.lower() in PACKED else name).suffix.lower()


def expand(paths: PathLike | Iterable[PathLike], suffixes: tuple[str, ...] = ()) -> list[str]:
    """The files meant by a path or paths: a folder means the files below it, sorted by name.

    `suffixes` limits which files of a folder count (compressed ones too); files named one by one always count.
    """
    files: list[str] = []
    for path in [paths] if isinstance(paths, str | os.PathLike) else paths:
        if os.fspath(path) == STANDARD or not os.path.isdir(path):
            files.append(os.fspath(path))
            continue
        below = sorted(str(file) for file in Path(path).rglob("[!.]*") if file.is_file())
        counted = [file for file in below if not suffixes or plain_suffix(file) in suffixes]
        if not counted:
            kinds = f" ending in {', '.join(suffixes)}" if suffixes else ""
            raise DataError(f"the folder has no files{kinds}", path=path)
        files.extend(counted)
    return files


class Meter:
    """How many of the bytes of some files, as they lie on the disk, have been read; see `metered`."""

    def __init__(self, files: Iterable[str], told: Callable[[int, int], None] | None = None) -> None:
        self.names = frozenset(files)
        self.total = sum(os.path.getsize(name) for name in self.names if os.path.isfile(name))
        self.done = 0
        self._told = told

    def add(self, read: int) -> None:
        """So many bytes more are read."""
        self.done += read
        if self._told is not None:
            self._told(self.done, self.total)


_METERS: list[Meter] = []
"""Those that count at the moment; a file is counted by the latest one that knows it.

Not a context variable: a reader that is given up may be closed by another thread.
"""


@contextmanager
def metered(files: Iterable[str], told: Callable[[int, int], None] | None = None) -> Iterator[Meter]:
    """Count the bytes read of these files while the block runs; `told` hears of those read, and of all."""
    meter = Meter(files, told)
    _METERS.append(meter)
    try:
        yield meter
    finally:
        _METERS.remove(meter)


@dataclass
class Expected:
    """How many items files hold, judged by the items and bytes read so far: None at first, exact at last."""

    total: int | None = None

    def watch(self, items: Iterable[Item], files: Iterable[str]) -> Iterator[Item]:
        """Pass items through that are read from these files."""
        before = number = 0
        with metered(name for name in files if name != STANDARD) as meter:
            for number, item in enumerate(items, 1):
                pause()
                if meter.done != before:
                    # A new block of a file: the items so far were in the bytes before it.
                    if before:
                        self.total = round((number - 1) * meter.total / before)
                    before = meter.done
                yield item
        self.total = number


class _CountedFile(io.RawIOBase):
    """A file that tells a meter what is read of it."""

    def __init__(self, name: str, meter: Meter) -> None:
        self._file, self._meter = io.FileIO(name), meter

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        read = self._file.readinto(buffer) or 0
        self._meter.add(read)
        return read

    def close(self) -> None:
        self._file.close()
        super().close()


def _opened(name: str) -> BinaryIO:
    for meter in reversed(_METERS):
        if name in meter.names:
            return cast(BinaryIO, io.BufferedReader(_CountedFile(name, meter)))
    return open(name, "rb")


@contextmanager
def _packed(name: str, file: BinaryIO, mode: Literal["rb", "wb"]) -> Iterator[BinaryIO]:
    """A file as its name says it is compressed."""
    packer = _PACKERS.get(Path(name).suffix.lower())
    if packer is None:
        yield file
        return
    with packer(file, mode) as packed:
        yield cast(BinaryIO, packed)


@contextmanager
def open_bytes(path: PathLike) -> Iterator[BinaryIO]:
    """A file opened for reading and uncompressed by its name; what is missing or damaged gives a `DataError`."""
    name = os.fspath(path)
    try:
        if name == STANDARD:
            yield sys.stdin.buffer
            return
        with _opened(name) as file, _packed(name, file, "rb") as plain:
            yield plain
    except FileNotFoundError as error:
        raise DataError("there is no such file", path=name) from error
    except IsADirectoryError as error:
        raise DataError("this is a folder, not a file", path=name) from error
    except EOFError as error:
        raise DataError("the compressed file is truncated", path=name) from error
    except (gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise DataError(
            f"the compressed file is damaged or does not match its extension ({error})", path=name
        ) from error
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror or error})", path=name) from error


def read_blocks(
    path: PathLike, separator: str = "\n", *, lenient: bool = False, keep_returns: bool = False
) -> Iterator[tuple[int, str]]:
    """The text in blocks that end with `separator` (the last one perhaps not), each with its first line number.

    Lines may end in `\\n` or `\\r\\n`; the latter come out as the former, unless they are to be kept. A byte-order
    mark is dropped. Bytes that are not UTF-8 raise; or, `lenient`, they stay in the text for `check_text` to find.
    """
    cuts = [separator.encode()]
    if keep_returns:
        cuts.append(cuts[0].replace(b"\n\n", b"\n\r\n"))
    decode = _decode_leniently if lenient else _decode
    line = 1
    with open_bytes(path) as file:
        rest = b""
        for raw in _chunks(file, keep_returns, path):
            whole = rest + raw
            end = max((place + len(cut) for cut in cuts if (place := whole.rfind(cut)) >= 0), default=0)
            if not end:
                rest = whole
                continue
            yield line, decode(whole[:end], path, line)
            line += whole.count(b"\n", 0, end)
            rest = whole[end:]
        if rest:
            yield line, decode(rest, path, line)


def refuse_foreign(beginning: bytes, path: PathLike) -> None:
    """Raise if a file begins as no text does, but a model or a compressed file."""
    if beginning[8:10] == b'{"' and b"\0" in beginning[:8] and b'"latentgram"' in beginning:
        raise DataError("this is a model file of latentgram, but text or trees are expected here", path=path)
    for magic, what in _FOREIGN.items():
        if beginning.startswith(magic):
            raise DataError(f"this is {what}", path=path)


def _chunks(file: BinaryIO, keep_returns: bool, path: PathLike) -> Iterator[bytes]:
    """Pieces of about a megabyte without byte-order mark and, unless kept, carriage returns at line ends."""
    first = True
    held = b""
    # From a pipe or a terminal take what is there, so that answers come while questions are still being typed.
    read = sys.stdin.buffer.read1 if file is sys.stdin.buffer else file.read  # type: ignore[attr-defined]
    while raw := read(BLOCK_BYTES):
        pause()
        if first:
            refuse_foreign(raw, path)
            raw, first = raw.removeprefix(codecs.BOM_UTF8), False
        if keep_returns:
            yield raw
            continue
        raw = held + raw
        held = b"\r" if raw.endswith(b"\r") else b""
        if b"\r" in raw:
            raw = raw[: len(raw) - len(held)].replace(b"\r\n", b"\n")
        yield raw
    if held:
        yield held


def _decode(raw: bytes, path: PathLike, line: int) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        check_text(_decode_leniently(raw, path, line), path, line)
        raise


def _decode_leniently(raw: bytes, path: PathLike, line: int) -> str:
    """Text in which a byte that is not UTF-8 is a lone surrogate, which no UTF-8 text can hold."""
    return raw.decode("utf-8", "surrogateescape")


def check_text(text: str, path: PathLike | None, line: int) -> None:
    """Raise the error of the first byte that is not UTF-8 in text that was read leniently and begins at a line."""
    foul = None if text.isascii() else _UNDECODED.search(text)
    if foul is None:
        return
    before = text[: foul.start()]
    raise DataError(
        f"byte 0x{ord(foul[0]) - 0xDC00:02x} is not UTF-8 text; convert the file to UTF-8",
        path=path,
        line=line + before.count("\n"),
        column=len(before) - before.rfind("\n"),
    )


def read_text(path: PathLike) -> str:
    """A whole file as text."""
    return "".join(text for _, text in read_blocks(path))


def read_lines(path: PathLike, *, bad: list[DataError] | None = None) -> Iterator[tuple[int, str]]:
    """Numbered lines without their newlines, streaming.

    A line that is not UTF-8 raises, unless `bad` is given: then it is left out and its error appended there.
    """
    for first, text in read_blocks(path, lenient=bad is not None):
        numbered = enumerate(text.removesuffix("\n").split("\n"), first)
        if bad is None:
            yield from numbered
            continue
        for number, line in numbered:
            try:
                check_text(line, path, number)
            except DataError as error:
                bad.append(error)
            else:
                yield number, line


def paragraphs(text: str, first: int = 1) -> Iterator[tuple[int, str]]:
    """What stands between blank lines, with the number of its first line; the text begins at line `first`.

    >>> list(paragraphs("a\\nb\\n\\n\\nc\\n"))
    [(1, 'a\\nb'), (5, 'c')]
    """
    line = first
    for part in text.split("\n\n"):
        if body := part.strip("\n"):
            yield line + len(part) - len(part.lstrip("\n")), body
        line += part.count("\n") + 2


@contextmanager
def write_bytes(path: PathLike) -> Iterator[BinaryIO]:
    """A file to write, compressed by its name, that appears whole when the block ends and not at all if it fails.

    `-` is standard output.
    """
    name = os.fspath(path)
    if name == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.flush()
        return
    with replacing(name) as plain, _packed(name, plain, "wb") as file:
        yield file


@contextmanager
def replacing(path: PathLike) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when the block ends; if the block fails, all is as it was.

    The contents reach the disk before the name does. Parent folders are made, a link stays a link, an old file's
    mode is kept, and into a device or a pipe it is written straight.
    """
    name = os.fspath(path)
    try:
        mode = os.stat(name).st_mode if os.path.exists(name) else None
        if mode is not None and not stat.S_ISREG(mode):
            with open(name, "wb") as file:
                yield file
            return
        if mode is not None and not os.access(name, os.W_OK):
            raise DataError("the file is read-only", path=name)
        target = Path(os.path.realpath(name))
        target.parent.mkdir(parents=True, exist_ok=True)
        with short_lived(target.with_name(f".{secrets.token_hex(8)}.part")) as draft:
            try:
                with naming():
                    number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
                with open(number, "wb") as file:
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                if mode is not None:
                    draft.chmod(stat.S_IMODE(mode))
                with naming():
                    draft.replace(target)
            except BaseException:
                with suppress(OSError):
                    draft.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise DataError(f"the file cannot be written ({error.strerror or error})", path=name) from error
    with suppress(OSError):  # where the system lets folders be flushed, the new name reaches the disk too
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def write_text(path: PathLike) -> Iterator[TextIO]:
    """`write_bytes` for text: UTF-8, newlines as they are."""
    with write_bytes(path) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
        try:
            yield text
        finally:
            # Else the wrapper would close what it wraps, standard output included.
            text.detach()
