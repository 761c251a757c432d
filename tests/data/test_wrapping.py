"""Wrapped text is read by its paragraphs, and nothing else is taken for wrapped."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latentgram.data.tokenise import LONG, Tokeniser, joint_of, unwrapped

SENTENCES = [
    "The committee met on Tuesday and could not agree on the budget of the next year.",
    "Why is that so?",
    "Its members, of whom there are nine, had read the report of the minister, and most of them liked it.",
    "Mr. Smith did not.",
]
PARAGRAPHS = [" ".join(SENTENCES * times) for times in (2, 1, 3)]


def numbered(text: str) -> list[tuple[int, str]]:
    return list(enumerate(text.splitlines(), 1))


@pytest.mark.parametrize("width", [40, 72, 80, 120])
def test_wrapped_paragraphs_are_found_again(width):
    text = "\n\n".join(textwrap.fill(part, width, break_long_words=False) for part in PARAGRAPHS)
    found = list(unwrapped(numbered(text)))
    assert [paragraph for _, paragraph in found] == PARAGRAPHS
    lines = text.splitlines()
    assert all(lines[number - 1] and (number == 1 or not lines[number - 2]) for number, _ in found)
    assert list(Tokeniser().sentences(text)) == list(Tokeniser().sentences("\n".join(PARAGRAPHS)))


def test_scripts_without_spaces_are_joined_without_one():
    text = "委员会星期二开会讨论明年的预算可是没有达成一致部长的报告大家事先都已经读过了而且大多数人都很喜欢。" * 8
    lines = textwrap.wrap(text, 80)
    assert [paragraph for _, paragraph in unwrapped(numbered("\n".join(lines)))] == [text]


@pytest.mark.parametrize(
    "lines",
    [
        SENTENCES * 5,
        ["The committee met on Tuesday and could not agree ."] * 20,
        PARAGRAPHS * 3,
        ["A heading of some words", "", *SENTENCES, "", *SENTENCES],
        textwrap.wrap(PARAGRAPHS[0], 80)[:3],
        ["short words here"] * 10,
    ],
)
def test_lines_that_are_sentences_or_paragraphs_stay_apart(lines):
    assert joint_of(lines) is None
    assert [line for _, line in unwrapped(enumerate(lines, 1))] == [line for line in lines if line]


@given(st.lists(st.text("ab .\n", max_size=90), max_size=30))
def test_no_character_is_lost(lines):
    text = "\n".join(lines)
    assert "".join("".join(part.split()) for _, part in unwrapped(numbered(text))) == "".join(text.split())


def test_a_very_long_paragraph_ends_behind_a_full_stop():
    lines = textwrap.wrap(PARAGRAPHS[0] + " " + PARAGRAPHS[2] * 400, 80, break_long_words=False)
    found = [paragraph for _, paragraph in unwrapped(enumerate(lines, 1))]
    assert " ".join(found) == " ".join(lines)
    assert len(found) > 1
    assert all(len(part) > 70 * LONG * 0.9 and part.endswith((".", "?")) for part in found[:-1])
