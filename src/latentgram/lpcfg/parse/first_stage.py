"""The first stage of parsing: the chart of the projection, cut as it grows or whole.

`Cutter` prunes while a chart grows (kernels/cut.py), and its posteriors prune it again (kernels/cut_outside.py): a
packed chart of a few hundred items remains.

`WholeCharts` cuts nothing while a chart grows: for plain PCFGs, and where all must be exact. Of the items over a
sentence the joints are packed whose posteriors pass the thresholds. In the chart of a plain PCFG the most probable
trees can be searched, and trees drawn, whatever is pruned for its decoders.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from latentgram.arrays import Floats, Ints32, Reals
from latentgram.errors import DataError
from latentgram.lpcfg.kernels.chart import SpanMasks, cells_of, everything, index_rules, pack_chart
from latentgram.lpcfg.kernels.chart_trees import RulesByParent, draw_from_all, most_probable_trees
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
from latentgram.lpcfg.kernels.first_outside import Kept, outside_items, probable_joints
from latentgram.lpcfg.kernels.first_pass import Limits
from latentgram.lpcfg.parse.pruning import NO_LIMIT, Attempt, Pruning
from latentgram.lpcfg.projection import ALL_TREES, BEST_TREE, Leaves, Projection

Trees = tuple[Ints32, Ints32]
"""[trees, 2n − 1] the symbols of the nodes of binary trees in preorder, and the sizes of the subtrees."""

MOST_EDGES = 2**28
"""Edges of the largest chart that is tried without pruning: some five gigabytes."""
_AT_ONCE = 100
"""The first chart of sentences of more words is made part by part, so that work on them can be stopped."""
_CELLS = 4096
"""Cells of a part."""
_COMMON = 160
"""Where cells may stay closed, unseen rules are looked at for so many of the commonest parents."""


@dataclass(frozen=True)
class Cutter:
    """Makes the first chart of a sentence, cut as it grows, in a precision."""

    projection: Projection
    precision: str
    """`float32` or `float64`."""

    @cached_property
    def _spaces(self) -> list[Space]:
        """Those that are not in use."""
        return []

    def _space(self) -> Space:
        """Room that no other thread uses."""
        return self._spaces.pop() if self._spaces else make_space(self.rules)

    @cached_property
    def _order(self) -> Ints32:
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
    def _roots(self) -> dict[bool, Reals]:
        """How often each symbol is the root of a sentence, and of any part of one."""
        projection = self.projection
        whole, part = (root[self._order].astype(self.precision) for root in (projection.root, projection.anywhere))
        return {False: whole, True: part}

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
        if length <= _AT_ONCE:
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

    def grow(self, leaves: Leaves, pruning: Pruning, widest: int) -> tuple[Ints32, Ints32, Numbers]:
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
            if length <= _AT_ONCE:
                self._open[length] = masks
        return masks


@dataclass(frozen=True)
class WholeCharts:
    """Makes charts of a projection without cutting them."""

    projection: Projection
    last: bool
    """Whether no other grammar looks at them: the projection is the grammar."""

    def stage(self, leaves: Leaves, attempt: Attempt) -> FirstStage | None:
        """The chart of what is probable over a sentence with these leaves, if there is a parse."""
        projection, pruning = self.projection, attempt.pruning
        index, probability = projection.index, projection.probability
        grown, scale = projection.grow(leaves, attempt.masks)
        outside = outside_items(grown, self._root(attempt.anywhere), index, probability)
        if not outside.total > 0.0:
            return None
        # A word by itself is the whole chart: there is nothing to save.
        least = pruning.coarse_threshold if len(scale) > 1 or self.last else 0.0
        kept = (outside.posterior >= least) & (outside.posterior > 0.0)
        item = np.flatnonzero(kept)
        cell_begin = np.searchsorted(item, grown.cell_begin).astype(np.int32)
        if pruning.coarse_edge_threshold == 0.0 and index.unseen.weight > 0.0:
            _check_size(cell_begin, len(scale))
        joints = probable_joints(
            grown, outside, Kept(cell_begin, item), index, probability, pruning.coarse_edge_threshold
        )
        chart = pack_chart(len(scale), cell_begin, grown.symbol[item], joints, index)
        leaf = item[: cell_begin[len(scale)]].astype(np.int32)
        return FirstStage(outside.total, scale, chart, leaf, grown.inside[item], outside.outside[item])

    def most_probable(self, leaves: Leaves, count: int, anywhere: bool, masks: SpanMasks | None) -> Trees:
        """The most probable trees of a plain PCFG: a second first pass, for the best tree."""
        grown, _ = self.projection.grow(leaves, masks, BEST_TREE)
        with np.errstate(divide="ignore"):
            weights = np.log(self.projection.rule), np.log(self._root(anywhere))
        items, sizes = most_probable_trees(grown, self._rules, *weights, count)
        return grown.symbol[items], sizes

    def draws(self, leaves: Leaves, uniforms: Floats, masks: SpanMasks | None) -> Trees:
        """Draws from the posterior over trees of a plain PCFG, one per row of numbers in [0, 1)."""
        grown, _ = self.projection.grow(leaves, masks, ALL_TREES)
        items, sizes = draw_from_all(grown, self._rules, self.projection.rule, self.projection.root, uniforms)
        return grown.symbol[items], sizes

    @cached_property
    def _rules(self) -> RulesByParent:
        rules, parents = self.projection.grammar.rules, np.arange(len(self.projection.grammar.interminals) + 1)
        return RulesByParent(rules, np.searchsorted(rules[:, 0], parents))

    def _root(self, anywhere: bool) -> Floats:
        return self.projection.anywhere if anywhere else self.projection.root


def _check_size(cell_begin: Ints32, length: int) -> None:
    """Refuse a chart that is too large for memory: by unseen rules any two items next to each other have any
    parent."""
    count, edges = np.diff(cell_begin).astype(np.float64), 0.0

    def of_width(width: int) -> Floats:
        """How many items there are in the cells of so many words."""
        return count[cells_of(length, np.arange(length - width + 1), np.array(width))]

    for width in range(2, length + 1):
        spans = length - width + 1
        pairs = sum(of_width(size)[:spans] * of_width(width - size)[size:] for size in range(1, width))
        edges += float((of_width(width) * pairs).sum())
    if edges > MOST_EDGES:
        raise DataError(
            f"without pruning the chart of these {length} words has {edges:.1g} edges, more than "
            f"{MOST_EDGES:.1g}: parse it with pruning; 'latentgram score --exact' gives p of the words alone"
        )


def limits_of(pruning: Pruning) -> Limits:
    """What is cut while a chart grows."""
    return Limits(pruning.floor, pruning.beam, pruning.unseen_rigour)
