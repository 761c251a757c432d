"""`Text`: words to numbers and back."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from latentgram.data.alphabet import Alphabet
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.text import Text
from latentgram.errors import DataError


def test_reading_gives_the_sentences_back(tmp_path: Path) -> None:
    lines = ["the cat sat", "", "a cat", "  the   dog  "]
    (tmp_path / "a.txt").write_text("\n".join(lines[:2]))
    (tmp_path / "b.txt").write_text("\n".join(lines[2:]) + "\n\n")
    text = Text.read(tmp_path)
    assert [" ".join(sentence) for sentence in text] == ["the cat sat", "a cat", "the dog"]
    assert text.size == 7
    assert text.words.symbols == ("</s>", "a", "cat", "dog", "sat", "the")
    assert text.digest == Text.of(["the cat sat", "a cat", "the dog"]).digest


def test_order_of_sight_does_not_change_the_numbers() -> None:
    assert Text.of(["b a", "c"]).words == Text.of(["c", "a b"]).words


@pytest.mark.parametrize("line", ["<s> a b </s>", "a </s> b"])
def test_boundaries_in_the_text_are_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(f"fine\n{line}\n")
    with pytest.raises(DataError, match=r"a\.txt:2: word \d is </?s>, which is reserved"):
        Text.read(path)


def test_other_alphabets() -> None:
    text = Text.of(["a b", "c"])
    np.testing.assert_array_equal(text.encoded_by(Alphabet(("</s>", "c", "a")), unknown=7), [0, 2, 7, 0, 1, 0])


def test_texts_add_and_can_be_cut() -> None:
    text = Text.of(["b a", "c"]) + Text.of(["a d", "e e e", "f"])
    assert [" ".join(sentence) for sentence in text] == ["b a", "c", "a d", "e e e", "f"]
    assert text.digest == Text.of(["b a", "c", "a d", "e e e", "f"]).digest
    for size, sentences in ((1, 1), (3, 2), (4, 3), (8, 4), (99, 5)):
        part = text.upto(size)
        assert [s.words for s in part] == [s.words for s in text][:sentences]
        assert set(part.words.symbols[1:]) == {word for s in part for word in s.words}


@pytest.mark.parametrize("given", ["a single sentence", None])
def test_one_sentence_is_no_text(given: Any) -> None:
    with pytest.raises(DataError, match="a list of sentences, not from"):
        Text.of(given)


def test_reserved_words_in_memory_are_placed() -> None:
    with pytest.raises(DataError, match="sentence 2: word 3 is <s>, which is reserved"):
        Text.of(["a b", ("a", "b", "<s>")])


def test_of_trees_the_words_are_read(tmp_path: Path) -> None:
    brackets, rows = tmp_path / "a.mrg", tmp_path / "b.conllu"
    brackets.write_text("( (S (NP-SBJ-1 (NNP Kim)) (VP (VBZ waits) (S (-NONE- *-1)))))\n( (X (UH Oh)))\n")
    rows.write_text(
        "# text = Kim waits\n1\tKim\t_\tPROPN\t_\t_\t2\tnsubj\t_\t_\n2\twaits\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    )
    words = [("Kim", "waits"), ("Oh",), ("Kim", "waits")]
    assert [sentence.words for sentence in Text.read([brackets, rows])] == words
    counts = NGramCounts.read([brackets, rows], order=2, memory="16M")
    assert (counts["Kim waits"], counts["<s> Oh"], counts.tokens) == (2, 1, 5)
