"""`Marginals`: the posterior of everything that may be in a tree, not only of what is in the best one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latentgram.decode.labels import LabelTable
from latentgram.dp.packed_chart import PackedChart

LEAST = 1e-3
"""Posteriors below this are not told."""


@dataclass(frozen=True)
class Marginals:
    """Posteriors of at least `LEAST`: of spans and tags of constituency trees, or of arcs of dependency trees.

    `spans` are (first word, one past the last, label, posterior), words counted from 0; `tags` (word, tag,
    posterior); `arcs` (head, modifier, posterior), words counted from 1, head 0 being the root.
    """

    spans: tuple[tuple[int, int, str, float], ...] = ()
    tags: tuple[tuple[int, str, float], ...] = ()
    arcs: tuple[tuple[int, int, float], ...] = ()


def span_marginals(table: LabelTable, chart: PackedChart, item: NDArray[np.float64]) -> Marginals:
    """What the items of a chart say of labelled spans."""
    posterior = table.posteriors(chart, item)[:, : len(table.labels)]
    length = chart.length
    width = np.repeat(np.arange(1, length + 1), np.arange(length, 0, -1))
    first = np.concatenate([np.arange(length - size) for size in range(length)])
    tags = {chain[-1] for chain in table.chains[table.interminals :]}
    spans, over_words = [], []
    for cell, label in zip(*np.nonzero(posterior >= LEAST), strict=True):
        name, p = table.labels[int(label)], float(posterior[cell, label])
        if width[cell] == 1 and name in tags:
            over_words.append((int(first[cell]), name, p))
        else:
            spans.append((int(first[cell]), int(first[cell] + width[cell]), name, p))
    return Marginals(spans=tuple(spans), tags=tuple(over_words))


def arc_marginals(arcs: NDArray[np.float64], roots: NDArray[np.float64]) -> Marginals:
    """What the posteriors [head, modifier] of arcs and those of roots say."""
    posterior = np.clip(np.abs(np.vstack([roots, arcs])), 0.0, 1.0)
    return Marginals(
        arcs=tuple(
            (int(head), int(modifier) + 1, float(posterior[head, modifier]))
            for head, modifier in zip(*np.nonzero(posterior >= LEAST), strict=True)
        )
    )
