"""`TreeSymbols`: the symbols that represent words in a model of trees: tags or words, with valency.

A model of p(words | topology) cannot choose between topologies, unless its symbols contain the number of children
of a node. Symbol = word symbol · (c + 1)² + left · (c + 1) + right, with `left` and `right` the numbers of
children on each side, at most c = `valency`; with c = 0 it is the word symbol alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from latentgram.arrays import Ints
from latentgram.data.dependency_symbols import WordSymbols
from latentgram.data.invariants import within
from latentgram.data.sentence import Sentence


@dataclass(frozen=True, eq=False)
class TreeSymbols:
    """The rule that numbers the nodes of trees.

    >>> tagged = Sentence(("the", "cat", "sleeps"), xpos=("DT", "NN", "VBZ"))
    >>> symbols = TreeSymbols(WordSymbols.of([tagged]), valency=2)
    >>> numbers = symbols.of_nodes(symbols.of_words([tagged]), np.array([1, 2, -1]))
    >>> [symbols.name(number) for number in numbers]
    ['DT 0:0', 'NN 1:0', 'VBZ 1:0']
    """

    words: WordSymbols
    valency: Annotated[int, within(0, 100)] = 3

    @property
    def cells(self) -> int:
        """How many valencies are told apart."""
        return (self.valency + 1) ** 2

    def __len__(self) -> int:
        return len(self.words.alphabet) * self.cells

    def of_words(self, sentences: Iterable[Sentence]) -> Ints:
        """The word symbols of sentences, end to end."""
        return np.concatenate([self.words.encode(sentence) for sentence in sentences]).astype(np.int64)

    def valencies(self, above: Ints) -> Ints:
        """The valency of every node of a forest: `above` is the number of the node above each, −1 for roots."""
        below = np.flatnonzero(above >= 0)
        heads = above[below]
        nodes = len(above)
        left, right = (np.bincount(heads[side], minlength=nodes) for side in (below < heads, below > heads))
        return np.minimum(left, self.valency) * (self.valency + 1) + np.minimum(right, self.valency)

    def of_nodes(self, words: Ints, above: Ints) -> Ints:
        """The symbols of the nodes of a forest, from the symbols of their words."""
        return words * self.cells + self.valencies(above)

    def name(self, number: int) -> str:
        """A symbol as people read it: the word symbol, then left and right children."""
        word, cell = divmod(int(number), self.cells)
        if self.valency == 0:
            return self.words.alphabet[word]
        left, right = divmod(cell, self.valency + 1)
        return f"{self.words.alphabet[word]} {left}:{right}"
