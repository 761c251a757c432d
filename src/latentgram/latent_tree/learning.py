"""Learners of `LatentTree`: spectral, in one pass, and EM over hidden Markov trees (001).

Both see a treebank as symbols with valency (symbols.py) and mix the words of every state with unigrams,
o(x | h) ← (1 − ε) o(x | h) + ε q(x), ε = `smoothing`: no symbol is impossible. Unigrams are counts, with one more
node spread over tags × valencies as if these were independent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latentgram.data.dependencies import DependencyArrays, DependencyTree
from latentgram.data.dependency_symbols import WordSymbols
from latentgram.data.provenance import Provenance
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError
from latentgram.kinds.kind import Context
from latentgram.latent_tree.model import LatentTree, expectations
from latentgram.latent_tree.operators import TreeOperators, corrected_operators, printed_operators
from latentgram.latent_tree.settings import EMLatentTree, SpectralLatentTree
from latentgram.latent_tree.statistics import TreeCounts, above_of
from latentgram.latent_tree.symbols import TreeSymbols
from latentgram.latent_tree.vectors import canonical_vectors, singular_vectors
from latentgram.numeric.em import ascend
from latentgram.parallel import compiled, map_reduce

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHARD = 512
"""Trees counted at a time."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """A treebank as these learners take it: heads and node symbols, end to end."""

    trees: DependencyArrays
    symbols: TreeSymbols
    symbol: Ints

    @classmethod
    def of(cls, data: Any, kind: str, valency: int) -> Nodes:
        """Number the nodes of a dependency treebank."""
        bank = cast("Treebank[DependencyTree]", data if isinstance(data, Treebank) else Treebank.of(data))
        sentences = bank.sentences()
        symbols = TreeSymbols(WordSymbols.of(sentences, kind), valency)
        return cls(bank.arrays, symbols, symbols.of_nodes(symbols.of_words(sentences), above_of(bank.arrays)))

    @property
    def unigram(self) -> Floats:
        """Smoothed relative frequencies of the symbols."""
        counts = np.bincount(self.symbol, minlength=len(self.symbols)).reshape(-1, self.symbols.cells)
        tags, cells = ((counts.sum(axis) + 1.0) / (counts.sum() + counts.shape[1 - axis]) for axis in (1, 0))
        smoothed = counts + np.outer(tags, cells)
        return np.asarray((smoothed / smoothed.sum()).ravel())

    def shards(self) -> Iterator[Nodes]:
        """Parts with a fixed number of trees."""
        for first in range(0, len(self.trees), SHARD):
            bounds = self.trees.offsets[first : first + SHARD + 1]
            held = slice(bounds[0], bounds[-1])
            trees = DependencyArrays(self.trees.heads[held], bounds - bounds[0])
            yield Nodes(trees, self.symbols, self.symbol[held])


def learn_spectral(treebank: Any, learner: SpectralLatentTree, context: Context) -> LatentTree:
    """Operators from moments of neighbouring nodes, corrected or as printed."""
    nodes = Nodes.of(treebank, learner.symbols, learner.valency)
    counts = map_reduce(_count, nodes.shards(), context.engine)
    if not any(pairs.total for pairs in counts.pairs):
        raise DataError("no word has a modifier: spectral learning needs words with neighbours in their trees")
    operators = spectral_operators(counts, learner.states, learner.ridge, printed=learner.form == "printed")
    epsilon, unigram = learner.smoothing, nodes.unigram
    # In this basis the constant function of the states is the sum of all words.
    word = (1 - epsilon) * operators.word + epsilon * np.outer(unigram, operators.word.sum(0))
    model = LatentTree(nodes.symbols, operators.root, operators.child, word, operators.product, unigram)
    _, low = model.scores_of_nodes(nodes.trees, nodes.symbol)
    trace = {"triples": counts.siblings.total, "trees": float(len(low)), "at the floor": float(low.sum())}
    return dataclasses.replace(model, provenance=Provenance(trace=(trace,)))


def spectral_operators(counts: TreeCounts, states: int, ridge: float, *, printed: bool = False) -> TreeOperators:
    """The operators of counted trees; symbols get their vectors from their neighbours in the trees."""
    size = len(counts.symbol)
    child, parent = (np.concatenate([pairs.tuples[:, column] for pairs in counts.pairs]) for column in (0, 1))
    count = np.concatenate([pairs.count for pairs in counts.pairs])
    below = scipy.sparse.csr_array((count, (child, parent)), shape=(size, size))
    if printed:
        return printed_operators(counts, singular_vectors(below, states).vectors)
    around: Any = scipy.sparse.hstack([below, below.T], format="csr")
    return corrected_operators(counts, canonical_vectors(around, states).vectors, ridge)


def _expect(model: LatentTree, nodes: Nodes) -> tuple[tuple[Floats, ...], float]:
    counts, logs, _ = expectations(model, nodes.trees, nodes.symbol)
    return counts, float(logs.sum())


def _add(one: Any, other: Any) -> Any:
    return tuple(first + second for first, second in zip(one[0], other[0], strict=True)), one[1] + other[1]


def _count(nodes: Nodes) -> TreeCounts:
    return TreeCounts.of(nodes.trees, nodes.symbol, len(nodes.symbols))


def learn_em(treebank: Any, learner: EMLatentTree, context: Context) -> LatentTree:
    """Expectation–maximisation: upward and downward over all trees a round, from a random start."""
    nodes = Nodes.of(treebank, learner.symbols, learner.valency)
    unigram, epsilon = nodes.unigram, learner.smoothing

    def model_of(root: Floats, child: Floats, word: Floats) -> LatentTree:
        mixed = (1 - epsilon) * _normalised(word, 0) + epsilon * unigram[:, None]
        parts = _normalised(root, 0), _normalised(child, 1), mixed
        return LatentTree(nodes.symbols, *parts, np.zeros((0, 0, 0)), unigram)

    rng = np.random.default_rng(learner.seed)
    states = learner.states
    start = model_of(
        rng.dirichlet(np.full(states, 10.0)),
        rng.dirichlet(np.full(states, 2.0), (2, states)).transpose(0, 2, 1),
        unigram[:, None] * rng.uniform(0.5, 1.5, (len(unigram), states)),
    )

    shards = list(nodes.shards())

    def expect(model: LatentTree) -> tuple[Any, float]:
        counts, bound = map_reduce(partial(_expect, model), shards, compiled(context.engine), add=_add)
        return counts, bound

    found = ascend(
        start,
        expect,
        lambda counts: model_of(*counts),
        iterations=learner.iterations,
        score=context.dev_score,
        progress=context.progress,
    )
    return dataclasses.replace(found.model, provenance=Provenance(trace=found.trace))


def _normalised(counts: Floats, axis: int) -> Floats:
    total = counts.sum(axis, keepdims=True)
    return np.asarray(np.where(total > 0, counts / np.where(total > 0, total, 1.0), 1.0 / counts.shape[axis]))
