"""What can be inspected in word vectors: the neighbours of a word, and clusters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from latentgram.kinds.looks import Look, Request, Shown, SymbolFacts, refuse
from latentgram.latent_tree.word_vectors import WordVectors


class VectorInspection:
    """Looks into word vectors."""

    def __init__(self, model: WordVectors) -> None:
        self.model = model

    def symbols(self) -> list[SymbolFacts]:
        """None: words have no states."""
        return []

    def look(self, symbol: str, direction: str, clusters: int) -> Look:
        """There is nothing to look at."""
        del symbol, direction, clusters
        refuse(self.model, "symbol")

    def show(self, request: Request) -> Shown:
        """The words used most like one, with their cosines; or the bits and the commonest words of clusters."""
        if request.subject == "word clusters":
            clusters = tuple(self._clusters(request.clusters, request.top))
            content = "\n".join(f"{bits}  {words}" for bits, words in clusters)
            return Shown(content, columns=("bits", "words"), rows=clusters)
        if request.subject != "word":
            refuse(self.model, request.subject)
        near = self.model.neighbours(request.name, request.top)
        content = "\n".join(f"{cosine:.3f}  {word}" for word, cosine in near)
        return Shown(content, columns=("word", "cosine"), rows=tuple(near))

    def _clusters(self, count: int, top: int) -> Iterator[tuple[str, str]]:
        """The bits of each cluster and its commonest words."""
        seen = self.model.count if len(self.model.count) else np.zeros(len(self.model.words))
        for bits, words in self.model.clusters(count).members():
            order = np.argsort(-seen[self.model.words.encode(words)], kind="stable")[:top]
            yield bits, " ".join(words[place] for place in order)
