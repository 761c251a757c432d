"""How much probability the trees of a head-automata grammar have together, by the number of their words.

With S(d, h, k) the weight of all that head h may have on side d in k words, σ what it remembers of its last
modifier and v the states of its automaton then,

    M(x, j) = unigram(x) Σ_{i+o=j−1} S(L, x, i) S(R, x, o),
    S(d, h, k) = Σ_σ halt[d,h,σ] stop[d,h]ᵀ v(d, h, k, σ),
    v(d, h, 0, first) = start[d,h],
    v(d, h, k, σ') = Σ_{0<j≤k} Σ_{x leaves σ'} M(x, j) A_{h,x} Σ_σ arc[d,h,x,σ] v(d, h, k−j, σ),

Σ_h root(h) M(h, n) is the weight of all trees over n words. Heads and modifiers are kinds of words, those that the
grammar tells apart: its symbols, and for one that sees words all their pairs. The weights are those of a sentence
in which every kind stands twice, so that it is before and after each other one. O(N l² m² + N² l m²) for trees of
up to N words, l kinds and m states.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from latentgram.data.dependency_symbols import FORM, MISSING, WordSymbols
from latentgram.data.sentence import Sentence
from latentgram.errors import SettingError
from latentgram.shag.grammar import HeadGrammar
from latentgram.shag.lexical import UNKNOWN, LexicalSHAG
from latentgram.shag.model import LEFT, RIGHT, SHAG
from latentgram.shag.product import MOST_NUMBERS, ProductSHAG

Floats = NDArray[np.float64]


def tree_mass(grammar: HeadGrammar, longest: int) -> Floats:
    """[longest] the weight of all trees with 1, 2, … words; of numbers that are probabilities at most 1 together.

    >>> import latentgram as lg
    >>> mass = tree_mass(lg.fit(lg.SHAG, lg.demo_dependencies(50, seed=0), by=lg.Counting()), 60)
    >>> bool(0.9 < mass.sum() <= 1 + 1e-9)
    True
    """
    words = kinds_of_words(grammar)
    size, states = len(words), _states(grammar)
    if size**2 * states**2 > MOST_NUMBERS:
        raise SettingError(
            f"sums over trees take the square of the kinds of words, which are {size:,} here: count fewer words"
        )
    weights, _ = grammar.weights(_twice(words))
    unigram = np.exp([grammar.weights(_part(words, kind))[1] for kind in range(size)])
    pairs = {LEFT: (slice(size, None), slice(size)), RIGHT: (slice(size), slice(size, None))}
    arc = np.stack([weights.arc[pairs[side]] for side in (LEFT, RIGHT)])
    operators = np.stack([weights.operators[weights.step[pairs[side]]] for side in (LEFT, RIGHT)])
    start, stop, halt = (part[:, :size] for part in (weights.start, weights.stop, weights.halt))
    memory, classes = weights.memory[:size], weights.arc.shape[2]

    mass, side = np.zeros((longest + 1, size)), np.zeros((longest, 2, size))
    state = np.zeros((longest, 2, size, classes, start.shape[2]))
    moves = np.zeros((longest, 2, size, classes, start.shape[2], classes, start.shape[2]))
    state[0, :, :, 0] = start
    for count in range(1, longest + 1):
        side[count - 1] = np.einsum("dhs,dhq,dhsq->dh", halt, stop, state[count - 1])
        for left in range(count):
            mass[count] += unigram * side[left, LEFT] * side[count - 1 - left, RIGHT]
        if count < longest:
            for left_behind in range(classes - 1):
                held = memory == left_behind
                moves[count, :, :, 1 + left_behind] = np.einsum(
                    "x,dhxs,dhxab->dhasb", mass[count, held], arc[:, :, held], operators[:, :, held], optimize=True
                )
            earlier = state[count - 1 :: -1][:count]
            state[count] = np.einsum("jdhtasb,jdhsb->dhta", moves[1 : count + 1], earlier, optimize=True)
    return np.asarray(mass[1:] @ weights.root[:size])


def kinds_of_words(grammar: HeadGrammar) -> Sentence:
    """One word of each kind that a grammar tells apart."""
    tags: dict[tuple[str, str], None] = {}
    words = {UNKNOWN: None}
    seeing: list[WordSymbols | LexicalSHAG] = []
    for factor in _factors(grammar):
        if not isinstance(factor, SHAG | LexicalSHAG):
            raise SettingError(
                f"the weights of {type(factor).__name__} depend on all of a sentence: trees of words that are not "
                "in one have no sum"
            )
        tags |= dict.fromkeys(_tags(name, factor.symbols.kind) for name in factor.symbols.alphabet)
        seeing.append(factor.symbols)
        words |= dict.fromkeys(factor.symbols.frequent)
        if factor.symbols.clusters is not None:
            words |= dict.fromkeys(factor.symbols.clusters.words)
        if isinstance(factor, LexicalSHAG):
            seeing.append(factor)
            words |= dict.fromkeys(factor.vocabulary)
    forms, both = zip(*product(words, tags), strict=True)
    coarse, fine = zip(*both, strict=True)
    every = Sentence(forms, fine, coarse)
    seen = [each.encode(every) if isinstance(each, WordSymbols) else each.encode_words(every) for each in seeing]
    _, first = np.unique(np.stack(seen, 1), axis=0, return_index=True)
    return _part(every, *np.sort(first).tolist())


def _factors(grammar: HeadGrammar) -> tuple[HeadGrammar, ...]:
    return grammar.factors if isinstance(grammar, ProductSHAG) else (grammar,)


def _states(grammar: HeadGrammar) -> int:
    """Hidden states times what is remembered, about."""
    return int(np.prod([factor.states for factor in _factors(grammar) if isinstance(factor, SHAG | LexicalSHAG)]))


def _tags(symbol: str, kind: str) -> tuple[str, str]:
    """The UPOS and the XPOS of a symbol, "_" for one that it does not have."""
    tags = symbol.rsplit(FORM, 1)[-1].split("|")
    if kind == "xpos":
        return MISSING, tags[-1]
    return tags[0], tags[-1] if len(tags) > 1 else MISSING


def _twice(words: Sentence) -> Sentence:
    places = [*range(len(words))] * 2
    return _part(words, *places)


def _part(words: Sentence, *places: int) -> Sentence:
    parts = words.words, words.xpos or (), words.upos or ()
    forms, fine, coarse = (tuple(part[place] for place in places) for part in parts)
    return Sentence(forms, fine, coarse)
