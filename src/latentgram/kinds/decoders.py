"""Decoders shared by several families: Viterbi, and minimum risk over arcs (Luque et al. 2012, Eq. 14).

`Viterbi` is the most probable derivation, argmax_tree p(tree, sentence). For a grammar with one state per symbol
it is the most probable tree; with hidden states a tree has many derivations and this is the tree of the most
probable one. `MBR` is the tree with the most probable arcs,

    best = argmax_y Σ_{(h,m) in y} log μ(h,m)

by Eisner's algorithm, or Σ μ, the expected number of correct heads. Posteriors of a spectral grammar may be
slightly negative or above 1 because of estimation errors: |μ| is used, and log μ is never below the logarithm of
`floor`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from latentgram.arrays import Flags, Floats, Ints, Ints32
from latentgram.errors import SettingError
from latentgram.numeric.projective import TreeScores, best_heads, first_order, k_best_heads

Mask = tuple[Flags, Flags]
"""Which arcs and which root words are allowed."""


class _Searchable(Protocol):
    """Phrases whose most probable trees can be searched."""

    def most_probable(self, count: int) -> tuple[Ints32, Ints32]:
        """Symbols and sizes of subtrees in preorder, a tree in a row."""


@dataclass(frozen=True)
class Viterbi:
    """The most probable derivation.

    >>> import latentgram as lg
    >>> grammar = lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting())
    >>> best = lg.Parser(grammar, decoder=Viterbi()).parse("The dog sleeps .")
    >>> best.tree == lg.Parser(grammar).nbest("The dog sleeps .", 1)[0].tree
    True
    """

    def trees(self, phrases: _Searchable, count: int) -> tuple[Ints32, Ints32]:
        """The most probable trees of phrases."""
        return phrases.most_probable(count)


@dataclass(frozen=True)
class MBR:
    """Minimum Bayes risk over arcs.

    >>> arcs, roots = np.array([[0.0, 0.4], [0.6, 0.0]]), np.array([0.4, 0.6])
    >>> MBR().heads(arcs, roots)
    array([ 1, -1])
    """

    gain: Literal["log", "sum"] = "log"
    floor: float = 1e-6

    def __post_init__(self) -> None:
        if self.gain not in ("log", "sum") or not 0 < self.floor < 1:
            raise SettingError(f"MBR needs the gain log or sum and a floor between 0 and 1, got {self}")

    def gains(self, posteriors: Floats) -> Floats:
        """The contribution of each arc to the objective."""
        sizes = np.maximum(np.abs(posteriors), self.floor)
        return np.log(sizes) if self.gain == "log" else sizes

    def heads(self, arcs: Floats, roots: Floats, mask: Mask | None = None) -> Ints:
        """The heads of the best tree allowed by the mask (−1 for the root word)."""
        heads, _ = best_heads(self.scores(arcs, roots, mask))
        return np.asarray(heads)

    def k_best(self, arcs: Floats, roots: Floats, count: int, mask: Mask | None = None) -> tuple[Ints, Floats]:
        """[at most count, N] the heads of the best trees, best first, and their gains."""
        heads, merits = k_best_heads(self.scores(arcs, roots, mask), count)
        return np.asarray(heads), np.asarray(merits)

    def scores(self, arcs: Floats, roots: Floats, mask: Mask | None = None) -> TreeScores:
        """The contributions of the arcs allowed by the mask to the objective."""
        gains = self.gains(arcs), self.gains(roots)
        if mask is not None:
            gains = np.where(mask[0], gains[0], -np.inf), np.where(mask[1], gains[1], -np.inf)
        scores: TreeScores = first_order(*gains)
        return scores
