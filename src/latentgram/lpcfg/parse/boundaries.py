"""What stands beside a constituent: the contexts a PCFG expects, by which unlikely spans are dropped early.

A PCFG with counts says how often symbol a begins right after a word of preterminal t. With p the rule
probabilities and N the counts,

    first(a, t) = Σ_{b,c} p(a→b c) first(b, t),   last(a, t) likewise to the right          (first(t, t) = 1)
    after(t, c) = Σ_{a→b c} N(a→b c) last(b, t) + Σ_{a→c d} p(a→c d) after(t, a)

are linear systems over the interminals, solved once a grammar. The tags of adjacent words follow from the same:
N(t, t′) = Σ N(a→b c) last(b, t) first(c, t′), so that the grammar brings its own bigram model of tags. The
boundary of the sentence is one more preterminal, the last.

A span's posterior is then estimated from its own inside probability and the bigram model of the rest,

    p̂(a, i, j) = [Σ_t f_{i-1}(t) after(t,a)/N(t)] · α(a,i,j) · [Σ_t before(t,a)/N(a) · q(t→x_j) b_j(t)]

with f and b the scaled forward and backward numbers of the bigram model. Nothing is learned for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_TINY = 1e-300


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
