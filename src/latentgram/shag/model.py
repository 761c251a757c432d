"""`SHAG`: a split head-automata grammar of operator automata over symbols (Luque et al. 2012, sections 2–3).

A tree is generated from the root down: `root` gives the distribution of the root word, and every head h generates
its left and its right modifiers, from the head outwards, with the automaton of (direction, h),

    P(x₁ … x_T | h, d) = stop[d,h]ᵀ A_{x_T} ⋯ A_{x_1} start[d,h],

A_x = pair_weight[d,h,x] · operators[pair[d,h,x]]: pairs of head and modifier that were not seen in training share
the operator Σ_x A_x of the automaton, with a small weight. DET and DET+F of the paper have one and two states; the
arrays of a grammar learned spectrally are in a rotated space and may contain negative numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import numpy as np

from latentgram.arrays import Floats, Ints32
from latentgram.data.alphabet import ABSENT
from latentgram.data.dependencies import DependencyTree
from latentgram.data.dependency_symbols import WordSymbols
from latentgram.data.invariants import ANY, FINITE, NONNEGATIVE, below, shape
from latentgram.data.provenance import Provenance
from latentgram.data.sentence import Sentence
from latentgram.errors import DataError, SettingError
from latentgram.sequences.automaton import OperatorAutomaton
from latentgram.sequences.statistics import SequenceCounts
from latentgram.shag.grammar import HeadGrammar
from latentgram.shag.kernels.inside_outside import LEFT, RIGHT, HeadWeights, gather
from latentgram.shag.relations import Relations

if TYPE_CHECKING:
    from latentgram.shag.statistics import Trees

__all__ = ["LEFT", "RIGHT", "SHAG"]

LANES = 4
"""Numbers that a processor multiplies at once."""


@dataclass(frozen=True, eq=False, repr=False)
class SHAG(HeadGrammar):
    """A split head-automata grammar.

    >>> import latentgram as lg
    >>> shag = lg.fit(lg.SHAG, lg.demo_dependencies(50, seed=1), by=lg.Counting(memory="first"))
    >>> shag.states, round(shag["NN", lg.LEFT].total(), 6)
    (2, 1.0)
    >>> shag.generate(seed=3).is_projective
    True
    """

    symbols: WordSymbols
    start: Annotated[Floats, shape(2, "len(symbols.alphabet)", "states"), FINITE]
    """[2, l, n] by direction and head symbol."""
    stop: Annotated[Floats, shape(2, "len(symbols.alphabet)", "states"), FINITE]
    """[2, l, n]"""
    operators: Annotated[Floats, shape(ANY, "states", "states"), FINITE]
    """[K, n, n]"""
    pair: Annotated[Ints32, shape(2, "len(symbols.alphabet)", "len(symbols.alphabet)"), below("len(operators)")]
    """[2, l, l] the operator of (direction, head, modifier)."""
    pair_weight: Annotated[Floats, shape(2, "len(symbols.alphabet)", "len(symbols.alphabet)"), FINITE]
    """[2, l, l] and what it is multiplied by."""
    root: Annotated[Floats, shape("len(symbols.alphabet)"), FINITE]
    """[l] probability of each symbol as the root of a sentence."""
    relations: Relations
    spectrum: Annotated[Floats, FINITE]
    """[2, l, n'] the singular values that the states were made from; n' = 0 for other learners."""
    nonnegative: bool = True
    """Whether every number is a probability (counting, EM, clustering) and not a coordinate (spectral)."""
    deterministic: bool = False
    """Whether a sequence has one path through the states, so that the best path is the best tree."""
    counts: SequenceCounts | None = None
    """The modifier sequences it was learned from, by source 2 · head + direction: more trees add to them."""
    root_count: Annotated[Floats | None, shape("len(symbols.alphabet)"), NONNEGATIVE] = None
    """[l] and how often each symbol was the root."""
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def states(self) -> int:
        """The number of hidden states of each automaton, at most."""
        return int(self.start.shape[2])

    @property
    def is_distribution(self) -> bool:
        """Whether the probabilities of all trees sum to at most one; in spectral grammars they may not."""
        return self.nonnegative

    def weights(self, sentence: Sentence) -> tuple[HeadWeights, float]:
        """The weights of a sentence's trees."""
        symbols = self.symbols.encode(sentence)
        start, stop, operators, frequency = self._prepared
        start, stop, step, arc, root, log_scale = gather(
            symbols, start, stop, self.pair, self.pair_weight, self.root, frequency
        )
        halt = np.ones((2, len(symbols), 2))
        memory = np.zeros(len(symbols), np.int64)
        return HeadWeights(start, stop, operators, step, arc, halt, memory, root), log_scale

    @cached_property
    def _prepared(self) -> tuple[Floats, ...]:
        """Start, stop and operators padded to whole vector registers, and the frequencies of symbols."""
        room = (0, -self.states % LANES if self.states > LANES else 0)
        start, stop = (np.pad(array, ((0, 0), (0, 0), room)) for array in (self.start, self.stop))
        return start, stop, np.pad(self.operators, ((0, 0), room, room)), self.symbols.frequency

    def __getitem__(self, key: tuple[str, int]) -> OperatorAutomaton:
        """The automaton of a head symbol (or of a tag of it) and a direction: `shag["NN", LEFT]`."""
        head, direction = self.symbols.find(key[0]), key[1]
        if direction not in (LEFT, RIGHT):
            raise SettingError(f"a direction is LEFT ({LEFT}) or RIGHT ({RIGHT}), got {direction!r}")
        step = self.operators[self.pair[direction, head]] * self.pair_weight[direction, head][:, None, None]
        used = self.states - _padding(self.start[direction, head], self.stop[direction, head], step)
        return OperatorAutomaton(
            self.symbols.alphabet,
            self.start[direction, head, :used],
            self.stop[direction, head, :used],
            np.ascontiguousarray(step[:, :used, :used]),
        )

    def sequences(self, trees: Trees, head: str, direction: int) -> list[list[str]]:
        """The modifiers of each occurrence of a head in trees, as symbols, nearest first.

        >>> import latentgram as lg
        >>> bank = lg.demo_dependencies(50, seed=1)
        >>> shag = lg.fit(lg.SHAG, bank, by=lg.Counting())
        >>> shag.sequences(bank[:1], "NN", lg.LEFT)
        [['DET|DT', 'ADP|IN'], ['DET|DT', 'ADP|IN'], ['ADJ|JJ', 'DET|DT'], ['DET|DT', 'ADP|IN']]
        """
        from latentgram.shag.statistics import sequences_of

        name = self.symbols.alphabet[self.symbols.find(head)]
        return sequences_of(trees, self.symbols).get((name, direction), [])

    def determinise(self, clusters: int = 10, trees: Trees | None = None) -> SHAG:
        """Every automaton as a small deterministic one (`shag/determinise.py`; Luque et al. 2012, section 5.3).

        With `trees` its states are clusters of the prefixes of their modifier sequences, as printed in the paper;
        else of the likeliest prefixes of the automaton itself.
        """
        from latentgram.shag.determinise import determinise

        return determinise(self, clusters, trees)

    def generate(self, seed: int | np.random.Generator = 0, longest: int = 200) -> DependencyTree:
        """Draw a tree with its sentence from the grammar; the words are their symbols.

        Trees of more than `longest` words are drawn again.
        """
        rng = np.random.default_rng(seed)
        root = _distribution(self.root)
        for _ in range(1000):
            drawn = self._draw(int(rng.choice(len(root), p=root)), rng, longest)
            if drawn is not None:
                return drawn
        raise DataError(f"the grammar hardly ever generates a sentence of at most {longest} words")

    def _draw(self, root: int, rng: np.random.Generator, longest: int) -> DependencyTree | None:
        symbols, heads, order = [root], [ABSENT], [0]
        for head, symbol in enumerate(symbols):
            left, right = (self._sequences[direction, symbol].draw(rng, longest) for direction in (LEFT, RIGHT))
            first, place = len(symbols), order.index(head)
            if first + len(left) + len(right) > longest:
                return None
            symbols += left + right
            heads += [head] * (len(left) + len(right))
            # All that will be below a word stands beside it: the nearest modifiers are made first.
            order[place + 1 : place + 1] = range(first + len(left), len(symbols))
            order[place:place] = reversed(range(first, first + len(left)))
        number = {node: position for position, node in enumerate(order, 1)}
        names = tuple(self.symbols.alphabet[symbols[node]] for node in order)
        tags = [name.rsplit("^", 1)[-1].split("|") for name in names]
        return DependencyTree(
            words=names,
            heads=tuple(number[heads[node]] if heads[node] != ABSENT else 0 for node in order),
            upos=tuple("_" if self.symbols.kind == "xpos" else parts[0] for parts in tags),
            xpos=tuple(parts[-1] if len(parts) > 1 or self.symbols.kind == "xpos" else "_" for parts in tags),
        )

    @cached_property
    def _sequences(self) -> dict[tuple[int, int], _Sampler]:
        return {
            (direction, head): _Sampler.of(self[self.symbols.alphabet[head], direction])
            for direction in (LEFT, RIGHT)
            for head in range(len(self.symbols.alphabet))
        }

    def summary(self) -> str:
        """One line about the size."""
        kind = "deterministic" if self.deterministic else "hidden"
        return (
            f"split head-automata grammar: {len(self.symbols.alphabet)} symbols ({self.symbols.kind}), "
            f"{self.states} {kind} states, {len(self.operators)} operators, {self.relations.summary()}"
        )


@dataclass(frozen=True)
class _Sampler:
    """Draws strings from an operator automaton: p(a | state) = βᵀA_a state / βᵀstate with β = stopᵀ(I − ΣA)⁻¹."""

    automaton: OperatorAutomaton
    ahead: Floats
    """[l+1, n] βᵀA_a for every symbol, and stop."""

    @classmethod
    def of(cls, automaton: OperatorAutomaton) -> _Sampler:
        every = np.eye(automaton.states) - automaton.step.sum(0)
        mass = np.linalg.solve(every.T, automaton.stop)
        return cls(automaton, np.vstack([mass @ automaton.step, automaton.stop]))

    def draw(self, rng: np.random.Generator, longest: int) -> list[int]:
        string: list[int] = []
        state = self.automaton.start
        while len(string) <= longest:
            shares = _distribution(self.ahead @ state)
            symbol = int(rng.choice(len(shares), p=shares))
            if symbol == len(shares) - 1:
                break
            string.append(symbol)
            state = self.automaton.step[symbol] @ state
            state = state / np.max(np.abs(state))
        return string


def _distribution(shares: Floats) -> Floats:
    """Negative shares, which only errors of estimation make, count as nothing."""
    positive = np.maximum(shares, 0.0)
    return np.asarray(positive / positive.sum())


def _padding(start: Floats, stop: Floats, step: Floats) -> int:
    """How many of the last states are not used at all."""
    used = (start != 0) | (stop != 0) | step.any((0, 1)) | step.any((0, 2))
    return int(np.argmax(used[::-1])) if used.any() else len(used) - 1
