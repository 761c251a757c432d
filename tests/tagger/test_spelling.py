"""Checksums of spellings against the library's own, letter classes against those of strings."""

import random
import re
from zlib import adler32, crc32

import numpy as np

from latentgram.data.brackets import escape
from latentgram.tagger.spelling import SpellingTable, describe


def checksum(text: str) -> int:
    coded = text.encode("utf-8", "surrogatepass")
    return (crc32(coded) << 32 | adler32(coded)) or 1


def shape(word: str) -> str:
    signs = ("A" if s.isupper() else "a" if s.isalpha() else "9" if s.isdigit() else s for s in word)
    return re.sub(r"(.)\1{2,}", r"\1\1", "".join(signs))


def kind(word: str) -> str:
    marks = (
        ("A", word[:1].isupper()),
        ("C", len(word) > 1 and word.isupper()),
        ("c", any(map(str.isupper, word[1:]))),
        ("d", any(map(str.isdigit, word))),
        ("-", "-" in word[1:]),
        (".", "." in word),
        ("'", "'" in word),
        ("x", not any(map(str.isalnum, word))),
    )
    return "".join(mark for mark, present in marks if present)


def row(word: str) -> list[int]:
    word = escape(word)
    low = word.lower()
    endings = [checksum(low[-n:]) if len(low) > n else 0 for n in range(1, 6)]
    beginnings = [checksum(low[:n]) if len(low) > n else 0 for n in range(1, 5)]
    return [checksum(word), checksum(low), *endings, *beginnings, checksum(shape(word)), checksum(kind(word))]


def strange_words() -> tuple[str, ...]:
    chance = random.Random(0)
    ranges = ((33, 127), (33, 60), (0x80, 0x2FFF), (0x10000, 0x11000))
    words = [
        "The",
        "İstanbul",
        "ΟΔΟΣ",
        "ΟΔΟΣ.",
        "ǅ",
        "ⓐⒶ",
        "x" * 300,
        "((",
        "[a]",
        "💡💡💡",
        "\udfff",
        "²",
        "U.S.",
    ]
    for _ in range(500):
        words.append("".join(chr(chance.randrange(*chance.choice(ranges))) for _ in range(chance.randrange(1, 9))))
    return tuple(dict.fromkeys(words))


def test_rows_are_the_checksums_of_their_strings() -> None:
    words = strange_words()
    np.testing.assert_array_equal(describe(words), np.array([row(word) for word in words], np.uint64))


def test_a_word_may_hold_a_line_end() -> None:
    table = describe(("a\nb", "cat"))
    assert table.tolist() == [row("a b"), row("cat")]


def test_words_are_numbered_in_the_order_in_which_they_come() -> None:
    spellings, token = SpellingTable.of(["b", "a", "b"])
    assert spellings.words == ("b", "a")
    assert token.tolist() == [0, 1, 0]
    nothing, none = SpellingTable.of([])
    assert nothing.table.shape == (0, 13)
    assert not len(none)
