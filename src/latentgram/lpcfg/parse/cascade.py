"""From leaves to posteriors: a coarse grammar determines what a finer one need not evaluate.

1. The one-state projection of the grammar fills a chart that is pruned as it grows, and its posteriors prune it
   again (first_stage.py): a packed chart of a few hundred items remains.
2. Each latent grammar, the smallest first, computes the posteriors of all items and edges on it
   (kernels/inside_outside.py); the next one evaluates only edges with a posterior of at least `threshold`.
3. The posteriors of the last one are the result. Several last ones (an ensemble) are combined (members.py).

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

from latentgram.lpcfg.kernels import low_rank
from latentgram.lpcfg.kernels.chart import PackedChart, SpanMasks, Unseen
from latentgram.lpcfg.kernels.chart_trees import best_cover
from latentgram.lpcfg.kernels.first_outside import edge_posteriors
from latentgram.lpcfg.kernels.inside_outside import Tensors, posteriors, refine_chart
from latentgram.lpcfg.kernels.low_rank import Factors
from latentgram.lpcfg.model import LPCFG, layout, mixed
from latentgram.lpcfg.parse.first_stage import Cutter, WholeCharts
from latentgram.lpcfg.parse.labels import NameTable, TreeWeights
from latentgram.lpcfg.parse.members import combined
from latentgram.lpcfg.parse.pruning import NO_LIMIT, Attempt, Deadline, Pruning
from latentgram.lpcfg.projection import LeafTable, Leaves, Projection, unseen_rules
from latentgram.lpcfg.smaller import smaller

Ints = NDArray[np.int32]
Floats = NDArray[np.floating]
Array = NDArray[np.float64]
LONG = 100
"""The numbers of sentences of more words may leave the range of single precision."""
_VERY_LONG = 300
"""Sentences of more words are parsed with tighter pruning, so that they take seconds."""
_WIDEST = 24
"""Words of the widest part of a sentence that had no time for more."""
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
    def whole(self) -> WholeCharts:
        """What makes charts that are not cut while they grow."""
        return WholeCharts(self.projection, last=self.plain)

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
            double: tuple(Factors.of(grammar, kind) if grammar.rule_rank.size else None for grammar in self.finest)
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
            attempts.append(attempts[-1]._replace(pruning=self._loosened, double=True))
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
        """The posteriors of the projection; items and edges have theirs only where it is, or may be, the last
        stage."""
        projection, cuts = self.projection, attempt.pruning.cuts and len(leaves.begin) > 2
        maker: Cutter | WholeCharts = self.whole
        if cuts and len(projection.grammar.interminals):
            maker = self._double_cutter if self.plain or attempt.double else self._cutter
        made = maker.stage(leaves, attempt)
        if made is None or not made.total > 0.0:
            return None
        total, scale, chart, leaf, inside, outside = made
        edge, item, logprob = np.zeros(0), np.zeros(0), math.nan
        if self.plain or attempt.deadline.limited:
            logprob = math.log(total) + float(np.log(scale).sum())
            inside = inside.astype(np.float64)
            item = inside * outside / total
            edge = edge_posteriors(chart, projection.rule, projection.index.unseen, inside, outside / total)
        if not self.plain:
            scale = scale * total ** (1.0 / len(scale))
        numbers = LeafNumbers(leaves.entry[leaf], leaves.weight[leaf], scale)
        return Posterior(chart, item, edge, logprob, numbers)

    def _refined(self, first: Posterior, attempt: Attempt) -> Posterior | None:
        """The posteriors of the finest grammars on the chart of the projection."""
        pruning, deadline = attempt.pruning, attempt.deadline
        chart, (entry, weight, scale) = first.chart, first.leaves
        double, reached = chart.length > LONG or attempt.double, first
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
        """The posteriors of several grammars together."""

        def asked(member: int, chart: PackedChart, leaves: LeafNumbers) -> tuple[float, tuple[Array, Floats]]:
            return chart_posteriors(chart, _widened(members[member], chart), factors[member], leaves)

        mixture = combined(asked, self._by_size, chart, leaves, least)
        if mixture is None:
            return None
        logprob = mixture.log + float(np.log(leaves.scale).sum())
        chart, item, edge = mixture.chart, mixture.item, mixture.edge
        return Posterior(
            chart, item, edge, logprob, mixture.leaves, negative=mixture.sign < 0.0, means=mixture.means
        )

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
