"""The stages before the last: the first chart of a sentence, cut, and a grammar of fewer states.

Every symbol's states are mapped by two matrices, `down` (k × m) for inside vectors and `up` (m × k) for outside
vectors, so that the smaller grammar has

    t′(a→b c) = down_a · t(a→b c)(up_b, up_c),   q′(a→x) = down_a · q(a→x),   π′(a) = π(a) · up_a.

The coordinates of a spectral grammar are singular vectors, strongest first: keeping the first k of them gives the
very grammar that would have been learned with k states. The states of a grammar of probabilities are merged into k
groups of states that are alike in what they rewrite to (Ward's criterion on the square roots of their rule
probabilities); a group rewrites as its states do on average, weighted by how often they occur, and is reached as
often as all of them together (Petrov & Klein 2007).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Floats, Integers, Ints
from latentgram.lpcfg.kernels.chart import SpanMasks, everything, index_rules
from latentgram.lpcfg.kernels.closing import Closing
from latentgram.lpcfg.kernels.cut import (
    CutRules,
    Numbers,
    Space,
    cell_begins,
    grow_widths,
    make_space,
    start_cut,
)
from latentgram.lpcfg.kernels.cut_outside import (
    FirstStage,
    finish_stage,
    first_stage,
    hand_down,
    scaled_words,
    start_outside,
    start_stage,
)
from latentgram.lpcfg.kernels.first_pass import Limits
from latentgram.lpcfg.leaves import Leaves
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.parse.pruning import NO_LIMIT, Deadline, Pruning
from latentgram.lpcfg.projection import Projection
from latentgram.numeric.ward import ward_groups

Maps = list[tuple[Floats, Floats]]
"""`down` and `up` of each symbol."""
_COMMON = 160
"""Where cells may stay closed, unseen rules are looked at for so many of the commonest parents."""
LONG = 100
"""Sentences of more words are parsed part by part, so that work on them can be stopped."""
_CELLS = 4096
"""Cells of a part."""


class Attempt(NamedTuple):
    """How the chart of a sentence, or of a part `anywhere` in one, is to be filled."""

    pruning: Pruning
    closed: bool
    """Whether cells may stay closed."""
    anywhere: bool
    masks: SpanMasks | None
    deadline: Deadline


@dataclass(frozen=True)
class Cutter:
    """Makes the first chart of a sentence in a precision."""

    projection: Projection
    precision: str

    @cached_property
    def _order(self) -> NDArray[np.int32]:
        """The interminals and the preterminals; the commonest first where others have no unseen rules."""
        grammar, interminals = self.projection.grammar, len(self.projection.grammar.interminals)
        worth = grammar.symbol_count[:interminals] * grammar.closes
        common = np.argsort(-worth, kind="stable")
        return np.append(common, np.arange(interminals, len(grammar.states))).astype(np.int32)

    @cached_property
    def rules(self) -> CutRules:
        """The rules of the projection in the kernels' own order."""
        projection, order, grammar = self.projection, self._order, self.projection.grammar
        interminals, symbols = len(grammar.interminals), len(grammar.states)
        rank = np.empty_like(order)
        rank[order] = np.arange(symbols, dtype=np.int32)
        index = index_rules(rank[grammar.rules], interminals, symbols)
        probability, unseen = projection.rule[index.rule], projection.index.unseen
        left, right = np.zeros((2, symbols, 0))
        if projection.unseen:
            common = order[: min(interminals, _COMMON) if grammar.closes else interminals]
            left, right = (unseen.weight * unseen.left)[order][:, common], unseen.right[order][:, common]
            parent, first, second = rank[grammar.rules[index.rule]].T
            own = np.flatnonzero(parent < len(common))
            probability = probability.copy()
            probability[own] -= left[first[own], parent[own]] * right[second[own], parent[own]]
        bounds, small = projection.boundaries, len(index.right) < np.iinfo(np.int16).max
        return CutRules(
            index.pair_of.ravel().astype(np.int16 if small else np.int32),  # what is small stays in the cache
            index.pair_begin,
            index.parent,
            probability.astype(self.precision),
            np.ascontiguousarray(left, self.precision),
            np.ascontiguousarray(right, self.precision),
            order,
            bounds.bigram,
            np.ascontiguousarray(bounds.after[:, order[:interminals]], self.precision),
            np.ascontiguousarray(bounds.before[:, order[:interminals]], self.precision),
        )

    @cached_property
    def _roots(self) -> dict[bool, NDArray[np.floating]]:
        """How often each symbol is the root of a sentence, and of any part of one."""
        projection = self.projection
        whole, part = (root[self._order].astype(self.precision) for root in (projection.root, projection.anywhere))
        return {False: whole, True: part}

    @cached_property
    def _spaces(self) -> list[Space]:
        """Those that are not in use."""
        return []

    def _space(self) -> Space:
        """Room that no other thread uses."""
        return self._spaces.pop() if self._spaces else make_space(self.rules)

    @cached_property
    def _closing(self) -> dict[bool, Closing]:
        """What closes cells, and what closes none."""
        grammar = self.projection.grammar
        own = Closing(grammar.closing_weight, grammar.closing_least, grammar.preterminal_tag)
        return {True: own, False: own._replace(weight=own.weight[:0])}

    def stage(self, leaves: Leaves, attempt: Attempt) -> FirstStage:
        """The chart of what is probable over a sentence with these leaves."""
        pruning, deadline = attempt.pruning, attempt.deadline
        space, allowed = self._space(), attempt.masks or self._all(leaves)
        rules, index, root = self.rules, self.projection.index, self._roots[attempt.anywhere]
        least = float(pruning.coarse_threshold), float(pruning.coarse_edge_threshold)
        closes, limits, length = self._closing[attempt.closed], limits_of(pruning), len(leaves.begin) - 1
        stage: FirstStage
        if length <= LONG:
            stage = first_stage(leaves, closes, rules, index, root, limits, allowed, least, space)
        else:  # the same part by part, with places to stop; after a stop the space is not used again
            chart, contexts, allowed, scale = start_stage(leaves, closes, rules, allowed, space)
            for widths in deadline.parts(2, length + 1, max(_CELLS // length, 1)):
                chart = grow_widths(chart, contexts, rules, limits, allowed, space, *widths)
            state = start_outside(chart, root, space)
            for cells in deadline.parts(0, int(chart.cells[0]), _CELLS):
                state = hand_down(chart, rules, space, state, *least, *cells)
            stage = finish_stage(chart, rules, index, state, scale, least, space)
        self._spaces.append(space)
        return stage

    def grow(
        self, leaves: Leaves, pruning: Pruning, widest: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], Numbers]:
        """The items over up to so many words: where those of each cell begin, their symbols and inside numbers."""
        rules, limits, space, length = self.rules, limits_of(pruning), self._space(), len(leaves.begin) - 1
        words, contexts, *_ = scaled_words(leaves.begin, leaves.symbol, leaves.weight, rules)
        chart = start_cut(words, rules, space)
        for widths in NO_LIMIT.parts(2, min(length, widest) + 1, max(_CELLS // length, 1)):
            chart = grow_widths(chart, contexts, rules, limits, self._all(leaves), space, *widths)
        begin = cell_begins(chart)
        return begin, self.rules.name[chart.symbol[: begin[-1]]], chart.inside[: begin[-1]]

    @cached_property
    def _open(self) -> dict[int, SpanMasks]:
        """What allows everything, by the length of sentences that are not long."""
        return {}

    def _all(self, leaves: Leaves) -> SpanMasks:
        length = len(leaves.begin) - 1
        masks = self._open.get(length)
        if masks is None:
            masks = everything(length, len(self.projection.grammar.interminals))
            if length <= LONG:
                self._open[length] = masks
        return masks


def limits_of(pruning: Pruning) -> Limits:
    """What is cut while a chart grows."""
    return Limits(pruning.floor, pruning.beam, pruning.unseen_rigour)


def smaller(grammar: LPCFG, states: int) -> LPCFG | None:
    """The grammar with at most `states` states per symbol, or None if it has no more than that already.

    One pass over the tensors.
    """
    if int(grammar.states.max(initial=0)) <= states:
        return None
    maps = _merge(grammar, states) if grammar.nonnegative else _truncate(grammar, states)
    few = np.array([down.shape[0] for down, _ in maps], np.int32)
    rule_size = np.prod(few[grammar.rules].astype(np.int64), axis=1)
    rule_offset = np.append(0, np.cumsum(rule_size))
    rule_tensor = np.empty(rule_offset[-1])
    for number, (parent, left, right) in enumerate(grammar.rules.tolist()):
        part = (maps[parent][0] @ grammar.tensor(number).reshape(grammar.states[parent], -1)).reshape(
            few[parent], grammar.states[left], grammar.states[right]
        )
        part = maps[left][1].T @ (part @ maps[right][1])
        rule_tensor[rule_offset[number] : rule_offset[number + 1]] = part.ravel()
    every = np.arange(len(few))
    downs, ups = [down for down, _ in maps], [up.T for _, up in maps]
    lexicon_vector, lexicon_offset = _mapped(
        grammar.lexicon_vector, grammar.lexicon_offset, grammar.lexicon[:, 0], downs
    )
    root_vector, root_offset = _mapped(grammar.root_vector, grammar.root_offset, every, ups)
    return replace(
        grammar.whole,
        states=few,
        rule_offset=rule_offset,
        rule_tensor=rule_tensor,
        lexicon_offset=lexicon_offset,
        lexicon_vector=lexicon_vector,
        root_offset=root_offset,
        root_vector=root_vector,
        mean_inside=_mapped(grammar.mean_inside, grammar.root_offset, every, downs)[0],
        mean_outside=_mapped(grammar.mean_outside, grammar.root_offset, every, ups)[0],
    )


def _by_symbol(offset: Ints, symbols: Integers) -> Iterator[tuple[int, Ints, Ints]]:
    """The flat vectors of each symbol that has some: it, their numbers, and where they stand [vectors, m]."""
    order = np.argsort(symbols, kind="stable")
    first = np.flatnonzero(np.diff(symbols[order], prepend=-1))
    for numbers in np.split(order, first[1:]):
        begin = offset[numbers]
        size = int(offset[numbers[0] + 1] - begin[0])
        yield int(symbols[numbers[0]]), numbers, begin[:, None] + np.arange(size)


def _mapped(flat: Floats, offset: Ints, symbols: Integers, matrices: list[Floats]) -> tuple[Floats, Ints]:
    """Every flat vector, mapped by the matrix of its symbol."""
    sizes = np.array([matrix.shape[0] for matrix in matrices], np.int64)
    new_offset = np.append(0, np.cumsum(sizes[symbols]))
    result = np.empty(new_offset[-1])
    for symbol, numbers, places in _by_symbol(offset, symbols):
        here = new_offset[numbers][:, None] + np.arange(sizes[symbol])
        result[here] = flat[places] @ matrices[symbol].T
    return result, new_offset


def _truncate(grammar: LPCFG, states: int) -> Maps:
    """Keep the first coordinates."""
    return [(np.eye(min(states, m), m), np.eye(m, min(states, m))) for m in grammar.states.tolist()]


def _merge(grammar: LPCFG, states: int) -> Maps:
    """Merge states that rewrite alike."""
    group = [np.arange(m) for m in grammar.states.tolist()]
    distances = _distances(grammar)
    for m in np.unique(grammar.states[grammar.states > states]).tolist():
        symbols = np.flatnonzero(grammar.states == m).tolist()
        found = ward_groups(np.stack([distances[symbol] for symbol in symbols]), states)
        for symbol, groups in zip(symbols, found, strict=True):
            group[symbol] = groups
    maps = []
    for symbol, groups in enumerate(group):
        weight = grammar.mean_outside[grammar.root_offset[symbol] : grammar.root_offset[symbol + 1]] + 1e-12
        member = np.equal.outer(np.unique(groups), groups).astype(np.float64)
        maps.append((member * weight / (member @ weight)[:, None], member.T.copy()))
    return maps


def _distances(grammar: LPCFG) -> list[Floats]:
    """The squared distances between the states of each symbol: of the roots of what they rewrite to."""
    totals = [
        grammar.tensor(number).reshape(grammar.states[parent], -1).sum(1)
        for number, parent in enumerate(grammar.rules[:, 0].tolist())
    ]
    rule_totals = np.concatenate([np.zeros(0), *totals])
    rule_offset = np.append(0, np.cumsum(grammar.states[grammar.rules[:, 0]], dtype=np.int64))
    distances = [np.zeros((m, m)) for m in grammar.states.tolist()]
    for flat, offset, symbols in (
        (rule_totals, rule_offset, grammar.rules[:, 0]),
        (grammar.lexicon_vector, grammar.lexicon_offset, grammar.lexicon[:, 0]),
    ):
        for symbol, _, places in _by_symbol(offset, symbols):
            alike = np.sqrt(np.maximum(flat[places], 0.0))
            product = alike.T @ alike
            length = product.diagonal()
            distances[symbol] += np.maximum(length[:, None] + length - 2 * product, 0.0)
    return distances
