"""From leaves to posteriors: a coarse grammar says what a finer one need not look at.

1. The one-state projection of the grammar fills a chart that is cut as it grows (dp/beam.py), and its posteriors cut
   it again: what remains is a packed chart of a few hundred items.
2. Each latent grammar, the smallest first, computes the posteriors of all items and edges on it (dp/latent_cky.py);
   the next one looks only at edges of at least `threshold`.
3. The last one's posteriors are the result; several last ones (an ensemble) are combined by the geometric mean of
   the sizes of their marginals.

The words' scales pass from stage to stage: each stage divides every word by its share |Z|^(1/n) of what the stage
before found, so that 32-bit numbers do for sentences of any length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.decode.boundaries import Boundaries, expected_boundaries
from latentgram.decode.prune import Pruning
from latentgram.dp import beam
from latentgram.dp.latent_cky import Tensors, posteriors
from latentgram.dp.packed_chart import PackedChart, RuleIndex, build_chart, index_rules, prune_chart
from latentgram.models.leaves import LeafTable, Leaves
from latentgram.models.lpcfg import LPCFG

Floats = NDArray[np.floating]


class Posterior(NamedTuple):
    """Posteriors of the items and edges of a chart, signed as they come, and log |p(sentence)|."""

    chart: PackedChart
    item: NDArray[np.float64]
    edge: Floats
    logprob: float
    negative: int
    """How many of the grammars gave the sentence a negative probability."""
    retries: int
    """How often pruning had to be loosened until a parse was left."""


@dataclass(frozen=True)
class Cascade:
    """The stages that lead to the posteriors of `finest`, which share their symbols, rules and lexicon."""

    finest: tuple[LPCFG, ...]
    pruning: Pruning = Pruning()

    @cached_property
    def leaves(self) -> LeafTable:
        """What may stand over words."""
        return LeafTable(self.finest[0])

    @cached_property
    def _index(self) -> RuleIndex:
        return index_rules(self.finest[0].rules, len(self.finest[0].states))

    @cached_property
    def _probability(self) -> NDArray[np.float64]:
        grammar = self.finest[0]
        return (grammar.rule_count / self.leaves.symbol_count[grammar.rules[:, 0]])[self._index.rule]

    @cached_property
    def _root(self) -> NDArray[np.float64]:
        counts = self.finest[0].root_count
        return np.asarray(counts / counts.sum())

    @cached_property
    def _boundaries(self) -> Boundaries:
        grammar = self.finest[0]
        return expected_boundaries(
            grammar.rules, grammar.rule_count, grammar.root_count, len(grammar.interminals), len(grammar.states)
        )

    @cached_property
    def _stages(self) -> tuple[tuple[Tensors, ...], ...]:
        """The grammars of each stage after the coarse one."""
        small = self.finest[0].truncated(self.pruning.small_states)
        stages = [] if small is None else [(tensors_of(small, self.pruning.precision),)]
        return (*stages, tuple(tensors_of(grammar, self.pruning.precision) for grammar in self.finest))

    def posterior(self, leaves: Leaves) -> Posterior | None:
        """The posteriors over a sentence with these leaves; None if the grammar has no parse of it."""
        for retries, pruning in enumerate((self.pruning, self.pruning.loosened(), self.pruning.none())):
            found = self._attempt(leaves, pruning)
            if found is not None:
                return found._replace(retries=retries)
        return None

    def _attempt(self, leaves: Leaves, pruning: Pruning) -> Posterior | None:
        coarse = self._coarse(leaves, pruning)
        if coarse is None:
            return None
        chart, source, scale = coarse
        length, negative = len(scale), 0
        entry, weight = leaves.entry[source], leaves.weight[source]
        for stage in self._stages[:-1]:
            total, item, edge = posteriors(chart, stage[0], entry, weight, scale)
            if not math.isfinite(total) or total == 0.0:
                continue
            chart, kept = prune_chart(chart, item, edge, pruning.threshold)
            if chart.cell_begin[-2] == chart.cell_begin[-1]:
                return None
            kept = kept[: chart.cell_begin[length]]
            entry, weight = entry[kept], weight[kept]
            scale = scale * abs(total) ** (1.0 / length)
        results = [posteriors(chart, tensors, entry, weight, scale) for tensors in self._stages[-1]]
        results = [result for result in results if math.isfinite(result[0]) and result[0] != 0.0]
        if not results:
            return None
        item, edge = (_geometric_mean([result[part] for result in results]) for part in (1, 2))
        logprob = float(np.mean([math.log(abs(result[0])) for result in results]) + np.log(scale).sum())
        negative = sum(result[0] < 0.0 for result in results)
        return Posterior(chart, item, edge, logprob, negative, 0)

    def _coarse(
        self, leaves: Leaves, pruning: Pruning
    ) -> tuple[PackedChart, NDArray[np.int32], NDArray[np.float64]] | None:
        """The packed chart the one-state projection leaves, its leaves' numbers, and the scales of the words."""
        interminals, bounds = len(self.finest[0].interminals), self._boundaries
        tags = leaves.symbol - np.int32(interminals)
        forward, backward, scale = beam.filter_tags(leaves.begin, tags, leaves.weight, bounds.bigram)
        begins, ends = beam.context_scores(
            leaves.begin, tags, leaves.weight, forward, backward, scale, bounds.after, bounds.before
        )
        inside = leaves.weight / np.repeat(scale, np.diff(leaves.begin))
        cell_begin, symbol, inside = beam.grow_items(
            leaves.begin,
            leaves.symbol,
            inside,
            begins,
            ends,
            self._index,
            self._probability,
            pruning.floor,
            pruning.beam,
        )
        outside, total = beam.outside_items(cell_begin, symbol, inside, self._root, self._index, self._probability)
        if not total > 0.0:
            return None
        keep = inside * outside >= pruning.coarse_threshold * total
        cell_begin, symbol, source = beam.keep_items(cell_begin, symbol, keep)
        chart = build_chart(len(scale), cell_begin, symbol, self._index)
        return chart, source[: cell_begin[len(scale)]], scale * total ** (1.0 / len(scale))


def _geometric_mean(parts: list[Floats]) -> Floats:
    """The geometric mean of the sizes; a single array keeps its signs."""
    if len(parts) == 1:
        return parts[0]
    return np.exp(np.mean([np.log(np.abs(part) + 1e-30) for part in parts], axis=0))


def tensors_of(grammar: LPCFG, precision: str) -> Tensors:
    """The numbers of a grammar for the chart."""
    kind = np.dtype(precision)
    return Tensors(
        grammar.states,
        grammar.rule_tensor.astype(kind),
        grammar.rule_offset,
        grammar.lexicon_vector.astype(kind),
        grammar.lexicon_offset,
        grammar.root_vector.astype(kind),
        grammar.mean_inside.astype(kind),
        grammar.root_offset,
    )
