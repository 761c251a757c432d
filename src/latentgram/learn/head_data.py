"""What the learners of head-automata grammars see of a treebank: symbols, arcs sorted by head, relations.

Trees that are not projective are lifted first; how many is told in the trace of the grammar's provenance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.dependencies import DependencyArrays, DependencyTree
from latentgram.data.provenance import Provenance
from latentgram.data.sentence import Sentence
from latentgram.data.treebank import Treebank
from latentgram.data.word_symbols import WordSymbols
from latentgram.models.relations import Relations
from latentgram.stats.head_sequences import Modifiers

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HeadData:
    """A dependency treebank, flat and projective; words are numbered from 0 through all sentences."""

    sentences: list[Sentence]
    trees: DependencyArrays
    modifiers: Modifiers
    symbols: WordSymbols
    symbol: Ints
    """[W] the symbol of every word."""
    relations: Relations
    lifted: int

    @classmethod
    def of(cls, data: Any, kind: str) -> HeadData:
        """Observe a treebank with symbols of a kind."""
        bank = cast("Treebank[DependencyTree]", data if isinstance(data, Treebank) else Treebank.of(data))
        trees, lifts = bank.arrays.projectivise()
        sentences = bank.sentences()
        symbols, numbers = WordSymbols.observe(sentences, kind)
        symbol = numbers.astype(np.int64)
        modifiers = Modifiers.of(trees)
        relations = _relations(bank, trees, symbol, len(symbols.alphabet))
        return cls(sentences, trees, modifiers, symbols, symbol, relations, int((lifts > 0).sum()))

    @property
    def provenance(self) -> Provenance:
        """What is known before `fit` adds the rest."""
        return Provenance(trace=({"words": float(len(self.symbol)), "lifted": float(self.lifted)},))


def _relations(bank: Treebank[DependencyTree], trees: DependencyArrays, symbol: Ints, n_symbols: int) -> Relations:
    names = [name for tree in bank for name in tree.deprels]
    labels = Alphabet.of(names)
    first = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    word = np.arange(len(symbol))
    is_root = trees.heads == 0
    head = np.where(is_root, word, first + trees.heads - 1)
    return Relations.of(
        labels,
        n_symbols,
        head=np.where(is_root, n_symbols, symbol[head]),
        modifier=symbol,
        signed_distance=word - head,
        label=labels.encode(names),
    )
