"""`Candidates`: which tags a word may have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from latentgram.arrays import Flags, Ints, Ints16
from latentgram.data.alphabet import Alphabet
from latentgram.data.invariants import ANY, holds, offsets, shape, within
from latentgram.data.sentence import escape
from latentgram.tagger.guesser import Guesser
from latentgram.tagger.spelling import SpellingTable

Tags = Ints16


@dataclass(frozen=True, eq=False)
class Candidates:
    """Which tags a word may have.

    Tag numbers `tag[start[w] : start[w + 1]]` go with word w; if it is not `closed`, the `open` ones too. A word
    that was never seen has those that a `Guesser` names, or without one the open ones.
    """

    words: Alphabet
    start: Annotated[Ints, shape("len(words) + 1"), offsets("tag")]
    tag: Annotated[Tags, shape(ANY), within(0, 2**15)]
    closed: Annotated[
        Flags, shape("len(words)"), holds("all(diff(start)[closed] > 0)", "leaves a word without tags")
    ]
    open: Annotated[Tags, shape(ANY), within(0, 2**15), holds("len(open) > 0", "is empty")]

    def of_tokens(
        self, forms: SpellingTable, token: Ints, guesser: Guesser | None, n_tags: int
    ) -> tuple[Ints, Tags]:
        """The candidates of tokens end to end, and where those of each begin."""
        number = self.words.encode(forms.words)
        for word in np.flatnonzero(number < 0).tolist():  # it may be known by its Penn name
            number[word] = self.words.index(escape(forms.words[word]))
        new = number < 0
        begin, end = self.start[number], self.start[number + 1]
        flat, size = [self.tag], len(self.tag)
        if guesser is not None:
            places, tags = guesser.of_new(forms.table[new], n_tags)
            begin[new], end[new] = size + places[:-1], size + places[1:]
            flat.append(tags)
        else:
            begin[new], end[new] = size, size + len(self.open)
            flat.append(self.open)
        size += len(flat[-1])
        for word in np.flatnonzero(~new & ~self.closed[number]).tolist():
            flat.append(np.union1d(self.open, self.tag[begin[word] : end[word]]))
            begin[word], end[word] = size, size + len(flat[-1])
            size += len(flat[-1])
        return gathered(np.concatenate(flat), begin[token], end[token])


def gathered(values: Tags, begin: Ints, end: Ints) -> tuple[Ints, Tags]:
    """Stretches of values one behind the other, and where each begins."""
    sizes = end - begin
    start = np.concatenate([[0], np.cumsum(sizes)])
    return start, values[np.arange(start[-1]) + np.repeat(begin - start[:-1], sizes)]
