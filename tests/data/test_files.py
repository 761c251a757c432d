"""Files stream in blocks, come back as they were written, and faults name their place."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from latentgram.data import files
from latentgram.errors import DataError

TEXT = "one\n\ntwo é\nthree\n\n" * 50


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.txt.xz"])
@pytest.mark.parametrize("block", [1, 2, 7, 1 << 20])
def test_round_trip_in_blocks_of_any_size(tmp_path: Path, name: str, block: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files, "BLOCK_BYTES", block)
    path = tmp_path / "new" / name
    with files.write_text(path) as out:
        out.write(TEXT)
    assert files.read_text(path) == TEXT
    lines = list(files.read_lines(path))
    assert [line for _, line in lines] == TEXT.removesuffix("\n").split("\n")
    assert [number for number, _ in lines] == list(range(1, len(lines) + 1))
    blocks = list(files.read_blocks(path, "\n\n"))
    assert "".join(text for _, text in blocks) == TEXT
    for first, text in blocks:
        assert text.endswith("\n\n")
        assert first == TEXT[: TEXT.index(text)].count("\n") + 1 or block < len(TEXT)
    assert [first for first, _ in blocks] == [
        1 + sum(text.count("\n") for _, text in blocks[:i]) for i in range(len(blocks))
    ]


@pytest.mark.parametrize("block", [1, 3, 1 << 20])
def test_carriage_returns_and_byte_order_mark_are_dropped(tmp_path: Path, block: int, monkeypatch):
    monkeypatch.setattr(files, "BLOCK_BYTES", max(block, 3))
    (tmp_path / "dos.txt").write_bytes(b"\xef\xbb\xbfa\r\nb\r\n\r\nc")
    assert files.read_text(tmp_path / "dos.txt") == "a\nb\n\nc"


def test_compressed_files_are_the_same_bytes_each_time(tmp_path: Path):
    for name in ("a.gz", "b.gz"):
        with files.write_text(tmp_path / name) as out:
            out.write(TEXT)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()).decode() == TEXT


def test_a_failed_write_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail() -> None:
        with files.write_text(path) as out:
            out.write("new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


def test_wrong_encoding_names_line_and_column(tmp_path: Path):
    path = tmp_path / "latin.txt"
    path.write_bytes("fine é\ncaf".encode() + "é\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"latin\.txt:2:4: byte 0xe9 is not UTF-8"):
        files.read_text(path)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_cut_and_damaged_compressed_files(tmp_path: Path, pack):
    path = tmp_path / ("a.gz" if pack is gzip.compress else "a.xz")
    whole = pack(bytes(range(256)) * 40)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="truncated"):
        list(files.read_blocks(path))
    path.write_bytes(b"not compressed at all")
    with pytest.raises(DataError, match="damaged or does not match its extension"):
        list(files.read_blocks(path))


def test_missing_files_folders_and_expansion(tmp_path: Path):
    with pytest.raises(DataError, match="no such file"):
        list(files.read_lines(tmp_path / "nothing"))
    with pytest.raises(DataError, match="a folder"):
        list(files.read_lines(tmp_path))
    with pytest.raises(DataError, match=r"no files ending in \.mrg"):
        files.expand(tmp_path, (".mrg",))
    for name in ("b.mrg.gz", "a.mrg", "c.txt", ".hidden.mrg"):
        (tmp_path / name).touch()
    assert files.expand(tmp_path, (".mrg",)) == [str(tmp_path / "a.mrg"), str(tmp_path / "b.mrg.gz")]
    assert files.expand(["-", tmp_path / "c.txt"], (".mrg",)) == ["-", str(tmp_path / "c.txt")]


def test_standard_streams(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("né\n".encode())))
    assert files.read_text("-") == "né\n"
    with files.write_text("-") as out:
        out.write("né\n")
    assert capsysbinary.readouterr().out == "né\n".encode()


def test_a_pipe_is_read_as_it_comes(monkeypatch: pytest.MonkeyPatch):
    reading, writing = os.pipe()
    with open(reading, "rb") as pipe, open(writing, "wb", buffering=0) as feed:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(pipe))
        lines = files.read_lines("-")
        for number in (1, 2, 3):
            feed.write(f"line {number}\n".encode())
            assert next(lines) == (number, f"line {number}")
        feed.close()
        assert list(lines) == []


def test_a_reader_that_is_given_up_may_be_closed_by_another_thread(tmp_path: Path) -> None:
    """As the garbage collector does; afterwards its files are no longer counted."""
    path = tmp_path / "text.txt"
    path.write_text("a rose\n")

    def watched() -> Iterator[files.Meter]:
        with files.metered([str(path)]) as meter:
            yield meter

    reader = watched()
    meter = next(reader)
    files.read_text(path)
    assert meter.done == 7
    with ThreadPoolExecutor(1) as other:
        other.submit(reader.close).result()
    files.read_text(path)
    assert meter.done == 7
