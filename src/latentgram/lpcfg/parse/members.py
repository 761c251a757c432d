"""Several grammars over one chart, as those of an ensemble.

Each edge is chosen by the geometric mean of the absolute values of their marginals (kernels/members.py), and the
posteriors are those of the distribution defined by these choices (kernels/edgewise.py); p(sentence) is the mean of
theirs (model.py). Decoders use the means themselves, which gives slightly better trees (0.1 points of F1 on the
wsj sample).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from latentgram.arrays import Floats, Reals
from latentgram.lpcfg.kernels.chart import PackedChart
from latentgram.lpcfg.kernels.edgewise import normalised
from latentgram.lpcfg.kernels.members import add_logs, agreed_chart, means
from latentgram.lpcfg.model import mixed

if TYPE_CHECKING:
    from latentgram.lpcfg.parse.cascade import LeafNumbers

    Asked = Callable[[int, PackedChart, LeafNumbers], tuple[float, tuple[Floats, Reals]]]
    """Z, and the posteriors of the items and edges of a chart under a member, given by its number."""


class Mixture(NamedTuple):
    """Posteriors of several grammars together."""

    chart: PackedChart
    leaves: LeafNumbers
    item: Floats
    edge: Floats
    means: tuple[Floats, Floats]
    """The geometric means for items and edges that the posteriors were made of."""
    log: float
    """log |Z|, with Z the mean of theirs, of the words divided by their scales."""
    sign: float


def combined(
    asked: Asked, order: Sequence[int], chart: PackedChart, leaves: LeafNumbers, least: float
) -> Mixture | None:
    """The posteriors of several grammars together, asked in this order. Each looks at the edges whose geometric
    mean under those before is at least so much; one without a parse has no say."""
    item_logs, edge_logs = np.zeros(len(chart.item_symbol)), np.zeros(chart.edge_begin[-1])
    logs, signs, (entry, weight, _) = [-math.inf] * len(order), [0.0] * len(order), leaves
    voices = 0
    for member in order:
        if voices and least > 0.0:
            agreed = agreed_chart(chart, entry, weight, item_logs, edge_logs, voices, least)
            chart, entry, weight, item_logs, edge_logs = agreed
        total, (item, edge) = asked(member, chart, leaves._replace(entry=entry, weight=weight))
        if math.isfinite(total) and total != 0.0:
            logs[voices], signs[voices] = math.log(abs(total)), math.copysign(1.0, total)
            voices += 1
            add_logs(item_logs, item)
            add_logs(edge_logs, edge)
    if not voices:
        return None
    each = means(item_logs, voices), means(edge_logs, voices)
    log, sign = mixed(logs, signs)
    numbers = leaves._replace(entry=entry, weight=weight)
    item, edge = normalised(chart, *each)
    return Mixture(chart, numbers, item, edge, each, float(log), float(sign))
