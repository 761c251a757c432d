"""The posteriors of several grammars on one chart: the geometric mean of their sizes.

With μ_g those of grammar g, an item or edge of g₁ … g_k has

    μ = exp (1/k) Σ_g log (|μ_g| + ε).

Grammars are asked one after the other, and a later one need not look at what the earlier ones agree is not in the
tree: the edges whose mean so far is below a threshold leave the chart. Cost: linear in the size of the chart.
"""

from __future__ import annotations

import numpy as np

from latentgram.compiling import njit
from latentgram.lpcfg.kernels.chart import prune_chart

_LEAST = 1e-30
"""ε: what stands for a posterior of zero."""


@njit()
def add_logs(logs, marginal):
    """Add log (|μ| + ε) to the sums of the grammars before."""
    for place in range(logs.shape[0]):
        logs[place] += np.log(abs(np.float64(marginal[place])) + _LEAST)


@njit()
def means(logs, count):
    """The geometric means of so many."""
    mean = np.empty_like(logs)
    for place in range(logs.shape[0]):
        mean[place] = np.exp(logs[place] / count)
    return mean


@njit()
def taken(array, places):
    """The elements at these places."""
    result = np.empty(places.shape[0], array.dtype)
    for number in range(places.shape[0]):
        result[number] = array[places[number]]
    return result


@njit()
def agreed_chart(chart, leaf_entry, leaf_weight, item_logs, edge_logs, count, threshold):
    """What the first `count` grammars leave for the next one: the chart, entries and weights of its leaves, and
    the sums of logarithms of its items and edges. All stays as it was if no tree would be left."""
    pruned, items, edges = prune_chart(chart, means(item_logs, count), means(edge_logs, count), threshold)
    if pruned.cell_begin[-2] == pruned.cell_begin[-1]:
        return chart, leaf_entry, leaf_weight, item_logs, edge_logs
    leaves = items[: pruned.cell_begin[chart.length]]
    entry, weight = taken(leaf_entry, leaves), taken(leaf_weight, leaves)
    return pruned, entry, weight, taken(item_logs, items), taken(edge_logs, edges)
