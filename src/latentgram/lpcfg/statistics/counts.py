"""`GrammarCounts`: how often each rule, lexical entry and root was seen. Counts of two treebanks add.

The symbols of a sum are the union of the symbols, sorted, so a sum does not depend on how a treebank was divided;
counts are whole numbers, so it does not depend on the order of addition either.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.lpcfg.statistics.derivations import Derivations

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GrammarCounts:
    """Rules [R, 3] of parent, left and right child and entries [L, 2] of preterminal and word, with their counts.

    Interminals are numbered from 0, preterminals after them; rules are sorted, entries sorted by word.

    >>> from latentgram.data.forest import Forest
    >>> from latentgram.data.tree import Tree
    >>> def counts(*words): return GrammarCounts.of(Derivations.of(Forest.of(
    ...     [Tree("S", tuple(Tree(word.upper(), word=word) for word in words))])))
    >>> total = counts("a", "b") + counts("a", "c") + counts("a", "b")
    >>> total.rules.tolist(), total.rule_count.tolist(), total.symbol_count.tolist()
    ([[0, 1, 2], [0, 1, 3]], [2.0, 1.0], [3.0, 3.0, 2.0, 1.0])
    """

    interminals: Alphabet
    preterminals: Alphabet
    words: Alphabet
    rules: Ints
    rule_count: Floats
    lexicon: Ints
    lexicon_count: Floats
    root_count: Floats

    @classmethod
    def of(cls, derivations: Derivations) -> GrammarCounts:
        """Count derivations."""
        return cls(
            derivations.interminals,
            derivations.preterminals,
            derivations.words,
            derivations.rules,
            derivations.rule_count.astype(np.float64),
            derivations.lexicon,
            derivations.entry_count.astype(np.float64),
            derivations.root_count.astype(np.float64),
        )

    @property
    def symbol_count(self) -> Floats:
        """[I+P] how often each symbol was seen."""
        size = len(self.interminals) + len(self.preterminals)
        over_words = np.bincount(self.lexicon[:, 0], self.lexicon_count, size)
        return np.asarray(over_words + np.bincount(self.rules[:, 0], self.rule_count, size), np.float64)

    def __add__(self, other: GrammarCounts) -> GrammarCounts:
        interminals = Alphabet.of((*self.interminals, *other.interminals))
        preterminals = Alphabet.of((*self.preterminals, *other.preterminals))
        words = Alphabet.of((*self.words, *other.words))
        size = len(interminals) + len(preterminals)
        rules, entries, roots = [], [], np.zeros(size)
        for part in (self, other):
            symbol = np.concatenate(
                (interminals.encode(part.interminals), preterminals.encode(part.preterminals) + len(interminals))
            )
            rules.append(symbol[part.rules])
            word = words.encode(part.words)
            entries.append(np.stack([word[part.lexicon[:, 1]], symbol[part.lexicon[:, 0]]], axis=1))
            roots[symbol] += part.root_count
        rule_rows, rule_count = _merged(rules, (self.rule_count, other.rule_count))
        entry_rows, entry_count = _merged(entries, (self.lexicon_count, other.lexicon_count))
        return GrammarCounts(
            interminals,
            preterminals,
            words,
            rule_rows,
            rule_count,
            np.ascontiguousarray(entry_rows[:, ::-1]),
            entry_count,
            roots,
        )


def _merged(rows: list[Ints], counts: tuple[Floats, Floats]) -> tuple[Ints, Floats]:
    """The distinct rows of two tables, sorted, with their counts added."""
    distinct, number = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    total = np.bincount(number.ravel(), np.concatenate(counts), len(distinct))
    return distinct.astype(np.int32), np.asarray(total, np.float64)
