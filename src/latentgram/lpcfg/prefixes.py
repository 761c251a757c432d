"""What prefix probabilities need of a grammar: left corners, with what is still to come summed out.

Symbol a in state h begins with symbol b in state l, whatever comes after b, as often as

    C[ah, bl] = Σ_c Σ_r t(a→b c)[h, l, r] z(c)[r],    z(c) = 1,

and Q = Σₙ Cⁿ = (1 − C)⁻¹ sums left recursion of any depth (kernels/prefix.py says what for). The numbers of a
spectral grammar are coordinates: z(c), the sum of the inside vectors of all there is below c, is `mean_inside`
there, which it has learned. Rules never seen are w(a,b,c) · H(a) ⊗ F(b) ⊗ F(c) with H = `mean_inside`,
F = `mean_outside` and w = left · right (projection.py); what they add to C has rank I.

**Entropy.** P(θ) = Σ p(D)^θ over the derivations D that begin with some words, with their hidden states, has the
entropy of D given these words in its slope at θ = 1:

    H = log P − P′/P,      P′ = Σ p(D) log p(D).

So every number w carries its slope w log w, as w + iη w log w with η so small that η² is nothing beside 1: sums
and products of such numbers have the slopes of sums and products. What is still to come below c has the slope s(c)
= Σ p log p over all that c can become, a linear system,

    s(a) = Σ t log t + Σ_{a→b c} t (s(b) + s(c)),

which has a solution if trees are finite on average. Where they are not, and for signed numbers, there is no
entropy.

Cost: (Σ states of interminals)³, once per grammar.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Floats, Floats32, Ints32
from latentgram.lpcfg.kernels.latent_inside import Latent, Ways
from latentgram.lpcfg.kernels.prefix import Numbers, OneState
from latentgram.lpcfg.model import LPCFG, layout
from latentgram.lpcfg.projection import Projection

SLOPE = 1e-60
"""η."""


def with_slopes(numbers: Numbers) -> NDArray[np.complex128]:
    """w + iη w log w.

    >>> with_slopes(np.array([1.0, 0.0])).tolist()
    [(1+0j), 0j]
    """
    logs = np.log(numbers, out=np.zeros_like(numbers), where=numbers > 0.0)
    return np.asarray(numbers + 1j * SLOPE * numbers * logs, np.complex128)


Made = TypeVar("Made", OneState, Latent)


class _Rules(NamedTuple):
    """The rules of a grammar of one state or more per symbol, seen and unseen, with slopes or without."""

    states: Ints32
    triples: Ints32
    tensor: Numbers
    mean_inside: Numbers
    mean_outside: Numbers
    left: Numbers
    """[S, I], or [0, I]."""
    right: Numbers

    def corners(self, beside: Numbers, right: bool = False) -> Numbers:
        """[Σ states of interminals, Σ states] C, or with `right` the same of right children, where what stands
        beside the child has the given sums."""
        begin, interminals = layout(self.states), self.left.shape[1]
        step = np.zeros((begin[interminals], begin[-1]), np.result_type(self.tensor, beside))
        where = layout(np.prod(self.states[self.triples].astype(np.int64), axis=1))
        for number, (a, b, c) in enumerate(self.triples.tolist()):
            tensor = self.tensor[where[number] : where[number + 1]].reshape(self.states[[a, b, c]])
            child, sum_of = (c, b) if right else (b, c)
            sums = beside[begin[sum_of] : begin[sum_of + 1]]
            part = np.einsum("hlr,l->hr", tensor, sums) if right else tensor @ sums
            step[begin[a] : begin[a + 1], begin[child] : begin[child + 1]] += part
        if self.left.shape[0]:
            parent, first, second = self.triples.T
            mine, other = (self.right, self.left) if right else (self.left, self.right)
            child, sibling = (second, first) if right else (first, second)
            total = np.add.reduceat(self.mean_outside * beside, begin[:-1])
            seen = np.zeros((interminals, len(self.states)), step.dtype)
            np.add.at(seen, (parent, child), other[sibling, parent] * total[sibling])
            weight = mine.T * ((other * total[:, None]).sum(0)[:, None] - seen)
            symbol = np.repeat(np.arange(len(self.states)), self.states)
            inner = begin[interminals]
            step += self.mean_inside[:inner, None] * weight[symbol[:inner]][:, symbol] * self.mean_outside
        return step


def _closed(step: Numbers) -> Numbers:
    """[I, S] Q from C."""
    size = len(step)
    inner: Numbers = np.linalg.inv(np.eye(size) - step[:, :size].real)
    if np.iscomplexobj(step):
        inner = inner + 1j * (inner @ step[:, :size].imag @ inner)
    return np.ascontiguousarray(np.hstack((inner, inner @ step[:, size:])))


def _slopes_below(rules: _Rules, words: Floats) -> Floats | None:
    """[Σ states] s, from that of tags; None where trees are not finite on average."""
    ones = np.ones(int(rules.states.sum()))
    step = rules.corners(ones)
    size = len(step)
    children = step.real + rules.corners(ones, right=True).real
    system = np.eye(size) - children[:, :size]
    local = (step @ ones).imag / SLOPE + children[:, size:] @ words
    inner, depth = np.linalg.solve(system, np.stack((local, np.ones(size)), axis=1)).T
    # Numbers of nodes below a symbol: they are at least one just if the sums of all generations are finite.
    if not (np.isfinite(inner).all() and (depth >= 1.0).all()):
        return None
    return np.concatenate((inner, words))


def _entropy(root: Numbers, below: Numbers) -> float:
    """H = log P − P′/P of all trees."""
    total = complex(root @ below)
    return math.log(total.real) - total.imag / total.real / SLOPE


@dataclass(frozen=True)
class LeftCorners:
    """The numbers that prefixes are computed with, of a grammar and of its one-state projection."""

    projection: Projection

    @property
    def grammar(self) -> LPCFG:
        """Whose prefixes are asked for."""
        return self.projection.grammar

    @cached_property
    def ways(self) -> Ways:
        """Where sums over places stand."""
        index, states = self.projection.index, self.grammar.states.astype(np.int64)
        parent, left, right = self.grammar.rules[index.rule].T
        first = left[index.pair_begin[:-1]]
        return Ways(
            first,
            layout(states[first] * states[index.right]),
            layout(states[parent] * states[left]),
            right.copy(),
            self.projection.rule[index.rule],
            self._toward(index.rule),
        )

    def _toward(self, rules: Ints32) -> Floats32:
        """Σ_r T[h,l,r] of rules, one after the other."""
        if not len(rules):
            return np.zeros(0, np.float32)
        size = self.grammar.states[self.grammar.rules[rules, 2]].astype(np.int64)
        offset = self.grammar.rule_offset.astype(np.int64)
        rows = (offset[rules + 1] - offset[rules]) // size
        # Row k of a rule, T[h,l,:], begins at k times its size; sums run from each begin to the end beside it.
        k = np.arange(rows.sum()) - np.repeat(layout(rows)[:-1], rows)
        begin = np.repeat(offset[rules], rows) + k * np.repeat(size, rows)
        both = np.column_stack((begin, begin + np.repeat(size, rows))).ravel()
        tensor = np.append(self.grammar.double_tensor, 0.0)
        return np.add.reduceat(tensor, both)[::2].astype(np.float32)

    @cached_property
    def _factors(self) -> tuple[Floats, Floats]:
        """Those of unseen rules."""
        unseen = self.projection.index.unseen
        none = np.zeros((0, len(self.grammar.interminals)))
        return (unseen.weight * unseen.left, unseen.right) if self.projection.unseen else (none, none)

    @cached_property
    def _plain_rules(self) -> _Rules:
        ones = np.ones(len(self.grammar.states))
        return _Rules(
            np.ones_like(self.grammar.states), self.grammar.rules, self.projection.rule, ones, ones, *self._factors
        )

    @cached_property
    def _latent_rules(self) -> _Rules:
        g = self.grammar
        return _Rules(g.states, g.rules, g.double_tensor, g.mean_inside, g.mean_outside, *self._factors)

    @cached_property
    def plain(self) -> OneState:
        """The projection."""
        return self._one_state(self._plain_rules, np.ones(len(self.grammar.states)))

    @cached_property
    def plain_slopes(self) -> tuple[OneState, float] | None:
        """The same with slopes, and the entropy before the first word; None where there is none."""
        return self._sloping(self._one_state, self._plain_rules, self._word_slopes)

    @cached_property
    def latent(self) -> Latent:
        """The grammar with its hidden states."""
        return self._latent(self._latent_rules, self.grammar.mean_inside)

    @cached_property
    def latent_slopes(self) -> tuple[Latent, float] | None:
        """The same with slopes, and the entropy before the first word; None where there is none."""
        if not self.grammar.nonnegative:
            return None
        slopes = with_slopes(self.grammar.lexicon_vector).imag / SLOPE
        total = np.zeros(int(self.grammar.root_offset[-1]))
        np.add.at(total, self.grammar.lexicon_places, slopes)
        kept = self.grammar.root_offset[len(self.grammar.interminals)]
        return self._sloping(self._latent, self._latent_rules, total[kept:])

    @property
    def _word_slopes(self) -> Floats:
        """[P] Σ q log q over the words of each preterminal, those never seen with it being one."""
        leaves = self.projection.leaves
        inner = len(self.grammar.interminals)
        total = np.zeros(len(self.grammar.preterminals))
        for symbol, weight in leaves.distributions():
            np.add.at(total, symbol - inner, with_slopes(weight).imag / SLOPE)
        return total

    @staticmethod
    def _sloping(
        make: Callable[[_Rules, Numbers], Made], rules: _Rules, words: Floats
    ) -> tuple[Made, float] | None:
        """What is made of the rules with slopes, and its entropy; None where there is none."""
        sloping = rules._replace(
            tensor=with_slopes(rules.tensor),
            mean_inside=with_slopes(rules.mean_inside),
            mean_outside=with_slopes(rules.mean_outside),
            left=with_slopes(rules.left),
            right=with_slopes(rules.right),
        )
        below = _slopes_below(sloping, words)
        if below is None:
            return None
        with_below = 1.0 + 1j * SLOPE * below
        numbers = make(sloping, with_below)
        return numbers, _entropy(numbers.root, with_below)

    def _one_state(self, rules: _Rules, below: Numbers) -> OneState:
        parent, first, second = rules.triples[self.projection.index.rule].T
        rule = rules.tensor[self.projection.index.rule]
        if rules.left.shape[0]:
            rule = rule - rules.left[first, parent] * rules.right[second, parent]
        root, anywhere = (self._like(rules, part) for part in (self.projection.root, self.projection.anywhere))
        return OneState(rule, rules.left, rules.right, _closed(rules.corners(below)), root, anywhere)

    def _latent(self, rules: _Rules, below: Numbers) -> Latent:
        share = self.projection.anywhere
        root = self._like(rules, self.grammar.root_vector)
        anywhere = self._like(rules, self.grammar.mean_outside * np.repeat(share, rules.states))
        return Latent(
            rules.states,
            rules.tensor,
            self.grammar.rule_offset,
            self._like(rules, self.grammar.lexicon_vector),
            self.grammar.lexicon_offset,
            root,
            anywhere,
            rules.mean_inside,
            rules.mean_outside,
            self.grammar.root_offset,
            rules.left,
            rules.right,
            _closed(rules.corners(below)),
        )

    @staticmethod
    def _like(rules: _Rules, numbers: Numbers) -> Numbers:
        return with_slopes(numbers) if np.iscomplexobj(rules.tensor) else numbers
