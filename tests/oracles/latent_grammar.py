"""Small random L-PCFGs as models, and the probability of every tree of a sentence under them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.binarisation import Binarisation
from latentgram.data.rarewords import RareWords
from latentgram.lpcfg.model import LPCFG

INTERMINALS, PRETERMINALS, WORDS = ("AP", "NP", "S"), ("DT", "NN", "VB"), ("barks", "dog", "the")


def random_lpcfg(seed: int, states: int = 3, *, signed: bool = False, density: float = 0.3) -> LPCFG:
    """A grammar over a few symbols; probabilities that sum to one for every state, or any signed numbers."""
    random = np.random.default_rng(seed)
    symbols, inner = len(INTERMINALS) + len(PRETERMINALS), len(INTERMINALS)
    m = random.integers(1, states + 1, symbols).astype(np.int32)
    kept = random.random((inner, symbols, symbols)) < density
    kept[:, inner, inner + 1] = True
    rules = np.ascontiguousarray(np.argwhere(kept), np.int32)
    lexicon = np.array([(inner + tag, word) for word in range(3) for tag in range(3)], np.int32)

    def numbers(shape: tuple[int, ...]) -> NDArray[np.float64]:
        return random.normal(size=shape) if signed else random.random(shape)

    tensors = [numbers(tuple(m[rule])) for rule in rules]
    vectors = [numbers((m[tag],)) for tag, _ in lexicon]
    roots = [numbers((m[a],)) * (a in (1, 2)) for a in range(symbols)]
    if not signed:
        for symbol in range(symbols):
            parts = [t for t, rule in zip(tensors, rules, strict=True) if rule[0] == symbol]
            parts += [v for v, (tag, _) in zip(vectors, lexicon, strict=True) if tag == symbol]
            # Rules lead to words more often than not, so that trees are finite.
            total = np.stack([part.reshape(m[symbol], -1).sum(1) for part in parts]).sum(0)
            for part in parts:
                part /= total.reshape(-1, *[1] * (part.ndim - 1))
        whole = sum(float(root.sum()) for root in roots)
        roots = [root / whole for root in roots]
    size = int(m.sum())
    return LPCFG(
        Alphabet(INTERMINALS),
        Alphabet(PRETERMINALS),
        Alphabet(WORDS),
        states=m,
        rules=rules,
        rule_offset=np.cumsum([0, *(t.size for t in tensors)]),
        rule_tensor=np.concatenate([t.ravel() for t in tensors]),
        lexicon=lexicon,
        lexicon_offset=np.cumsum([0, *(v.size for v in vectors)]),
        lexicon_vector=np.concatenate(vectors),
        root_offset=np.cumsum([0, *m]),
        root_vector=np.concatenate(roots),
        mean_inside=np.ones(size),
        mean_outside=np.concatenate([np.full(k, 1.0 / k) for k in m]),
        rule_count=random.random(len(rules)) + 0.5,
        lexicon_count=random.random(len(lexicon)) + 0.5,
        root_count=np.array([0.0, 2, 3, 0, 0, 0]),
        rare_words=RareWords(known=Alphabet(WORDS)),
        binarisation=Binarisation(),
        nonnegative=not signed,
    )


Tree = tuple[tuple[int, int, int], ...]
"""(symbol, first word, end) of every node in preorder."""


def trees(
    grammar: LPCFG, words: list[str], symbol: int, first: int, end: int
) -> Iterator[tuple[NDArray[np.float64], Tree]]:
    """Every tree of a symbol over a span with its inside vector (Cohen et al. 2012 fig. 4)."""
    if end - first == 1:
        word = grammar.words.index(words[first])
        for row in np.flatnonzero((grammar.lexicon == (symbol, word)).all(1)):
            begin, stop = grammar.lexicon_offset[row : row + 2]
            yield grammar.lexicon_vector[begin:stop], ((symbol, first, end),)
    for number, (parent, left, right) in enumerate(grammar.rules.tolist()):
        if parent != symbol:
            continue
        begin, stop = grammar.rule_offset[number : number + 2]
        tensor = grammar.rule_tensor[begin:stop].reshape(grammar.states[[parent, left, right]])
        for middle in range(first + 1, end):
            for left_vector, left_tree in trees(grammar, words, left, first, middle):
                for right_vector, right_tree in trees(grammar, words, right, middle, end):
                    vector = np.einsum("ijk,j,k->i", tensor, left_vector, right_vector)
                    yield vector, ((symbol, first, end), *left_tree, *right_tree)


def tree_probabilities(grammar: LPCFG, words: list[str]) -> dict[Tree, float]:
    """p(tree) of every tree of a sentence."""
    found: dict[Tree, float] = {}
    for symbol in range(len(grammar.states)):
        root = grammar.root_vector[grammar.root_offset[symbol] : grammar.root_offset[symbol + 1]]
        if root.any():
            for vector, tree in trees(grammar, words, symbol, 0, len(words)):
                found[tree] = found.get(tree, 0.0) + float(root @ vector)
    return found


def item_posteriors(probabilities: dict[Tree, float]) -> dict[tuple[int, int, int], float]:
    """The posterior of every (symbol, first word, end)."""
    total = sum(probabilities.values())
    found: dict[tuple[int, int, int], float] = {}
    for tree, probability in probabilities.items():
        for item in tree:
            found[item] = found.get(item, 0.0) + probability / total
    return found
