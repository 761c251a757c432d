"""Dependency parsing with head-automata grammars: inside–outside, then the tree of least risk (000 §4).

Trees are projective. Every arc gets its posterior, and its relation from the grammar's counts. The tree of a
deterministic grammar may also be chosen by `Viterbi`, which is exact there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.data.constraints import Constraints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.errors import DataError, NoParse, SettingError
from latentgram.kinds.decoders import MBR, Viterbi
from latentgram.kinds.result import Parse
from latentgram.shag.grammar import ArcPosteriors, as_logprob
from latentgram.shag.kernels.inside_outside import HeadWeights, inside, marginals, tree_weight
from latentgram.shag.kernels.trees import best_path, draw_tree
from latentgram.shag.lexical import LexicalSHAG
from latentgram.shag.model import SHAG
from latentgram.shag.parse.arc_masks import ArcMask, Sum, arc_masks, together, with_tags
from latentgram.shag.parse.attachment import AttachmentBackend
from latentgram.shag.parse.siblings import k_best_trees
from latentgram.shag.product import ProductSHAG

Heads = NDArray[np.int64]
Floats = NDArray[np.float64]


class DependencyBackend(AttachmentBackend):
    """Parses with a head-automata grammar; heads are numbered from 0 inside, −1 being the root's."""

    def __init__(self, model: SHAG | LexicalSHAG | ProductSHAG, decoder: Any = None) -> None:
        self.grammar = model
        super().__init__(MBR() if decoder is None else decoder)
        if isinstance(self.decoder, Viterbi) and not model.deterministic:
            raise SettingError("Viterbi finds the best tree of deterministic grammars only; take MBR for this one")

    @property
    def tags(self) -> frozenset[str]:
        """The fine tags that the symbols are made of."""
        return frozenset(name.split("|")[-1] for name in self.grammar.symbols.alphabet)

    @property
    def labels(self) -> tuple[str, ...]:
        """The relations."""
        return self.grammar.relations.labels.symbols

    def parse(
        self, sentences: Sequence[Sentence], known: Sequence[Constraints | None] | None = None
    ) -> list[Parse]:
        """The best tree of each sentence, of those that obey what is known."""
        analyses = list(map(self._analysis, sentences, known or [None] * len(sentences)))
        return self._built([(analysis, self._decoded(analysis)) for analysis in analyses])

    def _analysis(self, sentence: Sentence, known: Constraints | None = None) -> _Analysis:
        if not known:
            return _Analysis(sentence, *self.grammar.weights(sentence))
        sentence = with_tags(known, sentence)
        analysis = _Analysis(sentence, *self.grammar.weights(sentence), tuple(arc_masks(known, len(sentence))))
        if not analysis.masks or analysis.posteriors.logprob == -np.inf:
            raise NoParse(f"no projective tree obeys: {known}")
        return analysis

    def _decoded(self, analysis: _Analysis) -> Heads:
        if isinstance(self.decoder, Viterbi):
            with np.errstate(divide="ignore"):
                found = [best_path(*weights) for weights in analysis.cases]
            heads, log_weight = max(found, key=itemgetter(1))
            if log_weight > -np.inf:
                return np.asarray(heads)
        return self._least_risk(analysis, 1)[0]

    def _least_risk(self, analysis: _Analysis, count: int) -> list[Heads]:
        """The trees with the most probable arcs, best first."""
        risk, arcs, roots = self._risk, analysis.posteriors.arcs, analysis.posteriors.roots
        if count == 1 and len(analysis.masks) <= 1:
            return [risk.heads(arcs, roots, *analysis.masks)]
        found = [
            (merit, heads)
            for mask in analysis.masks or (None,)
            for heads, merit in zip(*risk.k_best(arcs, roots, count, mask), strict=True)
        ]
        return [heads for _, heads in sorted(found, key=itemgetter(0), reverse=True)[:count]]

    @property
    def _risk(self) -> MBR:
        return self.decoder if isinstance(self.decoder, MBR) else MBR()

    def nbest(self, sentence: Sentence, count: int, known: Constraints | None = None) -> list[Parse]:
        """The most probable trees, best first; of a grammar with hidden states those with the likeliest arcs."""
        analysis = self._analysis(sentence, known)
        exact = [k_best_trees(weights, count) for weights in analysis.cases]
        found = [tree for case in exact if case is not None for tree in case]
        if None in exact or not found:
            return self._built([(analysis, heads) for heads in self._least_risk(analysis, count)])
        found.sort(key=itemgetter(0), reverse=True)
        return self._built([(analysis, heads) for _, heads in found[:count]])

    def sample(self, sentence: Sentence, count: int, seed: int, known: Constraints | None = None) -> list[Parse]:
        """Trees drawn from the posterior given the sentence."""
        analysis = self._analysis(sentence, known)
        random = np.random.default_rng(seed)
        uniforms = random.random((count, 2 * len(sentence)))
        shares = np.maximum(analysis.shares, 0.0)
        chosen = random.choice(len(shares), count, p=shares / shares.sum())
        drawn: list[Heads | None] = [None] * count
        for number, weights in enumerate(analysis.cases):
            of_case = np.flatnonzero(chosen == number)
            if len(of_case):
                triangle, trapezoid, closed, _, _ = inside(*weights)
                for row in of_case:
                    drawn[row] = draw_tree(*weights, triangle, trapezoid, closed, uniforms[row])
        return self._built([(analysis, heads) for heads in drawn if heads is not None])

    def score(self, tree: Any) -> Parse:
        """A given tree with its probabilities; one that is not projective has the probability 0."""
        if not isinstance(tree, DependencyTree):
            raise DataError("a head-automata grammar scores dependency trees")
        analysis = _Analysis(tree.sentence, *self.grammar.weights(tree.sentence))
        heads = np.array(tree.heads, np.int64) - 1
        confidence = np.clip(analysis.posteriors.of_heads(heads), 0.0, 1.0)
        return Parse(
            analysis.sentence,
            tree,
            analysis.posteriors.logprob,
            analysis.tree_logprob(heads) if tree.is_projective else -np.inf,
            confidence,
            np.full(len(heads), np.nan),
            entropy=analysis.posteriors.entropy,
            expected=float(confidence.mean()),
        )

    def _built(self, found: Sequence[tuple[_Analysis, Heads]]) -> list[Parse]:
        """The parses of trees given by their heads; relations are looked up for all of them together."""
        relations = iter(self._relations(found))
        parses = []
        for analysis, heads in found:
            sentence, posteriors = analysis.sentence, analysis.posteriors
            tree = DependencyTree(
                sentence.words,
                heads=tuple((heads + 1).tolist()),
                deprels=tuple(islice(relations, len(heads))),
                upos=sentence.upos or (),
                xpos=sentence.xpos or (),
            )
            confidence = np.clip(posteriors.of_heads(heads), 0.0, 1.0)
            parses.append(
                Parse(
                    sentence,
                    tree,
                    posteriors.logprob,
                    analysis.tree_logprob(heads),
                    confidence,
                    np.full(len(heads), np.nan),
                    fallback=posteriors.logprob == -np.inf,
                    entropy=posteriors.entropy,
                    expected=float(confidence.mean()),
                )
            )
        return parses

    def _relations(self, found: Sequence[tuple[_Analysis, Heads]]) -> list[str]:
        symbols = np.concatenate([self.grammar.symbols.encode(analysis.sentence) for analysis, _ in found])
        heads = np.concatenate([heads for _, heads in found])
        lengths = [len(heads) for _, heads in found]
        first = np.repeat(np.cumsum([0, *lengths[:-1]]), lengths)
        is_root = heads < 0
        above = np.where(is_root, len(self.grammar.symbols.alphabet), symbols[first + heads])
        distance = np.where(is_root, 0, np.arange(len(heads)) - first - heads)
        return self.grammar.relations.predict(above, symbols, distance)[0]


@dataclass(frozen=True, eq=False)
class _Analysis:
    """A sentence with the weights of its trees, and the cases into which constraints split them."""

    sentence: Sentence
    weights: HeadWeights
    log_scale: float
    masks: tuple[ArcMask, ...] = ()

    @cached_property
    def cases(self) -> list[HeadWeights]:
        """The weights of the trees of each case."""
        weights = self.weights
        return [
            weights._replace(arc=weights.arc * mask.arcs[:, :, None], root=weights.root * mask.roots)
            for mask in self.masks
        ] or [weights]

    @cached_property
    def _sums(self) -> tuple[Sum, Floats]:
        return together([Sum(*marginals(*weights)) for weights in self.cases])

    @property
    def shares(self) -> Floats:
        """How much of the weight of all trees each case has."""
        return self._sums[1]

    @cached_property
    def posteriors(self) -> ArcPosteriors:
        """Inside–outside."""
        total = self._sums[0]
        return ArcPosteriors(total.arcs, total.roots, as_logprob(total.log_total, total.sign, self.log_scale))

    def tree_logprob(self, heads: Heads) -> float:
        """log p of one tree and the sentence."""
        log_weight, sign = tree_weight(*self.weights, heads)
        return as_logprob(log_weight, sign, self.log_scale)
