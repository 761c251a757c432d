"""Typical subtrees of hidden states: small whole trees, words included, that show what a state stands for.

The most probable derivation of at most d levels below state h of symbol a has the probability

    B₁(a, h) = max_x q(a→x)[h],
    B_d(a, h) = max over rules a→b c and states i, j of t[h,i,j] B_{d−1}(b, i) B_{d−1}(c, j).

A state's typical subtrees begin with the rules it prefers, those with the greatest p · log lift
(hidden_states.py), and go on with the most probable derivations below them. d rounds over all tensors:
O(d · Σ m_a m_b m_c).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.data.rarewords import is_symbol
from latentgram.data.tree import Tree
from latentgram.lpcfg.inspect.hidden_states import (
    preferred_rules,
    require_probabilities,
    rule_tensor,
    symbol_number,
)
from latentgram.lpcfg.model import LPCFG

Floats = NDArray[np.float64]

_DEEPEST = 20
"""Levels that are tried for symbols that have no smaller tree."""


@dataclass(frozen=True)
class Subtree:
    """A treebank tree below a state, and the probability of its derivation there."""

    tree: Tree
    probability: float

    def __str__(self) -> str:
        return f"{self.tree} ({self.probability:.1e})"


@dataclass(frozen=True, eq=False)
class TypicalSubtrees:
    """Finds typical subtrees in a grammar whose numbers are probabilities.

    >>> import latentgram as lg
    >>> grammar = lg.fit(lg.LPCFG, lg.demo_treebank(100, seed=0), by=lg.Counting())
    >>> print(TypicalSubtrees(grammar).of("PP")[0][0].tree.label)
    PP
    """

    grammar: LPCFG
    levels: int = 5

    def __post_init__(self) -> None:
        require_probabilities(self.grammar)

    def of(self, symbol: str, count: int = 3) -> list[list[Subtree]]:
        """At most `count` subtrees for each state of a symbol, by the number of the state."""
        number = symbol_number(self.grammar, symbol)
        states = range(int(self.grammar.states[number]))
        if number >= len(self.grammar.interminals):
            return [[self._subtree(number, state, float(self._best[0][number][state]))] for state in states]
        found = [
            [self._below(rule, state) for rule in preferred_rules(self.grammar, number, state, count)]
            for state in states
        ]
        return [[each for each in of_state if each is not None] for of_state in found]

    def _below(self, rule: int, state: int) -> Subtree | None:
        """The most probable derivation that begins with a rule; None if the state has none."""
        parent, left, right = self.grammar.rules[rule].tolist()
        value, (i, j) = self._expansion(rule, self._best[0])
        if value[state] == 0.0:
            return None
        children = (self._tree(left, int(i[state])), self._tree(right, int(j[state])))
        return self._restored(Tree(self._name(parent), children), float(value[state]))

    def _subtree(self, number: int, state: int, probability: float) -> Subtree:
        return self._restored(self._tree(number, state), probability)

    def _restored(self, tree: Tree, probability: float) -> Subtree:
        """Without what binarisation has added; the root label belongs to whole sentences only."""
        return Subtree(replace(self.grammar.binarisation, root=None).restore(tree), probability)

    def _tree(self, number: int, state: int) -> Tree:
        """The most probable derivation as a binary tree."""
        choice = self._best[1][number][state]
        if number >= len(self.grammar.interminals):
            return Tree(self._name(number), word=self.grammar.words[int(choice[0])])
        rule, i, j = choice.tolist()
        _, left, right = self.grammar.rules[rule].tolist()
        return Tree(self._name(number), (self._tree(left, i), self._tree(right, j)))

    def _name(self, number: int) -> str:
        inner = len(self.grammar.interminals)
        return self.grammar.interminals[number] if number < inner else self.grammar.preterminals[number - inner]

    @cached_property
    def _best(self) -> tuple[list[Floats], list[NDArray[np.int64]]]:
        """For each symbol and state the probability of its best derivation, and its rule with the child states.

        A preterminal has its word in place of the rule.
        """
        grammar = self.grammar
        best = [np.zeros(m) for m in grammar.states.tolist()]
        choice = [np.full((m, 3), -1, np.int64) for m in grammar.states.tolist()]
        # What stands for unknown words is taken only where there is no word.
        stands_for_words = np.array([is_symbol(word) for word in grammar.words], bool)[grammar.lexicon[:, 1]]
        for entry in np.argsort(stands_for_words, kind="stable").tolist():
            symbol, word = grammar.lexicon[entry].tolist()
            vector = grammar.lexicon_vector[slice(*grammar.lexicon_offset[entry : entry + 2])]
            value = np.where(best[symbol] > 0.0, 0.0, vector) if stands_for_words[entry] else vector
            _improve(best[symbol], choice[symbol], value, (word, -1, -1))
        for level in range(2, _DEEPEST):
            if level > self.levels and all(values.all() for values in best):
                break
            before = [values.copy() for values in best]
            for rule, parent in enumerate(grammar.rules[:, 0].tolist()):
                value, states = self._expansion(rule, before)
                _improve(best[parent], choice[parent], value, (rule, *states))
        return best, choice

    def _expansion(
        self, rule: int, best: list[Floats]
    ) -> tuple[Floats, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """[m_a] the best that a rule can do from each state, and the states of its children then."""
        _, left, right = self.grammar.rules[rule].tolist()
        value = rule_tensor(self.grammar, rule) * best[left][:, None] * best[right]
        place = value.reshape(len(value), -1).argmax(1)
        i, j = np.unravel_index(place, value.shape[1:])
        return value[np.arange(len(value)), i, j], (i, j)


def _improve(
    best: Floats, choice: NDArray[np.int64], value: Floats, chosen: tuple[int | NDArray[np.int64], ...]
) -> None:
    """Take over what is better."""
    better = value > best
    best[better] = value[better]
    for column, part in enumerate(chosen):
        choice[better, column] = part[better] if isinstance(part, np.ndarray) else part
