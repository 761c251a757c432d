"""Max-rule decoding: the tree whose rules are most probably all right, taken one by one (Petrov & Klein 2007).

    best = argmax_tree ∏_{(a→b c,i,k,j) in tree} μ(a→b c,i,k,j)

Posteriors of rules sum over hidden states, which makes this the way to get one tree out of a latent grammar.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_LEAST = 1e-12


@dataclass(frozen=True)
class MaxRule:
    """Greatest product of the posteriors of rules.

    >>> import latentgram as lg
    >>> grammar = lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting())
    >>> lg.Parser(grammar, decoder=MaxRule()).parse("The dog sleeps .").tree.words
    ('The', 'dog', 'sleeps', '.')
    """

    def gains(
        self,
        items: NDArray[np.float64],
        edges: NDArray[np.float64],
        leaves: int,
        intermediate: NDArray[np.bool_],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What each item and each edge adds to the objective, from their posteriors.

        The first `leaves` items are over words; `intermediate` are those that binarisation put in.
        """
        gain = np.zeros_like(items)
        gain[:leaves] = np.log(np.maximum(np.abs(items[:leaves]), _LEAST))
        return gain, np.log(np.maximum(np.abs(edges), _LEAST))
