"""Numbers of words against Python's own splitting and a dictionary."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from latentgram.data.text import Text
from latentgram.data.word_table import RowWriter, WordTable

# Blanks of one, two and three bytes, beginnings of one another, and letters of all lengths.
PIECES = st.lists(
    st.sampled_from(
        ["a", "ab", "abc", "ä", "語", "😀", " ", "\t", "\n", "\x0b", "\x1c", "\x85", "\xa0", "\u2003", "\u3000"]
    )
)


def numbered(text: str, words: dict[str, int]) -> list[int]:
    numbers = []
    for line in text.split("\n"):
        numbers += [words.setdefault(word, len(words)) for word in line.split()]
        numbers.append(0)
    return numbers[:-1]


@given(st.lists(PIECES.map("".join), max_size=4))
def test_words_are_what_python_splits(blocks: list[str]) -> None:
    table, words = WordTable(["</s>"]), {"</s>": 0}
    for block in blocks:
        assert table.encode(block).tolist() == numbered(block, words)
    assert list(table) == list(words)
    assert len(table) == len(words)
    assert all(word in table for word in words)
    assert "never" not in table


def test_tables_grow_and_stay_as_they_are_when_told() -> None:
    names = [f"word{i}" for i in range(5000)]
    table = WordTable(names)
    assert table.encode(" ".join(reversed(names))).tolist() == list(reversed(range(5000)))
    assert table.encode("word7 new\nword8", newline=-2, grow=False).tolist() == [7, -1, -2, 8]
    assert "new" not in table
    assert list(WordTable(["13 819", "a", ""])) == ["13 819", "a", ""]
    assert WordTable(["13 819", "a"]).encode("a 13", grow=False).tolist() == [1, -1]


def test_a_block_is_the_text_of_its_lines() -> None:
    block = "the cat\n\n  \nsleeps\u3000here\r\n"
    assert [sentence.words for sentence in Text.of_block(block)] == [("the", "cat"), ("sleeps", "here")]


@given(
    st.lists(
        st.floats(-1e6, 1e6) | st.floats(-99, 0) | st.sampled_from([0.0, -99.0, -9.99999995, -1e-4]), min_size=1
    )
)
def test_numbers_of_entries_have_seven_digits(numbers: list[float]) -> None:
    values = np.array([0.0 if abs(number) < 1e-14 else number for number in numbers])
    flags = np.arange(len(values)) % 2 == 0
    lines = RowWriter(["</s>", "é"], "<s>").entries(np.ones((len(values), 2), np.int64), values, values, flags)
    for line, value, weighty in zip(lines.decode().splitlines(), values.tolist(), flags.tolist(), strict=True):
        log, words, *weight = line.split("\t")
        assert words == "é é"
        assert len(weight) == weighty
        for text in (log, *weight):
            # Halves may be rounded to the other side.
            assert text == f"{value:.7g}" or abs(float(text) - value) <= 5.0000001e-7 * abs(value)
            assert len(text) <= 13
