"""From leaves to posteriors: a coarse grammar says what a finer one need not look at.

1. The one-state projection of the grammar fills a chart that is cut as it grows (kernels/first_pass.py), and its
   posteriors cut it again: what remains is a packed chart of a few hundred items.
2. Each latent grammar, the smallest first, computes the posteriors of all items and edges on it
   (kernels/inside_outside.py); the next one looks only at edges of at least `threshold`.
3. The last one's posteriors are the result; several last ones (an ensemble) are combined by the geometric mean of
   the sizes of their marginals.

The words' scales pass from stage to stage: each stage divides every word by its share |Z|^(1/n) of what the stage
before found, so that 32-bit numbers do for sentences of any length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.lpcfg.kernels import first_pass as beam
from latentgram.lpcfg.kernels.chart import PackedChart, RuleIndex, index_rules, pack_chart, prune_chart
from latentgram.lpcfg.kernels.inside_outside import Tensors, posteriors
from latentgram.lpcfg.kernels.span_masks import SpanMasks, everything
from latentgram.lpcfg.leaves import LeafTable, Leaves
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.parse.boundaries import Boundaries, expected_boundaries
from latentgram.lpcfg.parse.pruning import Pruning
from latentgram.lpcfg.parse.smaller import smaller
from latentgram.lpcfg.unseen import unseen_rules

Floats = NDArray[np.floating]


class Posterior(NamedTuple):
    """Posteriors of the items and edges of a chart, signed as they come, and log |p(sentence)|."""

    chart: PackedChart
    item: NDArray[np.float64]
    edge: NDArray[np.float64]
    logprob: float
    negative: int
    """How many of the grammars gave the sentence a negative probability."""
    retries: int
    """How often pruning had to be loosened until a parse was left."""
    numbers: tuple[Tensors, NDArray[np.int32], Floats, Floats] | None = None
    """Of a single grammar: its tensors, the entries and weights of the leaves, and the words' scales."""


@dataclass(frozen=True)
class Cascade:
    """The stages that lead to the posteriors of `finest`, which share their symbols, rules and lexicon."""

    finest: tuple[LPCFG, ...]
    pruning: Pruning = field(default_factory=Pruning)
    unseen: bool = True
    """Whether rules that were never seen may be used (unseen.py)."""

    @cached_property
    def leaves(self) -> LeafTable:
        """What may stand over words."""
        return LeafTable(self.finest[0])

    @cached_property
    def _index(self) -> RuleIndex:
        seen = index_rules(self.finest[0].rules, len(self.finest[0].states))
        return seen._replace(unseen=unseen_rules(self.finest[0])) if self.unseen else seen

    @cached_property
    def _probability(self) -> NDArray[np.float64]:
        """The probabilities of the rules in the index, less those that they would have if they were unseen: the
        first pass sums the factors of unseen rules over all pairs of children."""
        grammar, unseen = self.finest[0], self._index.unseen
        parent, left, right = grammar.rules[self._index.rule].T
        probability = grammar.rule_count[self._index.rule] / self.leaves.symbol_count[parent]
        if self.unseen:
            probability -= unseen.weight * unseen.left[left, parent] * unseen.right[right, parent]
        return np.asarray(probability)

    def _root(self, anywhere: bool) -> NDArray[np.float64]:
        """[I+P] how often each symbol is the root of a tree, or of any part of one."""
        counts = self.leaves.symbol_count if anywhere else self.finest[0].root_count
        return np.asarray(counts / counts.sum())

    @cached_property
    def _boundaries(self) -> Boundaries:
        grammar = self.finest[0]
        return expected_boundaries(
            grammar.rules, grammar.rule_count, grammar.root_count, len(grammar.interminals), len(grammar.states)
        )

    @cached_property
    def _single(self) -> dict[bool, tuple[tuple[Tensors, ...], ...]]:
        return self._stages(self.pruning.precision)

    @cached_property
    def _double(self) -> dict[bool, tuple[tuple[Tensors, ...], ...]]:
        return self._stages("float64")

    @cached_property
    def _small(self) -> LPCFG | None:
        return smaller(self.finest[0], self.pruning.small_states)

    def _stages(self, kind: str) -> dict[bool, tuple[tuple[Tensors, ...], ...]]:
        """The grammars of each stage after the coarse one, for whole sentences and for any part of one."""
        grammars = ((self._small,), self.finest) if self._small is not None else (self.finest,)
        share = self._root(anywhere=True)
        whole = tuple(
            tuple(tensors_of(one, kind)._replace(unseen=self._index.unseen) for one in stage) for stage in grammars
        )
        part = tuple(
            tuple(
                tensors._replace(root=(one.mean_outside * np.repeat(share, one.states)).astype(kind))
                for one, tensors in zip(stage, numbers, strict=True)
            )
            for stage, numbers in zip(grammars, whole, strict=True)
        )
        return {False: whole, True: part}

    def posterior(
        self, leaves: Leaves, *, anywhere: bool = False, masks: SpanMasks | None = None
    ) -> Posterior | None:
        """The posteriors over a sentence with these leaves, or `anywhere` in one; None if there is no parse.

        Where pruning leaves nothing it is loosened.
        """
        masks = masks or everything(len(leaves.begin) - 1, len(self.finest[0].interminals))
        for retries, pruning in enumerate((self.pruning, self.pruning.loosened())):
            found = self._attempt(leaves, pruning, anywhere, masks)
            if found is not None:
                return found._replace(retries=retries)
        return None

    def _attempt(self, leaves: Leaves, pruning: Pruning, anywhere: bool, masks: SpanMasks) -> Posterior | None:
        coarse = self._coarse(leaves, pruning, masks)
        total, item, joints = beam.outside_items(
            coarse.cell_begin,
            coarse.symbol,
            coarse.inside,
            self._root(anywhere),
            self._index,
            self._probability,
            pruning.coarse_edge_threshold,
        )
        if not total > 0.0:
            return None
        keep = item >= pruning.coarse_threshold
        length = len(coarse.scale)
        chart = pack_chart(length, coarse.cell_begin, coarse.symbol, keep, joints, self._index)
        entry, weight = leaves.entry, leaves.weight
        scale = coarse.scale * total ** (1.0 / length)
        *stages, last = (self._double if length > _LONG or pruning is not self.pruning else self._single)[anywhere]
        for (tensors,) in stages:
            total, item, edge = posteriors(chart, tensors, entry, weight, scale)
            if not math.isfinite(total) or total == 0.0:
                continue
            chart, kept = prune_chart(chart, item, edge, pruning.threshold)
            if chart.cell_begin[-2] == chart.cell_begin[-1]:
                return None
            kept = kept[: chart.cell_begin[length]]
            entry, weight = entry[kept], weight[kept]
            scale = scale * abs(total) ** (1.0 / length)
        results = [posteriors(chart, tensors, entry, weight, scale) for tensors in last]
        results = [result for result in results if math.isfinite(result[0]) and result[0] != 0.0]
        if not results:
            return None
        item, edge = (_geometric_mean([result[part] for result in results]) for part in (1, 2))
        logprob = float(np.mean([math.log(abs(result[0])) for result in results]) + np.log(scale).sum())
        numbers = (last[0], entry, weight, scale) if len(last) == 1 else None
        return Posterior(chart, item, edge, logprob, sum(result[0] < 0.0 for result in results), 0, numbers)

    def _coarse(self, leaves: Leaves, pruning: Pruning, masks: SpanMasks) -> _Coarse:
        """The chart of the one-state projection, cut as it grew."""
        interminals, bounds = len(self.finest[0].interminals), self._boundaries
        tags = leaves.symbol - np.int32(interminals)
        forward, backward, scale = beam.filter_tags(leaves.begin, tags, leaves.weight, bounds.bigram)
        begins, ends = beam.context_scores(
            leaves.begin, tags, leaves.weight, forward, backward, scale, bounds.after, bounds.before
        )
        cell_begin, symbol, inside = beam.grow_items(
            leaves.begin,
            leaves.symbol,
            leaves.weight / np.repeat(scale, np.diff(leaves.begin)),
            begins,
            ends,
            self._index,
            self._probability,
            pruning.floor,
            pruning.beam,
            pruning.unseen_rigour,
            masks,
        )
        return _Coarse(cell_begin, symbol, inside, scale)

    def fragments(self, leaves: Leaves) -> list[tuple[int, int]]:
        """The fewest and likeliest spans that have parses of their own and together make up a sentence."""
        masks = everything(len(leaves.begin) - 1, len(self.finest[0].interminals))
        coarse = self._coarse(leaves, self.pruning.loosened(), masks)
        share = self._root(anywhere=True)
        log_mass = np.log(np.maximum(coarse.inside * share[coarse.symbol], 1e-300))
        return list(beam.best_cover(coarse.cell_begin, log_mass, _FRAGMENT_COST))


class _Coarse(NamedTuple):
    """Items of the one-state projection with their inside probabilities, and the words' scales."""

    cell_begin: NDArray[np.int32]
    symbol: NDArray[np.int32]
    inside: NDArray[np.float64]
    scale: NDArray[np.float64]


_LEAST = 1e-30
"""What stands for a posterior of zero in a geometric mean."""
_LONG = 100
"""Longer sentences are parsed in double precision: their numbers may leave the range of single precision."""
_FRAGMENT_COST = 10.0
"""What one more fragment costs, in nats: fewer fragments come before likelier ones."""


def _geometric_mean(parts: list[Floats]) -> NDArray[np.float64]:
    """The geometric mean of the sizes; a single array keeps its signs."""
    if len(parts) == 1:
        return parts[0].astype(np.float64)
    logs = sum(np.log(np.abs(part.astype(np.float64)) + _LEAST) for part in parts)
    return np.asarray(np.exp(logs / len(parts)))


def tensors_of(grammar: LPCFG, precision: str) -> Tensors:
    """The numbers of a grammar for the chart."""
    kind = np.dtype(precision)
    return Tensors(
        grammar.states,
        grammar.rule_tensor.astype(kind, copy=False),
        grammar.rule_offset,
        grammar.lexicon_vector.astype(kind, copy=False),
        grammar.lexicon_offset,
        grammar.root_vector.astype(kind, copy=False),
        grammar.mean_inside.astype(kind, copy=False),
        grammar.mean_outside.astype(kind, copy=False),
        grammar.root_offset,
    )
