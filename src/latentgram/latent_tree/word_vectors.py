"""`WordVectors`: a vector for every word, such that words used alike lie in one direction; and how it is learned.

They are the matrix U of Dhillon et al. 2012 (§2.2, §4.2): what a word is seen with, decomposed.

| view       | a word is seen with                            | decomposition                        |
|------------|------------------------------------------------|--------------------------------------|
| `singular` | the word after it                              | singular vectors (Hsu et al. 2008)   |
| `context`  | the word before it, and the word after it      | canonical correlation (two views)    |
| `lr-mvl`   | all that is to its left, and to its right      | canonical correlation (multi_view.py) |
| `tree`     | its parent, and its left and right children    | canonical correlation                |

Let C[x, z] count how often symbol x was seen with neighbour z. The singular vectors of C see the frequent symbols
only. Canonical correlation analysis whitens both sides first; the covariance of indicators being nearly diagonal,
that is a scaling by counts (as in Cohen et al. 2013, §3.1):

    W_x C W_z ≈ A Σ Bᵀ,   vector of x = row x of W_x A,   so that the mean of (vector)(vector)ᵀ is about 1.

The number of dimensions is the number of canonical correlations above `least` times the noise, at most `states`.
The noise is the largest correlation that is left when neighbours are exchanged at random (parallel analysis); the
first one, which only says how frequent a word is, is left out of it. One truncated decomposition of a sparse
matrix; memory grows with the distinct bigrams, not with the text: n-gram counts of text of any size will do.

Clusters: k-means of the directions of the frequent words, each dimension weighed by its correlation and each word
by how often it was seen; the other words join the nearest centre. The centres are then merged pair by pair, those
first whose merging costs the least squared error (Ward 1963), which makes the clusters leaves of a binary tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.sparse import csr_array, diags_array, hstack

from latentgram.arrays import Floats, Ints
from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.dependencies import DependencyTree
from latentgram.data.invariants import ANY, FINITE, NONNEGATIVE, holds, shape
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.provenance import Provenance, Summarised
from latentgram.data.sentence import Sentence
from latentgram.data.text import Text
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.data.word_clusters import WordClusters
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context
from latentgram.latent_tree.multi_view import multi_view_vectors
from latentgram.latent_tree.settings import SpectralVectors
from latentgram.latent_tree.statistics import TreeCounts
from latentgram.numeric.kmeans import kmeans
from latentgram.numeric.svd import truncated_svd

Contexts = Text | NGramCounts | Treebank[Sentence] | Treebank[Tree] | Treebank[DependencyTree]
"""What words can be seen in; for the view `tree` it must be dependency trees."""

SHUFFLED = 2_000_000
"""Pairs that are exchanged at random to measure the noise, at most."""
FREQUENT = 10_000
"""The most frequent words, which clusters are made of."""


@dataclass(frozen=True, eq=False, repr=False)
class WordVectors(Summarised):
    """Words and their vectors, with dimensions in order of decreasing strength.

    >>> import latentgram as lg
    >>> text = lg.Text.of(["the cat sleeps", "the dog sleeps", "a cat runs", "a dog runs"] * 20)
    >>> vectors = lg.fit(lg.WordVectors, text, by=lg.Spectral(states=4, least=0))
    >>> [word for word, _ in vectors.neighbours("cat", 1)]
    ['dog']
    """

    words: Alphabet
    vectors: Annotated[Floats, shape("len(words)", "len(values)"), FINITE]
    """[words, k]"""
    values: Annotated[Floats, shape(ANY), FINITE]
    """[k] the singular values, or canonical correlations."""
    view: str
    """What words were seen with: singular, context, lr-mvl or tree."""
    provenance: Provenance = field(default_factory=Provenance)
    count: Annotated[
        Floats,
        shape(ANY),
        holds("len(count) in (0, len(words))", "has neither one number per word nor none"),
        NONNEGATIVE,
    ] = field(default_factory=lambda: np.zeros(0))
    """[words] how often each was seen; empty in files of older versions."""

    def __getitem__(self, word: str) -> Floats:
        """The vector of a word."""
        return np.asarray(self.vectors[self._row(word)])

    def _row(self, word: str) -> int:
        number = self.words.index(word)
        if number == ABSENT:
            raise DataError(f"there is no vector for {word!r}")
        return number

    def __contains__(self, word: object) -> bool:
        return word in self.words

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def _directions(self) -> Floats:
        return _unit_rows(self.vectors)

    def neighbours(self, word: str, count: int = 10) -> list[tuple[str, float]]:
        """The most similar words with their cosines, the most similar first."""
        row = self._row(word)
        cosine = self._directions @ self._directions[row]
        cosine[row] = -np.inf
        best = np.argsort(-cosine, kind="stable")[: min(count, len(self.words) - 1)]
        return [(self.words[number], float(cosine[number])) for number in best]

    def clusters(self, count: int = 256) -> WordClusters:
        """Cluster the words into at most this many clusters, with bit strings.

        >>> import latentgram as lg
        >>> text = lg.Text.of(["the cat sleeps", "the dog sleeps", "a cat runs", "a dog runs"] * 20)
        >>> clusters = lg.fit(lg.WordVectors, text, by=lg.Spectral(states=4, least=0)).clusters(4)
        >>> clusters["cat"] == clusters["dog"], clusters["cat"] == clusters["runs"]
        (True, False)
        """
        seen = self.count if len(self.count) else np.ones(len(self.words))
        space = _unit_rows(self.vectors * self.values)
        frequent = np.argsort(-seen, kind="stable")[:FREQUENT]
        weights = np.maximum(seen[frequent], np.finfo(float).tiny)
        label = kmeans(space[frequent], weights, count, np.random.default_rng(0))
        sums = csr_array((weights, (label, np.arange(len(label))))) @ space[frequent]
        centres = sums / np.bincount(label, weights)[:, None]
        nearest = np.argmin((centres**2).sum(1) - 2.0 * space @ centres.T, axis=1)
        return WordClusters(self.words, nearest.astype(np.int64), bit_strings(centres))

    def summary(self) -> str:
        """One line."""
        return f"vectors of {len(self.words):,} words in {self.vectors.shape[1]} dimensions by their {self.view}"


def _unit_rows(vectors: Floats) -> Floats:
    """The directions of vectors; one that is zero but for rounding has none, and stays next to zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    longest = float(length.max(initial=0.0))
    return np.asarray(vectors / np.maximum(length, max(1e-9 * longest, np.finfo(float).tiny)))


def learn_vectors(data: Contexts, settings: SpectralVectors, context: Context) -> WordVectors:
    """The recipe: vectors of the words of data."""
    del context
    view, rank = settings.view, settings.states
    if view == "lr-mvl":
        text = _text(data)
        if len(text.words) < 2:
            raise DataError("there are no neighbouring words to learn vectors from")
        vectors, values = multi_view_vectors(text, rank, settings.scaling)
        count = np.bincount(text.tokens, minlength=len(text.words)).astype(np.float64)
        return WordVectors(text.words, np.ascontiguousarray(vectors), values, view, count=count)
    words, seen = _seen(data, view)
    count = np.asarray(seen.sum(1), np.float64).ravel()
    if not seen.nnz:
        raise DataError("there are no neighbouring words to learn vectors from")
    if view == "singular":
        vectors, values = singular_vectors(seen, rank)
        return WordVectors(words, np.ascontiguousarray(vectors), values, view, count=count)
    vectors, values = canonical_vectors(seen, rank, settings.scaling)
    least = settings.least * _noise(seen, settings.scaling) if settings.least else 0.0
    kept = max(int((values > least).sum()), 1)
    return WordVectors(words, np.ascontiguousarray(vectors[:, :kept]), values[:kept], view, count=count)


def bit_strings(centres: Floats) -> tuple[str, ...]:
    """The paths to the leaves of the binary tree that Ward's method makes of points.

    >>> bit_strings(np.array([[0.0], [5.0], [0.1]]))
    ('00', '1', '01')
    """
    size = len(centres)
    if size == 1:
        return ("0",)
    merges = linkage(centres, "ward")[:, :2].astype(np.int64)
    bits = [""] * (2 * size - 1)
    first = np.concatenate([np.arange(size), np.zeros(size - 1, np.int64)])
    for node, (one, other) in enumerate(merges, size):
        first[node] = min(first[one], first[other])
    for node in range(2 * size - 2, size - 1, -1):
        # The side with the first cluster is 0, so that equal trees are written alike.
        for bit, child in enumerate(sorted(merges[node - size], key=first.__getitem__)):
            bits[child] = f"{bits[node]}{bit}"
    return tuple(bits[:size])


def _text(data: Contexts) -> Text:
    if isinstance(data, Text):
        return data.compact()
    if isinstance(data, NGramCounts):
        raise SettingError("the view lr-mvl needs text: n-gram counts lack the wider context")
    return Text.of(item.sentence for item in data)


def _seen(data: Contexts, view: str) -> tuple[Alphabet, csr_array]:
    """The words, and a sparse matrix of how often each was seen with each neighbour."""
    if view == "tree":
        if not isinstance(data, Treebank):
            raise SettingError("the view tree needs a dependency treebank")
        sentences = data.sentences()
        words = Alphabet.of(word for sentence in sentences for word in sentence.words)
        number = words.encode(word for sentence in sentences for word in sentence.words).astype(np.int64)
        counts = TreeCounts.of(data.arrays, number, len(words))
        sides = [_matrix(pairs.tuples, pairs.count, len(words)) for pairs in counts.pairs]
        return words, hstack([*sides, *(side.T for side in sides)], format="csr")
    if not isinstance(data, NGramCounts):
        data = NGramCounts.of(_text(data), order=2)
    if data.order < 2:
        raise SettingError("word vectors need at least bigram counts")
    rows = slice(data.trie.level[1], data.trie.level[2])
    after = _matrix(data.trie.grams(2).astype(np.int64), data.count[rows].astype(np.float64), len(data.words))
    if view == "singular":
        return data.words, after
    return data.words, hstack([after.T, after], format="csr")


def _matrix(pairs: Ints, count: Floats, size: int) -> csr_array:
    return csr_array((count, (pairs[:, 0], pairs[:, 1])), shape=(size, size))


def _noise(seen: csr_array, smoothing: float) -> float:
    """The second singular value of the same counts with neighbours exchanged at random."""
    cells = seen.tocoo()
    count = cells.data.astype(np.int64)
    rng = np.random.default_rng(0)
    if count.sum() > SHUFFLED:
        count = rng.multinomial(SHUFFLED, count / count.sum())
    word = np.repeat(cells.coords[0], count)
    neighbour = rng.permutation(np.repeat(cells.coords[1], count))
    shuffled = csr_array((np.ones(len(word)), (word, neighbour)), shape=seen.shape)
    values = canonical_vectors(shuffled, 2, smoothing).values
    # Noise falls with the root of the number of pairs.
    return float(values[-1] * np.sqrt(count.sum() / cells.data.sum())) if len(values) > 1 else 0.0


class Vectors(NamedTuple):
    """[symbols, k] a vector a symbol, and the k singular values (canonical correlations)."""

    vectors: Floats
    values: Floats


def singular_vectors(counts: csr_array, rank: int) -> Vectors:
    """The left singular vectors of relative frequencies."""
    shares = counts.data / max(float(counts.sum()), 1.0)
    svd = truncated_svd(csr_array((shares, counts.indices, counts.indptr), shape=counts.shape), rank)
    return Vectors(svd.left, svd.values)


def canonical_vectors(counts: csr_array, rank: int, smoothing: float = 5.0) -> Vectors:
    """Canonical correlation analysis of symbols and their neighbours; κ = `smoothing` tames rare ones.

    >>> counts = csr_array(np.array([[8.0, 0.0], [0.0, 2.0]]))
    >>> vectors, values = canonical_vectors(counts, 2, smoothing=0.0)
    >>> values, vectors.round(3)
    (array([1., 1.]), array([[1.118, 0. ], [0. , 2.236]]))
    """
    rows, columns = (_whitening(np.asarray(counts.sum(axis), np.float64).ravel() + smoothing) for axis in (1, 0))
    svd = truncated_svd(diags_array(rows) @ counts @ diags_array(columns), rank)
    return Vectors(rows[:, None] * svd.left * np.sqrt(float(counts.sum())), svd.values)


def _whitening(sizes: Floats) -> Floats:
    """The inverse roots of the variances of indicators; 0 for what was never seen."""
    return np.sqrt(np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0))
