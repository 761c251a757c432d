"""`WordClusters`: words in clusters that are the leaves of a binary tree, so that each cluster has a bit string.

Words whose bit strings share a prefix are used similarly, the more so the longer the prefix: prefixes are coarser
clusters (Brown et al. 1992; Koo et al. 2008). The clusters come from word vectors
(`latentgram.latent_tree.word_vectors.WordVectors.clusters`), or from a file of lines

    bits TAB word TAB count

as written by programs for Brown clusters ("paths"); the counts may be missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np

from latentgram.arrays import Floats, Ints
from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.files import PathLike, read_lines
from latentgram.data.invariants import below, shape
from latentgram.errors import DataError


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
    cluster: Annotated[Ints, shape("len(words)"), below("len(bits)")]
    """[words]"""
    bits: tuple[str, ...]
    """[clusters] none of them the beginning of another."""

    @classmethod
    def read(cls, path: PathLike) -> WordClusters:
        """The clusters of a file of bits, words and counts."""
        bits_of: dict[str, str] = {}
        for line, text in read_lines(path):
            if not text:
                continue
            bits, *rest = text.split("\t")
            if not rest or not rest[0] or not bits or set(bits) - set("01"):
                raise DataError(
                    f"a line of word clusters has a bit string, a tab and a word, got {text[:60]!r}",
                    path=path,
                    line=line,
                )
            bits_of[rest[0]] = bits
        if not bits_of:
            raise DataError("there are no word clusters in this file", path=path)
        words, distinct = Alphabet.of(bits_of), tuple(sorted(set(bits_of.values())))
        for first, second in pairwise(distinct):
            if second.startswith(first):
                raise DataError(
                    f"the bit string {first} of a cluster is a prefix of another one, {second}", path=path
                )
        number = {bits: place for place, bits in enumerate(distinct)}
        return cls(words, np.array([number[bits_of[word]] for word in words], np.int64), distinct)

    def lines(self, count: Floats | None = None) -> Iterator[str]:
        """Bits, word and count of each word, cluster by cluster, the most frequent words first.

        >>> clusters = WordClusters(Alphabet(("a", "cat", "dog")), np.array([1, 0, 0]), ("0", "1"))
        >>> list(clusters.lines(np.array([5.0, 1.0, 2.0])))
        ['0\\tdog\\t2', '0\\tcat\\t1', '1\\ta\\t5']
        """
        seen = np.zeros(len(self.words)) if count is None or not len(count) else count
        rank = np.argsort(np.argsort(self.bits))[self.cluster]
        for number in np.lexsort((-seen, rank)).tolist():
            yield f"{self.bits[self.cluster[number]]}\t{self.words[number]}\t{seen[number]:.0f}"

    def clusters(self, count: int) -> WordClusters:
        """The same with at most this many clusters: clusters whose bit strings share a prefix are merged.

        >>> WordClusters(Alphabet(("a", "cat", "dog")), np.array([2, 0, 1]), ("00", "01", "1")).clusters(2).bits
        ('0', '1')
        """
        if len(self.bits) <= count:
            return self
        length = max(map(len, self.bits))
        while length > 1 and len({bits[:length] for bits in self.bits}) > count:
            length -= 1
        kept = tuple(sorted({bits[:length] for bits in self.bits}))
        number = np.array([kept.index(bits[:length]) for bits in self.bits], np.int64)
        return WordClusters(self.words, number[self.cluster], kept)

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
