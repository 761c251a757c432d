"""EM over hidden Markov trees (Dhillon et al. 2012, §3.3): the trees are observed, the states are not.

A round adds up expected counts, upward and downward over all trees (kernels.py), and takes their relative
frequencies: O(W k²) for W words. The words of every state are mixed with unigrams,

    o(x | h) ← (1 − ε) o(x | h) + ε q(x),   ε = `smoothing`,

so that no symbol is impossible. Learning starts at random.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from latentgram.arrays import Floats
from latentgram.data.dependencies import DependencyTree
from latentgram.data.provenance import Provenance
from latentgram.kinds.kind import Context
from latentgram.latent_tree.kernels import Operators
from latentgram.latent_tree.model import LatentTree, expectations
from latentgram.latent_tree.settings import EMLatentTree
from latentgram.latent_tree.statistics import Nodes
from latentgram.numeric.em import ascend
from latentgram.parallel import Kept, compiled, map_reduce


@dataclass(frozen=True, eq=False)
class Expected:
    """Expected counts of a model's numbers, and log p of the trees; they add."""

    counts: Operators
    bound: float

    def __add__(self, other: Expected) -> Expected:
        counts = (mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True))
        return Expected(Operators(*counts), self.bound + other.bound)


def learn_em(trees: Iterable[DependencyTree], settings: EMLatentTree, context: Context) -> LatentTree:
    """The recipe: upward and downward over all trees per round, from a random start."""
    nodes = Nodes.of(trees, settings.symbols, settings.valency)
    unigram, epsilon, states = nodes.unigram, settings.smoothing, settings.states

    def maximise(counts: Operators) -> LatentTree:
        word = (1 - epsilon) * _normalised(counts.word, 0) + epsilon * unigram[:, None]
        root, child = _normalised(counts.root, 0), _normalised(counts.child, 1)
        return LatentTree.of(nodes.symbols, counts._replace(root=root, child=child, word=word), unigram)

    rng = np.random.default_rng(settings.seed)
    start = Operators(
        rng.dirichlet(np.full(states, 10.0)),
        rng.dirichlet(np.full(states, 2.0), (2, states)).transpose(0, 2, 1),
        unigram[:, None] * rng.uniform(0.5, 1.5, (len(unigram), states)),
        np.zeros((0, 0, 0)),
    )
    shards = Kept(nodes.shards())

    def expect(model: LatentTree) -> tuple[Operators, float]:
        expected = map_reduce(partial(_expect, model), shards, compiled(context.engine))
        return expected.counts, expected.bound

    ascent = ascend(
        maximise(start), expect, maximise,
        iterations=settings.iterations, score=context.dev_score, progress=context.progress,
    )  # fmt: skip
    return replace(ascent.model, provenance=Provenance(trace=ascent.trace))


def _expect(model: LatentTree, nodes: Nodes) -> Expected:
    counts, logs, _ = expectations(model, nodes.trees, nodes.symbol)
    return Expected(counts, float(logs.sum()))


def _normalised(counts: Floats, axis: int) -> Floats:
    total = counts.sum(axis, keepdims=True)
    return np.asarray(np.where(total > 0, counts / np.where(total > 0, total, 1.0), 1.0 / counts.shape[axis]))
