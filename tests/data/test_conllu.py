"""CoNLL-U comes out as it went in, and every fault is named with its line."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from latentgram.data import files
from latentgram.data.conllu import parse_conllu, read_conllu, to_conllu, write_conllu
from latentgram.data.dependencies import UNATTACHED, DependencyArrays, projectivise
from latentgram.errors import DataError

ODD = """\
# sent_id = 1
# text = Vámonos al mar , à
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tVamos\tir\tVERB\t_\tMood=Imp\t0\troot\t0:root\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t1:obj\t_
2.1\tx\t_\t_\t_\t_\t_\t_\t1:dep\tCopyOf=1
2.2\ty\t_\t_\t_\t_\t_\t_\t1:dep\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\t_\t_\t5\tcase\t_\t_
4\tel\tel\tDET\t_\t_\t5\tdet\t_\t_
5\tmar\tmar\tNOUN\t_\t_\t1\tobl\t_\tGloss=to the sea
6\t 1 000\t1 000\tNUM\t_\t_\t5\tnummod\t_\t_
6.1\tend\t_\t_\t_\t_\t_\t_\t_\t_

# sent_id = 2
1\tSí\tsí\tINTJ\t_\t_\t0\troot\t_\t_

"""


def test_odd_sentences_come_out_as_they_went_in():
    trees = parse_conllu(ODD)
    assert "".join(map(to_conllu, trees)) == ODD
    assert trees[0].words == ("Vamos", "nos", "a", "el", "mar", " 1 000")
    assert trees[0].heads == (0, 1, 5, 5, 1, 5)
    assert [before for before, _ in trees[0].extra_rows] == [0, 2, 2, 2, 6]


@pytest.mark.parametrize("name", ["a.conllu", "a.conllu.gz", "a.conllu.xz"])
@pytest.mark.parametrize("block", [5, 100, 1 << 20])
def test_files_folders_and_blocks(tmp_path: Path, name: str, block: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files, "BLOCK_BYTES", block)
    write_conllu(tmp_path / name, parse_conllu(ODD * 3))
    assert files.read_text(tmp_path / name) == ODD * 3
    assert list(read_conllu(tmp_path)) == parse_conllu(ODD * 3)


def row(identity: str, head: str) -> str:
    return f"{identity}\tw\tw\tX\tX\t_\t{head}\tdep\t_\t_\n"


GOOD = "# one\n" + row("1", "0") + row("1.1", "_") + row("2", "1") + "\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("1\tw\tw\n\n", 1, "ten columns separated by tabs, this one has 3"),
        (row("1", "0").replace("\n", "\t_\n") + "\n", 1, "this one has 11"),
        ("# c\n1 w w X X _ 0 dep _ _\n\n", 2, "this one has 1"),
        (row("x", "0") + "\n", 1, "the id 'x' is not a number"),
        (row("1", "0") + row("3", "1") + "\n", 2, "the id is 3, but 2 was expected"),
        (row("0", "0") + "\n", 1, "the id is 0, but 1 was expected"),
        (
            "# c\n" + row("1-2", "_") + row("1", "0") + row("2", "one") + "\n",
            4,
            "the head 'one' is neither the number of a word",
        ),
        (row("1", "_") + "\n", 1, "the head '_' is neither the number of a word"),
        (row("1", "00") + "\n", 1, "the head '00' is neither the number of a word"),
        (row("1", "1.5") + "\n", 1, "the head '1.5' is neither the number of a word"),
        (row("1", "0") + row("2", "0") + "\n", 2, "second root"),
        ("# c\n" + row("1-2", "_") + row("1", "0") + row("1.1", "_") + row("2", "7") + "\n", 5, "out of 0 to 2"),
        (row("1", "9999") + "\n", 1, "out of 0 to 1"),
        (row("1", "0") + row("2", "3") + row("3", "2") + "\n", 2, "cycle at word 2"),
        (row("1", "1") + "\n", 1, "cycle at word 1"),
        ("# only comments\n\n", 1, "comments without a sentence"),
        (row("1-2", "_") + "\n", 1, "no words"),
        (row("1", "0") + row("2", "1"), 2, "ends within a sentence"),
        (row("1", "0") + row("2", "1")[:-1], 2, "ends within a sentence"),
        (row("1", "0") + "2\tw", 2, "this one has 2"),
    ],
)
def test_faults_name_their_line_and_can_be_skipped(tmp_path: Path, text: str, line: int, message: str):
    path = tmp_path / "a.conllu"
    path.write_text(GOOD + "\n\n" + GOOD + text)
    with pytest.raises(DataError, match=message) as caught:
        list(read_conllu(path))
    assert caught.value.path == str(path)
    assert caught.value.line == line + 12
    bad: list[DataError] = []
    assert len(list(read_conllu(path, bad=bad))) == 2
    assert [str(error) for error in bad] == [str(caught.value)]


def test_the_first_fault_of_many_is_raised_and_all_are_counted():
    text = GOOD + row("1", "1") + "\n" + row("x", "0") + "\n" + GOOD
    with pytest.raises(DataError, match="cycle"):
        parse_conllu(text)
    bad: list[DataError] = []
    assert len(parse_conllu(text, bad=bad)) == 2
    assert [error.line for error in bad] == [6, 8]


@pytest.mark.parametrize("heads", [("_", "_"), ("0", "0"), ("2", "1"), ("9", "x")])
def test_heads_of_text_still_to_be_parsed_are_not_looked_at(heads: tuple[str, str]):
    text = row("1", heads[0]) + row("2", heads[1]) + "\n"
    (tree,) = parse_conllu(text, heads=False)
    assert tree.heads == (UNATTACHED, UNATTACHED)
    assert tree.words == parse_conllu(row("1", "0") + row("2", "1") + "\n")[0].words
    with pytest.raises(DataError):
        parse_conllu(text)


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_line_ends_come_out_as_they_went_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int):
    monkeypatch.setattr(files, "BLOCK_BYTES", size)
    text = ODD.replace("\n", "\r\n") + ODD + ODD.replace("\n", "\r\n")
    (tmp_path / "a.conllu").write_bytes(text.encode())
    trees = list(read_conllu(tmp_path / "a.conllu"))
    third = len(trees) // 3
    assert [tree.line_end for tree in trees] == ["\r\n"] * third + ["\n"] * third + ["\r\n"] * third
    assert [tree.replace(line_end="\n") for tree in trees[:third]] == trees[third : 2 * third]
    write_conllu(tmp_path / "b.conllu", trees)
    assert (tmp_path / "b.conllu").read_bytes() == text.encode()
    (tmp_path / "bad.conllu").write_bytes(text.encode() + row("1", "1").encode() + b"\r\n")
    with pytest.raises(DataError, match=rf"bad\.conllu:{text.count(chr(10)) + 1}:"):
        list(read_conllu(tmp_path / "bad.conllu"))


def test_wrong_encoding_names_its_line(tmp_path: Path):
    (tmp_path / "a.conllu").write_bytes(GOOD.encode() + row("1", "0").replace("X", "é").encode("latin-1") + b"\n")
    with pytest.raises(DataError, match=r"a\.conllu:6:7: byte 0xe9"):
        list(read_conllu(tmp_path / "a.conllu"))
    bad: list[DataError] = []
    assert len(list(read_conllu(tmp_path / "a.conllu", bad=bad))) == 1
    assert [(error.line, error.column) for error in bad] == [(6, 7)]


def test_a_sentence_longer_than_the_table_of_numerals():
    text = "".join(row(str(i + 1), str(i)) for i in range(5000)) + "\n"
    assert to_conllu(parse_conllu(text)[0]) == text


@pytest.mark.parametrize("column", ["words", "deprels", "misc"])
@pytest.mark.parametrize("character", ["\t", "\n"])
def test_what_the_format_cannot_carry_is_not_written(tmp_path: Path, column: str, character: str):
    tree = parse_conllu(GOOD)[0].replace(**{column: ("a", f"b{character}c")})
    with pytest.raises(DataError, match="cannot represent"):
        write_conllu(tmp_path / "a.conllu", [tree])
    assert not list(tmp_path.iterdir())


@pytest.mark.corpus
def test_real_treebanks_are_lossless_and_projectivised(corpora: Path, tmp_path: Path):
    paths = sorted((corpora / "dependency").rglob("*.conllu"))
    assert paths
    for path in paths:
        trees = list(read_conllu(path))
        write_conllu(tmp_path / "out.conllu", trees)
        assert (tmp_path / "out.conllu").read_bytes() == path.read_bytes(), path
        before = DependencyArrays.of(trees)
        lifted, report = projectivise(trees)
        after = DependencyArrays.of(lifted)
        assert not after.faults[0].any()
        assert after.projective.all()
        assert all((new is old) == good for new, old, good in zip(lifted, trees, before.projective, strict=True))
        assert report.changed == (~before.projective).sum()
        # The table of the corpora's own description says at least 95 % are projective.
        assert report.changed <= 0.05 * report.sentences


@pytest.mark.corpus
def test_reading_is_fast(corpora: Path):
    path = corpora / "dependency" / "en_ewt" / "train.conllu"
    list(read_conllu(corpora / "dependency" / "fr_sequoia" / "dev.conllu"))
    begin = time.process_time()
    words = sum(len(tree) for tree in read_conllu(path))
    seconds = time.process_time() - begin
    assert words == 204_577
    assert words / seconds > 100_000
