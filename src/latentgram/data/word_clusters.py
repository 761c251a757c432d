"""`WordClusters`: words in clusters that are the leaves of a binary tree, so that each has a string of bits.

Words whose strings begin alike are used alike, the more so the longer the common beginning: prefixes are coarser
clusters (Brown et al. 1992; Koo et al. 2008). The clusters come from word vectors
(`latentgram.latent_tree.word_vectors.WordVectors.clusters`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.invariants import below, shape


@dataclass(frozen=True, eq=False)
class WordClusters:
    """The cluster of each word, and the bits of each cluster.

    >>> clusters = WordClusters(Alphabet(("a", "cat", "dog")), np.array([1, 0, 0]), ("0", "1"))
    >>> clusters["dog"], clusters["Cat"], clusters["unknown"]
    ('0', '0', '')
    >>> print(clusters)
    0  cat dog
    1  a
    """

    words: Alphabet
    cluster: Annotated[NDArray[np.int64], shape("len(words)"), below("len(bits)")]
    """[words]"""
    bits: tuple[str, ...]
    """[clusters] none of them the beginning of another."""

    def __getitem__(self, word: str) -> str:
        """The bits of a word; none if it is unknown."""
        number = number_of(word, self.words)
        return "" if number == ABSENT else self.bits[self.cluster[number]]

    def __len__(self) -> int:
        return len(self.bits)

    def members(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The bits and the words of each cluster, in the order of the bits."""
        order = np.argsort(self.cluster, kind="stable")
        bounds = np.searchsorted(self.cluster[order], np.arange(len(self.bits) + 1))
        for cluster in sorted(range(len(self.bits)), key=self.bits.__getitem__):
            yield self.bits[cluster], tuple(self.words.decode(order[bounds[cluster] : bounds[cluster + 1]]))

    def __str__(self) -> str:
        return "\n".join(f"{bits}  {' '.join(words)}" for bits, words in self.members())


def number_of(word: str, words: Alphabet) -> int:
    """The number of a word, in lower case if it is known so only; −1 for unknown ones."""
    known = words.index(word)
    return known if known != ABSENT else words.index(word.lower())
