"""`ArcRelations`: the relation of each arc of a tree, by a linear classifier on the arc and its surroundings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latentgram.arcs.hashed_weights import HashedWeights
from latentgram.arcs.kernels.relations import name_arcs
from latentgram.data.alphabet import Alphabet


@dataclass(frozen=True, eq=False)
class ArcRelations:
    """The names of relations and the weights of their features (see kernels/relations.py)."""

    names: Alphabet
    weights: HashedWeights

    def predict(self, symbols: NDArray[np.int32], heads: NDArray[np.integer]) -> tuple[str, ...]:
        """The relations of a tree; symbols [4, N + 2] with places for root and end, heads from 1, 0 the root."""
        if len(self.names) == 1:
            return self.names.symbols * len(heads)
        places = np.zeros(len(heads) + 2, np.int64)
        places[1:-1] = heads
        found = np.empty(len(heads), np.int64)
        name_arcs(symbols, places, found, self.weights.dense, len(self.names))
        return tuple(self.names.decode(found))
