"""Multiword tokens: those never seen are split as others with the same ending, whatever their apostrophe."""

import pytest

from latentgram.ud.averaging import Learning
from latentgram.ud.multiwords import Splitter, learn_splitter

HOW = Learning(passes=8, step=0.3, bits=16, seed=0)
WORDS = [(word, (word,)) for word in ("they", "will", "want", "the", "saint", "or", "count", "a", "paint", "cats")]
SPLIT = [
    *((f"{stem}n't", (stem, "n't")) for stem in ("do", "is", "ca", "did")),
    *((f"{stem}'s", (stem, "'s")) for stem in ("he", "dog", "she")),
    *((f"{stem}'re", (stem, "'re")) for stem in ("we", "you")),
]


@pytest.fixture(scope="module")
def splitter() -> Splitter:
    learned = learn_splitter([[*WORDS * 3, *SPLIT] * 3], HOW)
    assert learned is not None
    return learned


def test_tokens_of_training_have_their_words(splitter):
    tokens, words = zip(*WORDS, *SPLIT, strict=True)
    assert tuple(words for words, _ in splitter.split(tokens)) == words


def test_tokens_never_seen_are_split_by_their_endings(splitter):
    tokens = ("won't", "WASN'T", "don’t", "they’re", "cat's", "tint", "cats")
    found = [words for words, _ in splitter.split(tokens)]
    assert found == [
        ("wo", "n't"),
        ("WAS", "N'T"),
        ("do", "n’t"),
        ("they", "’re"),
        ("cat", "'s"),
        ("tint",),
        ("cats",),
    ]


def test_frequent_words_teach_their_endings_too():
    """A clitic that stands in few frequent tokens is found in others, though these tokens are not rare."""
    frequent = [*WORDS * 3, ("don't", ("do", "n't")), ("isn't", ("is", "n't"))]
    learned = learn_splitter([frequent * 20], HOW)
    assert learned is not None
    assert learned.split(["won't"])[0][0] == ("wo", "n't")


def test_without_multiword_tokens_there_is_no_splitter():
    assert learn_splitter([WORDS], HOW) is None
