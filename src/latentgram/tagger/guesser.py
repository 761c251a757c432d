"""`Guesser`: the possible tags of a word judged by its form, counted from the rare words of training.

See kernels/guessing.py for what is counted and how it yields candidates. Frequent words are counted only by their
lower-case form: their suffixes say little about those of new words.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from latentgram.arrays import Codes, Flags, Ints, Ints16, Ints32
from latentgram.data.invariants import ANY, offsets, rising, shape, within
from latentgram.data.kernels.forest import numbered
from latentgram.tagger.kernels.features import index_features
from latentgram.tagger.kernels.guessing import LEVELS, Endings, guess, level_keys


@dataclass(frozen=True, eq=False)
class Guesser:
    """How many rare words with each kind and ending had each tag, and how unlikely a tag may be."""

    ending: Annotated[Codes, shape(ANY), rising()]
    start: Annotated[Ints, shape("len(ending) + 1"), offsets("tag")]
    tag: Annotated[Ints16, shape(ANY), within(0, 2**15)]
    count: Annotated[Ints32, shape("len(tag)"), within(0, 2**31)]
    floor: Annotated[float, within(0, 1)]
    """A candidate has at least this share of the probability of the likeliest."""

    @classmethod
    def of(cls, forms: Codes, word: Ints, tag: Ints16, rare: Flags, floor: float) -> Guesser:
        """From the forms of words, the pairs of words and tags that were seen, and which words are rare."""
        keys = level_keys(forms)
        keys[~rare, : LEVELS - 1] = 0
        flat = keys[word].ravel()
        here = flat != 0
        ending, row = numbered(flat[here])
        n_tags = int(tag.max(initial=0)) + 1
        cell, count = np.unique(row * n_tags + np.repeat(tag.astype(np.int64), LEVELS)[here], return_counts=True)
        start = np.searchsorted(cell // n_tags, np.arange(len(ending) + 1)).astype(np.int64)
        return cls(ending, start, (cell % n_tags).astype(np.int16), count.astype(np.int32), floor)

    def candidates(
        self,
        forms: Codes,
        n_tags: int,
        seen_start: Ints,
        seen_tag: Ints16,
        rare: Flags,
    ) -> tuple[Ints, Ints16]:
        """The tags that words may have, those they were seen with and, of rare words, those of words like them."""
        begin, tags = guess(forms, self._endings, self.floor, n_tags, seen_start, seen_tag, ~rare)
        return begin, tags

    def of_new(self, forms: Codes, n_tags: int) -> tuple[Ints, Ints16]:
        """The tags that words may have that were never seen."""
        nothing = np.zeros(len(forms) + 1, np.int64)
        return self.candidates(forms, n_tags, nothing, np.zeros(0, np.int16), np.ones(len(forms), np.bool_))

    @cached_property
    def _endings(self) -> Endings:
        return Endings(self.ending, index_features(self.ending), self.start, self.tag, self.count)
