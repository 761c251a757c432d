"""`WordSpace`: word vectors as learners of grammars accept them, the one way from raw text into the parsers.

Dhillon et al. 2012 (§4.2) learn a vector for each word from a large text and use it instead of the word. Here
vectors are used by three families: as the matrix U of latent trees, as clusters in the symbols of head automata,
and as features of the nodes of phrase trees. `latentgram.WordVectors` is such a space. For the last two, clusters
alone are enough (`ClusterSpace`), such as those of Brown et al. (1992) in a file: `latentgram.WordClusters`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from latentgram.arrays import Floats
from latentgram.data.alphabet import Alphabet
from latentgram.data.word_clusters import WordClusters
from latentgram.errors import SettingError

if TYPE_CHECKING:
    from latentgram.data.dependency_symbols import WordSymbols


@runtime_checkable
class ClusterSpace(Protocol):
    """Words, and clusters of them."""

    @property
    def words(self) -> Alphabet:
        """The words."""

    def clusters(self, count: int) -> WordClusters:
        """At most so many clusters of the words."""


@runtime_checkable
class WordSpace(ClusterSpace, Protocol):
    """Words with their vectors, and clusters of them."""

    @property
    def vectors(self) -> Floats:
        """[words, k]"""


def checked(vectors: object) -> ClusterSpace:
    """The vectors or clusters, if they are some."""
    if isinstance(vectors, ClusterSpace):
        return vectors
    raise SettingError(
        f"vectors must be WordVectors or WordClusters, got {vectors!r}; files are read by latentgram.load and "
        "WordClusters.read"
    )


def checked_vectors(vectors: ClusterSpace | None) -> WordSpace | None:
    """The vectors, if they are some: clusters alone will not do."""
    if vectors is None:
        return None
    space = checked(vectors)
    if isinstance(space, WordSpace):
        return space
    raise SettingError("latent trees need word vectors: clusters are not enough")


def symbols_with_clusters(kind: str, vectors: ClusterSpace | None, count: int) -> str | WordSymbols:
    """The kind of symbols of a dependency grammar; with vectors the rule that adds clusters to them."""
    if vectors is None:
        return kind
    from latentgram.data.dependency_symbols import WordSymbols  # which phrase grammars do without

    return WordSymbols.rule(kind, clusters=checked(vectors).clusters(count))
