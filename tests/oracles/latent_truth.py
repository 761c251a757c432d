"""A small L-PCFG whose two states a symbol leave traces above and below, and exact tree probabilities."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.binarisation import Binarisation
from latentgram.data.rarewords import RareWords
from latentgram.data.tree import Tree
from latentgram.lpcfg.model import LPCFG

RULES = {
    ("S", "X", "X"): [[[0.5, 0.1], [0.0, 0.1]], [[0.0, 0.1], [0.1, 0.4]]],
    ("S", "A", "X"): [[[0.1, 0.0], [0.2, 0.0]], [[0.1, 0.1], [0.0, 0.2]]],
    ("X", "A", "B"): [[[0.6, 0.1], [0.1, 0.0]], [[0.0, 0.1], [0.0, 0.1]]],
    ("X", "B", "A"): [[[0.0, 0.0], [0.1, 0.0]], [[0.1, 0.0], [0.2, 0.3]]],
    ("X", "A", "X"): [[[0.1, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.1, 0.1]]],
}
WORDS = {
    "A": {"a0": (0.7, 0.1), "a1": (0.2, 0.1), "a2": (0.05, 0.3), "a3": (0.05, 0.5)},
    "B": {"b0": (0.6, 0.0), "b1": (0.3, 0.2), "b2": (0.1, 0.8)},
}


def truth() -> LPCFG:
    """The grammar: its numbers are the two tables above."""
    interminals, preterminals = Alphabet(("S", "X")), Alphabet(("A", "B"))
    names = (*interminals, *preterminals)
    words = Alphabet(tuple(sorted(word for entries in WORDS.values() for word in entries)))
    rules = sorted((tuple(map(names.index, rule)), np.array(tensor)) for rule, tensor in RULES.items())
    lexicon = sorted(
        (words.index(word), names.index(tag), np.array(vector))
        for tag, entries in WORDS.items()
        for word, vector in entries.items()
    )
    return LPCFG(
        interminals,
        preterminals,
        words,
        states=np.full(4, 2, np.int32),
        rules=np.array([rule for rule, _ in rules], np.int32),
        rule_offset=np.arange(len(rules) + 1) * 8,
        rule_tensor=np.concatenate([tensor.ravel() for _, tensor in rules]),
        lexicon=np.array([(tag, word) for word, tag, _ in lexicon], np.int32),
        lexicon_offset=np.arange(len(lexicon) + 1) * 2,
        lexicon_vector=np.concatenate([vector for _, _, vector in lexicon]),
        root_offset=np.arange(5) * 2,
        root_vector=np.array([0.6, 0.4, 0, 0, 0, 0, 0, 0]),
        mean_inside=np.ones(8),
        mean_outside=np.full(8, 0.5),
        rule_count=np.ones(len(rules)),
        lexicon_count=np.ones(len(lexicon)),
        root_count=np.array([1.0, 0, 0, 0]),
        rare_words=RareWords(known=words, threshold=0),
        binarisation=Binarisation(root=None),
    )


def inside_vector(grammar: LPCFG, tree: Tree) -> tuple[int, NDArray[np.float64]]:
    """The symbol and the vector f of a tree (Cohen et al. 2012 fig. 4)."""
    inner = len(grammar.interminals)
    if tree.word is not None:
        symbol = inner + grammar.preterminals.index(tree.label)
        row = int(np.flatnonzero((grammar.lexicon == (symbol, grammar.words.index(tree.word))).all(1))[0])
        return symbol, grammar.lexicon_vector[grammar.lexicon_offset[row] : grammar.lexicon_offset[row + 1]]
    symbol = grammar.interminals.index(tree.label)
    (left, left_vector), (right, right_vector) = (inside_vector(grammar, child) for child in tree.children)
    row = int(np.flatnonzero((grammar.rules == (symbol, left, right)).all(1))[0])
    tensor = grammar.rule_tensor[grammar.rule_offset[row] : grammar.rule_offset[row + 1]]
    shape = grammar.states[[symbol, left, right]]
    return symbol, np.einsum("ijk,j,k->i", tensor.reshape(shape), left_vector, right_vector)


def tree_probability(grammar: LPCFG, tree: Tree) -> float:
    """p(tree) = f · c¹ (Cohen et al. 2012 fig. 4)."""
    symbol, vector = inside_vector(grammar, tree)
    return float(grammar.root_vector[grammar.root_offset[symbol] : grammar.root_offset[symbol + 1]] @ vector)


def rotated(grammar: LPCFG, matrices: list[NDArray[np.float64]]) -> LPCFG:
    """The grammar in other coordinates (Cohen et al. 2012 thm. 1): c∞ = q G⁻¹, C = T(· G, · G) G⁻¹, c¹ = G π."""
    inverse = [np.linalg.inv(matrix) for matrix in matrices]
    tensors, vectors, roots, insides, outsides = [], [], [], [], []
    for number, (a, b, c) in enumerate(grammar.rules.tolist()):
        tensor = grammar.rule_tensor[grammar.rule_offset[number] : grammar.rule_offset[number + 1]]
        shaped = tensor.reshape(grammar.states[[a, b, c]])
        tensors.append(np.einsum("hjk,hi,bj,ck->ibc", shaped, inverse[a], matrices[b], matrices[c]).ravel())
    for number, (a, _) in enumerate(grammar.lexicon.tolist()):
        vector = grammar.lexicon_vector[grammar.lexicon_offset[number] : grammar.lexicon_offset[number + 1]]
        vectors.append(vector @ inverse[a])
    for symbol in range(len(grammar.states)):
        own = slice(grammar.root_offset[symbol], grammar.root_offset[symbol + 1])
        roots.append(matrices[symbol] @ grammar.root_vector[own])
        outsides.append(matrices[symbol] @ grammar.mean_outside[own])
        insides.append(grammar.mean_inside[own] @ inverse[symbol])
    return dataclasses.replace(
        grammar,
        rule_tensor=np.concatenate(tensors),
        lexicon_vector=np.concatenate(vectors),
        root_vector=np.concatenate(roots),
        mean_inside=np.concatenate(insides),
        mean_outside=np.concatenate(outsides),
        nonnegative=False,
    )
