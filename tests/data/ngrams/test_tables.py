"""Tables of n-grams: there and back, years, parts of speech, boundaries."""

import gzip
from collections import Counter
from pathlib import Path

import pytest

from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.ngrams.tables import is_table, read_table, write_table
from latentgram.data.tag_dictionary import TagDictionary
from latentgram.data.text import Text
from latentgram.errors import DataError, SettingError


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


def test_folders_of_web_1t_are_read_as_they_are(tmp_path: Path) -> None:
    """Its vocabulary is there twice, sorted by word and by count, and indexes lie beside the tables."""
    for name, lines in (
        ("1gms/vocab.gz", "</S>\t3\n<S>\t3\n<UNK>\t2\nrun\t4\n"),
        ("1gms/vocab_cs.gz", "run\t4\n</S>\t3\n<S>\t3\n<UNK>\t2\n"),
        ("1gms/total", "12\n"),
        ("2gms/2gm.idx", "2gm-0000.gz\t<S> run\n"),
        ("2gms/2gm-0000.gz", "<S> run\t3\n<UNK> </S>\t2\n"),
        ("2gms/2gm-0001.gz", "run </S>\t1\nrun <UNK>\t2\n"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        with gzip.open(tmp_path / name, "wt") if name.endswith(".gz") else open(tmp_path / name, "w") as out:
            out.write(lines)
    counts = NGramCounts.read(tmp_path)
    assert (counts["run"], counts["</s>"], counts["<unk>"], counts["run <unk>"]) == (4, 3, 2, 2)
    assert counts.repairs == {"files of totals and indexes left out": 3}


def test_google_books_of_2020_has_all_years_in_a_line(tmp_path: Path) -> None:
    lines = "_START_ run\t1990,2,1\t1991,1,1\nrun _END_\t1991,3,2\nrun\t1990,3,1\n_END_\t2001,3,1\n"
    counts = NGramCounts.read(table(tmp_path / "2-00000-of-00001", lines))
    assert dict(counts.items()) == {("</s>",): 3, ("run",): 3, ("<s>", "run"): 3, ("run", "</s>"): 3}


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


def test_lines_are_summed_whatever_their_form_and_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain lines are read in compiled code, others one by one, and equal n-grams are summed on the way."""
    monkeypatch.setattr("latentgram.data.ngrams.table_rows.MANY", 5)
    forms = ("{0}\t{1}", "{0}\t1990\t{1}\t7", "{0}\t1990,{1},2\t1991,0,1", "{0}\t {1} ", "{0}\tx\t{1}\ty", "")
    grams = (
        "a",
        "a\u2003rose",
        "a rose is",
        "</S>",
        "<s> a",
        "_START_ a",
        "is _END_",
        "run_VERB a",
        "é é é é é é",
    )
    lines, expected = [], Counter[tuple[str, ...]]()
    for number in range(300):
        form, gram = forms[number % len(forms)], grams[number % len(grams)]
        lines.append(form.format(gram, number))
        spelled = gram.replace("</S>", "</s>").replace("_START_", "<s>").replace("_END_", "</s>")
        if form and "_VERB" not in gram:
            expected[tuple(spelled.split())] += number
    counts = read_table(table(tmp_path / "t.tsv", "\n".join(lines)))
    assert all(counts[gram] == count for gram, count in expected.items() if len(gram) > 2)
    assert counts["<s>", "a"] == expected["<s>", "a"]
    dropped = sum(form != "" and grams[n % len(grams)] == "run_VERB a" for n, form in enumerate(forms * 50))
    assert counts.repairs["entries with parts of speech dropped"] == dropped


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
        ("a\t1\nb\tmany\n", r"t\.tsv:2: the count 'many' is not a non-negative integer"),
        ("a b\t-3\na\t1\n", r"t\.tsv:1: the count '-3' is not a non-negative integer"),
        ("a\t²\n", r"t\.tsv:1: the count '²' is not a non-negative integer"),
        ("a\t5000000000000000000\n" * 2, r"t\.tsv:1: the counts up to here sum to 5000000000000000000, but"),
        ("a\t9007199254740992\nb\t1\n", r"t\.tsv:2: the counts up to here sum to 9007199254740993, but"),
        ("a\t99999999999999999999999\n", r"t\.tsv:1: the counts up to here"),
        ("a b c d e f g\t1\n", r"t\.tsv:1: an n-gram has 1 to 6 words, not 7"),
        ("a\t1\n", r"t\.tsv: the table has neither boundary symbols"),
        ("", "has no n-grams"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, lines: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_table(table(tmp_path / "t.tsv", lines))


@pytest.mark.parametrize("name", ["c.tsv", "c.counts", "c.txt", "c.gz"])
def test_every_reader_of_counts_tells_a_table_by_its_first_line(tmp_path: Path, name: str) -> None:
    counts = NGramCounts.of(Text.of(["a rose is a rose", "roses are red"]), order=2)
    counts.write(tmp_path / name)
    assert is_table(tmp_path / name)
    assert dict(NGramCounts.read(tmp_path / name).items()) == dict(counts.items())
    with pytest.raises(SettingError, match="contains counts already"):
        NGramCounts.read(tmp_path / name, dictionary=TagDictionary.from_entries({"N"}, {"rose": {"N"}}))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("a b\t-3", True),
        ("a\t1990\t2\t1", True),
        ("a b\t3", True),
        ("a\tb", False),
        ("a b 3", False),
        ("\t3", False),
        ("a\t3\tb", False),
    ],
)
def test_text_is_no_table(tmp_path: Path, line: str, told: bool) -> None:
    assert is_table(table(tmp_path / "t.txt", f"\n{line}\nand so on\n")) is told
    assert not is_table("-")


def test_tables_and_text_at_once_are_refused(tmp_path: Path) -> None:
    files = [table(tmp_path / "a.txt", "a b\n"), table(tmp_path / "b.txt", "a b\t1\n")]
    with pytest.raises(DataError, match=r"b\.txt: this is a table of n-grams, but .*a\.txt is not"):
        NGramCounts.read(files)


def test_words_with_blanks_have_no_table(tmp_path: Path) -> None:
    counts = NGramCounts.of(Text.of([("13 819", "people")]), order=2)
    assert counts["13 819", "people"] == 1
    with pytest.raises(DataError, match="contains white space, which a table of n-grams cannot represent"):
        counts.write(tmp_path / "c.tsv")
    assert not (tmp_path / "c.tsv").exists()
