"""What stands for a grammar in the first stage of parsing: its one-state projection, with contexts.

**The projection** is the PCFG of a grammar's counts N,

    p(a→b c) = N(a→b c)/N(a),   π(a) = N(a at the root)/N(trees),   q(s→x) by leaves.py;

a plain PCFG is its own. Rules that a treebank never showed have what their parents keep for them, by which those
that were seen are discounted (unseen.py).

**Contexts.** The projection says how often symbol a begins right after a word of preterminal t:

    first(a, t) = Σ_{b,c} p(a→b c) first(b, t),   last(a, t) likewise to the right          (first(t, t) = 1)
    after(t, c) = Σ_{a→b c} N(a→b c) last(b, t) + Σ_{a→c d} p(a→c d) after(t, a)

are linear systems over the interminals, solved once per grammar. The tags of adjacent words follow from the same:
N(t, t′) = Σ N(a→b c) last(b, t) first(c, t′), so that the grammar brings its own bigram model of tags. The
boundary of the sentence is one more preterminal, the last. A span's posterior is estimated from its own inside
probability and the bigram model of the rest,

    p̂(a, i, j) = [Σ_t f_{i-1}(t) after(t,a)/N(t)] · α(a,i,j) · [Σ_t before(t,a)/N(a) · q(t→x_j) b_j(t)]

with f and b the scaled forward and backward numbers of the bigram model. Nothing is learned for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.data.binarisation import Symbol
from latentgram.lpcfg.kernels import first_pass
from latentgram.lpcfg.kernels.chart import RuleIndex, SpanMasks, Words, everything, index_rules
from latentgram.lpcfg.kernels.first_pass import Grown
from latentgram.lpcfg.leaves import LeafTable, Leaves
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.unseen import unseen_rules
from latentgram.numeric.semiring import MaxProduct, Real

Array = NDArray[np.float64]

_TINY = 1e-300
ALL_TREES, BEST_TREE = Real(), MaxProduct()
"""What inside numbers are: the probability of all trees over some words, or of the best."""


@dataclass(frozen=True)
class Projection:
    """The one-state grammar that stands for the grammar of a table of leaves."""

    leaves: LeafTable
    unseen: bool = False
    """Whether rules that were never seen may be used."""

    @property
    def grammar(self) -> LPCFG:
        """What it stands for."""
        return self.leaves.grammar

    @property
    def plain(self) -> bool:
        """Whether the grammar is its own projection."""
        return self.grammar.plain

    @cached_property
    def index(self) -> RuleIndex:
        """The rules by their children."""
        seen = index_rules(self.grammar.rules, len(self.grammar.interminals), len(self.grammar.states))
        return seen._replace(unseen=unseen_rules(self.grammar)) if self.unseen else seen

    @cached_property
    def rule(self) -> Array:
        """[R] the probabilities of the rules that were seen."""
        if self.plain:
            return self.grammar.double_tensor
        parent = self.grammar.rules[:, 0]
        share = self.grammar.rule_count / self.grammar.symbol_count[parent]
        return np.asarray(share * (1.0 - self.grammar.unseen[parent]) if self.grammar.unseen.size else share)

    @cached_property
    def probability(self) -> Array:
        """The same in the order of the index, less what the rules would have if they were unseen: the first pass
        sums the factors of unseen rules over all pairs of children."""
        probability, unseen = self.rule[self.index.rule], self.index.unseen
        if self.unseen:
            parent, left, right = self.grammar.rules[self.index.rule].T
            probability = probability - unseen.weight * unseen.left[left, parent] * unseen.right[right, parent]
        return np.asarray(probability)

    @cached_property
    def root(self) -> Array:
        """[I+P] how often each symbol is the root of a tree."""
        if self.plain:
            return self.grammar.root_vector
        return np.asarray(self.grammar.root_count / self.grammar.root_count.sum())

    @cached_property
    def anywhere(self) -> Array:
        """[I+P] how often each symbol is the root of any part of a tree; of a plain grammar, of any part that is
        one without binarisation, too."""
        count = self.grammar.symbol_count
        if self.plain:
            whole = [not Symbol.read(name).intermediate for name in self.grammar.interminals]
            count = count * np.append(whole, np.ones(len(self.grammar.preterminals), bool))
        return np.asarray(count / count.sum())

    @cached_property
    def boundaries(self) -> Boundaries:
        """The contexts of its symbols."""
        grammar = self.grammar
        return expected_boundaries(
            grammar.rules, grammar.rule_count, grammar.root_count, len(grammar.interminals), len(grammar.states)
        )

    def grow(
        self, leaves: Leaves, masks: SpanMasks | None = None, semiring: Real | MaxProduct = ALL_TREES
    ) -> tuple[Grown, Array]:
        """All items over a sentence, and the words' scales."""
        scale = np.maximum.reduceat(leaves.weight, leaves.begin[:-1])
        words = Words(leaves.begin, leaves.symbol, leaves.weight / np.repeat(scale, np.diff(leaves.begin)))
        allowed = masks or everything(len(scale), len(self.grammar.interminals))
        grown = first_pass.grow_items(semiring, words, self.index, self.probability, allowed)
        return grown, scale * np.exp2(grown.exponent)


@dataclass(frozen=True)
class Boundaries:
    """Tag bigrams and contexts of symbols, with the sentence boundary as the last tag."""

    bigram: Array
    """[P+1, P+1] p(next tag | tag)."""
    after: Array
    """[P+1, I] expected number of nodes of each interminal that begin after a word of each tag."""
    before: Array
    """[P+1, I] p(tag of the next word | interminal that ends before it)."""


def expected_boundaries(
    rules: NDArray[np.int32],
    rule_count: Array,
    root_count: Array,
    interminals: int,
    symbols: int,
    unseen: float = 0.01,
) -> Boundaries:
    """Solve the linear systems of the module's text.

    `unseen` is the share of the unigram model in the bigram model, so that no sequence of tags is impossible.
    """
    preterminals, edge_tag = symbols - interminals, symbols - interminals
    parent, left, right = rules.T
    count = root_count + np.bincount(left, rule_count, symbols) + np.bincount(right, rule_count, symbols)
    probability = rule_count / count[parent]

    def matrix(rows: NDArray[np.int32], columns: NDArray[np.int32], values: Array) -> Array:
        dense = np.zeros((symbols, symbols))
        np.add.at(dense, (rows, columns), values)
        return dense

    def corner(children: Array) -> Array:
        """first or last: [S, P+1]."""
        inner = children[:interminals, :interminals]
        ends = np.zeros((symbols, preterminals + 1))
        ends[:interminals, :-1] = np.linalg.solve(
            np.eye(interminals) - inner, children[:interminals, interminals:]
        )
        ends[interminals:, :-1] = np.eye(preterminals)
        return ends

    def context(direct: Array, children: Array) -> Array:
        """after or before as counts [S, P+1]: what is seen directly, and what a symbol passes on to its child."""
        direct[:, edge_tag] += root_count
        inner = children[:interminals, :interminals]
        counts = direct.copy()
        counts[:interminals] = np.linalg.solve(np.eye(interminals) - inner.T, direct[:interminals])
        counts[interminals:] += children[:interminals, interminals:].T @ counts[:interminals]
        return counts

    to_left, to_right = matrix(parent, left, probability), matrix(parent, right, probability)
    first, last = corner(to_left), corner(to_right)
    seen_after, seen_before = np.zeros((symbols, preterminals + 1)), np.zeros((symbols, preterminals + 1))
    np.add.at(seen_after, right, rule_count[:, None] * last[left])
    np.add.at(seen_before, left, rule_count[:, None] * first[right])
    after, before = context(seen_after, to_left), context(seen_before, to_right)
    pairs = np.zeros((preterminals + 1, preterminals + 1))
    pairs[:, :] = last[left].T @ (rule_count[:, None] * first[right])
    pairs[edge_tag] += root_count @ first
    pairs[:, edge_tag] += root_count @ last
    tag_count = np.append(count[interminals:], root_count.sum())
    bigram = pairs / np.maximum(pairs.sum(1, keepdims=True), _TINY)
    return Boundaries(
        (1 - unseen) * bigram + unseen * tag_count / tag_count.sum(),
        np.ascontiguousarray((after[:interminals] / np.maximum(tag_count, _TINY)).T),
        np.ascontiguousarray((before[:interminals] / np.maximum(count[:interminals, None], _TINY)).T),
    )
