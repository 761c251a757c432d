"""Counts by way of files against counts in memory, and what is left behind when they fail."""

import errno
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from latentgram.data.ngrams import external
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.ngrams.external import memory_size, write_counts
from latentgram.data.ngrams.kernels import _sort, count_sorted
from latentgram.data.ngrams.tables import write_table
from latentgram.data.sentence import Sentence
from latentgram.data.tag_dictionary import TagDictionary
from latentgram.data.text import Text
from latentgram.errors import DataError, SettingError

SMALL = "16M"
words = st.sampled_from("abcdefg")
texts = st.lists(st.lists(words, min_size=0, max_size=9), min_size=1, max_size=40)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of a few sentences, buffers of a few rows, so that short texts go all ways."""
    monkeypatch.setattr(external, "TOKEN_BYTES", 1 << 30)
    monkeypatch.setattr(external, "LEAST_PIECE", 12)
    monkeypatch.setattr(external, "BUFFER", 3)


def assert_same(found: NGramCounts, expected: NGramCounts) -> None:
    assert found.words == expected.words
    assert (found.cutoffs, found.repairs) == (expected.cutoffs, expected.repairs)
    assert found.provenance == expected.provenance
    for name in ("level", "word", "prefix", "suffix"):
        np.testing.assert_array_equal(getattr(found.trie, name), getattr(expected.trie, name))
    np.testing.assert_array_equal(found.count, expected.count)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts, st.integers(1, 5), st.sampled_from([1, 2, 3, (2, 1, 2), (1, 3, 2)]), st.booleans())
def test_counts_are_those_in_memory(tiny: None, tmp_path: Path, text, order: int, cutoff, bigrams: bool) -> None:
    order = order if isinstance(cutoff, int) else 3
    file = tmp_path / "text"
    file.write_text("".join(" ".join(line) + "\n" for line in text).rstrip("\n"))
    if not any(text):
        return
    given = {"order": order, "cutoff": cutoff, "all_bigrams": bigrams}
    expected = NGramCounts.of(Text.read(file), **given)
    assert_same(NGramCounts.read(file, memory=SMALL, temporary=tmp_path / "work", **given), expected)
    if cutoff != (1, 3, 2):
        sizes = write_counts([file], tmp_path / "table", memory=SMALL, temporary=tmp_path / "work", **given)
        write_table(expected, tmp_path / "expected")
        assert (tmp_path / "table").read_text() == (tmp_path / "expected").read_text()
        assert sizes == np.diff(expected.trie.level).tolist()
    assert not list((tmp_path / "work").iterdir())


def test_classes_and_several_files(tiny: None, tmp_path: Path) -> None:
    (tmp_path / "1").write_text("a b a\nb b")
    (tmp_path / "2").write_text("c a\n\n\nb c a b\n")
    dictionary = TagDictionary.of([Sentence.of([("a", "X"), ("b", "X"), ("c", "X"), ("c", "Y")])], 1)
    files = [tmp_path / "1", tmp_path / "2"]
    expected = NGramCounts.of(Text.read(files), order=3, dictionary=dictionary)
    found = NGramCounts.read(files, order=3, dictionary=dictionary, memory=SMALL, temporary=tmp_path / "work")
    assert_same(found, expected)
    assert found.sentences == 4
    assert found.classes is not None
    np.testing.assert_array_equal(found.classes.share(), expected.classes.share())


@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_left_behind(
    tiny: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    file = tmp_path / "text"
    file.write_text("a b c\n" * 20)

    def fail(*_: object) -> None:
        raise fault

    monkeypatch.setattr(external, "_merge_runs", fail)
    expected = DataError if isinstance(fault, OSError) else KeyboardInterrupt
    with pytest.raises(expected, match="No space left on device; .*G free" if expected is DataError else None):
        write_counts([file], tmp_path / "table", memory=SMALL, temporary=tmp_path / "work")
    assert not list((tmp_path / "work").iterdir())
    assert not (tmp_path / "table").exists()


def test_what_does_not_fit_is_refused(tiny: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "text"
    file.write_text("a b c d\n" * 20)
    monkeypatch.setattr(external, "ROW_BYTES", 1 << 22)
    with pytest.raises(SettingError, match=r"need .*G of memory; give more, raise the cut-offs"):
        NGramCounts.read(file, memory=SMALL, temporary=tmp_path / "work")
    assert not list((tmp_path / "work").iterdir())
    with pytest.raises(SettingError, match="such as 2G; got 'much'"):
        memory_size("much")
    with pytest.raises(SettingError, match="at least 16M of memory, got 1K"):
        memory_size("1K")
    with pytest.raises(SettingError, match="fall with the order"):
        write_counts(file, tmp_path / "table", memory=SMALL, order=3, cutoff=[1, 3, 2])
    with pytest.raises(DataError, match="no temporary files can be made here"):
        NGramCounts.read(file, memory=SMALL, temporary=file)


@given(st.lists(st.integers(0, 3), max_size=60), st.integers(0, 2**32))
def test_sorted_counting_against_a_dictionary(words: list[int], seed: int) -> None:
    """Trigrams of positions whose bigrams are known by other numbers, some of them not at all."""
    tokens = np.array([0, *words, 0], np.int32)
    pairs = sorted({(int(a), int(b)) for a, b in pairwise(tokens)})
    at = np.array([-1, *(pairs.index((int(a), int(b))) for a, b in pairwise(tokens))], np.int32)
    kept = np.random.default_rng(seed).random(len(pairs)) < 0.7
    place = np.where(kept, np.cumsum(kept) * 3, -1).astype(np.int32)
    expected: Counter[tuple[int, int]] = Counter()
    suffix_of = {}
    for i in range(2, len(tokens)):
        if place[at[i - 1]] >= 0 and place[at[i]] >= 0 and tokens[i - 1] != 0:
            gram = int(place[at[i - 1]]), int(tokens[i])
            expected[gram] += 1
            suffix_of[gram] = int(place[at[i]])
    number, key, count, suffix = count_sorted(tokens, at, place)
    grams = [(int(k) >> 32, int(k) & 0xFFFFFFFF) for k in key]
    assert grams == sorted(expected)
    assert count.tolist() == [expected[gram] for gram in grams]
    assert suffix.tolist() == [suffix_of[gram] for gram in grams]
    for i in range(2, len(tokens)):
        if number[i] >= 0:
            assert grams[number[i]] == (place[at[i - 1]], tokens[i])
    assert (number >= 0).sum() == sum(expected.values())


@pytest.mark.parametrize("size", [0, 1, 2, 15, 16, 17, 31, 64, 1000])
def test_parts_of_an_array_are_sorted(size: int) -> None:
    values = np.random.default_rng(size).integers(0, 50, size + 4)
    expected = np.concatenate([values[:2], np.sort(values[2 : 2 + size]), values[2 + size :]])
    _sort(values, 2, 2 + size)
    np.testing.assert_array_equal(values, expected)
