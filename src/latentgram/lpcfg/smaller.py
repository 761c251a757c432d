"""Grammars made smaller: with fewer states per symbol.

Every symbol's states are mapped by two matrices, `down` (k × m) for inside vectors and `up` (m × k) for outside
vectors, so that the smaller grammar has

    t′(a→b c) = down_a · t(a→b c)(up_b, up_c),   q′(a→x) = down_a · q(a→x),   π′(a) = π(a) · up_a.

The coordinates of a spectral grammar are singular vectors, strongest first: keeping the first k of them gives the
very grammar that would have been learned with k states. The states of a grammar of probabilities are merged into k
groups of states that are alike in what they rewrite to (Ward's criterion on the square roots of their rule
probabilities); a group rewrites as its states do on average, weighted by how often they occur, and is reached as
often as all of them together (Petrov & Klein 2007).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from latentgram.arrays import Floats, Integers, Ints, Ints32
from latentgram.lpcfg.model import LPCFG, Layout
from latentgram.numeric.ward import ward_groups

Maps = list[tuple[Floats, Floats]]
"""`down` and `up` of each symbol."""


def truncated(grammar: LPCFG, states: Integers) -> LPCFG:
    """The spectral grammar that keeps only the leading `states[s]` coordinates of each symbol s.

    Moments are taken coordinate by coordinate, so this is the grammar that would have been learned with fewer
    states.
    """
    fewer = np.minimum(grammar.states, states).astype(np.int32)

    def cut(values: Floats, offset: Ints, symbols: Ints32) -> Floats:
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
    offset = Layout.of(grammar.rules, grammar.lexicon, fewer)
    return replace(
        grammar.whole,
        states=fewer,
        rule_offset=offset.rules,
        rule_tensor=cut(grammar.double_tensor, grammar.rule_offset, grammar.rules),
        lexicon_offset=offset.lexicon,
        lexicon_vector=cut(grammar.lexicon_vector, grammar.lexicon_offset, grammar.lexicon[:, :1]),
        root_offset=offset.symbols,
        root_vector=cut(grammar.root_vector, grammar.root_offset, everyone),
        mean_inside=cut(grammar.mean_inside, grammar.root_offset, everyone),
        mean_outside=cut(grammar.mean_outside, grammar.root_offset, everyone),
    )


def smaller(grammar: LPCFG, states: int) -> LPCFG:
    """The grammar with at most `states` states per symbol: one pass over the tensors."""
    maps = _merge(grammar, states) if grammar.nonnegative else _truncate(grammar, states)
    few = np.array([down.shape[0] for down, _ in maps], np.int32)
    rule_size = np.prod(few[grammar.rules].astype(np.int64), axis=1)
    rule_offset = np.append(0, np.cumsum(rule_size))
    rule_tensor = np.empty(rule_offset[-1])
    for number, (parent, left, right) in enumerate(grammar.rules.tolist()):
        part = (maps[parent][0] @ grammar.tensor(number).reshape(grammar.states[parent], -1)).reshape(
            few[parent], grammar.states[left], grammar.states[right]
        )
        part = maps[left][1].T @ (part @ maps[right][1])
        rule_tensor[rule_offset[number] : rule_offset[number + 1]] = part.ravel()
    every = np.arange(len(few))
    downs, ups = [down for down, _ in maps], [up.T for _, up in maps]
    lexicon_vector, lexicon_offset = _mapped(
        grammar.lexicon_vector, grammar.lexicon_offset, grammar.lexicon[:, 0], downs
    )
    root_vector, root_offset = _mapped(grammar.root_vector, grammar.root_offset, every, ups)
    return replace(
        grammar.whole,
        states=few,
        rule_offset=rule_offset,
        rule_tensor=rule_tensor,
        lexicon_offset=lexicon_offset,
        lexicon_vector=lexicon_vector,
        root_offset=root_offset,
        root_vector=root_vector,
        mean_inside=_mapped(grammar.mean_inside, grammar.root_offset, every, downs)[0],
        mean_outside=_mapped(grammar.mean_outside, grammar.root_offset, every, ups)[0],
    )


def _by_symbol(offset: Ints, symbols: Integers) -> Iterator[tuple[int, Ints, Ints]]:
    """The flat vectors of each symbol that has some: it, their numbers, and where they stand [vectors, m]."""
    order = np.argsort(symbols, kind="stable")
    first = np.flatnonzero(np.diff(symbols[order], prepend=-1))
    for numbers in np.split(order, first[1:]):
        begin = offset[numbers]
        size = int(offset[numbers[0] + 1] - begin[0])
        yield int(symbols[numbers[0]]), numbers, begin[:, None] + np.arange(size)


def _mapped(flat: Floats, offset: Ints, symbols: Integers, matrices: list[Floats]) -> tuple[Floats, Ints]:
    """Every flat vector, mapped by the matrix of its symbol."""
    sizes = np.array([matrix.shape[0] for matrix in matrices], np.int64)
    new_offset = np.append(0, np.cumsum(sizes[symbols]))
    result = np.empty(new_offset[-1])
    for symbol, numbers, places in _by_symbol(offset, symbols):
        here = new_offset[numbers][:, None] + np.arange(sizes[symbol])
        result[here] = flat[places] @ matrices[symbol].T
    return result, new_offset


def _truncate(grammar: LPCFG, states: int) -> Maps:
    """Keep the first coordinates."""
    return [(np.eye(min(states, m), m), np.eye(m, min(states, m))) for m in grammar.states.tolist()]


def _merge(grammar: LPCFG, states: int) -> Maps:
    """Merge states that rewrite alike."""
    group = [np.arange(m) for m in grammar.states.tolist()]
    distances = _distances(grammar)
    for m in np.unique(grammar.states[grammar.states > states]).tolist():
        symbols = np.flatnonzero(grammar.states == m).tolist()
        found = ward_groups(np.stack([distances[symbol] for symbol in symbols]), states)
        for symbol, groups in zip(symbols, found, strict=True):
            group[symbol] = groups
    maps = []
    for symbol, groups in enumerate(group):
        weight = grammar.mean_outside[grammar.root_offset[symbol] : grammar.root_offset[symbol + 1]] + 1e-12
        member = np.equal.outer(np.unique(groups), groups).astype(np.float64)
        maps.append((member * weight / (member @ weight)[:, None], member.T.copy()))
    return maps


def _distances(grammar: LPCFG) -> list[Floats]:
    """The squared distances between the states of each symbol: of the roots of what they rewrite to."""
    totals = [
        grammar.tensor(number).reshape(grammar.states[parent], -1).sum(1)
        for number, parent in enumerate(grammar.rules[:, 0].tolist())
    ]
    rule_totals = np.concatenate([np.zeros(0), *totals])
    rule_offset = np.append(0, np.cumsum(grammar.states[grammar.rules[:, 0]], dtype=np.int64))
    distances = [np.zeros((m, m)) for m in grammar.states.tolist()]
    for flat, offset, symbols in (
        (rule_totals, rule_offset, grammar.rules[:, 0]),
        (grammar.lexicon_vector, grammar.lexicon_offset, grammar.lexicon[:, 0]),
    ):
        for symbol, _, places in _by_symbol(offset, symbols):
            alike = np.sqrt(np.maximum(flat[places], 0.0))
            product = alike.T @ alike
            length = product.diagonal()
            distances[symbol] += np.maximum(length[:, None] + length - 2 * product, 0.0)
    return distances
