"""Parsing with head-automata grammars: inside–outside, then the tree of least risk (Luque et al. 2012, section 4).

Trees are projective. Every arc gets its posterior, and its relation from the grammar's counts. The tree of a
deterministic grammar may also be chosen by `Viterbi`, which is exact there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import ClassVar

import numpy as np

from latentgram.arrays import Floats
from latentgram.data.constraints import Constraints
from latentgram.data.sentence import Sentence
from latentgram.errors import SettingError
from latentgram.kinds.decoders import MBR, Viterbi
from latentgram.kinds.protocols import Decoder
from latentgram.shag.attachment import Analysis, AttachmentBackend, Heads, NamedArcs, Sum, with_tags
from latentgram.shag.grammar import as_logprob
from latentgram.shag.kernels.inside_outside import HeadWeights, inside, marginals, tree_weight
from latentgram.shag.kernels.trees import best_paths, draw_tree, path_scores
from latentgram.shag.lexical import LexicalSHAG
from latentgram.shag.model import SHAG
from latentgram.shag.product import ProductSHAG


@dataclass(frozen=True, eq=False)
class HeadAnalysis(Analysis):
    """A sentence with the weights of its trees."""

    weights: HeadWeights

    @cached_property
    def cases(self) -> list[HeadWeights]:
        """The weights of the trees of each case."""
        weights = self.weights
        return [
            weights._replace(arc=weights.arc * mask.arcs[:, :, None], root=weights.root * mask.roots)
            for mask in self.masks
        ] or [weights]

    def sums(self) -> list[Sum]:
        """Inside–outside."""
        return [Sum(*marginals(weights)) for weights in self.cases]

    def tree_logprob(self, heads: Heads) -> float:
        """log p of a tree and the sentence."""
        log_weight, sign = tree_weight(self.weights, heads)
        return as_logprob(log_weight, sign, self.log_scale)

    def share(self, heads: Heads) -> float:
        """The quotient of the signed weights of the tree and of all trees, brought into [0, 1]."""
        log_weight, sign = tree_weight(self.weights, heads)
        total = self.total
        if total.sign == 0 or (sign >= 0 and total.sign > 0):
            return math.nan
        return math.exp(min(log_weight - total.log_total, 0.0)) if sign * total.sign > 0 else 0.0

    def draw(self, case: int, uniforms: Floats) -> list[Heads]:
        """Trees drawn from the posterior."""
        weights = self.cases[case]
        charts, _, _ = inside(weights)
        return [draw_tree(weights, charts, row) for row in uniforms]


class DependencyBackend(AttachmentBackend[HeadAnalysis]):
    """Parses with a head-automata grammar."""

    DRAWS: ClassVar[int] = 2

    def __init__(self, model: SHAG | LexicalSHAG | ProductSHAG, decoder: Decoder | None = None) -> None:
        super().__init__(decoder, MBR())
        self.grammar = model
        if isinstance(self.decoder, Viterbi) and not model.deterministic:
            raise SettingError("Viterbi works only for deterministic grammars; use MBR for this one")

    @property
    def tags(self) -> frozenset[str]:
        """The fine tags that the symbols are made of."""
        return frozenset(name.split("|")[-1] for name in self.grammar.symbols.alphabet)

    @property
    def labels(self) -> tuple[str, ...]:
        """The relations."""
        return self.grammar.relations.labels.symbols

    def _analysis(self, sentence: Sentence, known: Constraints | None = None) -> HeadAnalysis:
        if known:
            sentence = with_tags(known, sentence)
        weights, log_scale = self.grammar.weights(sentence)
        return HeadAnalysis(sentence, known, log_scale, weights)

    def _decoded(self, analysis: HeadAnalysis) -> Heads:
        if isinstance(self.decoder, Viterbi):
            return self._best(analysis, 1)[0]
        return self._least_risk(analysis, 1)[0]

    def _best(self, analysis: HeadAnalysis, count: int) -> list[Heads]:
        """The most probable trees; of a grammar with hidden states those with the likeliest arcs."""
        lists = [k_best_trees(weights, count) for weights in analysis.cases]
        trees = [tree for case in lists if case is not None for tree in case]
        if None in lists or not trees:
            return self._least_risk(analysis, count)
        return [heads for heads, _ in sorted(trees, key=itemgetter(1), reverse=True)[:count]]

    def _least_risk(self, analysis: HeadAnalysis, count: int) -> list[Heads]:
        """The trees with the most probable arcs, best first."""
        risk = self.decoder if isinstance(self.decoder, MBR) else MBR()
        arcs, roots = analysis.posteriors.arcs, analysis.posteriors.roots
        if count == 1 and len(analysis.masks) <= 1:
            return [risk.heads(arcs, roots, *analysis.masks)]
        trees = [
            tree
            for mask in analysis.masks or (None,)
            for tree in zip(*risk.k_best(arcs, roots, count, mask), strict=True)
        ]
        return [heads for heads, _ in sorted(trees, key=itemgetter(1), reverse=True)[:count]]

    def _relations(self, trees: Sequence[tuple[HeadAnalysis, Heads]]) -> Iterator[NamedArcs]:
        symbols = np.concatenate([self.grammar.symbols.encode(analysis.sentence) for analysis, _ in trees])
        heads = np.concatenate([heads for _, heads in trees])
        lengths = [len(heads) for _, heads in trees]
        first = np.repeat(np.cumsum([0, *lengths[:-1]]), lengths)
        is_root = heads < 0
        above = np.where(is_root, len(self.grammar.symbols.alphabet), symbols[first + heads])
        distance = np.where(is_root, 0, np.arange(len(heads)) - first - heads)
        names, shares = self.grammar.relations.predict(above, symbols, distance)
        ends = np.cumsum(lengths).tolist()
        spans = [slice(end - length, end) for end, length in zip(ends, lengths, strict=True)]
        return (NamedArcs(tuple(names[span]), shares[span]) for span in spans)


def k_best_trees(weights: HeadWeights, count: int) -> list[tuple[Heads, float]] | None:
    """The heaviest trees with the logarithms of their weights; None where a tree has several paths."""
    with np.errstate(divide="ignore"):
        scores, single = path_scores(weights)
    if not single:
        return None
    heads, values = best_paths(scores, count)
    return list(zip(heads, values.tolist(), strict=True))
