"""Edit scripts: what they make of a word is what they were made from, and they serve for other words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latentgram.ud.scripts import (
    CUTS,
    WHOLE,
    applied,
    read_cuts,
    script_between,
    shared,
    shortest,
    split_between,
    split_of,
)

WORDS = st.text("abCDéİıß'", min_size=1, max_size=8)


@given(WORDS, WORDS)
def test_a_script_makes_the_result_it_was_made_for(word, result):
    script = script_between(word, result)
    assert applied(script, word) == result
    assert shortest(script) <= len(word) or script.startswith("lower"), "small letters may be more than capitals"


@given(WORDS, st.lists(WORDS, min_size=2, max_size=4))
def test_a_split_makes_the_words_it_was_made_for(token, words):
    assert split_of(split_between(token, words), token) == tuple(words)


@given(st.lists(WORDS, min_size=2, max_size=4), st.dictionaries(WORDS, st.integers(1, 9)), WORDS)
def test_pieces_of_a_token_are_cut_off_other_tokens_too(words, often, other):
    token = "".join(words)
    split = split_between(token, words, often)
    assert split.startswith(CUTS)
    assert split_of(split, token) == tuple(words)
    pieces = split_of(split, other)
    assert (pieces is None) == (len(other) < shortest(split) or len(other) <= sum(map(sum, read_cuts(split))))
    assert pieces is None or "".join(pieces) == other


@pytest.mark.parametrize("split", ["~", "~|", "~3", "~0|2", "~-1|3", "~1|x", "~1|2|3"])
def test_cuts_that_cannot_be_read_are_refused(split):
    with pytest.raises(ValueError, match="is not a split"):
        read_cuts(split)


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
        ("don't", ("do", "n't"), "Isn’t", ("Is", "n’t")),
    ],
)
def test_splits_serve_for_other_tokens(token, words, other, expected):
    assert split_of(split_between(token, words, {"ki": 5, "w": 5, "n't": 5}), other) == expected
