"""`Marginals`: the posteriors of everything that may be in a tree, not only of what is in the best one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latentgram.arrays import Floats

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


def arc_marginals(arcs: Floats, roots: Floats) -> Marginals:
    """What the posteriors [head, modifier] of arcs and those of roots say."""
    posterior = np.clip(np.abs(np.vstack([roots, arcs])), 0.0, 1.0)
    return Marginals(
        arcs=tuple(
            (int(head), int(modifier) + 1, float(posterior[head, modifier]))
            for head, modifier in zip(*np.nonzero(posterior >= LEAST), strict=True)
        )
    )
