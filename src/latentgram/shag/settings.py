"""The settings of the recipes of `SHAG`, `LexicalSHAG`, `ProductSHAG` and `ArcDistance`, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from latentgram.kinds import fields
from latentgram.kinds.groups import STARTS, Iterated, Seeded, Strings, TagSymbols
from latentgram.kinds.learners import EM, Counting, Spectral
from latentgram.kinds.settings import Settings

if TYPE_CHECKING:
    from latentgram.data.dependency_symbols import WordSymbols
    from latentgram.kinds.word_space import ClusterSpace


@dataclass(frozen=True, repr=False)
class Heads(TagSymbols):
    """What the words of a treebank become, with clusters."""

    vectors: ClusterSpace | None = fields.VECTORS_OR_CLUSTERS(None)
    clusters: int = fields.CLUSTERS(8)

    @property
    def rule(self) -> str | WordSymbols:
        """What the symbols are, with clusters of words where there are vectors."""
        from latentgram.kinds.word_space import symbols_with_clusters

        return symbols_with_clusters(self.symbols, self.vectors, self.clusters)


@dataclass(frozen=True, repr=False)
class CountingSHAG(Heads):
    """Deterministic automata: DET (memory none) and DET+F (memory first)."""

    memory: Literal["none", "first", "kind"] = fields.MEMORY("first")


@dataclass(frozen=True, repr=False)
class Basis(Heads, Strings, states=15, history=3, future=3, power=0.25, ridge=4.0):
    """Head automata from the modifiers before a place and behind it."""

    smoothing: float = fields.SMOOTHING(1.0)
    deterministic: int = fields.DETERMINISTIC(0)


@dataclass(frozen=True, repr=False)
class SpectralSHAG(Basis):
    """Luque et al. 2012, Algorithm 1, regularised."""

    least: float = fields.LEAST_VALUE(0.0)


@dataclass(frozen=True, repr=False)
class EMSHAG(Basis, Iterated, states=20, iterations=15):
    """EM over the trie of modifier sequences."""

    start: Literal["random", "spectral", "clusters"] = fields.START("clusters")
    backoff: float = fields.BACKOFF(10.0)


@dataclass(frozen=True, repr=False)
class ClusteringSHAG(Basis, Seeded, states=20):
    """Clusters of spectral vectors, counted."""


@dataclass(frozen=True, repr=False)
class Powers(Settings):
    """How much words and distances count in a product."""

    lexical: float = fields.LEXICAL(0.7)
    distance: float = fields.DISTANCE(0.5)


@dataclass(frozen=True, repr=False)
class SpectralProduct(Powers, SpectralSHAG):
    """Spectral automata times words times distances."""


@dataclass(frozen=True, repr=False)
class EMProduct(Powers, EMSHAG):
    """Automata by EM times words times distances."""


@dataclass(frozen=True, repr=False)
class ClusteringProduct(Powers, ClusteringSHAG, states=15):
    """Clustered automata times words times distances."""


@dataclass(frozen=True, repr=False)
class CountingLexical(Heads):
    """Words and tags with back-off: LEX, LEX+F, LEX+FCP."""

    memory: Literal["none", "first", "kind"] = fields.MEMORY("kind")
    rare: int = fields.RARE(1)


@dataclass(frozen=True, repr=False)
class CountingDistance(Heads):
    """Distances of arcs."""

    between: bool = fields.BETWEEN(True)


RATERS = {
    "shag": (EM(),),
    "shag-spectral": (Spectral(),),
    "shag-words": tuple(EM(symbols="words", seed=seed) for seed in range(STARTS)),
    "shag-words-random": (EM(symbols="words", start="random", iterations=40),),
}
"""How rerankers learn head automata, by the names of their features."""
LEXICAL_RATERS = {"lexical": (Counting(),)}
"""The same of lexical ones."""
