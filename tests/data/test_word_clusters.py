"""Files of word clusters with bit strings, and coarser clusters by the beginnings of bits."""

from pathlib import Path

import numpy as np
import pytest

from latentgram.data.alphabet import Alphabet
from latentgram.data.word_clusters import WordClusters
from latentgram.errors import DataError


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    clusters = WordClusters(Alphabet(("a", "cat", "dog", "the")), np.array([2, 0, 1, 2]), ("00", "01", "1"))
    path = tmp_path / "paths"
    path.write_text("\n".join(clusters.lines(np.array([3.0, 1.0, 2.0, 4.0]))) + "\n", encoding="utf-8")
    assert path.read_text(encoding="utf-8").splitlines()[2:] == ["1\tthe\t4", "1\ta\t3"]
    again = WordClusters.read(path)
    assert {word: again[word] for word in again.words} == {"a": "1", "cat": "00", "dog": "01", "the": "1"}
    assert str(again) == str(clusters)


@pytest.mark.parametrize("count", range(1, 9))
def test_fewer_clusters_are_beginnings_of_the_bits(count: int) -> None:
    bits = ("000", "0010", "0011", "010", "011", "10", "110", "111")
    words = Alphabet.of("abcdefgh")
    fine = WordClusters(words, np.arange(8), bits)
    coarse = fine.clusters(count)
    assert 1 <= len(coarse) <= max(count, 2)
    assert all(fine[word].startswith(coarse[word]) for word in words)
    assert all(not other.startswith(one) for one in coarse.bits for other in coarse.bits if one != other)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "01\tcat\t3\n2x\tdog\t1\n",
            r"paths:2: a line of word clusters has a bit string, a tab and a word, got '2x",
        ),
        ("01 cat 3\n", "paths:1: a line of word clusters"),
        ("\n", "there are no word clusters"),
        ("01\tcat\t3\n011\tdog\t3\n", "the bit string 01 of a cluster is a prefix of another one, 011"),
    ],
)
def test_bad_files_are_refused_in_a_sentence(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "paths"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        WordClusters.read(path)
