"""Small whole trees, words included, that show what a hidden state or a coordinate stands for.

Typical ones, of a state h of symbol a in a grammar of probabilities: the most probable derivation of at most d
levels has the probability

    B₁(a, h) = max_x q(a→x)[h],
    B_d(a, h) = max over rules a→b c and states i, j of t[h,i,j] B_{d−1}(b, i) B_{d−1}(c, j).

A state's typical subtrees begin with the rules it prefers, those with the greatest p · log lift (states.py), and
go on with the most probable derivations below them. d rounds over all tensors: O(d · Σ m_a m_b m_c).

Likely ones, in a spectral grammar, whose numbers are no probabilities one by one: there is no best state to
follow, but the inside vector v of a whole small tree is exact, and Ō(a) · v is the probability of the tree below
symbol a. So every symbol keeps the `width` likeliest small trees found so far with their vectors, and in each
round tries its commonest rules on those of its children,

    v(a→b c over two trees) = t(a→b c)(·, v(left), v(right)).

Cost: rounds · rules · width² · m_a m_b m_c.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from latentgram.arrays import Floats, Ints
from latentgram.data.rarewords import is_symbol
from latentgram.data.tree import Tree
from latentgram.lpcfg.inspect.states import entries_of, preferred_rules, require_probabilities, symbol_number
from latentgram.lpcfg.model import LPCFG

_DEEPEST = 20
"""Levels that are tried for symbols that have no smaller tree."""


@dataclass(frozen=True)
class Subtree:
    """A treebank tree below a state, and the probability of its derivation there."""

    tree: Tree
    probability: float

    @classmethod
    def of(cls, grammar: LPCFG, binary: Tree, probability: float) -> Subtree:
        """Without what binarisation has added; the root label belongs to whole sentences only."""
        return cls(replace(grammar.binarisation, root=None).restore(binary), probability)

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
            best = self._best[0][number].tolist()
            return [[Subtree.of(self.grammar, self._tree(number, h), best[h])] for h in states]
        subtrees = [
            [self._below(rule, state) for rule in preferred_rules(self.grammar, number, state, count)]
            for state in states
        ]
        return [[each for each in of_state if each is not None] for of_state in subtrees]

    def _below(self, rule: int, state: int) -> Subtree | None:
        """The most probable derivation that begins with a rule; None if the state has none."""
        parent, left, right = self.grammar.rules[rule].tolist()
        value, (i, j) = self._expansion(rule, self._best[0])
        if value[state] == 0.0:
            return None
        children = (self._tree(left, int(i[state])), self._tree(right, int(j[state])))
        tree = Tree(self.grammar.symbol_name(parent), children)
        return Subtree.of(self.grammar, tree, float(value[state]))

    def _tree(self, number: int, state: int) -> Tree:
        """The most probable derivation as a binary tree."""
        choice = self._best[1][number][state]
        if number >= len(self.grammar.interminals):
            return Tree(self.grammar.symbol_name(number), word=self.grammar.words[int(choice[0])])
        rule, i, j = choice.tolist()
        _, left, right = self.grammar.rules[rule].tolist()
        return Tree(self.grammar.symbol_name(number), (self._tree(left, i), self._tree(right, j)))

    @cached_property
    def _best(self) -> tuple[list[Floats], list[Ints]]:
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
            vector = grammar.vector(entry)
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

    def _expansion(self, rule: int, best: list[Floats]) -> tuple[Floats, tuple[Ints, Ints]]:
        """[m_a] the best that a rule can do from each state, and the states of its children then."""
        _, left, right = self.grammar.rules[rule].tolist()
        value = self.grammar.tensor(rule) * best[left][:, None] * best[right]
        place = value.reshape(len(value), -1).argmax(1)
        i, j = np.unravel_index(place, value.shape[1:])
        return value[np.arange(len(value)), i, j], (i, j)


def _improve(best: Floats, choice: Ints, value: Floats, chosen: tuple[int | Ints, ...]) -> None:
    """Take over what is better."""
    better = value > best
    best[better] = value[better]
    for column, part in enumerate(chosen):
        choice[better, column] = part[better] if isinstance(part, np.ndarray) else part


@dataclass(frozen=True)
class _Beam:
    """Binary trees, the likeliest first, and their inside vectors [trees, states]."""

    trees: tuple[Tree, ...]
    vectors: Floats


@dataclass(frozen=True, eq=False)
class LikelySubtrees:
    """Finds small trees that begin with a rule.

    >>> import latentgram as lg
    >>> grammar = lg.fit(lg.LPCFG, lg.demo_treebank(80, seed=0), by=lg.Spectral(states=3))
    >>> subtree = LikelySubtrees(grammar).pulling(rule=0, coordinate=1, sign=1)
    >>> 0 < subtree.probability < 1
    True
    """

    grammar: LPCFG
    width: int = 6
    rules: int = 8
    """Of each symbol, the commonest, that are tried."""
    rounds: int = 4

    def pulling(self, rule: int, coordinate: int, sign: int) -> Subtree | None:
        """The tree that begins with a rule and pulls a coordinate most to one side (see states.py)."""
        grammar, symbol = self.grammar, int(self.grammar.rules[rule, 0])
        grown = self._grown(rule, self._beams)
        if grown is None:
            return None
        vectors, pairs = grown
        probability = vectors @ grammar.of_symbol(grammar.mean_outside, symbol)
        pull = vectors[:, coordinate] - probability * grammar.of_symbol(grammar.mean_inside, symbol)[coordinate]
        best = int(np.argmax(np.where(probability > 0, sign * pull, -np.inf)))
        if probability[best] <= 0:
            return None
        tree = self._tree(rule, pairs[best], self._beams)
        return Subtree.of(grammar, tree, min(float(probability[best]), 1.0))

    @cached_property
    def _beams(self) -> list[_Beam]:
        grammar, inner = self.grammar, len(self.grammar.interminals)
        commonest: list[list[int]] = [[] for _ in range(inner)]
        for rule in np.argsort(-grammar.rule_count, kind="stable").tolist():
            of_parent = commonest[int(grammar.rules[rule, 0])]
            if len(of_parent) < self.rules:
                of_parent.append(rule)
        beams = [_Beam((), np.zeros((0, m))) for m in grammar.states.tolist()]
        for symbol in range(inner, len(beams)):
            beams[symbol] = self._words(symbol)
        for _ in range(self.rounds):
            beams = [self._round(rules, beams) for rules in commonest] + beams[inner:]
        return beams

    def _words(self, symbol: int) -> _Beam:
        grammar, entries = self.grammar, entries_of(self.grammar, symbol)
        begin = grammar.lexicon_offset[entries][:, None] + np.arange(grammar.states[symbol])
        vectors = grammar.lexicon_vector[begin]
        kept = self._likeliest(vectors, symbol)
        name = grammar.symbol_name(symbol)
        trees = [Tree(name, word=grammar.words[int(grammar.lexicon[entries[i], 1])]) for i in kept]
        return _Beam(tuple(trees), vectors[kept])

    def _round(self, rules: list[int], beams: list[_Beam]) -> _Beam:
        """The likeliest trees of a symbol that its rules make of the trees there are."""
        by_rule = [(rule, *grown) for rule in rules if (grown := self._grown(rule, beams)) is not None]
        symbol = int(self.grammar.rules[rules[0], 0])
        if not by_rule:
            return beams[symbol]
        vectors = np.concatenate([vectors for _, vectors, _ in by_rule])
        origin = [(rule, pair) for rule, _, pairs in by_rule for pair in pairs]
        kept = self._likeliest(vectors, symbol)
        return _Beam(tuple(self._tree(*origin[i], beams) for i in kept), vectors[kept])

    def _grown(self, rule: int, beams: list[_Beam]) -> tuple[Floats, list[tuple[int, int]]] | None:
        """The inside vectors that a rule makes of all pairs of trees below it."""
        _, left, right = self.grammar.rules[rule].tolist()
        if not len(beams[left].trees) or not len(beams[right].trees):
            return None
        tensor = self.grammar.tensor(rule)
        vectors = np.einsum("hjk,xj,yk->xyh", tensor, beams[left].vectors, beams[right].vectors, optimize=True)
        pairs = list(np.ndindex(vectors.shape[:2]))
        return vectors.reshape(-1, vectors.shape[2]), [(int(x), int(y)) for x, y in pairs]

    def _tree(self, rule: int, pair: tuple[int, int], beams: list[_Beam]) -> Tree:
        parent, left, right = self.grammar.rules[rule].tolist()
        children = (beams[left].trees[pair[0]], beams[right].trees[pair[1]])
        return Tree(self.grammar.symbol_name(parent), children)

    def _likeliest(self, vectors: Floats, symbol: int) -> list[int]:
        probability = vectors @ self.grammar.of_symbol(self.grammar.mean_outside, symbol)
        order = np.argsort(-probability, kind="stable")[: self.width].tolist()
        return [i for i in order if probability[i] > 0]
