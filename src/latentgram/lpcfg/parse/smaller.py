"""A smaller grammar that stands for a larger one: what a coarse-to-fine parser prunes with.

Every symbol's states are mapped by two matrices, `down` (k × m) for inside vectors and `up` (m × k) for outside
vectors, so that

    t′(a→b c) = down_a · t(a→b c)(up_b, up_c),   q′(a→x) = down_a · q(a→x),   π′(a) = π(a) · up_a.

- The coordinates of a spectral grammar are singular vectors, strongest first. Keeping the first k of them gives
  the very grammar that would have been learned with k states.
- The states of a grammar of probabilities are merged into k groups of states that are alike in what they rewrite
  to (Ward's criterion on the square roots of their rule probabilities). A group rewrites as its states do on
  average, weighted by how often they occur, and is reached as often as all of them together (Petrov & Klein
  2007).

Cost: one pass over the tensors.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from latentgram.lpcfg.model import LPCFG

Array = NDArray[np.float64]
Maps = list[tuple[Array, Array]]


def smaller(grammar: LPCFG, states: int) -> LPCFG | None:
    """The grammar with at most `states` states a symbol, or None if it has no more than that already."""
    if int(grammar.states.max(initial=0)) <= states:
        return None
    maps = _merge(grammar, states) if grammar.nonnegative else _truncate(grammar, states)
    few = np.array([down.shape[0] for down, _ in maps], np.int32)
    rule_size = np.prod(few[grammar.rules].astype(np.int64), axis=1)
    rule_offset = np.append(0, np.cumsum(rule_size))
    rule_tensor = np.empty(rule_offset[-1])
    for number, (parent, left, right) in enumerate(grammar.rules.tolist()):
        tensor = grammar.rule_tensor[grammar.rule_offset[number] : grammar.rule_offset[number + 1]]
        part = (maps[parent][0] @ tensor.reshape(grammar.states[parent], -1)).reshape(
            few[parent], grammar.states[left], grammar.states[right]
        )
        part = maps[left][1].T @ (part @ maps[right][1])
        rule_tensor[rule_offset[number] : rule_offset[number + 1]] = part.ravel()
    every = range(len(few))
    lexicon_vector, lexicon_offset = _map_vectors(
        grammar.lexicon_vector, grammar.lexicon_offset, [maps[symbol][0] for symbol in grammar.lexicon[:, 0]]
    )
    downs, ups = [maps[symbol][0] for symbol in every], [maps[symbol][1].T for symbol in every]
    root_vector, root_offset = _map_vectors(grammar.root_vector, grammar.root_offset, ups)
    return replace(
        grammar,
        states=few,
        rule_offset=rule_offset,
        rule_tensor=rule_tensor,
        lexicon_offset=lexicon_offset,
        lexicon_vector=lexicon_vector,
        root_offset=root_offset,
        root_vector=root_vector,
        mean_inside=_map_vectors(grammar.mean_inside, grammar.root_offset, downs)[0],
        mean_outside=_map_vectors(grammar.mean_outside, grammar.root_offset, ups)[0],
    )


def _map_vectors(flat: Array, offset: NDArray[np.int64], matrices: list[Array]) -> tuple[Array, NDArray[np.int64]]:
    parts = [
        matrix @ flat[begin:end] for matrix, begin, end in zip(matrices, offset[:-1], offset[1:], strict=True)
    ]
    return np.concatenate(parts), np.cumsum([0, *(part.size for part in parts)])


def _truncate(grammar: LPCFG, states: int) -> Maps:
    """Keep the first coordinates."""
    return [(np.eye(min(states, m), m), np.eye(m, min(states, m))) for m in grammar.states.tolist()]


def _merge(grammar: LPCFG, states: int) -> Maps:
    """Merge states that rewrite alike."""
    profile: list[list[Array]] = [[] for _ in grammar.states]
    for number, parent in enumerate(grammar.rules[:, 0].tolist()):
        tensor = grammar.rule_tensor[grammar.rule_offset[number] : grammar.rule_offset[number + 1]]
        profile[parent].append(tensor.reshape(grammar.states[parent], -1).sum(1))
    for number, symbol in enumerate(grammar.lexicon[:, 0].tolist()):
        profile[symbol].append(
            grammar.lexicon_vector[grammar.lexicon_offset[number] : grammar.lexicon_offset[number + 1]]
        )
    maps = []
    for symbol, m in enumerate(grammar.states.tolist()):
        weight = grammar.mean_outside[grammar.root_offset[symbol] : grammar.root_offset[symbol + 1]] + 1e-12
        group = np.arange(m)
        if m > states:
            alike = np.sqrt(np.maximum(np.stack(profile[symbol], 1), 0.0))
            group = fcluster(linkage(alike, "ward"), states, "maxclust") - 1
        member = np.equal.outer(np.unique(group), group).astype(np.float64)
        maps.append((member * weight / (member @ weight)[:, None], member.T.copy()))
    return maps
