"""Regular expressions find what Python's do, in a time that is linear in the text."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from latentgram.data.regular import Regular
from latentgram.errors import DataError

SINGLE = ("a", "b", "-", ".", "[ab]", "[^a]", r"\w", r"\W", "^", "$", r"\b", r"\B", r"\-", "[]a-]")
REPEATED = ("*", "+", "?", "{2}", "{1,2}", "{,2}", "{2,}", "{0}", "{,}", "*?", "+?")
WORDS = ["".join(word) for length in range(1, 5) for word in itertools.product("aB-", repeat=length)]


def drawn(draw: random.Random, depth: int) -> str:
    """An expression."""
    shape = draw.randrange(8) if depth else 0
    if shape < 3:
        return draw.choice(SINGLE)
    part, other = drawn(draw, depth - 1), drawn(draw, depth - 1)
    return (
        part + other,
        f"({part}|{other})",
        f"{part}|{other}",
        f"({part})",
        f"(?:{part}){draw.choice(REPEATED)}",
    )[shape - 3]


@pytest.mark.parametrize("prefix", ["", "(?i)"])
def test_the_same_words_match_as_in_python(prefix: str) -> None:
    draw = random.Random(1)
    for _ in range(400):
        text = prefix + drawn(draw, 4)
        expression, python = Regular(text), re.compile(text)
        for word in WORDS:
            assert expression.matches(word) == bool(python.search(word)), (text, word)


def test_time_is_linear_where_python_never_ends() -> None:
    for text in ("(a+)+$", "^(a|a)*$", "(a|aa)+$", "^(a*)*$", "^a*a*a*a*a*a*$", "^(a?){30}a{30}$"):
        assert not Regular(text).matches("a" * 2000 + "b")
    assert Regular("(a+)+$").matches("b" + "a" * 2000)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("(", "a bracket is not closed"),
        ("a)", "closed that was not opened"),
        ("a**", "there is nothing for * to repeat"),
        ("(?=a)", "there is nothing for ? to repeat"),
        ("{2}", "there is nothing for {2} to repeat"),
        ("a{3,1}", "more often at least than at most"),
        ("[a", "a [ is not closed"),
        ("[b-a]", "bad character range"),
        ("\\", "has no meaning"),
        (r"(a)\1", r"\1 has no meaning"),
        ("(" * 200 + ")" * 200, "nested too deeply"),
        ("((a{1000}){1000}){1000}", "too long when its repetitions are written out"),
        ("(){999999}", "too long when its repetitions are written out"),
        ("a" * 20_000, "too long"),
    ],
)
def test_what_cannot_be_searched_is_refused(text: str, why: str) -> None:
    with pytest.raises(DataError) as told:
        Regular(text)
    assert why in told.value.message
