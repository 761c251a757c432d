"""Hidden Markov trees by enumeration of their states, and their exact moments."""

from itertools import product

import numpy as np

from latentgram.data.alphabet import Alphabet
from latentgram.data.dependencies import DependencyArrays
from latentgram.data.dependency_symbols import WordSymbols
from latentgram.latent_tree.kernels import Operators
from latentgram.latent_tree.model import LatentTree
from latentgram.latent_tree.statistics import Tally, TreeCounts
from latentgram.latent_tree.symbols import TreeSymbols


def random_model(states: int, symbols: int, rng: np.random.Generator, *, valency: int = 0) -> LatentTree:
    """Transitions that are far from singular, and from having `root` as their stationary distribution."""
    names = WordSymbols(
        "xpos", Alphabet(tuple(f"w{i:03}" for i in range(symbols))), np.ones(symbols, int), Alphabet(())
    )
    rule = TreeSymbols(names, valency)
    mostly = [np.roll(np.eye(states), shift, 0) for shift in (0, 1)]
    operators = Operators(
        rng.dirichlet(np.full(states, 2.0)),
        np.stack([0.6 * step + 0.4 * rng.dirichlet(np.ones(states), states).T for step in mostly]),
        rng.dirichlet(np.ones(len(rule)), states).T,
        np.zeros((0, 0, 0)),
    )
    return LatentTree.of(rule, operators, np.full(len(rule), 1 / len(rule)))


def side(word: int, head: int) -> int:
    return int(word > head)


def joint(model: LatentTree, above: list[int], symbols: list[int], states: tuple[int, ...]) -> float:
    """p(symbols, states | tree), Eq. 2 of Dhillon et al. 2012."""
    weight = 1.0
    for word, (head, symbol, state) in enumerate(zip(above, symbols, states, strict=True)):
        prior = model.root[state] if head < 0 else model.child[side(word, head), state, states[head]]
        weight *= prior * model.word[symbol, state]
    return weight


def enumerate_states(model: LatentTree, above: list[int], symbols: list[int]) -> dict[tuple[int, ...], float]:
    every = product(range(model.states), repeat=len(above))
    return {states: joint(model, above, symbols, states) for states in every}


def exact_counts(model: LatentTree, heads: list[list[int]]) -> TreeCounts:
    """The expected counts of all trees with these heads (from 1, 0 for the root), without any sampling."""
    n = len(model.word)
    symbol, root = np.zeros(n), np.zeros(n)
    pairs, lines = np.zeros((2, n, n)), np.zeros((2, n, n, n))
    siblings = np.zeros((n, n, n))
    emit = model.word
    for tree in heads:
        above = [head - 1 for head in tree]
        prior: dict[int, np.ndarray] = {}

        def of(word: int, above: list[int] = above, prior: dict = prior) -> np.ndarray:
            if word not in prior:
                head = above[word]
                prior[word] = model.root if head < 0 else model.child[side(word, head)] @ of(head)
            return prior[word]

        for word, head in enumerate(above):
            symbol += emit @ of(word)
            if head < 0:
                root += emit @ of(word)
                continue
            d = side(word, head)
            below = emit @ model.child[d]
            pairs[d] += np.einsum("ch,ph,h->cp", below, emit, of(head))
            if above[head] >= 0:
                up = model.child[side(head, above[head])] * of(above[head])
                lines[d] += np.einsum("ch,ph,hg,qg->cpq", below, emit, up, emit)
            if d == 1:
                mates = sum(other == head for other in above[:head])
                left = emit @ model.child[0]
                siblings += mates * np.einsum("lh,ph,rh,h->lpr", left, emit, below, of(head))
    return TreeCounts(
        symbol, root, (tally(pairs[0]), tally(pairs[1])), tally(siblings), (tally(lines[0]), tally(lines[1]))
    )


def tally(dense: np.ndarray) -> Tally:
    tuples = np.argwhere(dense > 0)
    return Tally(tuples, dense[tuple(tuples.T)])


def topologies(count: int, length: int, rng: np.random.Generator) -> list[list[int]]:
    """Random projective heads, from 1, 0 for the root."""
    found = []
    for _ in range(count):
        heads = [0] * length
        spans = [(0, length, 0)]
        while spans:
            first, last, head = spans.pop()
            if first < last:
                word = int(rng.integers(first, last))
                heads[word] = head
                spans += [(first, word, word + 1), (word + 1, last, word + 1)]
        found.append(heads)
    return found


def arrays(heads: list[list[int]]) -> DependencyArrays:
    return DependencyArrays.of_heads(heads)
