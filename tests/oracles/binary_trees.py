"""All labelled binary trees over a few words, by enumeration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Item = tuple[int, int, int]
"""Symbol, first word, one past the last word."""


@dataclass(frozen=True)
class Derivation:
    """A tree: its items in preorder, the rules used at its inner nodes in preorder, and its weight."""

    items: tuple[Item, ...]
    rules: tuple[int, ...]
    weight: float

    @property
    def edges(self) -> list[tuple[int, int, int, int]]:
        """(rule, first word, split point, end) of the inner nodes, in preorder."""
        inner = [
            (item, child[2])
            for item, child in zip(self.items, self.items[1:], strict=False)
            if item[2] - item[1] > 1
        ]
        return [(rule, i, split, j) for rule, ((_, i, j), split) in zip(self.rules, inner, strict=True)]


@dataclass(frozen=True)
class SmallGrammar:
    """A grammar with few symbols; preterminals are numbered after the interminals."""

    interminals: int
    preterminals: int
    rules: NDArray[np.int32]
    weights: NDArray[np.float64]
    root: NDArray[np.float64]

    @classmethod
    def random(cls, seed: int, interminals: int = 2, preterminals: int = 2, density: float = 0.6) -> SmallGrammar:
        """Each possible rule is there with this probability; weights are anything in (0, 1)."""
        rng = np.random.default_rng(seed)
        symbols = interminals + preterminals
        every = np.array(
            [(a, b, c) for a in range(interminals) for b in range(symbols) for c in range(symbols)], np.int32
        )
        rules = every[rng.random(len(every)) < density]
        return cls(interminals, preterminals, rules, rng.random(len(rules)) * 0.3, rng.random(symbols))

    def lexical(self, words: int, seed: int, density: float = 0.8) -> NDArray[np.float64]:
        """A random sentence as the values of the preterminals over its words; no word is left without one."""
        rng = np.random.default_rng(seed)
        values = rng.random((words, self.preterminals)) * (rng.random((words, self.preterminals)) < density)
        values[np.arange(words), rng.integers(self.preterminals, size=words)] += 0.1
        return values

    def derivations(self, lexical: NDArray[np.float64]) -> list[Derivation]:
        """All trees over the sentence whose root may be a root, with their weights."""
        known: dict[Item, list[Derivation]] = {}

        def over(symbol: int, i: int, j: int) -> list[Derivation]:
            item = (symbol, i, j)
            if item not in known:
                found = []
                if j - i == 1 and symbol >= self.interminals:
                    weight = float(lexical[i, symbol - self.interminals])
                    found = [Derivation((item,), (), weight)] if weight > 0 else []
                for r, (a, b, c) in enumerate(self.rules.tolist()):
                    if a != symbol:
                        continue
                    for k in range(i + 1, j):
                        found += [
                            Derivation(
                                (item, *left.items, *right.items),
                                (r, *left.rules, *right.rules),
                                float(self.weights[r]) * left.weight * right.weight,
                            )
                            for left in over(b, i, k)
                            for right in over(c, k, j)
                        ]
                known[item] = found
            return known[item]

        return [
            Derivation(tree.items, tree.rules, tree.weight * float(self.root[symbol]))
            for symbol in range(self.interminals + self.preterminals)
            for tree in over(symbol, 0, len(lexical))
        ]
