"""Edit scripts: what they make of a word is what they were made from, and they serve for other words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latentgram.ud.scripts import WHOLE, applied, script_between, shared, shortest, split_between, split_of

WORDS = st.text("abCDéİıß'", min_size=1, max_size=8)


@given(WORDS, WORDS)
def test_a_script_makes_the_result_it_was_made_for(word, result):
    script = script_between(word, result)
    assert applied(script, word) == result
    assert shortest(script) <= len(word) or script.startswith("lower"), "small letters may be more than capitals"


@given(WORDS, st.lists(WORDS, min_size=2, max_size=4))
def test_a_split_makes_the_words_it_was_made_for(token, words):
    assert split_of(split_between(token, words), token) == tuple(words)


@given(st.text("ab", max_size=8), st.text("ab", max_size=8))
def test_the_shared_string_is_the_longest(left, right):
    begin, other, length = shared(left, right)
    assert left[begin : begin + length] == right[other : other + length]
    pieces = (left[i:j] for i in range(len(left)) for j in range(i + 1, len(left) + 1))
    assert length == max((len(piece) for piece in pieces if piece in right), default=0)


@pytest.mark.parametrize(
    ("word", "lemma", "other", "expected"),
    [
        ("Went", "go", "went", "go"),
        ("London", "London", "Paris", "Paris"),
        ("LONDON", "London", "PARIS", "Paris"),
        ("studies", "study", "Cities", "city"),
        ("İyi", "iyi", "İnce", "ince"),
    ],
)
def test_scripts_serve_for_other_words(word, lemma, other, expected):
    assert applied(script_between(word, lemma), other) == expected


def test_a_word_that_is_too_short_has_no_result():
    assert applied(script_between("studies", "study"), "es") is None
    assert split_of(split_between("evdeki", ["evde", "ki"], {"ki": 3}), "i") is None
    assert split_of(WHOLE, "du") == ("du",)


@pytest.mark.parametrize(
    ("token", "words", "other", "expected"),
    [
        ("du", ("de", "le"), "Du", ("De", "le")),
        ("Aux", ("à", "les"), "aux", ("à", "les")),
        ("evdeki", ("evde", "ki"), "okuldaki", ("okulda", "ki")),
        ("wkitab", ("w", "kitab"), "wbayt", ("w", "bayt")),
    ],
)
def test_splits_serve_for_other_tokens(token, words, other, expected):
    assert split_of(split_between(token, words, {"ki": 5, "w": 5}), other) == expected
