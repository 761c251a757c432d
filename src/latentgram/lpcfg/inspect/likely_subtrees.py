"""Small trees that are likely under a spectral grammar, whose numbers are no probabilities one by one.

There is no best state to follow, but the inside vector v of a whole small tree is exact, and Ō(a) · v is the
probability of the tree below symbol a. So every symbol keeps the `width` likeliest small trees found so far with
their vectors, and in each round tries its commonest rules on those of its children,

    v(a→b c over two trees) = t(a→b c)(·, v(left), v(right)).

Cost: rounds · rules · width² · m_a m_b m_c.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.data.rarewords import is_symbol
from latentgram.data.tree import Tree
from latentgram.lpcfg.inspect.hidden_states import piece, rule_tensor, symbol_name
from latentgram.lpcfg.inspect.typical_subtrees import Subtree
from latentgram.lpcfg.model import LPCFG

Floats = NDArray[np.float64]


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
    >>> found = LikelySubtrees(grammar).pulling(rule=0, coordinate=1, sign=1)
    >>> 0 < found.probability < 1
    True
    """

    grammar: LPCFG
    width: int = 6
    rules: int = 8
    """Of each symbol, the commonest, that are tried."""
    rounds: int = 4

    def pulling(self, rule: int, coordinate: int, sign: int) -> Subtree | None:
        """The tree that begins with a rule and pulls a coordinate most to one side (see coordinates.py)."""
        grammar, symbol = self.grammar, int(self.grammar.rules[rule, 0])
        found = self._grown(rule, self._beams)
        if found is None:
            return None
        vectors, pairs = found
        probability = vectors @ piece(grammar.mean_outside, grammar, symbol)
        pull = vectors[:, coordinate] - probability * piece(grammar.mean_inside, grammar, symbol)[coordinate]
        best = int(np.argmax(np.where(probability > 0, sign * pull, -np.inf)))
        if probability[best] <= 0:
            return None
        tree = self._tree(rule, pairs[best], self._beams)
        return Subtree(replace(grammar.binarisation, root=None).restore(tree), min(float(probability[best]), 1.0))

    @cached_property
    def _beams(self) -> list[_Beam]:
        grammar, inner = self.grammar, len(self.grammar.interminals)
        commonest: list[list[int]] = [[] for _ in range(inner)]
        for rule in np.argsort(-grammar.rule_count, kind="stable").tolist():
            of_parent = commonest[int(grammar.rules[rule, 0])]
            if len(of_parent) < self.rules:
                of_parent.append(rule)
        beams = [_Beam((), np.zeros((0, m))) for m in grammar.states.tolist()]
        for symbol, entries in self._entries().items():
            beams[symbol] = self._words(symbol, entries)
        for _ in range(self.rounds):
            beams = [self._round(rules, beams) for rules in commonest] + beams[inner:]
        return beams

    def _entries(self) -> dict[int, list[int]]:
        """The entries of each preterminal; of what stands for unknown words only if it has no others."""
        named = [not is_symbol(word) for word in self.grammar.words]
        found: dict[int, list[int]] = {}
        for entry, (symbol, _) in enumerate(self.grammar.lexicon.tolist()):
            found.setdefault(symbol, []).append(entry)
        words = {s: [e for e in entries if named[self.grammar.lexicon[e, 1]]] for s, entries in found.items()}
        return {symbol: words[symbol] or entries for symbol, entries in found.items()}

    def _words(self, symbol: int, entries: list[int]) -> _Beam:
        grammar = self.grammar
        begin = grammar.lexicon_offset[entries][:, None] + np.arange(grammar.states[symbol])
        vectors = grammar.lexicon_vector[begin]
        kept = self._likeliest(vectors, symbol)
        name = symbol_name(grammar, symbol)
        trees = [Tree(name, word=grammar.words[int(grammar.lexicon[entries[i], 1])]) for i in kept]
        return _Beam(tuple(trees), vectors[kept])

    def _round(self, rules: list[int], beams: list[_Beam]) -> _Beam:
        """The likeliest trees of a symbol that its rules make of the trees there are."""
        found = [(rule, *grown) for rule in rules if (grown := self._grown(rule, beams)) is not None]
        symbol = int(self.grammar.rules[rules[0], 0])
        if not found:
            return beams[symbol]
        vectors = np.concatenate([vectors for _, vectors, _ in found])
        origin = [(rule, pair) for rule, _, pairs in found for pair in pairs]
        kept = self._likeliest(vectors, symbol)
        return _Beam(tuple(self._tree(*origin[i], beams) for i in kept), vectors[kept])

    def _grown(self, rule: int, beams: list[_Beam]) -> tuple[Floats, list[tuple[int, int]]] | None:
        """The inside vectors that a rule makes of all pairs of trees below it."""
        _, left, right = self.grammar.rules[rule].tolist()
        if not len(beams[left].trees) or not len(beams[right].trees):
            return None
        tensor = rule_tensor(self.grammar, rule)
        vectors = np.einsum("hjk,xj,yk->xyh", tensor, beams[left].vectors, beams[right].vectors, optimize=True)
        pairs = list(np.ndindex(vectors.shape[:2]))
        return vectors.reshape(-1, vectors.shape[2]), [(int(x), int(y)) for x, y in pairs]

    def _tree(self, rule: int, pair: tuple[int, int], beams: list[_Beam]) -> Tree:
        parent, left, right = self.grammar.rules[rule].tolist()
        children = (beams[left].trees[pair[0]], beams[right].trees[pair[1]])
        return Tree(symbol_name(self.grammar, parent), children)

    def _likeliest(self, vectors: Floats, symbol: int) -> list[int]:
        probability = vectors @ piece(self.grammar.mean_outside, self.grammar, symbol)
        order = np.argsort(-probability, kind="stable")[: self.width].tolist()
        return [i for i in order if probability[i] > 0]
