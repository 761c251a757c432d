"""Codes of words: weights in files that were written before belong to them, so they never change."""

from __future__ import annotations

import hashlib

import numpy as np

from latentgram.lpcfg.crf.kernels.view import PAD, ROWS
from latentgram.lpcfg.crf.symbols import WordCodes

PARTS = ("McDonald's", "d's", "AaAa'a", "A", "", "mcdonald's", "s", "'s", "ld's", "m", "mc", "mcd")
"""The word, its ending, form and shape, what it is as a mark (nothing), its spelling, endings and beginnings."""


def code(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def test_codes_are_hashes_of_the_parts_of_words() -> None:
    codes = WordCodes().of(("--", "McDonald's"))
    assert codes.dtype == np.uint64
    assert codes.flags.c_contiguous
    assert codes[:, PAD + 1].tolist() == [code(part) if part else 0 for part in PARTS]
    assert codes[:, PAD].tolist() == [
        code(part) for part in ("--", "--", "-", "--", "--", "--", "-", *("--",) * 2, "-", *("--",) * 2)
    ]
    sides = codes[:, :PAD], codes[:, -PAD:]
    assert [side.tolist() for side in sides] == [[[code(sign)] * PAD] * ROWS for sign in "‹›"]


def test_words_that_are_known_have_the_same_codes_again() -> None:
    codes, words = WordCodes(), ("a", "b", "a", "")
    first = codes.of(words)
    assert np.array_equal(first, codes.of(words))
    assert np.array_equal(first[:, PAD], first[:, PAD + 2])
    assert np.array_equal(first, WordCodes().of(words))
