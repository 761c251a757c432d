"""What the learners of head-automata grammars see of a treebank: symbols, arcs sorted by head, relations.

Trees that are not projective are lifted first; how many is told in the trace of the grammar's provenance.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.dependencies import DependencyArrays
from latentgram.data.dependency_symbols import WordSymbols
from latentgram.data.provenance import Provenance
from latentgram.data.sentence import Sentence
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError
from latentgram.shag.relations import Relations
from latentgram.shag.statistics.sequences import Modifiers

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HeadData:
    """A dependency treebank, flat and projective; words are numbered from 0 through all sentences.

    It is made part by part, so a `TreebankStream` is never in memory but for one part. What is held is 4 bytes a
    word for its head and 8 for its symbol, and `modifiers` with 40; `sentences`, which only learners of words ask
    for, are Python objects.
    """

    source: Any
    trees: DependencyArrays
    modifiers: Modifiers
    symbols: WordSymbols
    symbol: Ints
    """[W] the symbol of every word."""
    relations: Relations
    lifted: int

    @classmethod
    def of(cls, data: Any, kind: str | WordSymbols) -> HeadData:
        """Observe a treebank, a stream of one or a list of trees, with symbols of a kind, or by a known rule."""
        bank = data if hasattr(data, "shards") else Treebank.of(data)
        rule = kind
        if isinstance(rule, str):
            rule = WordSymbols.rule(rule, (sentence for part in bank.shards() for sentence in part.sentences()))
        heads, lengths, lifted = [], [], 0
        names, labels = _Numbering(), _Numbering()
        for part in bank.shards():
            trees, lifts = part.arrays.projectivise()
            heads.append(trees.heads)
            lengths.append(np.diff(trees.offsets))
            lifted += int((lifts > 0).sum())
            names.add(name for tree in part for name in rule.names(tree.sentence))
            labels.add(name for tree in part for name in tree.deprels)
        if not heads:
            raise DataError("there are no trees to learn from")
        trees = DependencyArrays(np.concatenate(heads), np.concatenate(([0], np.cumsum(np.concatenate(lengths)))))
        alphabet, symbol = names.sorted()
        counts = np.bincount(symbol, minlength=len(alphabet)).astype(np.int64)
        symbols = WordSymbols(rule.kind, alphabet, counts, rule.frequent)
        relations = _relations(*labels.sorted(), trees, symbol, len(alphabet))
        return cls(bank, trees, Modifiers.of(trees), symbols, symbol, relations, lifted)

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The words and tags of all sentences."""
        return [sentence for part in self.source.shards() for sentence in part.sentences()]

    @property
    def provenance(self) -> Provenance:
        """What is known before `fit` adds the rest."""
        return Provenance(trace=({"words": float(len(self.symbol)), "lifted": float(self.lifted)},))


class _Numbering:
    """Numbers names as they come, part by part, and in their order at the end."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._parts: list[NDArray[np.int32]] = []

    def add(self, names: Iterable[str]) -> None:
        """The names of the next part."""
        known = self._known
        self._parts.append(np.array([known.setdefault(name, len(known)) for name in names], np.int32))

    def sorted(self) -> tuple[Alphabet, Ints]:
        """The alphabet of all names, and the number of every name that came."""
        alphabet = Alphabet.of(self._known)
        return alphabet, alphabet.encode(self._known).astype(np.int64)[np.concatenate(self._parts)]


def _relations(labels: Alphabet, label: Ints, trees: DependencyArrays, symbol: Ints, n_symbols: int) -> Relations:
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
        label=label,
    )
