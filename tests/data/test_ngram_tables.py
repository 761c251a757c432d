"""Tables of n-grams: there and back, years, parts of speech, boundaries."""

from pathlib import Path

import pytest

from latentgram.data.ngram_counts import NGramCounts
from latentgram.data.ngram_tables import read_table, write_table
from latentgram.data.text import Text
from latentgram.errors import DataError


def table(path: Path, lines: str) -> Path:
    path.write_text(lines)
    return path


def test_there_and_back(tmp_path: Path) -> None:
    counts = NGramCounts.of(Text.of(["a rose is a rose", "a rose is red", "roses are red"]), order=4, cutoff=2)
    write_table(counts, tmp_path / "counts.tsv.gz")
    again = read_table(tmp_path / "counts.tsv.gz")
    assert dict(again.items()) == dict(counts.items())
    assert not again.repairs


def test_years_are_summed_and_parts_of_speech_dropped(tmp_path: Path) -> None:
    lines = "<S> run\t3\nrun </S>\t3\nrun\t1990\t2\t1\nrun\t1991\t1\t1\nrun_VERB\t9\n_NOUN_ run\t9\n</S>\t3\n"
    counts = read_table(table(tmp_path / "t.tsv", lines))
    assert dict(counts.items()) == {("</s>",): 3, ("run",): 3, ("<s>", "run"): 3, ("run", "</s>"): 3}
    assert counts.repairs == {"entries with parts of speech dropped": 2}


def test_boundaries_are_found_by_punctuation(tmp_path: Path) -> None:
    lines = "he\t4\nran\t4\n.\t4\nhe ran\t4\nran .\t4\n. he\t3\nran . he\t3\nhe ran .\t4\n. he ran\t3\n"
    counts = read_table(table(tmp_path / "t.tsv", lines))
    assert counts["</s>",] == 4
    assert counts[".", "</s>"] == 4
    assert counts["ran", ".", "</s>"] == 4
    assert counts["<s>", "he"] == 3
    assert counts["<s>", "he", "ran"] == 3
    assert counts["ran", ".", "he"] == 0
    assert counts.repairs["n-grams across a found boundary dropped"] == 1


def test_missing_parts_are_added_and_counted(tmp_path: Path) -> None:
    counts = read_table(table(tmp_path / "t.tsv", "</s>\t5\na\t2\nb\t5\n<s> a b\t3\nb </s>\t4\n"))
    assert counts["<s>", "a"] == 3
    assert counts["a", "b"] == 3
    assert counts["a",] == 3
    assert counts.repairs == {
        "missing parts of n-grams added": 2,
        "counts raised to those of longer n-grams": 1,
    }


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("a b\n", r"t\.tsv:1: expected 'words<TAB>count'"),
        ("a\t1\nb\tmany\n", r"t\.tsv:2: the count 'many' is not a whole number"),
        ("a b c d e f\t1\n", r"t\.tsv:1: an n-gram has 1 to 5 words, not 6"),
        ("a\t1\n", "neither boundary symbols"),
        ("", "has no n-grams"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, lines: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_table(table(tmp_path / "t.tsv", lines))
