"""`TreebankNodes`: the symbols of a chart of treebank nodes, and their relation to grammars with other symbols.

A symbol is a chain of labels over a phrase or over a word, without anything else that a grammar records; all
intermediate symbols of binarisation are one symbol, `@` (kernels.py). A tree is converted from one binarisation to
another via the treebank tree: O(nodes), many trees at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.binarisation import Binarisation, Symbol
from latentgram.data.forest import Forest
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.parse.labels import LabelTable

Ints = NDArray[np.int32]
Trees = tuple[Ints, Ints]
"""[trees, 2n − 1] the symbols of binary trees in preorder, and the sizes of the subtrees."""
_REST = str(Symbol(("",), intermediate=True))


def _chains(names: Iterable[str]) -> list[str]:
    """The names of symbols without what they remember."""
    symbols = map(Symbol.read, names)
    return [_REST if symbol.intermediate else str(Symbol(symbol.chain)) for symbol in symbols]


@dataclass(frozen=True)
class TreebankNodes:
    """The chains of labels of some grammars.

    >>> import latentgram as lg
    >>> grammar = lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting(horizontal=1))
    >>> nodes = TreebankNodes.of([grammar])
    >>> nodes.phrases[0], "@VP/NP" in grammar.interminals, len(nodes.phrases) < len(grammar.interminals)
    ('@', True, True)
    """

    phrases: Alphabet
    """The rest first."""
    words: Alphabet
    binarisation: Binarisation

    @classmethod
    def of(cls, grammars: Sequence[LPCFG]) -> TreebankNodes:
        """Those that any of the grammars has."""
        phrases = {chain for grammar in grammars for chain in _chains(grammar.interminals)}
        words = (chain for grammar in grammars for chain in _chains(grammar.preterminals))
        known = Alphabet((_REST, *sorted(phrases - {_REST})))
        return cls(known, Alphabet.of(words), Binarisation(root=grammars[0].binarisation.root))

    @cached_property
    def table(self) -> LabelTable:
        """The labels of the symbols; those over words are marked, since a chain may stand over both."""
        over_words = (str(Symbol.read(name)._replace(over_word=True)) for name in self.words)
        return LabelTable(Alphabet((*self.phrases, *over_words)), len(self.phrases))

    def _numbers(self, names: Iterable[str]) -> tuple[Ints, Ints]:
        """The numbers of symbols if they stand over phrases, and over words."""
        chains = _chains(names)
        return self.phrases.encode(chains), np.int32(len(self.phrases)) + self.words.encode(chains)

    def of_grammar(self, grammar: LPCFG) -> Ints:
        """[I+P] what each symbol of a grammar is here."""
        return np.concatenate((self._numbers(grammar.interminals)[0], self._numbers(grammar.preterminals)[1]))

    def restored(self, symbols: Ints, sizes: Ints) -> Forest:
        """Binary trees of these symbols as treebank trees."""
        return restored(self.table.symbols, self.binarisation, symbols, sizes)

    def binarised(self, forest: Forest) -> Trees:
        """Treebank trees over one sentence as binary trees of these symbols."""
        binary = self.binarisation.binarise(forest)
        phrase, word = self._numbers(binary.labels)
        symbol = np.where(binary.is_tag, word[binary.label], phrase[binary.label])
        return symbol.reshape(len(forest), -1), binary.size.reshape(len(forest), -1)


def restored(names: Alphabet, binarisation: Binarisation, symbols: Ints, sizes: Ints) -> Forest:
    """Binary trees over symbols of these names as treebank trees over words that do not matter."""
    word = np.where(sizes == 1, np.int32(0), np.int32(ABSENT)).ravel()
    start = np.arange(len(sizes) + 1) * sizes.shape[1]
    return binarisation.restore_forest(Forest(names, Alphabet(("",)), symbols.ravel(), sizes.ravel(), word, start))
