"""`LatentTree`: p(symbols | dependency tree) with a hidden state at every word (Dhillon et al. 2012).

    p(x | tree) = Σ_h root(h_root) ∏ child_d(h_j | h_parent) ∏ word(x_j | h_j)                                  (2)

If the model is learned by EM, the arrays are these probabilities, which sum to one over the symbols of a tree. If
it is learned spectrally, they are in another basis of the state space, where the elementwise product of vectors is
a bilinear map (kernels.py), and p̂ may be ≤ 0 or > 1. An estimate that cannot be a probability, or is very small,
is replaced by a small fraction of the probability of independent words,

    log p(x | tree) = log p̂ if FLOOR · ∏ unigram(x_j) ≤ p̂ ≤ 1, else log (FLOOR · ∏ unigram(x_j)),

which is finite for every tree; `scores` returns which trees needed it. With `absolute` there is no floor, and
log |p̂| is returned, which is not a probability but follows Algorithm 1 literally. Models with true states need no
floor, unless a symbol is impossible in all states. Posteriors and samples require true states; for a spectral
model they are those of the nearest model with true states (`with_states`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Annotated, ClassVar, overload

import numpy as np

from latentgram.arrays import Flags, Floats, Integers, Ints
from latentgram.data.dependencies import DependencyArrays, DependencyTree
from latentgram.data.invariants import ANY, FINITE, NONNEGATIVE, holds, shape
from latentgram.data.provenance import Provenance, Summarised
from latentgram.data.sentence import Sentence
from latentgram.errors import DataError
from latentgram.latent_tree import kernels
from latentgram.latent_tree.kernels import Forest, Operators
from latentgram.latent_tree.statistics import above_of
from latentgram.latent_tree.symbols import TreeSymbols

FLOOR = 1e-3
"""The least share of the probability of independent words that a tree gets."""
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class LatentTree(Summarised):
    """Hidden Markov trees over words, tags, or tags with their numbers of children.

    `child[d][j, i]` is p(state j of a child | state i of its parent) for left (0) and right (1) children.

    >>> import latentgram as lg
    >>> trees = lg.demo_dependencies(200, seed=0)
    >>> model = lg.fit(lg.LatentTree, trees, by=lg.EM(states=2, iterations=5))
    >>> model.logprob(trees[0]) < 0, model.posterior(trees[0]).shape == (len(trees[0]), 2)
    (True, True)
    >>> len(model.sample(trees[0])) == len(trees[0])
    True
    """

    symbols: TreeSymbols
    RATINGS: ClassVar[tuple[str, ...]] = ()

    root: Annotated[Floats, shape(ANY), FINITE]
    """[k]"""
    child: Annotated[Floats, shape(2, "states", "states"), FINITE]
    """[2, k, k]"""
    word: Annotated[Floats, shape("len(symbols)", "states"), FINITE]
    """[symbols, k]"""
    product: Annotated[
        Floats,
        holds("product.shape[:1] == (0,) or product.shape == (states,) * 3", "does not fit the states"),
        FINITE,
    ]
    """[k, k, k], a ∘ b = Σ a_i b_j product[i, j]; empty if ∘ is elementwise, as in models with states."""
    unigram: Annotated[Floats, shape("len(symbols)"), NONNEGATIVE]
    """[symbols] relative frequencies, none of them 0."""
    provenance: Provenance = field(default_factory=Provenance)
    start: Annotated[
        Floats, shape(ANY), holds("len(start) in (0, states)", "has neither one number per state nor none"), FINITE
    ] = field(default_factory=lambda: np.zeros(0))
    """[k] c∞, where the children of a word come before the word itself; empty where the word comes first."""
    absolute: bool = False
    """Whether log |p̂| stands for log p where p̂ is no probability, and not a floor."""

    @classmethod
    def of(cls, symbols: TreeSymbols, operators: Operators, unigram: Floats) -> LatentTree:
        """The model with these learned parameters, in the layout that kernels are compiled for."""
        root, child, word, product, start = map(np.ascontiguousarray, operators)
        return cls(symbols, root, child, word, product, unigram, start=start)

    @property
    def states(self) -> int:
        """The number of hidden states."""
        return len(self.root)

    @property
    def has_states(self) -> bool:
        """Whether the parameters are probabilities of states, not coordinates of a rotated space."""
        return len(self.product) == 0

    @property
    def is_distribution(self) -> bool:
        """Whether the probabilities of all symbols of a tree sum to at most one: with true states and no floor."""
        return self.has_states and bool((self.word > 0).all())

    def summary(self) -> str:
        """One line."""
        kind = "hidden states" if self.has_states else "spectral dimensions"
        return f"latent tree model of {self.states} {kind} over {len(self.symbols):,} symbols"

    def logprob(self, tree: DependencyTree) -> float:
        """log p(symbols | tree); always finite, unless it is log |p̂| and p̂ is 0."""
        return float(self.logprobs([tree])[0])

    def logprobs(self, trees: Sequence[DependencyTree]) -> Floats:
        """log p(symbols | tree) of many trees."""
        return self.scores(DependencyArrays.of(trees), [tree.sentence for tree in trees])[0]

    def rate(self, sentence: Sentence, heads: Ints) -> Floats:
        """[k, 1] log p of k trees of one sentence."""
        return self.logprobs_of_heads(sentence, heads)[:, None]

    def logprobs_of_heads(self, sentence: Sentence, heads: Integers) -> Floats:
        """log p of many trees of one sentence: `heads` [trees, words], words numbered from 1 and 0 for the root.

        N-best lists are scored with these.
        """
        count, length = heads.shape
        trees = DependencyArrays(heads.astype(np.int32).ravel(), np.arange(count + 1) * length)
        words = np.tile(self.symbols.of_words([sentence]), count)
        return self.scores_of_nodes(trees, self.symbols.of_nodes(words, above_of(trees)))[0]

    def scores(self, trees: DependencyArrays, sentences: Sequence[Sentence]) -> tuple[Floats, Flags]:
        """log p of each tree, and which of them got the floor because p̂ was below it or not a probability.

        With `absolute`, log |p̂| of each tree, and which of these are not probabilities.
        """
        symbol = self.symbols.of_nodes(self.symbols.of_words(sentences), above_of(trees))
        return self.scores_of_nodes(trees, symbol)

    def scores_of_nodes(self, trees: DependencyArrays, symbol: Ints) -> tuple[Floats, Flags]:
        """Like `scores`, for trees whose nodes have these symbols (concatenated over all trees)."""
        forest = forest_of(trees)
        _, logs, signs = kernels.upward(self.operators, symbol, forest, len(trees))
        if self.absolute:
            return logs, (signs <= 0) | (logs > ROUNDING)
        alone = np.bincount(forest.tree, np.log(self.unigram)[symbol], len(trees)) + np.log(FLOOR)
        low = ~((signs > 0) & (self.has_states | (logs >= alone)) & (logs <= ROUNDING))
        return np.where(low, alone, logs), low

    def mass(self, trees: Sequence[DependencyTree]) -> Floats:
        """[trees] Σ p̂(x | tree) over all possible symbols x of the words of a tree: exact for trees of any size.

        It is 1 for a model with true states, and less if symbols contain the valency, which the tree determines.
        For a spectral model, the difference from 1 measures how far it is from a distribution.
        """
        arrays = DependencyArrays.of(trees)
        logs, signs = self._any_words(arrays)[2:]
        return np.asarray(signs * np.exp(logs))

    def _any_words(self, trees: DependencyArrays) -> tuple[Floats, Floats, Floats, Floats]:
        """The vectors of words by valency [cells, words, k]; and upward with the sums of those: r, log p̂ and sign.

        p̂ is linear in the vector of each word, so this is the sum over all words.
        """
        table = self.word.reshape(-1, self.symbols.cells, self.states).transpose(1, 0, 2)
        forest = forest_of(trees)
        operators = self.operators._replace(word=np.ascontiguousarray(table.sum(1)))
        return table, *kernels.upward(operators, self.symbols.valencies(forest.above), forest, len(trees))

    @property
    def operators(self) -> Operators:
        """The parameters in the form that the kernels use."""
        return Operators(self.root, self.child, self.word, self.product, self.start)

    def posterior(self, tree: DependencyTree) -> Floats:
        """[words, k] the posterior of the hidden state of every word."""
        trees = DependencyArrays.of([tree])
        symbol = self.symbols.of_nodes(self.symbols.of_words([tree.sentence]), above_of(trees))
        _, _, posterior = expectations(self.with_states, trees, symbol)
        return posterior

    @overload
    def sample(self, trees: DependencyTree, seed: int = 0) -> tuple[str, ...]: ...
    @overload
    def sample(self, trees: Iterable[DependencyTree], seed: int = 0) -> list[tuple[str, ...]]: ...
    def sample(
        self, trees: DependencyTree | Iterable[DependencyTree], seed: int = 0
    ) -> tuple[str, ...] | list[tuple[str, ...]]:
        """Sample the word symbols (`of^ADP|IN`, `DET|DT`, …) of the nodes of a tree, or of each of several trees.

        Only the heads of the trees are used.
        """
        if isinstance(trees, DependencyTree):
            return self.sample([trees], seed)[0]
        if not isinstance(trees, Iterable):
            trees = [trees]
        shapes = list(trees)
        if strange := [type(tree).__name__ for tree in shapes if not isinstance(tree, DependencyTree)]:
            raise DataError(f"words are sampled for dependency trees, got {strange[0]}")
        if not shapes:
            return []
        arrays = DependencyArrays.of(shapes)
        drawn, _ = self.sample_nodes(arrays, seed)
        names = [self.symbols.words.alphabet[number] for number in drawn.tolist()]
        return [tuple(names[begin:end]) for begin, end in pairwise(arrays.offsets.tolist())]

    def sample_nodes(self, trees: DependencyArrays, seed: int = 0) -> tuple[Ints, Ints]:
        """Sample words for given trees: the word symbols and the hidden states of all nodes, concatenated.

        This is exact, also if symbols contain the valency: only symbols that fit the node are sampled.
        """
        model, forest = self.with_states, forest_of(trees)
        cell = self.symbols.valencies(forest.above)
        table, inside, _, _ = model._any_words(trees)
        uniforms = np.random.default_rng(seed).random((len(cell), 2))
        states, drawn = kernels.draw(model.operators, np.ascontiguousarray(table), cell, forest, inside, uniforms)
        return drawn, states

    @cached_property
    def with_states(self) -> LatentTree:
        """A model with true states: this one or, if it is spectral, the nearest one.

        a ∘ · has the eigenvectors G for every a, and word · G = o(x | h): one decomposition of a general
        combination gives G, whose columns are scaled by Σ_x o(x | h) = 1. Negative numbers are set to zero.
        """
        if self.has_states:
            return self
        mixture = self.word.T @ np.random.default_rng(0).standard_normal(len(self.word))
        _, vectors = np.linalg.eig(np.einsum("i,ijh->jh", mixture, self.product))
        basis = vectors.real + vectors.imag
        basis = basis / _nonzero(self.word.sum(0) @ basis)
        inverse = np.linalg.pinv(basis)
        return LatentTree(
            self.symbols,
            _distribution(inverse @ self.root, 0),
            np.stack([_distribution(inverse @ side @ basis, 0) for side in self.child]),
            _distribution(self.word @ basis, 0),
            np.zeros((0, 0, 0)),
            self.unigram,
            self.provenance,
        )


def expectations(model: LatentTree, trees: DependencyArrays, symbol: Ints) -> tuple[Operators, Floats, Floats]:
    """Upward and downward: expected counts of the model's numbers, log p of each tree, posteriors of states."""
    operators, forest = model.operators, forest_of(trees)
    inside, logs, _ = kernels.upward(operators, symbol, forest, len(trees))
    counts = Operators(*(np.zeros_like(numbers) for numbers in operators))
    posterior = kernels.expect(operators, symbol, forest, inside, counts)
    return counts, logs, posterior


def forest_of(trees: DependencyArrays) -> Forest:
    """Trees as the kernels take them."""
    return Forest.of(above_of(trees), np.repeat(np.arange(len(trees)), np.diff(trees.offsets)))


def _distribution(numbers: Floats, axis: int) -> Floats:
    """Real numbers made into probabilities along an axis: what is not positive becomes very small."""
    positive = np.maximum(numbers, 1e-12)
    return np.asarray(positive / positive.sum(axis, keepdims=True))


def _nonzero(numbers: Floats) -> Floats:
    return np.where(np.abs(numbers) > 1e-300, numbers, 1.0)


def told_mass(model: LatentTree, words: int) -> str:
    """What the symbols of one tree sum to, in words."""
    chain = DependencyTree(("x",) * words, tuple(range(words)))
    return f"the symbols of a chain of {words} words together have {model.mass([chain])[0]:.4g}"
