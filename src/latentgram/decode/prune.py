"""`Pruning`: how much of a chart a parser looks at."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass


@dataclass(frozen=True)
class Pruning:
    """Thresholds of coarse-to-fine parsing, as posteriors. See parser/cascade.py for the stages.

    >>> Pruning().none().floor
    0.0
    """

    floor: float = 3e-5
    """Least estimated posterior of an item while the coarse chart grows."""
    beam: float = 3e-4
    """The same, relative to the best item over the same words."""
    unseen_rigour: float = 10.0
    """How much more is asked, while the chart grows, of items that come about by unseen rules only."""
    coarse_threshold: float = 3e-4
    """Least posterior of an item under the one-state projection of the grammar."""
    coarse_edge_threshold: float = 1e-4
    """Least posterior of two neighbouring items becoming one, under the same."""
    threshold: float = 1e-3
    """Least size of the posterior of an edge under the small latent grammar."""
    small_states: int = 4
    """States of the small latent grammar."""
    precision: str = "float32"
    """Of the charts of latent grammars."""

    def loosened(self) -> Pruning:
        """For a sentence of which nothing was left: no floor while the chart grows, only the beam, so that no cell
        is empty; and thresholds a hundred times lower."""
        return dataclasses.replace(
            self,
            floor=0.0,
            coarse_threshold=self.coarse_threshold / 100,
            coarse_edge_threshold=self.coarse_edge_threshold / 100,
            threshold=self.threshold / 100,
        )

    def none(self) -> Pruning:
        """No pruning at all."""
        return dataclasses.replace(
            self, floor=0.0, beam=0.0, coarse_threshold=0.0, coarse_edge_threshold=0.0, threshold=0.0
        )
