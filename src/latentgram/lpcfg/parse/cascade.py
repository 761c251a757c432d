"""From leaves to posteriors: a coarse grammar determines what a finer one need not evaluate.

1. The one-state projection of the grammar fills a chart that is pruned as it grows (kernels/first_pass.py), and
   its posteriors prune it again: a packed chart of a few hundred items remains.
2. Each latent grammar, the smallest first, computes the posteriors of all items and edges on it
   (kernels/inside_outside.py); the next one evaluates only edges with a posterior of at least `threshold`.
3. The posteriors of the last one are the result. Several last ones (an ensemble) are combined: each edge is chosen
   by the geometric mean of the absolute values of their marginals (kernels/members.py), and the posteriors are
   those of the distribution defined by these choices (kernels/edgewise.py); p(sentence) is the mean of theirs
   (model.py).
   Decoders use the means themselves, which gives slightly better trees (0.1 points of F1 on the wsj sample).

A plain PCFG is its own projection, so it needs the first stage only. Nothing is pruned while its chart grows, so
p(sentence) and all posteriors are exact; the chart given to a decoder contains the items above a threshold. No
tree that is itself at least as probable is lost, since each of its items is at least as probable as the tree.

The words' scales pass from stage to stage: each stage divides every word by its share |Z|^(1/n) of the probability
found by the previous stage, so that 32-bit numbers are enough for sentences of any length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.errors import DataError
from latentgram.lpcfg.kernels import low_rank
from latentgram.lpcfg.kernels.chart import (
    PackedChart,
    SpanMasks,
    Unseen,
    cells_of,
    everything,
    index_rules,
    pack_chart,
)
from latentgram.lpcfg.kernels.chart_trees import RulesByParent, best_cover, draw_from_all, most_probable_trees
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
from latentgram.lpcfg.kernels.edgewise import normalised
from latentgram.lpcfg.kernels.first_outside import Kept, edge_posteriors, outside_items, probable_joints
from latentgram.lpcfg.kernels.first_pass import Limits
from latentgram.lpcfg.kernels.inside_outside import Tensors, posteriors, refine_chart
from latentgram.lpcfg.kernels.low_rank import Factors
from latentgram.lpcfg.kernels.members import add_logs, agreed_chart, means
from latentgram.lpcfg.model import LPCFG, layout, mixed
from latentgram.lpcfg.parse.labels import NameTable, TreeWeights
from latentgram.lpcfg.parse.pruning import NO_LIMIT, Deadline, Pruning
from latentgram.lpcfg.projection import ALL_TREES, BEST_TREE, LeafTable, Leaves, Projection, unseen_rules
from latentgram.lpcfg.smaller import smaller

Ints = NDArray[np.int32]
Floats = NDArray[np.floating]
Array = NDArray[np.float64]
Trees = tuple[Ints, Ints]
"""[trees, 2n − 1] the symbols of the nodes of binary trees in preorder, and the sizes of the subtrees."""

LONG = 100
"""The numbers of sentences of more words may leave the range of single precision."""
_AT_ONCE = 100
"""The first chart of sentences of more words is made part by part, so that work on them can be stopped."""
_CELLS = 4096
"""Cells of a part."""
_COMMON = 160
"""Where cells may stay closed, unseen rules are looked at for so many of the commonest parents."""
_VERY_LONG = 300
"""Sentences of more words are parsed with tighter pruning, so that they take seconds."""
_WIDEST = 24
"""Words of the widest part of a sentence that had no time for more."""
MOST_EDGES = 2**28
"""Edges of the largest chart that is tried without pruning: some five gigabytes."""
_FRAGMENT_COST = 10.0
"""What one more fragment costs, in nats: fewer fragments come before likelier ones."""


class LeafNumbers(NamedTuple):
    """The rows of the lexicon and the weights of the leaves of a chart, and the words' scales."""

    entry: Ints
    weight: Floats
    scale: Floats


class Posterior(NamedTuple):
    """Posteriors of the items and edges of a chart, signed as they come, and log |p(sentence)|."""

    chart: PackedChart
    item: Array
    edge: Array
    logprob: float
    leaves: LeafNumbers
    tensors: Tensors | None = None
    """The numbers of the last grammar, if it is a single one with hidden states."""
    negative: bool = False
    """Whether p(sentence) came out negative."""
    retries: int = 0
    """How often pruning had to be loosened until a parse was left."""
    coarse: bool = False
    """Whether the time was over before the last stage: these are the posteriors of the stage before."""
    tightened: bool = False
    """Whether pruning was tighter than asked for, since the sentence is long."""
    means: tuple[Array, Array] | None = None
    """Of several grammars: the geometric means for items and edges that decoders choose by."""

    @property
    def finite(self) -> bool:
        """Whether all of them are numbers: products of the numbers of a grammar may leave the range of floats."""
        return bool(np.isfinite(self.item).all() and np.isfinite(self.edge).all())


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
    """`float32` or `float64`."""

    @cached_property
    def _spaces(self) -> list[Space]:
        """Those that are not in use."""
        return []

    def _space(self) -> Space:
        """Room that no other thread uses."""
        return self._spaces.pop() if self._spaces else make_space(self.rules)

    @cached_property
    def _order(self) -> Ints:
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
    def _roots(self) -> dict[bool, Floats]:
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

    def grow(self, leaves: Leaves, pruning: Pruning, widest: int) -> tuple[Ints, Ints, Numbers]:
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
class Cascade:
    """The stages that lead to the posteriors of `finest`, which share their symbols, rules and lexicon."""

    finest: tuple[LPCFG, ...]
    pruning: Pruning
    unseen: bool = True
    """Whether rules that were never seen may be used; a plain PCFG never does."""

    @cached_property
    def plain(self) -> bool:
        """Whether it is a plain PCFG that parses."""
        return len(self.finest) == 1 and self.finest[0].plain

    @cached_property
    def prunes(self) -> bool:
        """Whether p(sentence) is a lower bound: trees may be missing from the chart. A plain PCFG prunes only what
        its decoders see, unless the chart is cut as it grows."""
        return self.pruning.cuts if self.plain else not self.pruning.exact

    @cached_property
    def _lead(self) -> LPCFG:
        """The grammar of the first stage and of the leaves: of several one that is no plain PCFG, if there is one,
        since such a one has neither rules never seen nor vectors of words."""
        return next((grammar for grammar in self.finest if not grammar.plain), self.finest[0])

    @cached_property
    def leaves(self) -> LeafTable:
        """What may stand over words."""
        return LeafTable(self._lead)

    @cached_property
    def projection(self) -> Projection:
        """The grammar of the first stage."""
        return Projection(self.leaves, unseen=self.unseen and not self.plain)

    @cached_property
    def _cutter(self) -> Cutter:
        return Cutter(self.projection, self.pruning.precision)

    @cached_property
    def _double_cutter(self) -> Cutter:
        return Cutter(self.projection, "float64")

    @cached_property
    def _single(self) -> dict[bool, tuple[tuple[Tensors, ...], ...]]:
        return self._stages(self.pruning.precision)

    @cached_property
    def _double(self) -> dict[bool, tuple[tuple[Tensors, ...], ...]]:
        """As `_single`; rules stay in the precision that the grammar has, `_widened` takes those of a chart."""
        return self._stages("float64", as_kept=True)

    @cached_property
    def _small(self) -> LPCFG | None:
        """The grammar before the finest, where these have more states than it may have."""
        few = self._lead.states.max(initial=0) <= self.pruning.small_states
        return None if few else smaller(self._lead, self.pruning.small_states)

    def _stages(self, kind: str, *, as_kept: bool = False) -> dict[bool, tuple[tuple[Tensors, ...], ...]]:
        """The grammars of each stage after the coarse one, for whole sentences and for any part of one."""
        grammars = ((self._small,), self.finest) if self._small is not None else (self.finest,)
        share = self.projection.anywhere
        whole = tuple(
            tuple(Tensors.of(grammar, kind, self._unseen_of(grammar), as_kept=as_kept) for grammar in stage)
            for stage in grammars
        )
        part = tuple(
            tuple(
                tensors._replace(root=(grammar.mean_outside * np.repeat(share, grammar.states)).astype(kind))
                for grammar, tensors in zip(stage, numbers, strict=True)
            )
            for stage, numbers in zip(grammars, whole, strict=True)
        )
        return {False: whole, True: part}

    def _unseen_of(self, grammar: LPCFG) -> Unseen:
        """What a grammar has for rules never seen: all have the same, but for plain PCFGs, which have nothing."""
        shared = self.projection.index.unseen
        same = not self.projection.unseen or np.array_equal(grammar.unseen, self._lead.unseen)
        return shared if same else unseen_rules(grammar)

    @cached_property
    def _factors(self) -> dict[bool, tuple[Factors | None, ...]]:
        """The products of the rules of the finest grammars, where they are sums of some, in either precision."""
        return {
            double: tuple(
                Factors.of(grammar, kind) if grammar.rule_rank.size else None for grammar in self.finest
            )
            for double, kind in ((False, self.pruning.precision), (True, "float64"))
        }

    def posterior(
        self,
        leaves: Leaves,
        *,
        anywhere: bool = False,
        masks: SpanMasks | None = None,
        closing: bool = False,
        deadline: Deadline = NO_LIMIT,
    ) -> Posterior | None:
        """The posteriors over a sentence with these leaves, or `anywhere` in one; None if there is no parse.

        With `closing` cells stay closed that the grammar's classifier says are no phrases. Where that, or pruning,
        leaves nothing, all cells are opened, and then pruning is loosened, if that can help. When the deadline has
        passed, the posteriors of the last stage that was finished are given; if there is none, `OutOfTime` is
        raised.
        """
        tightened = self._tightens(leaves)
        usual = self._tightened if tightened else self.pruning
        attempts = [Attempt(usual, False, anywhere, masks, deadline)]
        if closing and self.closes and not anywhere:
            attempts.insert(0, attempts[0]._replace(closed=True))
        if (not self.plain or self.pruning.cuts) and not tightened:
            attempts.append(attempts[-1]._replace(pruning=self._loosened))
        for retries, attempt in enumerate(attempts):
            if retries:
                deadline.check()
            first = self._first(leaves, attempt)
            last = first if first is None or self.plain else self._refined(first, attempt)
            if last is not None and last.finite:
                return last._replace(retries=retries, tightened=tightened)
        return None

    def _tightens(self, leaves: Leaves) -> bool:
        """Whether a sentence is so long that it is parsed with tighter pruning, and never with a looser one."""
        return self.pruning.cuts and len(leaves.begin) - 1 > _VERY_LONG

    @cached_property
    def _tightened(self) -> Pruning:
        return self.pruning.tightened()

    @cached_property
    def _loosened(self) -> Pruning:
        return self.pruning.loosened()

    @property
    def closes(self) -> bool:
        """Whether the grammar says which cells may stay closed."""
        return self.pruning.cuts and self._lead.closes

    def _first(self, leaves: Leaves, attempt: Attempt) -> Posterior | None:
        """The posteriors of the projection; edges have theirs only where it is, or may be, the last stage."""
        projection, pruning = self.projection, attempt.pruning
        index, probability = projection.index, projection.probability
        if pruning.cuts and len(leaves.begin) > 2 and len(projection.grammar.interminals):
            return self._cut(leaves, attempt)
        grown, scale = projection.grow(leaves, attempt.masks)
        outside = outside_items(grown, self._root(attempt.anywhere), index, probability)
        if not outside.total > 0.0:
            return None
        # A word by itself is the whole chart: there is nothing to save.
        least = pruning.coarse_threshold if len(scale) > 1 or self.plain else 0.0
        kept = (outside.posterior >= least) & (outside.posterior > 0.0)
        item = np.flatnonzero(kept)
        cell_begin = np.searchsorted(item, grown.cell_begin).astype(np.int32)
        if pruning.coarse_edge_threshold == 0.0 and index.unseen.weight > 0.0:
            _check_size(cell_begin, len(scale))
        joints = probable_joints(
            grown, outside, Kept(cell_begin, item), index, probability, pruning.coarse_edge_threshold
        )
        chart = pack_chart(len(scale), cell_begin, grown.symbol[item], joints, index)
        leaf = item[: cell_begin[len(scale)]]
        logprob = math.log(outside.total) + float(np.log(scale).sum())
        edge = np.zeros(0)
        if self.plain or attempt.deadline.limited:
            above = outside.outside[item] / outside.total
            edge = edge_posteriors(chart, projection.rule, index.unseen, grown.inside[item], above)
        if not self.plain:
            scale = scale * outside.total ** (1.0 / len(scale))
        numbers = LeafNumbers(leaves.entry[leaf], leaves.weight[leaf], scale)
        return Posterior(chart, outside.posterior[item], edge, logprob, numbers)

    def _cut(self, leaves: Leaves, attempt: Attempt) -> Posterior | None:
        """The same where the chart is cut as it grows."""
        cutter = self._double_cutter if self.plain or attempt.pruning is self._loosened else self._cutter
        total, scale, chart, leaf, inside, outside = cutter.stage(leaves, attempt)
        if not total > 0.0:
            return None
        edge, item, logprob = np.zeros(0), np.zeros(0), math.nan
        if self.plain or attempt.deadline.limited:
            logprob = math.log(total) + float(np.log(scale).sum())
            inside, above = inside.astype(np.float64), outside / total
            item = inside * above
            edge = edge_posteriors(chart, self.projection.rule, self.projection.index.unseen, inside, above)
        if not self.plain:
            scale = scale * total ** (1.0 / len(scale))
        numbers = LeafNumbers(leaves.entry[leaf], leaves.weight[leaf], scale)
        return Posterior(chart, item, edge, logprob, numbers)

    def _refined(self, first: Posterior, attempt: Attempt) -> Posterior | None:
        """The posteriors of the finest grammars on the chart of the projection."""
        pruning, deadline = attempt.pruning, attempt.deadline
        chart, (entry, weight, scale) = first.chart, first.leaves
        double, reached = chart.length > LONG or pruning is self._loosened, first
        *stages, last = (self._double if double else self._single)[attempt.anywhere]
        for (tensors,) in stages:
            if deadline.passed:
                return reached._replace(coarse=True)
            before, refined = chart, refine_chart(chart, tensors, entry, weight, scale, pruning.threshold)
            total, chart, entry, weight, scale, item, edge = refined
            if not math.isfinite(total) or total == 0.0:
                continue
            reached = first._replace(chart=before, item=item, edge=edge)
            if chart.cell_begin[-2] == chart.cell_begin[-1]:
                return None
        if deadline.passed:
            return reached._replace(coarse=True)
        factors, numbers = self._factors[double], LeafNumbers(entry, weight, scale)
        if len(last) > 1:
            least = pruning.member_threshold if attempt.closed else 0.0
            return self._combined(chart, numbers, last, factors, least)
        tensors = _widened(last[0], chart)
        total, (item, edge) = chart_posteriors(chart, tensors, factors[0], numbers)
        if not math.isfinite(total) or total == 0.0:
            return None
        logprob = math.log(abs(total)) + float(np.log(scale).sum())
        return Posterior(chart, item, edge.astype(np.float64), logprob, numbers, tensors, total < 0.0)

    def _combined(
        self,
        chart: PackedChart,
        leaves: LeafNumbers,
        members: tuple[Tensors, ...],
        factors: tuple[Factors | None, ...],
        least: float,
    ) -> Posterior | None:
        """The posteriors of several grammars together, those of the fewest numbers first. Each looks at the edges
        whose geometric mean under those before is at least so much; one without a parse has no say."""
        item_logs, edge_logs = np.zeros(len(chart.item_symbol)), np.zeros(chart.edge_begin[-1])
        logs, signs, (entry, weight, scale) = [-math.inf] * len(members), [0.0] * len(members), leaves
        asked = 0
        for member in self._by_size:
            if asked and least > 0.0:
                agreed = agreed_chart(chart, entry, weight, item_logs, edge_logs, asked, least)
                chart, entry, weight, item_logs, edge_logs = agreed
            numbers = LeafNumbers(entry, weight, scale)
            tensors = _widened(members[member], chart)
            total, (item, edge) = chart_posteriors(chart, tensors, factors[member], numbers)
            if math.isfinite(total) and total != 0.0:
                logs[asked], signs[asked] = math.log(abs(total)), math.copysign(1.0, total)
                asked += 1
                add_logs(item_logs, item)
                add_logs(edge_logs, edge)
        if not asked:
            return None
        each = means(item_logs, asked), means(edge_logs, asked)
        log, sign = mixed(logs, signs)
        logprob, numbers = float(log) + float(np.log(scale).sum()), LeafNumbers(entry, weight, scale)
        item, edge = normalised(chart, *each)
        return Posterior(chart, item, edge, logprob, numbers, negative=bool(sign < 0.0), means=each)

    @cached_property
    def _by_size(self) -> list[int]:
        """The finest grammars, those of the fewest numbers first."""
        return sorted(range(len(self.finest)), key=lambda number: self.finest[number].rule_tensor.size)

    def fragments(self, leaves: Leaves, *, hurried: bool = False) -> list[tuple[int, int]]:
        """The fewest and likeliest spans that have parses of their own and together make up a sentence.

        `hurried` ones are short, so that the time is linear in the length of the sentence.
        """
        if hurried or self._tightens(leaves):
            cell_begin, symbol, inside = self._double_cutter.grow(leaves, self._tightened, _WIDEST)
        elif self.pruning.cuts:
            cell_begin, symbol, inside = self._double_cutter.grow(leaves, self._loosened, len(leaves.begin))
        else:
            cell_begin, symbol, inside, *_ = self.projection.grow(leaves)[0]
        mass = inside * self.projection.anywhere[symbol]
        return list(best_cover(cell_begin, np.log(np.maximum(mass, 1e-300)), _FRAGMENT_COST))

    def most_probable(self, leaves: Leaves, count: int, anywhere: bool, masks: SpanMasks | None) -> Trees:
        """The most probable trees of a plain PCFG, whatever is pruned: a second first pass, for the best tree."""
        grown, _ = self.projection.grow(leaves, masks, BEST_TREE)
        with np.errstate(divide="ignore"):
            weights = np.log(self.projection.rule), np.log(self._root(anywhere))
        items, sizes = most_probable_trees(grown, self._rules, *weights, count)
        return grown.symbol[items], sizes

    def draws(self, leaves: Leaves, uniforms: Array, masks: SpanMasks | None) -> Trees:
        """Draws from the posterior over trees of a plain PCFG, one per row of numbers in [0, 1)."""
        grown, _ = self.projection.grow(leaves, masks, ALL_TREES)
        items, sizes = draw_from_all(grown, self._rules, self.projection.rule, self.projection.root, uniforms)
        return grown.symbol[items], sizes

    @cached_property
    def _rules(self) -> RulesByParent:
        rules, parents = self.finest[0].rules, np.arange(len(self.finest[0].interminals) + 1)
        return RulesByParent(rules, np.searchsorted(rules[:, 0], parents))

    def _root(self, anywhere: bool) -> Array:
        return self.projection.anywhere if anywhere else self.projection.root

    @cached_property
    def names(self) -> NameTable:
        """The names of treebank nodes; all grammars share their symbols and rules."""
        return NameTable(self.finest[0], self.projection.index)

    @cached_property
    def weights(self) -> tuple[TreeWeights, ...]:
        """What weighs trees under each of the finest grammars."""
        index = self.projection.index
        return tuple(
            TreeWeights(
                grammar, Tensors.of(grammar, "float64", self._unseen_of(grammar), as_kept=True), index, self.names
            )
            for grammar in self.finest
        )

    def tree_logprob(self, leaves: Leaves, name: Ints, size: Ints) -> float:
        """log p(tree, sentence), hidden states and derivations summed out, of a treebank tree given by the names
        of its nodes, and nan where it is negative; of several grammars that of their mixture. In double precision
        whatever the precision of charts."""
        logs, signs = zip(*(each.weight(leaves, name, size) for each in self.weights), strict=True)
        log, sign = mixed(logs, signs)
        return float(log) if sign >= 0.0 else math.nan


def limits_of(pruning: Pruning) -> Limits:
    """What is cut while a chart grows."""
    return Limits(pruning.floor, pruning.beam, pruning.unseen_rigour)


def _check_size(cell_begin: Ints, length: int) -> None:
    """Refuse a chart that is too large for memory: by unseen rules any two items next to each other have any
    parent."""
    count, edges = np.diff(cell_begin).astype(np.float64), 0.0

    def of_width(width: int) -> Array:
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


def _widened(tensors: Tensors, chart: PackedChart) -> Tensors:
    """The numbers with the rules of a chart in the precision of the others: a chart has few of them."""
    if tensors.rule.dtype == tensors.root.dtype:
        return tensors
    used = np.unique(chart.parent_rule[chart.parent_rule >= 0])
    size = np.diff(tensors.rule_begin)[used]
    begin = layout(size)
    place = np.arange(begin[-1]) + np.repeat(tensors.rule_begin[used] - begin[:-1], size)
    rule_begin = np.zeros_like(tensors.rule_begin)
    rule_begin[used] = begin[:-1]
    return tensors._replace(rule=tensors.rule[place].astype(tensors.root.dtype), rule_begin=rule_begin)


def chart_posteriors(
    chart: PackedChart, tensors: Tensors, factors: Factors | None, leaves: LeafNumbers
) -> tuple[float, tuple[Array, Floats]]:
    """Z, and the posteriors of the items and edges of a chart, by whole tensors or by sums of products."""
    if factors is None:
        total, item, edge = posteriors(chart, tensors, *leaves)
    else:
        total, item, edge = low_rank.posteriors(chart, tensors, factors, *leaves)
    return float(total), (item, edge)
