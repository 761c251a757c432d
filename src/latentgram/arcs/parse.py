"""Dependency parsing with an `ArcFactored` model (the best tree, or that of least risk) or a `Reranker`.

Confidence is the posterior of an arc in the model's normalised reading; `tree_logprob` is log p(tree | sentence).
There is no probability of the sentence itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.arcs.model import ArcFactored, ArcScores
from latentgram.arcs.nbest import NBestList
from latentgram.arcs.reranker import Reranker
from latentgram.data.constraints import Constraints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.errors import DataError, NoParse, SettingError
from latentgram.kinds.decoders import MBR, Viterbi
from latentgram.kinds.result import Parse
from latentgram.shag.grammar import ArcPosteriors
from latentgram.shag.parse.arc_masks import ArcMask, Sum, arc_masks, together, with_tags
from latentgram.shag.parse.attachment import AttachmentBackend

Heads = NDArray[np.int64]


class ArcBackend(AttachmentBackend):
    """Parses with scores of arcs; heads are numbered from 0 inside, −1 being the root's."""

    def __init__(self, model: ArcFactored, decoder: Any = None) -> None:
        self.model = model
        super().__init__(Viterbi() if decoder is None else decoder)

    @property
    def tags(self) -> frozenset[str]:
        """The tags that training saw."""
        return frozenset(self.model.symbols.tags.alphabet)

    @property
    def labels(self) -> tuple[str, ...]:
        """The relations."""
        return self.model.relations.names.symbols

    def parse(
        self, sentences: Sequence[Sentence], known: Sequence[Constraints | None] | None = None
    ) -> list[Parse]:
        """The best tree of each sentence, of those that obey what is known."""
        constraints = known or [None] * len(sentences)
        given = [with_tags(each, one) if each else one for one, each in zip(sentences, constraints, strict=True)]
        encoded = self.model.symbols.encode(given)
        return [
            self._nbest(_Analysis(self.model, sentence, encoded[number], constraints[number]), 1)[0]
            for number, sentence in enumerate(given)
        ]

    def nbest(self, sentence: Sentence, count: int, known: Constraints | None = None) -> list[Parse]:
        """The trees with the best scores, best first."""
        return self._nbest(self._analysis(sentence, known), count)

    def _analysis(self, sentence: Sentence, known: Constraints | None = None) -> _Analysis:
        sentence = with_tags(known, sentence) if known else sentence
        return _Analysis(self.model, sentence, self.model.encode(sentence), known)

    def _nbest(self, analysis: _Analysis, count: int) -> list[Parse]:
        return [self._built(analysis, heads) for _, heads in self._found(analysis, count)]

    def _found(self, analysis: _Analysis, count: int) -> list[tuple[float, Heads]]:
        """The best trees by their scores, or those of least risk, with what they were chosen by."""
        found: list[tuple[float, Heads]] = []
        for mask, scores in zip(analysis.masks or (None,), analysis.cases, strict=True):
            if isinstance(self.decoder, MBR):
                trees, merits = self.decoder.k_best(
                    analysis.posteriors.arcs, analysis.posteriors.roots, count, mask
                )
            elif count == 1:
                heads, merit = scores.best()
                trees, merits = heads[None], np.array([merit])
            else:
                trees, merits = scores.k_best(count)
            found += zip(merits.tolist(), trees, strict=True)
        if not found:
            raise NoParse(f"no projective tree obeys: {analysis.known}")
        found.sort(key=itemgetter(0), reverse=True)
        return found[:count]

    def sample(self, sentence: Sentence, count: int, seed: int, known: Constraints | None = None) -> list[Parse]:
        """Trees drawn from the posterior given the sentence."""
        analysis = self._analysis(sentence, known)
        random = np.random.default_rng(seed)
        uniforms = random.random((count, 4 * len(sentence)))
        chosen = random.choice(len(analysis.shares), count, p=analysis.shares)
        drawn: list[Heads | None] = [None] * count
        for number, scores in enumerate(analysis.cases):
            of_case = np.flatnonzero(chosen == number)
            for row, heads in zip(of_case, scores.draw(self.model.scale, uniforms[of_case]), strict=True):
                drawn[row] = heads
        return [self._built(analysis, heads) for heads in drawn if heads is not None]

    def score(self, tree: Any) -> Parse:
        """A given tree with its probabilities; one that is not projective, or uses a pruned arc, has 0."""
        if not isinstance(tree, DependencyTree):
            raise DataError("an ArcFactored model scores dependency trees")
        return self._built(self._analysis(tree.sentence), np.array(tree.heads, np.int64) - 1, tree)

    def _built(self, analysis: _Analysis, heads: Heads, tree: DependencyTree | None = None) -> Parse:
        """The parse of a tree given by its heads."""
        sentence = analysis.sentence
        tree = tree or DependencyTree(
            sentence.words,
            heads=tuple((heads + 1).tolist()),
            deprels=self.model.relations.predict(analysis.symbols, heads + 1),
            upos=sentence.upos or (),
            xpos=sentence.xpos or (),
        )
        confidence = np.clip(analysis.posteriors.of_heads(heads), 0.0, 1.0)
        return Parse(
            sentence,
            tree,
            np.nan,
            analysis.tree_logprob(heads) if tree.is_projective else -np.inf,
            confidence,
            np.full(len(heads), np.nan),
            entropy=analysis.entropy,
            expected=float(confidence.mean()),
            conditional=True,
        )


@dataclass(frozen=True, eq=False)
class _Analysis:
    """A sentence with the scores of its trees, in the cases into which constraints split them."""

    model: ArcFactored
    sentence: Sentence
    symbols: NDArray[np.int32]
    known: Constraints | None = None

    @cached_property
    def masks(self) -> list[ArcMask]:
        """The masks of the cases; none without constraints."""
        if not self.known:
            return []
        found = arc_masks(self.known, len(self.sentence))
        if not found:
            raise NoParse(f"no projective tree obeys: {self.known}")
        return found

    @cached_property
    def cases(self) -> list[ArcScores]:
        """The scores of the trees of each case."""
        if not self.known:
            return [self.model.scores(self.symbols)]
        return [self.model.scores(self.symbols, mask) for mask in self.masks]

    @cached_property
    def _sums(self) -> tuple[Sum, NDArray[np.float64]]:
        sums = [Sum(*scores.marginals(self.model.scale), 1.0) for scores in self.cases]
        if self.known and max((each.log_total for each in sums), default=-np.inf) == -np.inf:
            raise NoParse(f"no projective tree obeys: {self.known}")
        return together(sums)

    @property
    def shares(self) -> NDArray[np.float64]:
        """How much of the probability each case has."""
        return self._sums[1]

    @property
    def posteriors(self) -> ArcPosteriors:
        """The posteriors of arcs; in place of log p(sentence) the logarithm of the sum over all trees."""
        total = self._sums[0]
        return ArcPosteriors(total.arcs, total.roots, total.log_total)

    @cached_property
    def entropy(self) -> float:
        """Of the posterior over trees: log Z − E[scale · score] in the first order, else an upper bound."""
        if self.cases[0].order == 2:
            return self.posteriors.entropy
        # Arcs that a case leaves out have the posterior 0 there, so the scores of all trees serve for every case.
        scores, total = self.model.scores(self.symbols).trees, self._sums[0]
        expected = (total.arcs * np.where(total.arcs > 0, scores.arc, 0.0)).sum()
        expected += (total.roots * np.where(total.roots > 0, scores.root, 0.0)).sum()
        return max(float(total.log_total - self.model.scale * expected), 0.0)

    def tree_logprob(self, heads: Heads) -> float:
        """log p(tree | sentence), and what is known of it."""
        score = max(scores.of_heads(heads) for scores in self.cases)
        return self.model.scale * score - self._sums[0].log_total


class RerankingBackend(ArcBackend):
    """Parses with a base parser and takes the best of its trees by the reranker's score.

    Posteriors, draws and scores of given trees are the base parser's.
    """

    def __init__(self, model: Reranker, decoder: Any = None) -> None:
        if decoder is not None:
            raise SettingError("a reranker takes the best of its list: it has no other decoders")
        super().__init__(model.base)
        self.reranker = model

    def _found(self, analysis: _Analysis, count: int) -> list[tuple[float, Heads]]:
        """The trees with the best new scores: at most as many as the lists are long."""
        found = super()._found(analysis, self.reranker.count)
        scores, heads = np.array([score for score, _ in found]), np.array([heads for _, heads in found])
        merits = self.reranker.scores(NBestList(analysis.sentence, heads + 1, scores))
        order = np.argsort(-merits, kind="stable")[:count]
        return [(float(merits[place]), heads[place]) for place in order]
