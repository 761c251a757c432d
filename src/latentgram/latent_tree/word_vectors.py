"""`WordVectors`: a vector for every word, such that words used alike lie in one direction.

Rows of `vectors` are whitened (vectors.py): the mean of their outer products over the text is about the
unit matrix. Alike is measured by the cosine. They are the matrix U of 001 (§2.2, §4.2).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.provenance import Provenance, Summarised
from latentgram.errors import DataError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class WordVectors(Summarised):
    """Words and their vectors, the dimensions from the strongest down.

    >>> import latentgram as lg
    >>> text = lg.Text.of(["the cat sleeps", "the dog sleeps", "a cat runs", "a dog runs"] * 20)
    >>> found = lg.fit(lg.WordVectors, text, by=lg.Spectral(states=3, least=0))
    >>> [word for word, _ in found.neighbours("cat", 1)]
    ['dog']
    """

    words: Alphabet
    vectors: Floats
    """[words, k]"""
    values: Floats
    """[k] the singular values, or canonical correlations."""
    view: str
    """What words were seen with: singular, context or tree."""
    provenance: Provenance = field(default_factory=Provenance)

    def __getitem__(self, word: str) -> Floats:
        """The vector of a word."""
        number = self.words.index(word)
        if number == ABSENT:
            raise DataError(f"there is no vector of {word!r}")
        return np.asarray(self.vectors[number])

    def __contains__(self, word: object) -> bool:
        return word in self.words

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def _directions(self) -> Floats:
        lengths = np.linalg.norm(self.vectors, axis=1, keepdims=True)
        return np.asarray(self.vectors / np.where(lengths > 0, lengths, 1.0))

    def neighbours(self, word: str, count: int = 10) -> list[tuple[str, float]]:
        """The words used most like a word, with their cosines, the nearest first."""
        here = self[word]
        cosine = self._directions @ (here / max(float(np.linalg.norm(here)), 1e-300))
        cosine[self.words.index(word)] = -np.inf
        best = np.argsort(-cosine, kind="stable")[: min(count, len(self.words) - 1)]
        return [(self.words[number], float(cosine[number])) for number in best]

    def summary(self) -> str:
        """One line."""
        return f"vectors of {len(self.words):,} words in {self.vectors.shape[1]} dimensions by their {self.view}"
