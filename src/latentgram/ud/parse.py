"""Parsing with a `UDParser`: tags if there are none, then trees, then lemmas, each with its probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from latentgram.arcs.parse import ArcBackend
from latentgram.arrays import Floats
from latentgram.data.constraints import Constraints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.evaluate.score import Score
from latentgram.kinds.marginals import Marginals
from latentgram.kinds.protocols import AnyTree, Decoder, Known
from latentgram.kinds.result import Parse, TagPosteriors
from latentgram.ud.model import UDParser

Sure = TagPosteriors | None


class UDBackend:
    """Tags, parses and finds lemmas; all that concerns trees is done by the backend of its arcs."""

    def __init__(self, model: UDParser, decoder: Decoder | None = None) -> None:
        self.model = model
        self.arcs = ArcBackend(model.arcs, decoder)

    @property
    def tags(self) -> frozenset[str]:
        """The tags that training saw."""
        return self.arcs.tags

    @property
    def labels(self) -> tuple[str, ...]:
        """The relations."""
        return self.arcs.labels

    def parse(self, sentences: Sequence[Sentence], known: Known | None = None) -> list[Parse]:
        """The best tree of each sentence."""
        tagged, sure = self.model.tagger.fill(sentences, known or [None] * len(sentences))
        return self._finished(self.arcs.parse(tagged, known), sure)

    def nbest(self, sentence: Sentence, count: int, known: Constraints | None = None) -> list[Parse]:
        """The best trees under the best tags."""
        tagged, sure = self._tagged(sentence, known)
        parses = self.arcs.nbest(tagged, count, known)
        return self._finished(parses, [sure] * len(parses))

    def sample(self, sentence: Sentence, count: int, seed: int, known: Constraints | None = None) -> list[Parse]:
        """Trees drawn from the posterior under the best tags."""
        tagged, sure = self._tagged(sentence, known)
        parses = self.arcs.sample(tagged, count, seed, known)
        return self._finished(parses, [sure] * len(parses))

    def score(self, tree: AnyTree) -> Parse:
        """A given tree with its probabilities."""
        return self.arcs.score(tree)

    def name_arcs(self, sentences: Sequence[Sentence], heads: Sequence[Sequence[int]]) -> list[tuple[str, ...]]:
        """The relations of all words under the best tags, given their heads."""
        tagged, _ = self.model.tagger.fill(sentences, [None] * len(sentences))
        return self.arcs.name_arcs(tagged, heads)

    def relation_posteriors(self, sentence: Sentence, heads: Sequence[int]) -> list[dict[str, float]]:
        """How probable each relation of each word is under the best tags, given the heads."""
        return self.arcs.relation_posteriors(self._tagged(sentence, None)[0], heads)

    def marginals(self, sentence: Sentence, known: Constraints | None = None) -> Marginals:
        """The posteriors of all arcs under the best tags."""
        return self.arcs.marginals(self._tagged(sentence, known)[0], known)

    def compare(self, gold: Sequence[AnyTree], parses: Sequence[Parse]) -> Score:
        """The attachment of parses."""
        return self.arcs.compare(gold, parses)

    def _tagged(self, sentence: Sentence, known: Constraints | None) -> tuple[Sentence, Sure]:
        (tagged,), (sure,) = self.model.tagger.fill([sentence], [known])
        return tagged, sure

    def _finished(self, parses: list[Parse], sure: Sequence[Sure]) -> list[Parse]:
        """Parses with lemmas, and with how sure tags and lemmas are."""
        if self.model.lemmatiser is not None:
            lemmas = self.model.lemmatiser.lemmatise([parse.sentence for parse in parses])
            parses = [_with_lemmas(parse, *each) for parse, each in zip(parses, lemmas, strict=True)]
        return [
            parse if posteriors is None else parse.tagged(posteriors)
            for parse, posteriors in zip(parses, sure, strict=True)
        ]


def _with_lemmas(parse: Parse, lemmas: tuple[str, ...], sure: Floats) -> Parse:
    if not isinstance(parse.tree, DependencyTree):
        return parse
    tree = parse.tree.replace(lemmas=lemmas)
    return replace(parse, tree=tree, lemma_confidence=sure)
