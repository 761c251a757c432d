"""How much probability the trees of a head-automata grammar have together, by the number of their words.

With S(d, h, k, c) the weight of all that head h may have on side d in k words of the class c, σ what it remembers
of its last modifier and v the states of its automaton then, x a modifier whose arc has the length j,

    v(d, h, 0, none, first) = start[d,h],
    P(d, h, x, j, c) = unigram(x) f_{d,h,x}(j, c) A_{h,x} Σ_σ arc[d,h,x,σ] Q(d, h, x, j, c, σ),
    Q(d, h, x, j, c, σ) = Σ_{k+i=j−1} v(d, h, k, ·, σ) S(−d, x, i, ·),
    v(d, h, k, c, σ) = Σ_{x leaves σ} Σ_{j+o=k} P(d, h, x, j, ·) S(d, x, o, ·),
    S(d, h, k, c) = Σ_σ halt[d,h,σ] stop[d,h]ᵀ v(d, h, k, c, σ),

where the classes of parts, and of x in v, join to c (`·`): they are the numbers of verbs, punctuation marks and
coordinations as far as f, the factor of arc lengths (`ArcDistance`), tells them apart. Without such a factor there
is one class. The weight of all trees over n words is

    Σ_h root(h) unigram(h) Σ_{i+o=n−1} S(L, h, i) S(R, h, o).

Heads and modifiers are kinds of words, those that the grammar tells apart: its symbols, and for one that sees
words all their pairs. The weights are those of a sentence in which every kind stands twice, so that it is before
and after each other one. O(N² l² C² R n + N l² C n²) for trees of up to N words, l kinds, C classes, R memories
and n states.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from latentgram.arrays import Floats, Ints
from latentgram.data.dependency_symbols import FORM, MISSING, WordSymbols
from latentgram.data.sentence import Sentence
from latentgram.errors import SettingError
from latentgram.shag.categories import are_coarse, categories
from latentgram.shag.distance import ArcDistance
from latentgram.shag.grammar import HeadGrammar
from latentgram.shag.kernels import distance as arc_distance
from latentgram.shag.kernels.mass import Between, KindWeights, mass_by_words
from latentgram.shag.lexical import UNKNOWN, LexicalSHAG
from latentgram.shag.model import LEFT, RIGHT, SHAG
from latentgram.shag.product import MOST_NUMBERS, ProductSHAG

COUNTED = (arc_distance.VERB, arc_distance.PUNCTUATION, arc_distance.COORDINATION)
MOST_BETWEEN = (3, 3, 2)
"""How many numbers of verbs, punctuation marks and coordinations between two words are told apart."""
CLASSES = math.prod(MOST_BETWEEN)
MOST_ROUNDS = 2**9
"""How often the numbers of a sum may be gone through."""


def tree_mass(grammar: HeadGrammar, longest: int) -> Floats:
    """[longest] the weight of all trees with 1, 2, … words; of numbers that are probabilities at most 1 together.

    >>> import latentgram as lg
    >>> mass = tree_mass(lg.fit(lg.SHAG, lg.demo_dependencies(50, seed=0), by=lg.Counting()), 60)
    >>> bool(0.9 < mass.sum() <= 1 + 1e-9)
    True
    """
    words, factors = kinds_of_words(grammar), _factors(grammar)
    distances = [(factor, power) for factor, power in factors if isinstance(factor, ArcDistance)]
    classes = CLASSES if any(factor.between for factor, _ in distances) else 1
    numbers = longest * len(words) ** 2 * classes * _states(factors)
    if max(numbers, longest * numbers * classes // MOST_ROUNDS) > MOST_NUMBERS:
        raise SettingError(
            f"the cost of a sum over trees is quadratic in the number of different words ({len(words):,} here, "
            f"with {classes} classes of what may stand between two): use a grammar of fewer words"
        )
    rest = [(factor, power) for factor, power in factors if not isinstance(factor, ArcDistance)]
    if not rest:
        raise SettingError("distances alone are not a grammar: there are no trees to sum over")
    grammar = ProductSHAG(tuple(factor for factor, _ in rest), tuple(power for _, power in rest))
    weights = _weights(grammar, words)
    return np.asarray(mass_by_words(weights, _between(distances, words, longest, classes), longest))


def _weights(grammar: ProductSHAG, words: Sentence) -> KindWeights:
    """What words are worth by their kinds, apart from what is between them."""
    size = len(words)
    weights, _ = grammar.weights(_part(words, *[*range(size)] * 2))
    unigram = np.exp([grammar.weights(_part(words, kind))[1] for kind in range(size)])
    pairs = {LEFT: (slice(size, None), slice(size)), RIGHT: (slice(size), slice(size, None))}
    step = np.stack([weights.step[pairs[side]] for side in (LEFT, RIGHT)])
    arc = np.stack([weights.arc[pairs[side]] for side in (LEFT, RIGHT)])
    start, stop, halt = (np.ascontiguousarray(part[:, :size]) for part in (*weights[:2], weights.halt))
    return KindWeights(
        start, stop, weights.operators, step.astype(np.int64), arc, halt, weights.memory[:size],
        weights.root[:size], unigram,
    )  # fmt: skip


def _between(distances: list[tuple[ArcDistance, float]], words: Sentence, longest: int, classes: int) -> Between:
    """What is between words, by the length of their arc and the class of all between."""
    size, kinds = len(words), categories(words)
    buckets = len(arc_distance.EDGES) + 1
    factor = np.ones((2, size, size, buckets, classes))
    for distance, power in distances:
        symbols = distance.symbols.encode(words)
        table = distance.table[np.ix_(symbols, symbols)].transpose(2, 0, 1, 3) ** power
        features = np.arange(buckets * CLASSES).reshape(buckets, CLASSES)
        factor *= table[..., features[:, :classes] if distance.between else np.arange(buckets)[:, None]]
    if classes == 1:
        nothing = np.zeros((1, 1), np.int64)
        return Between(factor, _buckets(longest), np.zeros((1, size), np.int64), nothing)
    counts = [*product(*map(range, MOST_BETWEEN))]
    number = {count: place for place, count in enumerate(counts)}

    def joined(one: tuple[int, ...], other: tuple[int, ...]) -> int:
        return number[tuple(min(a + b, most - 1) for a, b, most in zip(one, other, MOST_BETWEEN, strict=True))]

    seen = [tuple(int(kind == counted) for counted in COUNTED) for kind in kinds.tolist()]
    after, both = (np.array([[joined(one, other) for other in each] for one in counts]) for each in (seen, counts))
    return Between(factor, _buckets(longest), after, both)


def _buckets(longest: int) -> Ints:
    return np.searchsorted(arc_distance.EDGES, np.arange(longest)).astype(np.int64)


def kinds_of_words(grammar: HeadGrammar) -> Sentence:
    """One word of each kind that a grammar tells apart."""
    tags: dict[tuple[str, str], None] = {}
    words = {UNKNOWN: None}
    seeing: list[WordSymbols | LexicalSHAG] = []
    for factor, _ in _factors(grammar):
        if not isinstance(factor, SHAG | LexicalSHAG | ArcDistance):
            raise SettingError(
                f"the weights of {type(factor).__name__} depend on the whole sentence, so they have no sum over "
                "all trees"
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
    if set(fine) == {MISSING} and not are_coarse(coarse):
        every = Sentence(forms, coarse)
    elif set(coarse) == {MISSING}:
        every = Sentence(forms, fine)
    seen = [each.encode(every) if isinstance(each, WordSymbols) else each.encode_words(every) for each in seeing]
    _, first = np.unique(np.stack(seen, 1), axis=0, return_index=True)
    return _part(every, *np.sort(first).tolist())


def _factors(grammar: HeadGrammar) -> list[tuple[HeadGrammar, float]]:
    """The factors of a product with their powers."""
    if not isinstance(grammar, ProductSHAG):
        return [(grammar, 1.0)]
    return [*zip(grammar.factors, grammar.powers, strict=True)]


def _states(factors: list[tuple[HeadGrammar, float]]) -> int:
    """Hidden states times what is remembered, about."""
    return int(np.prod([factor.states for factor, _ in factors if isinstance(factor, SHAG | LexicalSHAG)]))


def _tags(symbol: str, kind: str) -> tuple[str, str]:
    """The UPOS and the XPOS of a symbol, "_" for one that it does not have."""
    tags = symbol.rsplit(FORM, 1)[-1].split("|")
    if kind == "xpos":
        return MISSING, tags[-1]
    return tags[0], tags[-1] if len(tags) > 1 else MISSING


def _part(words: Sentence, *places: int) -> Sentence:
    """These words of a sentence with their tags."""
    forms, fine, coarse = (
        tuple(part[place] for place in places) if part else None for part in (words.words, words.xpos, words.upos)
    )
    return Sentence(forms or (), fine, coarse)
