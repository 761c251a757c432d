"""N-gram counts against a dictionary of tuples."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.ngrams.trie import NGramTrie
from latentgram.data.text import Text
from latentgram.errors import DataError, SettingError

sentences = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=8), min_size=1, max_size=12)


def words_of(trie: NGramTrie, row: int) -> tuple[int, ...]:
    """The words of a row."""
    words: list[int] = []
    while row >= 0:
        words.insert(0, int(trie.word[row]))
        row = int(trie.prefix[row])
    return tuple(words)


def plain_counts(text: list[list[str]], order: int) -> Counter[tuple[str, ...]]:
    counts: Counter[tuple[str, ...]] = Counter()
    for words in text:
        marked = ["<s>", *words, "</s>"]
        for length in range(1, order + 1):
            for start in range(len(marked) - length + 1):
                gram = tuple(marked[start : start + length])
                if gram != ("<s>",):
                    counts[gram] += 1
    return counts


@settings(deadline=None, max_examples=60)
@given(sentences, st.integers(1, 5), st.integers(1, 3))
def test_counts_are_those_of_a_dictionary(text: list[list[str]], order: int, cutoff: int) -> None:
    expected = {
        gram: count for gram, count in plain_counts(text, order).items() if len(gram) <= 2 or count >= cutoff
    }
    assert dict(NGramCounts.of(Text.of(text), order=order, cutoff=cutoff).items()) == expected


@settings(deadline=None, max_examples=60)
@given(sentences, st.lists(st.integers(1, 4), min_size=3, max_size=3))
def test_every_part_of_a_kept_ngram_is_kept(text: list[list[str]], cutoffs: list[int]) -> None:
    counts = NGramCounts.of(Text.of(text), order=3, cutoff=[1, *cutoffs[1:]])
    plain = plain_counts(text, 3)
    found = dict(counts.items())
    assert all(plain[gram] == count for gram, count in found.items())
    extra = 0
    for gram, count in found.items():
        if len(gram) > 1:
            assert count >= ([1, *cutoffs[1:]])[len(gram) - 1] or (extra := extra + 1)
            assert gram[:-1] == ("<s>",) or gram[:-1] in found
            assert gram[1:] in found
    assert counts.repairs.get("parts kept below their cut-off", 0) == extra
    trie = counts.trie
    for row in range(trie.words, len(trie)):
        assert words_of(trie, int(trie.suffix[row])) == words_of(trie, row)[1:]
        assert row in range(trie.extension[trie.prefix[row]], trie.extension[trie.prefix[row] + 1])


@settings(deadline=None, max_examples=40)
@given(sentences)
def test_a_trie_from_arrays_is_the_trie_from_text(text: list[list[str]]) -> None:
    trie = NGramCounts.of(Text.of(text), order=3).trie
    again, rows = NGramTrie.of([trie.grams(order) for order in (1, 2, 3)], trie.words)
    for name in ("level", "word", "prefix", "suffix"):
        np.testing.assert_array_equal(getattr(trie, name), getattr(again, name))
    np.testing.assert_array_equal(np.concatenate(rows), np.arange(len(trie)))
    top, rows = NGramTrie.of([trie.grams(1), trie.grams(2)[:0], trie.grams(3)], trie.words)
    assert all(words_of(top, int(row)) == tuple(words) for row, words in zip(rows[2], trie.grams(3), strict=True))


def test_rare_words_become_unknown() -> None:
    counts = NGramCounts.of(Text.of(["a b", "a c"]), order=2, cutoff=[2, 1])
    assert dict(counts.items()) == {
        ("</s>",): 2, ("<unk>",): 2, ("a",): 2, ("<s>", "a"): 2, ("a", "<unk>"): 2, ("<unk>", "</s>"): 2,
    }  # fmt: skip


def test_bad_settings_are_refused() -> None:
    text = Text.of(["a b"])
    with pytest.raises(SettingError, match="from 1 to 6, got 7"):
        NGramCounts.of(text, order=7)
    with pytest.raises(SettingError, match="or 3 of them"):
        NGramCounts.of(text, order=3, cutoff=[1, 2])


def test_a_string_is_split_at_blanks() -> None:
    counts = NGramCounts.of(Text.of(["of the house", "the house"]), order=2)
    for gram in (("the",), ("the", "house"), ("<s>", "the"), ("house", "</s>"), ("house", "of")):
        assert counts[" ".join(gram)] == counts[gram]
        assert (" ".join(gram) in counts) is (gram in counts) is (counts[gram] > 0)
    assert list(counts) == [gram for gram, _ in counts.items()]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 2.5}, "an integer from 1 to 6, got 2.5"),
        ({"order": "3"}, "an integer from 1 to 6, got '3'"),
        ({"cutoff": 1.5}, "one integer of at least 1, .*; got 1.5"),
        ({"cutoff": (1, 1, 2.5)}, r"got \(1, 1, 2.5\)"),
        ({"cutoff": "123"}, "got 123"),
    ],
)
def test_orders_and_cutoffs_are_whole_numbers(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        NGramCounts.of(Text.of(["a b"]), **options)


def test_what_is_no_text_or_has_no_sentence_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"from a Text, not from a list: make one with Text\.of"):
        NGramCounts.of(["a b"])  # type: ignore[arg-type]
    (tmp_path / "e.txt").write_text("\n\n")
    for memory in (None, "16M"):
        with pytest.raises(DataError, match=r"e\.txt: there are no sentences to count"):
            NGramCounts.read(tmp_path / "e.txt", memory=memory)
