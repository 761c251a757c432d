"""Word vectors from text, n-gram counts or dependency trees: what a word is seen with, decomposed.

| view       | a word is seen with                            | decomposition                        |
|------------|------------------------------------------------|--------------------------------------|
| `singular` | the word after it                              | singular vectors (Hsu et al. 2008)   |
| `context`  | the word before it, and the word after it      | canonical correlation (two views)    |
| `tree`     | its parent, and its left and right children    | canonical correlation                |

The number of dimensions is the number of canonical correlations above `least` times the noise, at most `states`.
The noise is the largest correlation that is left when neighbours are exchanged at random (parallel analysis); the
first one, which only says how frequent a word is, is left out of it. Memory grows with the distinct bigrams, not
with the text: n-gram counts of text of any size will do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.text import Text
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context
from latentgram.latent_tree.settings import SpectralVectors
from latentgram.latent_tree.statistics import TreeCounts
from latentgram.latent_tree.vectors import canonical_vectors, singular_vectors
from latentgram.latent_tree.word_vectors import WordVectors

Ints = NDArray[np.int64]

SHUFFLED = 2_000_000
"""Pairs that are exchanged at random to measure the noise, at most."""


def learn_vectors(data: Any, learner: SpectralVectors, context: Context) -> WordVectors:
    """Vectors of the words of data."""
    view, rank = learner.view, learner.states
    words, seen = _seen(data, view)
    if not seen.nnz:
        raise DataError("there are no neighbouring words to learn vectors from")
    if view == "singular":
        found = singular_vectors(seen, rank)
        return WordVectors(words, np.ascontiguousarray(found.vectors), found.values, view)
    found = canonical_vectors(seen, rank, learner.scaling)
    least = learner.least * _noise(seen, learner.scaling) if learner.least else 0.0
    kept = max(int((found.values > least).sum()), 1)
    return WordVectors(words, np.ascontiguousarray(found.vectors[:, :kept]), found.values[:kept], view)


def _seen(data: Any, view: str) -> tuple[Alphabet, Any]:
    """The words, and a sparse matrix of how often each was seen with each neighbour."""
    if view == "tree":
        if not isinstance(data, Treebank):
            raise SettingError("vectors by the tree need a dependency treebank")
        sentences = data.sentences()
        words = Alphabet.of(word for sentence in sentences for word in sentence.words)
        number = words.encode(word for sentence in sentences for word in sentence.words).astype(np.int64)
        counts = TreeCounts.of(data.arrays, number, len(words))
        sides = [_matrix(pairs.tuples, pairs.count, len(words)) for pairs in counts.pairs]
        return words, scipy.sparse.hstack([*sides, *(side.T for side in sides)], format="csr")
    if not isinstance(data, NGramCounts):
        text = data if isinstance(data, Text) else Text.of(item.sentence for item in data)
        data = NGramCounts.of(text, order=2)
    if data.order < 2:
        raise SettingError("word vectors need counts of bigrams at least")
    rows = slice(data.trie.level[1], data.trie.level[2])
    after = _matrix(data.trie.grams(2).astype(np.int64), data.count[rows].astype(np.float64), len(data.words))
    if view == "singular":
        return data.words, after
    return data.words, scipy.sparse.hstack([after.T, after], format="csr")


def _matrix(pairs: Ints, count: NDArray[np.float64], size: int) -> Any:
    return scipy.sparse.csr_array((count, (pairs[:, 0], pairs[:, 1])), shape=(size, size))


def _noise(seen: Any, smoothing: float) -> float:
    """The second singular value of the same counts with neighbours exchanged at random."""
    cells = seen.tocoo()
    count = cells.data.astype(np.int64)
    rng = np.random.default_rng(0)
    if count.sum() > SHUFFLED:
        count = rng.multinomial(SHUFFLED, count / count.sum())
    word = np.repeat(cells.coords[0], count)
    neighbour = rng.permutation(np.repeat(cells.coords[1], count))
    shuffled = scipy.sparse.csr_array((np.ones(len(word)), (word, neighbour)), shape=seen.shape)
    values = canonical_vectors(shuffled, 2, smoothing).values
    # Noise falls with the root of the number of pairs.
    return float(values[-1] * np.sqrt(count.sum() / cells.data.sum())) if len(values) > 1 else 0.0
