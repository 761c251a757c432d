"""Tagged and plain text: columns, streaming, and the lines of faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from latentgram.data import files
from latentgram.data.sentence import Sentence
from latentgram.data.tagged import read_sentences, read_tagged, write_sentences
from latentgram.data.tokenise import Tokeniser, read_raw
from latentgram.errors import DataError, SettingError

TEXT = "The\tDT\tDET\ncat\tNN\tNOUN\n\n\nSleep\tVB\tVERB\n\n"


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz", "a.tsv.xz"])
@pytest.mark.parametrize("block", [3, 17, 1 << 20])
def test_columns(tmp_path: Path, name: str, block: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files, "BLOCK_BYTES", block)
    with files.write_text(tmp_path / name) as out:
        out.write(TEXT)
    first, second = read_tagged(tmp_path)
    assert first == Sentence(("The", "cat"), ("DT", "NN"))
    assert second.words == ("Sleep",)
    assert [s.tags for s in read_tagged(tmp_path, column=2)] == [("DET", "NOUN"), ("VERB",)]
    both = list(read_tagged(tmp_path, coarse=2))
    assert both[0].upos == ("DET", "NOUN")
    write_sentences(tmp_path / "again.tsv", both)
    assert files.read_text(tmp_path / "again.tsv") == TEXT.replace("\n\n\n", "\n\n")


def test_the_last_blank_line_may_be_missing(tmp_path: Path):
    (tmp_path / "a.tsv").write_text("a\tX\nb\tY")
    assert [s.words for s in read_tagged(tmp_path / "a.tsv")] == [("a", "b")]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a\tX\nb\n\n", 2, "1 columns separated by tabs, but column 2"),
        ("a\tX\n\n\nb\tX\nc\n\n", 5, "column 2"),
        ("a\tX\n\tX\n\n", 2, "no word"),
        ("a\t\n\n", 1, "no tag"),
    ],
)
def test_faults_have_lines_and_can_be_skipped(tmp_path: Path, text: str, line: int, message: str):
    path = tmp_path / "a.tsv"
    path.write_text(text + "good\tX\n\n")
    with pytest.raises(DataError, match=message) as caught:
        list(read_tagged(path))
    assert caught.value.line == line
    bad: list[DataError] = []
    kept = list(read_tagged(path, bad=bad))
    assert kept[-1].words == ("good",)
    assert len(bad) == 1


def test_columns_count_from_the_word(tmp_path: Path):
    with pytest.raises(SettingError, match="1 or more"):
        list(read_tagged(tmp_path, column=0))


def test_plain_text(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_text("The  cat sleeps .\n\n Yes !\n")
    sentences = list(read_sentences(path))
    assert [s.words for s in sentences] == [("The", "cat", "sleeps", "."), ("Yes", "!")]
    write_sentences(path, sentences)
    assert path.read_text() == "The cat sleeps .\nYes !\n"


@pytest.mark.parametrize(
    ("name", "read", "text"),
    [
        ("a.txt", read_sentences, b"a b\n\xc3\xa9 \xe9 d\ne\n"),
        ("a.tsv", read_tagged, b"a\tX\n\n\xc3\xa9 \xe9\tX\n\nb\tX\n"),
        ("raw.txt", lambda path, **more: read_raw(path, Tokeniser(), **more), b"a b\n\xc3\xa9 \xe9 d\ne\n"),
    ],
)
def test_what_is_not_utf8_raises_or_is_left_out_and_counted(tmp_path: Path, name: str, read: Any, text: bytes):
    path = tmp_path / name
    path.write_bytes(text)
    line = 1 + text[: text.index(b"\xe9")].count(b"\n")
    with pytest.raises(DataError, match=rf"{name}:{line}:3: byte 0xe9 is not UTF-8"):
        list(read(path))
    bad: list[DataError] = []
    assert len(list(read(path, bad=bad))) == 2
    assert [(error.line, error.column) for error in bad] == [(line, 3)]


@pytest.mark.parametrize("sentence", [Sentence(("a b",)), Sentence(("a\tb",), ("X",))])
def test_what_the_format_cannot_carry_is_not_written(tmp_path: Path, sentence: Sentence):
    with pytest.raises(DataError, match="cannot represent"):
        write_sentences(tmp_path / "a", [sentence])
    assert not list(tmp_path.iterdir())


@pytest.mark.corpus
def test_real_corpora(corpora: Path, tmp_path: Path):
    path = corpora / "tagged" / "brown" / "dev.tsv"
    sentences = list(read_tagged(path, coarse=2))
    assert (len(sentences), sum(map(len, sentences))) == (4970, 104_720)
    write_sentences(tmp_path / "out.tsv", sentences)
    assert (tmp_path / "out.tsv").read_bytes() == path.read_bytes()
