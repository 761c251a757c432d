"""Treebanks of every kind: reading, choosing, dividing, joining, naming by content."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from latentgram.data import files
from latentgram.data.conllu import parse_conllu
from latentgram.data.dependencies import DependencyTree
from latentgram.data.formats import format_of
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError, SettingError

LENGTHS = [1 + (7 * i) % 11 for i in range(40)]


def constituency(length: int, name: str) -> Tree:
    return Tree("S", tuple(Tree(f"T{i}", word=f"{name}{i}") for i in range(length)))


def dependency(length: int, name: str) -> DependencyTree:
    words = tuple(f"{name}{i}" for i in range(length))
    return DependencyTree(words, tuple(range(length)), xpos=tuple(f"T{i}" for i in range(length)))


def tagged(length: int, name: str) -> Sentence:
    return dependency(length, name).sentence


MAKERS = {"a.mrg": constituency, "a.conllu": dependency, "a.tsv": tagged}


@pytest.fixture(params=MAKERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def bank(name: str) -> Treebank:
    return Treebank.of(MAKERS[name](length, f"s{i}w") for i, length in enumerate(LENGTHS))


@pytest.mark.parametrize("packed", ["", ".gz", ".xz"])
def test_written_and_read_is_the_same(bank: Treebank, name: str, packed: str, tmp_path: Path):
    path = tmp_path / (name + packed)
    bank.write(path)
    again = Treebank.read(path)
    assert again == bank
    assert list(again) == list(bank)
    assert list(Treebank.stream(path)) == list(bank)
    assert again.skipped == ()
    assert Treebank.read([path, path]) == bank + bank
    # By content where the name says nothing.
    plain = tmp_path / f"unnamed{packed}"
    plain.write_bytes(path.read_bytes())
    assert Treebank.read(plain) == bank


def test_sequence(bank: Treebank):
    assert len(bank) == len(LENGTHS)
    assert bank[3] == list(bank)[3]
    assert bank[-1] == list(bank)[-1]
    assert list(bank[5:20:3]) == list(bank)[5:20:3]
    assert bank.lengths.tolist() == LENGTHS
    assert [s.words for s in bank.sentences()] == [tuple(item.words) for item in bank]
    assert all(s.xpos == tuple(f"T{i}" for i in range(len(s))) for s in bank.sentences())
    with pytest.raises(IndexError):
        bank[len(bank)]


def test_choosing(bank: Treebank):
    assert list(bank.where(lambda item: len(item) > 4)) == [item for item in bank if len(item) > 4]
    assert list(bank.up_to(4)) == [item for item in bank if len(item) <= 4]
    drawn = bank.sample(9, seed=4)
    assert drawn == bank.sample(9, seed=4)
    assert drawn != bank.sample(9, seed=5)
    places = [list(bank).index(item) for item in drawn]
    assert places == sorted(set(places))
    assert len(places) == 9
    with pytest.raises(SettingError, match="41 items"):
        bank.sample(41, seed=0)


@pytest.mark.parametrize("seed", [None, 3])
def test_splits_are_partitions_in_order(bank: Treebank, seed: int | None):
    parts = bank.split((0.7, 0.2, 0.1), seed)
    assert [len(part) for part in parts] == [28, 8, 4]
    places = [[list(bank).index(item) for item in part] for part in parts]
    everywhere = [place for part in places for place in part]
    assert sorted(everywhere) == list(range(40))
    assert all(part == sorted(part) for part in places)
    assert (everywhere == list(range(40))) == (seed is None)
    assert parts == bank.split((7, 2, 1), seed)
    for ratios in ((), (1, 0), (1, float("nan"))):
        with pytest.raises(SettingError, match="positive"):
            bank.split(ratios)


def test_digest_tells_content_and_order(bank: Treebank):
    digests = {part.digest for part in (bank, bank[1:], bank[::-1], bank + bank)}
    assert len(digests) == 4
    assert Treebank.of(list(bank)).digest == bank.digest
    assert (bank[:10] + bank[10:]).digest == bank.digest


def test_summary(bank: Treebank):
    summary = bank.summary
    assert (summary.sentences, summary.words) == (40, sum(LENGTHS))
    assert (summary.shortest, summary.longest) == (1, 11)
    assert summary.median == np.median(LENGTHS)
    assert "40 sentences" in str(summary)


def test_kinds_do_not_mix():
    trees, words = Treebank.of([constituency(2, "a")]), Treebank.of([tagged(2, "a")])
    with pytest.raises(DataError, match="cannot be joined"):
        _ = trees + words
    with pytest.raises(DataError, match="constituency treebank is needed, this one is tagged"):
        _ = words.forest
    with pytest.raises(DataError, match="dependency treebank is needed"):
        _ = trees.arrays
    for wrong in ([constituency(1, "a"), tagged(1, "a")], ["a"]):
        with pytest.raises(DataError, match="one kind"):
            Treebank.of(wrong)
    with pytest.raises(DataError, match="no trees or sentences"):
        Treebank.of([])


def test_an_empty_choice_keeps_its_kind(bank: Treebank):
    empty = bank.up_to(0)
    assert (len(empty), empty.kind, list(empty), empty.sentences()) == (0, bank.kind, [], [])
    assert empty.summary.words == 0
    assert empty + bank == bank


def test_faults_are_skipped_only_on_demand_and_counted(tmp_path: Path):
    good, bad = "1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n\n", "1\ta\t_\t_\t_\t_\t1\t_\t_\t_\n\n"
    (tmp_path / "a.conllu").write_text(good + bad + good)
    with pytest.raises(DataError, match=r"a\.conllu:3: "):
        Treebank.read(tmp_path)
    bank = Treebank.read(tmp_path, skip_bad=True)
    assert (len(bank), len(bank.skipped)) == (2, 1)
    (tmp_path / "a.conllu").unlink()
    (tmp_path / "a.mrg").write_text("(S (A a))\n(S (A a)))\n(S (B b))\n")
    with pytest.raises(DataError, match=r"a\.mrg:2:"):
        Treebank.read(tmp_path)
    bank = Treebank.read(tmp_path, skip_bad=True)
    assert (len(bank), len(bank.skipped)) == (3, 1)


def test_formats_by_content_and_mixed_folders(tmp_path: Path):
    contents = {
        "brackets": "\n( (S (A a)))\n",
        "conllu": "# text = a\n1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n\n",
        "tagged": "a\tX\n",
        "text": "a b c\n",
    }
    for format, content in contents.items():
        (tmp_path / format).write_text(content)
        assert format_of(tmp_path / format) == format
        assert len(Treebank.read(tmp_path / format)) == 1
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(DataError, match="empty"):
        Treebank.read(tmp_path / "empty")
    with pytest.raises(SettingError, match="no format 'penn'"):
        Treebank.read(tmp_path / "brackets", format="penn")
    with pytest.raises(DataError, match="but this is tagged"):
        Treebank.read([tmp_path / "brackets", tmp_path / "tagged"])
    (tmp_path / "a.mrg").write_text(contents["brackets"])
    assert len(Treebank.read(tmp_path, format="brackets")) == 1


def test_standard_input_is_recognised(monkeypatch: pytest.MonkeyPatch):
    raw = io.BufferedReader(io.BytesIO(b"a\tX\nb\tY\n\n"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw))
    assert Treebank.read("-")[0] == Sentence(("a", "b"), ("X", "Y"))


def test_sentences_stream_from_any_format(bank: Treebank, name: str, tmp_path: Path):
    bank.write(tmp_path / name)
    assert list(Treebank.stream_sentences(tmp_path / name)) == bank.sentences()


def test_sentences_may_lack_heads(tmp_path: Path):
    (tmp_path / "a.conllu").write_text("1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n")
    assert list(Treebank.stream_sentences(tmp_path)) == [Sentence(("a",), None, ("X",))]
    with pytest.raises(DataError, match="the head '_'"):
        list(Treebank.stream(tmp_path))


def test_projectivising_a_treebank():
    crossing = DependencyTree(("a", "b", "c", "d"), heads=(3, 4, 0, 3))
    bank, report = Treebank.of([crossing, dependency(3, "w")]).projectivise()
    assert (report.changed, report.sentences, report.words) == (1, 2, 7)
    assert bank.arrays.projective.all()
    assert bank.projectivise()[0] is bank
    assert bank.projectivise()[1].changed == 0


def test_streaming_does_not_read_ahead_of_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files, "BLOCK_BYTES", 16)
    (tmp_path / "a.tsv").write_text("a\tX\n\n" * 9 + "broken\n\n")
    stream = Treebank.stream(tmp_path / "a.tsv")
    assert [next(stream).words for _ in range(9)] == [("a",)] * 9
    with pytest.raises(DataError, match=":19: "):
        next(stream)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=st.lists(st.tuples(st.integers(0, 10_000), st.binary(max_size=3)), min_size=1, max_size=4))
def test_damaged_files_are_read_or_refused_with_one_sentence(
    bank: Treebank, name: str, edits: list[tuple[int, bytes]], tmp_path: Path
):
    if not (tmp_path / "good").exists():
        bank[:6].write(tmp_path / "good")
    raw = (tmp_path / "good").read_bytes()
    for place, piece in edits:
        place %= len(raw) + 1
        raw = raw[:place] + piece + raw[place + 1 :]
    (tmp_path / name).write_bytes(raw)
    refused = None
    try:
        again = Treebank.read(tmp_path / name)
        again.write(tmp_path / f"again-{name}")
        assert Treebank.read(tmp_path / f"again-{name}") == again
    except DataError as error:
        refused = error
    if refused is not None:
        assert refused.path == str(tmp_path / name)
        assert "\n" not in str(refused)


@pytest.mark.corpus
def test_real_treebanks(corpora: Path, tmp_path: Path):
    bank = Treebank.read(corpora / "constituency" / "wsj-sample" / "dev.mrg")
    assert (len(bank), bank.summary.words, bank.summary.longest) == (425, 10_315, 58)
    same = Treebank.read(corpora / "dependency" / "wsj-sample" / "dev.conllu")
    assert [s.words for s in bank.sentences()] == [s.words for s in same.sentences()]
    bank.write(tmp_path / "out.mrg")
    assert (tmp_path / "out.mrg").read_bytes() == (corpora / "constituency/wsj-sample/dev.mrg").read_bytes()
    assert parse_conllu("") == []
