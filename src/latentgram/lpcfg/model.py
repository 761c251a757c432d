"""`LPCFG`: a latent-variable PCFG in tensor form (Cohen et al. 2012, §4–5), and `Ensemble`: several of them.

A plain PCFG is an `LPCFG` with a single state per symbol. It is a grammar over binarised trees: interminals a
(numbered 0 … I-1) rewrite to pairs of symbols, preterminals (numbered I … I+P-1) to words. Symbol s has
`states[s]` hidden states. With t(a→b c) an m_a × m_b × m_c tensor, q(a→x) and π(a) vectors of m_a numbers,

    p(tree) = π(root)ᵀ v(root),   v(a→b c) = t(a→b c)(·, v(b), v(c)),   v(a→x) = q(a→x).

The vectors of a spectral grammar are in a rotated space and may be negative; only complete contractions have a
meaning. All arrays are flat and sorted, so that equal grammars have equal arrays.

Grammars learned from the same trees with other numbers of states, other features, another learner or another
seed make different mistakes. They share symbols, rules and lexicon, so they can use the same chart; a parser
combines the marginals of edges by their geometric mean,

    μ(e) = ∏_g |μ_g(e)|^(1/G),

and decodes once.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentgram.arrays import Floats, Integers, Ints, Ints32, Reals
from latentgram.data.alphabet import Alphabet
from latentgram.data.binarisation import Binarisation, Symbol
from latentgram.data.invariants import ANY, COUNTS, FINITE, below, holds, offsets, rising, shape, within
from latentgram.data.provenance import Provenance, Summarised
from latentgram.data.rarewords import RareWords, tag_symbol
from latentgram.data.rounding import RoundedLogs, Rows
from latentgram.errors import SettingError

MOST_NUMBERS = 2**31
"""Of tensors that are made from products."""
PHRASES = "all(rules[:, 0] < len(interminals))"
ENTRIES = "all((lexicon >= (len(interminals), 0)) & (lexicon < (len(states), len(words))))"


def layout(sizes: Integers) -> Ints:
    """Where each of some consecutive pieces begins: [pieces + 1].

    >>> layout(np.array([2, 0, 3]))
    array([0, 2, 2, 5])
    """
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes.astype(np.int64))))


def _rule_rows(grammar: LPCFG) -> Rows:
    """Σ over rules of a parent, and over the states of its children, of t(h, ·, ·): one for each state h of it."""
    parent, left, right = grammar.states.astype(np.int64)[np.ascontiguousarray(grammar.rules.T)]
    return Rows(parent, left * right, layout(grammar.states)[grammar.rules[:, 0]])


def _lexicon_rows(grammar: LPCFG) -> Rows:
    """Σ over words of q(h): one for each state h of a preterminal."""
    symbol = grammar.lexicon[:, 0]
    size = grammar.states[symbol].astype(np.int64)
    return Rows(np.ones_like(size), size, layout(grammar.states)[symbol], along_rows=True)


def sum_of_products(grammar: LPCFG) -> Floats | None:
    """The tensors that the products of the rules sum to, end to end: Σ_l U(l,i) V(l,j) W(l,k); None where there
    are no products."""
    if not grammar.rule_rank.size:
        return None
    sizes, rank = grammar.states[grammar.rules].astype(np.int64), grammar.rule_rank.astype(np.int64)
    begin = layout(np.column_stack((rank, rank, rank)).ravel() * sizes.ravel())
    if len(sizes) != len(rank) or begin[-1] != len(grammar.rule_factor) or sizes.prod(1).sum() > MOST_NUMBERS:
        raise ValueError("the number of products of the rules does not match their ranks, or is too large")
    part = [
        each.reshape(-1, size)
        for each, size in zip(np.split(grammar.rule_factor, begin[1:-1]), sizes.flat, strict=True)
    ]
    sums = (np.einsum("li,lj,lk->ijk", *part[first : first + 3]).ravel() for first in range(0, len(part), 3))
    return np.concatenate(list(sums))


@dataclass(frozen=True, repr=False)
class LPCFG(Summarised):
    """A latent-variable PCFG.

    >>> import latentgram as lg
    >>> grammar = lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting())
    >>> int(grammar.states.max()), grammar.nonnegative, "NP" in grammar.interminals
    (1, True, True)
    """

    interminals: Alphabet
    preterminals: Alphabet
    words: Alphabet
    states: Annotated[Ints32, shape("len(interminals) + len(preterminals)"), within(1, 2**16)]
    """[I+P] hidden states of each symbol."""
    rules: Annotated[
        Ints32, shape(ANY, 3), below("len(states)"), rising(0, 1, 2), holds(PHRASES, "rewrites a tag")
    ]
    """[R, 3] parent, left child, right child; sorted."""
    rule_offset: Annotated[Ints, offsets("rule_tensor", "states[rules].prod(1, dtype=int)")]
    """[R+1] where the tensor of each rule begins in `rule_tensor` (C order, m_a × m_b × m_c)."""
    rule_tensor: Annotated[
        Reals, shape(ANY), FINITE, RoundedLogs(0.05, _rule_rows, single=True, made=sum_of_products)
    ]
    """In double precision as learned, in single precision as read from a compact file, unless they are sums of
    products."""
    lexicon: Annotated[Ints32, shape(ANY, 2), holds(ENTRIES, "has an entry without tag or word"), rising(1, 0)]
    """[L, 2] preterminal symbol, word; sorted by (word, symbol)."""
    lexicon_offset: Annotated[Ints, offsets("lexicon_vector", "states[lexicon[:, 0]]")]
    """[L+1] where the vector of each entry begins in `lexicon_vector`."""
    lexicon_vector: Annotated[Floats, shape(ANY), FINITE, RoundedLogs(0.02, _lexicon_rows)]
    root_offset: Annotated[Ints, offsets("root_vector", "states")]
    """[I+P+1] where the root vector of each symbol begins in `root_vector`."""
    root_vector: Annotated[Floats, shape(ANY), FINITE]
    mean_inside: Annotated[Floats, shape("len(root_vector)"), FINITE]
    """[Σ states] laid out as `root_vector`: the inside vector averaged over all trees below a symbol. A vector of
    ones where all numbers are probabilities; the mean of Z (Cohen et al. 2013, §3.2: H) where they are
    coordinates."""
    mean_outside: Annotated[Floats, shape("len(root_vector)"), FINITE]
    """[Σ states] the outside vector averaged over all nodes of a symbol: the distribution of its states where all
    numbers are probabilities; the mean of Y (Cohen et al. 2013, §3.2: F) where they are coordinates."""
    rule_count: Annotated[Floats, shape("len(rules)"), COUNTS]
    """[R] how often each rule was counted in the treebank; with the next two, the grammar's one-state projection,
    by which parsers prune and from which unseen rules are smoothed."""
    lexicon_count: Annotated[Floats, shape("len(lexicon)"), COUNTS]
    """[L] how often each word was counted below each preterminal."""
    root_count: Annotated[Floats, shape("len(states)"), COUNTS]
    """[I+P] how often each symbol was counted at the root."""
    rare_words: RareWords
    binarisation: Binarisation
    nonnegative: bool = True
    """Whether every number is a probability (counting, EM, clustering) and not a coordinate (spectral)."""
    pull: float = 100.0
    """Of a plain PCFG: the weight, in observations, that the words of a tag have in q of each of the tag's
    preterminals (projection.py). Grammars with hidden states have their lexicon smoothed in its vectors."""
    unseen: Annotated[
        Floats, shape(ANY), within(0, 1), holds("len(unseen) in (0, len(states))", "is not for each symbol")
    ] = field(default_factory=lambda: np.zeros(0))
    """[I+P] what each symbol keeps for what was never seen under it, rules or words (projection.py); the rules
    seen are discounted by it. Empty in files of earlier versions, whose unseen rules and words come on top of it
    all: these are not distributions."""
    rule_rank: Annotated[
        Ints32,
        shape(ANY),
        within(0, 2**16),
        holds("len(rule_rank) in (0, len(rules))", "is not for each rule"),
    ] = field(default_factory=lambda: np.zeros(0, np.int32))
    """[R] how many products the tensor of each rule is the sum of (low_rank.py); empty where tensors are whole."""
    rule_factor: Annotated[
        Floats,
        shape(ANY),
        FINITE,
        holds("len(rule_factor) == factor_offset[-1]", "does not fit the products of the rules"),
    ] = field(default_factory=lambda: np.zeros(0))
    """The products: U [r, m_a], V [r, m_b] and W [r, m_c] of each rule, one after the other."""
    closing_weight: Annotated[
        NDArray[np.int8],
        shape(ANY),
        holds("len(closing_weight) in (0, 2**18)", "is not of the size of its hashes"),
    ] = field(default_factory=lambda: np.zeros(0, np.int8))
    """What says which cells of a chart may stay closed (closing.py); empty where none may."""
    closing_least: float = 0.0
    """The least score of a cell that is open, in units of these weights."""
    spectra: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """The singular values that learning found for each symbol, the largest first: of Ω = E[φ ψᵀ] for a spectral
    grammar, or for the views that were clustered; empty where nothing was decomposed."""
    provenance: Provenance = field(default_factory=Provenance)

    def summary(self) -> str:
        """One line on its size."""
        most = int(self.states.max(initial=0))
        return (
            f"LPCFG with {len(self.interminals)} phrase and {len(self.preterminals)} tag symbols, "
            f"{len(self.rules):,} rules, {len(self.lexicon):,} lexical entries, "
            f"{'1 state' if most == 1 else f'up to {most} states'} per symbol"
        )

    @property
    def closes(self) -> bool:
        """Whether it has a classifier that closes cells of the chart."""
        return len(self.closing_weight) > 0

    @cached_property
    def plain(self) -> bool:
        """Whether it is a plain PCFG: one state per symbol, and all numbers are probabilities.

        A spectral grammar with one state per symbol is not plain: its numbers are coordinates, which have a
        meaning only in complete contractions.
        """
        return bool(self.nonnegative and self.states.max() == 1 and (self.mean_inside == 1.0).all())

    @property
    def is_distribution(self) -> bool:
        """Whether the probabilities of all trees sum to at most one. For spectral grammars this holds only
        approximately (see `tree_mass`), and for grammars from files without `unseen` it does not hold."""
        return self.nonnegative and self.unseen.size > 0

    @property
    def double_tensor(self) -> Floats:
        """`rule_tensor` in double precision, converted if necessary."""
        return self.rule_tensor.astype(np.float64, copy=False)

    @property
    def factor_offset(self) -> Ints:
        """[R+1] where the products of each rule begin, if rules are sums of products."""
        return layout(self.rule_rank.astype(np.int64) * self.states[self.rules].sum(1)[: len(self.rule_rank)])

    @property
    def whole(self) -> LPCFG:
        """The same grammar without the products of its rules; use it as the basis for changed tensors."""
        return dataclasses.replace(self, rule_rank=np.zeros(0, np.int32), rule_factor=np.zeros(0))

    @cached_property
    def symbol_count(self) -> Floats:
        """[I+P] the count of each symbol."""
        over_words = np.bincount(self.lexicon[:, 0], self.lexicon_count, len(self.states))
        over_phrases = np.bincount(self.rules[:, 0], self.rule_count, len(self.states))
        return np.asarray(over_words + over_phrases, np.float64)

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """[I+P] what the names of the symbols say."""
        return tuple(map(Symbol.read, (*self.interminals, *self.preterminals)))

    @cached_property
    def tags(self) -> Alphabet:
        """The tags at the ends of preterminals."""
        return Alphabet.of(symbol.chain[-1] for symbol in self.symbols[len(self.interminals) :])

    @cached_property
    def preterminal_tag(self) -> Ints32:
        """[P] the tag at the end of each preterminal."""
        return self.tags.encode(symbol.chain[-1] for symbol in self.symbols[len(self.interminals) :])

    @cached_property
    def tag_count(self) -> Floats:
        """[P] the count of the tag of each preterminal, whatever is above it."""
        counts = np.bincount(self.preterminal_tag, self.symbol_count[len(self.interminals) :])
        return np.asarray(counts[self.preterminal_tag], np.float64)

    @cached_property
    def tag_word(self) -> Ints32:
        """[P] the word that stands for all never seen with the tag of a preterminal, or ABSENT."""
        return self.words.encode(map(tag_symbol, self.tags))[self.preterminal_tag]

    @cached_property
    def lexicon_places(self) -> Ints:
        """The position of each number of `lexicon_vector` in an array with the layout of `root_vector`."""
        sizes = np.diff(self.lexicon_offset)
        within = np.arange(self.lexicon_offset[-1]) - np.repeat(self.lexicon_offset[:-1], sizes)
        return np.asarray(np.repeat(self.root_offset[self.lexicon[:, 0]], sizes) + within, np.int64)

    def symbol_name(self, symbol: int) -> str:
        """The label of a symbol."""
        inner = len(self.interminals)
        return self.interminals[symbol] if symbol < inner else self.preterminals[symbol - inner]

    def of_symbol(self, values: Floats, symbol: int) -> Floats:
        """The slice of a symbol in an array with the layout of `root_vector`."""
        return values[self.root_offset[symbol] : self.root_offset[symbol + 1]]

    def tensor(self, rule: int) -> Floats:
        """The tensor t of a rule: [states of the parent, of the left child, of the right child]."""
        flat = self.rule_tensor[self.rule_offset[rule] : self.rule_offset[rule + 1]]
        return flat.astype(np.float64, copy=False).reshape(self.states[self.rules[rule]])

    def vector(self, entry: int) -> Floats:
        """The vector q of a lexical entry."""
        return self.lexicon_vector[self.lexicon_offset[entry] : self.lexicon_offset[entry + 1]]


def rule_layout(rules: Ints32, states: Integers) -> Ints:
    """Where the tensor of each rule begins: [R+1]."""
    return layout(np.prod(states[rules].astype(np.int64), axis=1))


class Layout(NamedTuple):
    """Where the numbers of each rule, each lexical entry and each symbol begin in flat arrays."""

    rules: Ints
    lexicon: Ints
    symbols: Ints

    @classmethod
    def of(cls, rules: Ints32, lexicon: Ints32, states: Ints32) -> Layout:
        """That of a grammar with so many states for each symbol."""
        return cls(rule_layout(rules, states), layout(states[lexicon[:, 0]]), layout(states))


_SHARED = ("interminals", "preterminals", "words", "rare_words", "binarisation")
_SHARED_ARRAYS = ("rules", "lexicon")


@dataclass(frozen=True, repr=False)
class Ensemble(Summarised):
    """L-PCFGs with the same symbols, rules, lexicon and treatment of rare words.

    p(sentence) is the mean of theirs. p(tree | sentence) chooses each rule of a tree by the geometric mean of
    their probabilities for it, and is normalised over the trees of the sentence (parse/cascade.py).

    >>> Ensemble(())
    Traceback (most recent call last):
    latentgram.errors.SettingError: an ensemble needs at least one grammar
    """

    grammars: tuple[LPCFG, ...]
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        if not self.grammars:
            raise SettingError("an ensemble needs at least one grammar")
        first = self.grammars[0]
        for number, other in enumerate(self.grammars[1:], 2):
            differing = [name for name in _SHARED if getattr(first, name) != getattr(other, name)]
            differing += [
                name for name in _SHARED_ARRAYS if not np.array_equal(getattr(first, name), getattr(other, name))
            ]
            if differing:
                raise SettingError(
                    f"grammar {number} of the ensemble has other {' and '.join(differing)} than the first;"
                    " learn all of them from the same trees, binarised alike, with the same rare words"
                )

    @property
    def is_distribution(self) -> bool:
        """Whether the probabilities of all trees sum to at most one, as means of such do."""
        return all(grammar.is_distribution for grammar in self.grammars)

    def summary(self) -> str:
        """The members of the ensemble in one line: learners, each with the maximum number of states per symbol."""
        members = (f"{g.provenance.learner or 'unknown'} {int(g.states.max())}" for g in self.grammars)
        return f"ensemble of {len(self.grammars)} grammars ({', '.join(members)})"


def mixed(logs: ArrayLike, signs: ArrayLike) -> tuple[Floats, Floats]:
    """What several grammars say together, p = (1/G) Σ_g p_g, of words or of trees: log |p| and the sign of p.

    They come from those of the grammars along the first axis, and are −∞ and 0 for nothing. The numbers of
    spectral grammars are signed, and so is their mixture.

    >>> log, sign = mixed(np.log([[0.25, 0.5], [0.75, 0.1]]), [[1, 1], [1, -1]])
    >>> np.exp(log).round(6).tolist(), sign.tolist()
    ([0.5, 0.2], [1.0, 1.0])
    """
    each = np.asarray(logs, np.float64)
    if len(each) == 1:
        return each[0], np.asarray(signs, np.float64)[0]
    most = each.max(axis=0)
    shift = np.where(np.isneginf(most), 0.0, most)
    mean = np.mean(np.asarray(signs) * np.exp(each - shift), axis=0)
    with np.errstate(divide="ignore"):
        return shift + np.log(np.abs(mean)), np.sign(mean)
