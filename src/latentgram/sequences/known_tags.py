"""Text in which some tags are known, for EM: a known token is a word of its own with a single tag.

Token (w, t) gets a row of emissions with the one entry t, tied to the entry (w, t) of the word: before the E-step
the row is given that probability (`spread`), after it the expected count goes back to the entry (`fold`). So
forward–backward sums over the tag sequences that agree with what is known, and nothing else changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from latentgram.arrays import Ints
from latentgram.data.alphabet import Alphabet
from latentgram.data.sentence import Sentence
from latentgram.data.tag_dictionary import TagDictionary
from latentgram.data.text import BOUNDARY, Text
from latentgram.errors import DataError
from latentgram.sequences.parameters import Emissions, Expected, Parameters

UNKNOWN_TAGS = (None, "_")
"""What stands for a tag that is not known."""


def dictionary_of_tags(sentences: Sequence[Sentence]) -> TagDictionary:
    """All tags that occur, for words that may have any of them."""
    tags = {tag for sentence in sentences for tag in sentence.tags or () if tag not in UNKNOWN_TAGS}
    if not tags:
        raise DataError("no sentence has a tag, so no tags can be learned: tag some, or leave known_tags out")
    return TagDictionary.from_entries(tags, {})


@dataclass(frozen=True)
class TiedText:
    """A text whose known tokens have rows of their own."""

    text: Text
    shape: Emissions
    entry: Ints
    """The entry of the plain emissions to which each further one is tied."""
    plain: int
    """The number of plain entries."""

    @classmethod
    def of(cls, sentences: Sequence[Sentence], text: Text, shape: Emissions) -> TiedText:
        """The text of these sentences with the tags that they have."""
        tag = np.full(len(text.tokens), -1, np.int64)
        place = text.start[:-1]
        for number, (sentence, begin) in enumerate(zip(sentences, place.tolist(), strict=True), 1):
            for i, name in enumerate(sentence.tags or ()):
                if name not in UNKNOWN_TAGS:
                    tag[begin + i] = shape.tags.index(name)
                    if tag[begin + i] <= BOUNDARY:
                        raise DataError(f"sentence {number}: {name!r} is not among the tags of the dictionary")
        known = np.flatnonzero(tag >= 0)
        tags = len(shape.tags)
        row = np.repeat(np.arange(len(shape.words)), np.diff(shape.start))
        keys = row * tags + shape.tag
        pairs, which = np.unique(text.tokens[known].astype(np.int64) * tags + tag[known], return_inverse=True)
        entry = np.asarray(np.searchsorted(keys, pairs), np.int64)
        wrong = keys[np.minimum(entry, len(keys) - 1)] != pairs
        if wrong.any():
            word, forbidden = divmod(int(pairs[wrong][0]), tags)
            raise DataError(
                f"{shape.words[word]!r} is tagged {shape.tags[forbidden]}, which the dictionary does not allow"
            )
        tokens = text.tokens.copy()
        tokens[known] = len(shape.words) + which
        names = [
            f"{shape.words[word]}\t{shape.tags[name]}"
            for word, name in (divmod(pair, tags) for pair in pairs.tolist())
        ]
        words = Alphabet((*shape.words.symbols, *names))
        start = np.concatenate([shape.start, shape.start[-1] + np.arange(1, len(pairs) + 1)])
        whole = replace(shape, words=words, start=start, tag=np.concatenate([shape.tag, shape.tag[entry]]))
        return cls(Text(words, tokens), whole, entry, len(shape.tag))

    def spread(self, parameters: Parameters) -> Parameters:
        """Parameters with those of the tied entries."""
        emission = np.concatenate([parameters.emission, parameters.emission[self.entry]])
        return Parameters(parameters.transition, emission)

    def fold(self, expected: Expected) -> Expected:
        """Counts with those of the tied entries added to their own."""
        tied = np.bincount(self.entry, expected.emission[self.plain :], minlength=self.plain)
        return replace(expected, emission=expected.emission[: self.plain] + tied)
