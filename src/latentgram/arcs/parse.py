"""Dependency parsing with an `ArcFactored` model (the best tree, or that of minimum risk) or a `Reranker`.

Confidence is the posterior of an arc under the scaled scores; `tree_logprob` is log p(tree | sentence).
The model gives no probability to the sentence itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import ClassVar

import numpy as np

from latentgram.arcs.crossing import lowered, without_mark
from latentgram.arcs.model import ArcFactored, ArcScores, SpanningScores
from latentgram.arcs.nbest import NBestList
from latentgram.arcs.reranker import Reranker
from latentgram.arrays import Floats, Ints32
from latentgram.data.constraints import Constraints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.errors import NoParse, SettingError
from latentgram.kinds.decoders import MBR, Viterbi
from latentgram.kinds.marginals import LEAST
from latentgram.kinds.protocols import Decoder, Known
from latentgram.kinds.result import Parse
from latentgram.numeric.projective_posteriors import expected_score
from latentgram.shag.attachment import Analysis, AttachmentBackend, Heads, NamedArcs, Sum, with_tags


@dataclass(frozen=True, eq=False)
class ArcAnalysis(Analysis):
    """A sentence with the scores of its trees."""

    CONDITIONAL: ClassVar[bool] = True

    model: ArcFactored
    symbols: Ints32

    @cached_property
    def cases(self) -> list[ArcScores]:
        """The scores of the trees of each case."""
        return [self.model.scores(self.symbols, mask) for mask in self.masks or (None,)]

    def sums(self) -> list[Sum]:
        """The posteriors of arcs under the scaled scores."""
        return [Sum(*scores.marginals(self.model.scale), 1.0) for scores in self.cases]

    @cached_property
    def entropy(self) -> float:
        """Of the posterior over trees: log Z − E[scale · score] in the first order, else an upper bound."""
        if self.cases[0].order == 2:
            return self.posteriors.entropy
        # Arcs that a case leaves out have the posterior 0 there, so the scores of all trees serve for every case.
        scores = (self.model.scores(self.symbols) if self.masks else self.cases[0]).trees
        total = self.total
        expected = expected_score(scores, total.arcs, total.roots)
        return max(float(total.log_total - self.model.scale * expected), 0.0)

    @property
    def no_parse(self) -> NoParse:
        """What is raised where no tree obeys the constraints."""
        return super().no_parse if self.model.projective else NoParse(f"no tree satisfies: {self.known}")

    def tree_logprob(self, heads: Heads) -> float:
        """log p(tree | sentence, constraints)."""
        score = max(scores.of_heads(heads) for scores in self.cases)
        return self.model.scale * score - self.total.log_total

    def draw(self, case: int, uniforms: Floats) -> list[Heads]:
        """Trees drawn from the posterior."""
        return list(self.cases[case].draw(self.model.scale, uniforms))


class ArcBackend(AttachmentBackend[ArcAnalysis]):
    """Parses with scores of arcs."""

    DRAWS: ClassVar[int] = 4

    def __init__(self, model: ArcFactored, decoder: Decoder | None = None) -> None:
        super().__init__(decoder, Viterbi())
        self.model = model

    @property
    def projective(self) -> bool:
        """Whether all its trees are projective."""
        return self.model.projective

    @property
    def tags(self) -> frozenset[str]:
        """The tags that training saw."""
        return frozenset(self.model.symbols.tags.alphabet)

    @property
    def labels(self) -> tuple[str, ...]:
        """The relations."""
        return tuple(dict.fromkeys(map(without_mark, self.model.relations.names)))

    def _analysis(self, sentence: Sentence, known: Constraints | None = None) -> ArcAnalysis:
        return self._analyses([sentence], [known])[0]

    def _analyses(self, sentences: Sequence[Sentence], known: Known) -> list[ArcAnalysis]:
        """The analyses of many: they are made into numbers together, and the weights stay in the cache after."""
        tagged = [
            with_tags(each, sentence) if each else sentence
            for sentence, each in zip(sentences, known, strict=True)
        ]
        symbols = self.model.symbols.encode(tagged)
        return [
            ArcAnalysis(sentence, each, 0.0, self.model, symbols.sentence(number))
            for number, (sentence, each) in enumerate(zip(tagged, known, strict=True))
        ]

    def _best(self, analysis: ArcAnalysis, count: int) -> list[Heads]:
        """The trees with the best scores, or of least risk, best first."""
        return [heads for heads, _ in self._rated(analysis, count)]

    def _rated(self, analysis: ArcAnalysis, count: int) -> list[tuple[Heads, float]]:
        """The best trees with what they were chosen by."""
        rated: list[tuple[Heads, float]] = []
        for mask, scores in zip(analysis.masks or (None,), analysis.cases, strict=True):
            if isinstance(self.decoder, MBR):
                gains = self.decoder.scores(analysis.posteriors.arcs, analysis.posteriors.roots, mask)
                trees, merits = (ArcScores if self.projective else SpanningScores)(gains).k_best(count)
            elif count == 1:
                heads, merit = scores.best()
                trees, merits = heads[None], np.array([merit])
            else:
                trees, merits = scores.k_best(count)
            rated += zip(trees, merits.tolist(), strict=True)
        if not rated:
            raise analysis.no_parse
        return sorted(rated, key=itemgetter(1), reverse=True)[:count]

    def name_arcs(self, sentences: Sequence[Sentence], heads: Sequence[Sequence[int]]) -> list[tuple[str, ...]]:
        """The relations of all words, given their heads."""
        return [tuple(map(without_mark, names)) for names in super().name_arcs(sentences, heads)]

    def relation_posteriors(self, sentence: Sentence, heads: Sequence[int]) -> list[dict[str, float]]:
        """How probable each relation of each word is, given the heads; the most probable first."""
        analysis = self._analysis(sentence)
        shares = self.model.relations.posteriors(analysis.symbols, np.array(heads, np.int64))
        names, told = [without_mark(name) for name in self.model.relations.names], list[dict[str, float]]()
        for row in shares:
            word: dict[str, float] = {}
            for place in np.argsort(-row, kind="stable")[: np.count_nonzero(row >= LEAST)]:
                word[names[place]] = word.get(names[place], 0.0) + float(row[place])
            told.append(word)
        return told

    def _parses(self, trees: Sequence[tuple[ArcAnalysis, Heads]]) -> list[Parse]:
        """Parses; arcs whose names tell so are lowered, but where heads are required they are as they were found.

        The posterior of a lowered arc is that of the arc that was found, times that of its name.
        """
        parses = super()._parses(trees)
        if not self.model.relations.lifts:
            return parses
        return [
            _lowered(parse, analysis.known is None) for parse, (analysis, _) in zip(parses, trees, strict=True)
        ]

    def _relations(self, trees: Sequence[tuple[ArcAnalysis, Heads]]) -> Iterator[NamedArcs]:
        return (NamedArcs(*self.model.relations.predict(analysis.symbols, heads + 1)) for analysis, heads in trees)


def _lowered(parse: Parse, free: bool) -> Parse:
    """A parse without marks in its relations, whose marked arcs are lowered if that is free."""
    if not isinstance(parse.tree, DependencyTree):
        return parse
    tree = parse.tree
    heads, names = lowered(tree.heads, tree.deprels)
    moved = np.array(heads) != np.array(tree.heads)
    if not free or not moved.any():
        return dataclasses.replace(parse, tree=tree.replace(deprels=names))
    confidence = np.where(moved, parse.confidence * parse.relation_confidence, parse.confidence)
    tree = tree.replace(heads=heads, deprels=names)
    return dataclasses.replace(parse, tree=tree, confidence=confidence, expected=float(confidence.mean()))


class RerankingBackend(ArcBackend):
    """Parses with a base parser and takes the best of its trees by the reranker's score.

    Posteriors, draws and scores of given trees are the base parser's.
    """

    def __init__(self, model: Reranker, decoder: Decoder | None = None) -> None:
        if decoder is not None:
            raise SettingError("a reranker returns the best tree of its list: it has no other decoders")
        super().__init__(model.base)
        self.reranker = model

    def _best(self, analysis: ArcAnalysis, count: int) -> list[Heads]:
        """The trees with the best new scores: at most as many as the lists are long."""
        trees, scores = zip(*self._rated(analysis, self.reranker.count), strict=True)
        heads = np.array(trees)
        merits = self.reranker.scores(NBestList(analysis.sentence, heads + 1, np.array(scores)))
        return list(heads[np.argsort(-merits, kind="stable")[:count]])
