"""How the numbers of grammars lie in flat arrays, and how to cut a grammar down to fewer states."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from latentgram.lpcfg.model import LPCFG

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def layout(sizes: NDArray[np.integer]) -> Ints:
    """Where each of some consecutive pieces begins: [pieces + 1].

    >>> layout(np.array([2, 0, 3]))
    array([0, 2, 2, 5])
    """
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes.astype(np.int64))))


def rule_layout(rules: NDArray[np.int32], states: NDArray[np.integer]) -> Ints:
    """Where the tensor of each rule begins: [R+1]."""
    return layout(np.prod(states[rules].astype(np.int64), axis=1))


def truncated(grammar: LPCFG, states: NDArray[np.integer]) -> LPCFG:
    """The spectral grammar that keeps only the leading `states[s]` coordinates of each symbol s.

    Moments are taken coordinate by coordinate, so this is the grammar that would have been learned with fewer
    states.
    """
    fewer = np.minimum(grammar.states, states).astype(np.int32)

    def cut(values: Floats, offset: Ints, symbols: NDArray[np.int32]) -> Floats:
        """The leading coordinates of pieces that belong to tuples of symbols [pieces, axes]."""
        within = np.arange(offset[-1]) - np.repeat(offset[:-1], np.diff(offset))
        piece = np.repeat(np.arange(len(symbols)), np.diff(offset))
        kept = np.ones(len(values), bool)
        for axis in range(symbols.shape[1] - 1, -1, -1):
            owner = symbols[piece, axis]
            within, coordinate = np.divmod(within, grammar.states[owner])
            kept &= coordinate < fewer[owner]
        return values[kept]

    everyone = np.arange(len(fewer), dtype=np.int32)[:, None]
    preterminal = grammar.lexicon[:, :1]
    return dataclasses.replace(
        grammar,
        states=fewer,
        rule_offset=rule_layout(grammar.rules, fewer),
        rule_tensor=cut(grammar.rule_tensor, grammar.rule_offset, grammar.rules),
        lexicon_offset=layout(fewer[preterminal[:, 0]]),
        lexicon_vector=cut(grammar.lexicon_vector, grammar.lexicon_offset, preterminal),
        root_offset=layout(fewer),
        root_vector=cut(grammar.root_vector, grammar.root_offset, everyone),
        mean_inside=cut(grammar.mean_inside, grammar.root_offset, everyone),
        mean_outside=cut(grammar.mean_outside, grammar.root_offset, everyone),
    )
