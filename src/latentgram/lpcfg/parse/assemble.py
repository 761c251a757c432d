"""From the arrays of binarised trees to treebank trees with the posteriors of their nodes, a batch at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.binarisation import Binarisation
from latentgram.data.forest import Forest
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.lpcfg.parse.labels import LabelTable


class Nodes(NamedTuple):
    """A tree over grammar symbols in preorder: their numbers, and the sizes of the subtrees.

    `posterior` belongs to the treebank nodes that the symbols stand for, one after the other.
    """

    symbol: NDArray[np.int32]
    size: NDArray[np.int32]
    posterior: NDArray[np.float64]


class Assembled(NamedTuple):
    """A treebank tree and the posteriors of its nodes and of its tags."""

    tree: Tree
    confidence: NDArray[np.float64]
    tag_confidence: NDArray[np.float64]


def assemble(
    sentences: Sequence[Sentence], trees: Sequence[Nodes], table: LabelTable, binarisation: Binarisation
) -> list[Assembled]:
    """Undo binarisation. The added root has the posterior one."""
    symbols, length = table.symbols, table.length
    symbol = np.concatenate([nodes.symbol for nodes in trees])
    size = np.concatenate([nodes.size for nodes in trees])
    confidence = np.concatenate([nodes.posterior for nodes in trees])
    start = np.cumsum([0, *(len(nodes.symbol) for nodes in trees)])
    words = Alphabet(tuple(word for sentence in sentences for word in sentence.words))
    word = np.full(len(symbol), ABSENT, np.int32)
    word[size == 1] = np.arange(len(words))
    restored = binarisation.restore_forest(Forest(symbols, words, symbol, size, word, start))

    before = np.cumsum([0, *length[symbol]])[start]
    got_root = np.diff(restored.start) > np.diff(before)
    confidence = np.insert(confidence, before[:-1][got_root], 1.0)
    return [
        Assembled(
            restored[number],
            confidence[begin:end],
            confidence[begin:end][restored.word[begin:end] != ABSENT],
        )
        for number, (begin, end) in enumerate(zip(restored.start[:-1], restored.start[1:], strict=True))
    ]
