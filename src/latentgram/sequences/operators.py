"""Spectral estimation of operator automata from counted prefixes (000 §3, with longer strings and a ridge).

For every source (an automaton to learn) let φ(p) mark the suffixes of length 1 … `history` of a prefix p, START
in front, and ψ(s) the beginnings of length 1 … `future` of what follows it, STOP at the end, each divided by the
`power` of its count. With sums over all ways to cut all sequences of the source into p and s,

    H = Σ ψ(s) φ(p)ᵀ ≈ U Σ Vᵀ,     W = (Uᵀ H)⁺                                        (P = U(Uᵀ P), §3.2)
    start = Uᵀ E[ψ(x)],   stop = Σ_{s empty} Wᵀ φ(p),   A_a = Σ_{s = a s'} Uᵀ ψ(s') φ(p)ᵀ W         (11–13)

START and STOP are folded into `start` and `stop`, as footnote 6 means (printed as operators they are zero,
since neither is ever in the middle of a trigram). `history = future = 1` without scaling and ridge is the
paper's Algorithm 1. Scaling by count^(−1/4) gives the cells of H noise of about the same size, 1; the ridge,
σ/(σ² + ridge²) for 1/σ in W, is in that unit.

One decomposition a source; all else is one pass over the V prefixes: O(V n²).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latentgram.numeric.svd import truncated_svd
from latentgram.numeric.threads import one_thread

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BOUNDARY = 1
"""The digit of START and STOP in the key of a string; symbol a has the digit a + 2."""


class Prefixes(Protocol):
    """The distinct prefixes of sequences by source: `latentgram.sequences.statistics.SequenceCounts` is one."""

    @property
    def n_sources(self) -> int:
        """The number of automata to learn."""

    @property
    def n_symbols(self) -> int:
        """The number of symbols."""

    @property
    def parent(self) -> NDArray[np.int32]:
        """Every prefix without its last symbol; −1 for empty ones."""

    @property
    def symbol(self) -> NDArray[np.int32]:
        """The last symbol of every prefix."""

    @property
    def stops(self) -> Floats:
        """How many sequences are equal to the prefix."""

    @property
    def source(self) -> NDArray[np.int32]:
        """The source of every prefix."""

    @property
    def passes(self) -> Floats:
        """How many sequences begin with the prefix."""


@dataclass(frozen=True)
class Operators:
    """Operator automata of all sources, padded with zeros to the same number of states n.

    `start`, `stop` [sources, n]; `pairs` [K] = source · n_symbols + symbol, sorted, of `operators` [K, n, n];
    `values` [sources, n] the singular values.
    """

    start: Floats
    stop: Floats
    pairs: Ints
    operators: Floats
    values: Floats


def spectral_operators(
    prefixes: Prefixes,
    states: int,
    *,
    history: int = 3,
    future: int = 3,
    power: float = 0.25,
    ridge: float = 4.0,
    each: Callable[[Callable[[int], None], Iterable[int]], Iterable[None]] = map,
) -> Operators:
    """Learn one automaton a source, with at most `states` states each; `each` maps over the sources."""
    past, past_begin = _features(prefixes, *_histories(prefixes, history))
    next_, next_begin = _features(prefixes, *_futures(prefixes, future))
    past = past @ _powers(past.T @ prefixes.passes, -power)
    next_ = next_ @ _powers(np.asarray(next_.sum(0)), -power)
    cross = (next_.T @ past).tocsr()
    states = min(states, max(1, int(np.minimum(np.diff(next_begin), np.diff(past_begin)).max(initial=0))))
    to_state = np.zeros((cross.shape[0], states))
    from_past = np.zeros((cross.shape[1], states))
    values = np.zeros((prefixes.n_sources, states))

    def decompose(source: int) -> None:
        rows = slice(next_begin[source], next_begin[source + 1])
        columns = slice(past_begin[source], past_begin[source + 1])
        if rows.start == rows.stop:
            return
        found = truncated_svd(cross[rows, columns], states)
        rank = len(found.values)
        to_state[rows, :rank] = found.left
        from_past[columns, :rank] = found.right * (found.values / (found.values**2 + ridge**2))
        values[source, :rank] = found.values

    with one_thread():
        for _ in each(decompose, np.argsort(-np.diff(next_begin), kind="stable").tolist()):
            pass
    after = next_ @ to_state
    before = past @ from_past
    sources = np.arange(prefixes.n_sources)
    start = after[sources] / np.maximum(prefixes.passes[sources], 1.0)[:, None]
    stop = np.zeros_like(start)
    np.add.at(stop, prefixes.source, prefixes.stops[:, None] * before)
    pairs, operators = _operators(prefixes, after, before)
    return Operators(start, stop, pairs, operators, values)


def _operators(prefixes: Prefixes, after: Floats, before: Floats) -> tuple[Ints, Floats]:
    """A_a, the sum of outer products over the prefixes that end in a (Eq. 13)."""
    nodes = np.arange(prefixes.n_sources, len(prefixes.parent))
    keys = prefixes.source[nodes].astype(np.int64) * prefixes.n_symbols + prefixes.symbol[nodes]
    order = np.argsort(keys, kind="stable")
    nodes, keys = nodes[order], keys[order]
    pairs, first = np.unique(keys, return_index=True)
    operators = np.empty((len(pairs), after.shape[1], after.shape[1]))
    for place, (begin, end) in enumerate(pairwise([*first, len(nodes)])):
        group = nodes[begin:end]
        operators[place] = after[group].T @ before[prefixes.parent[group]]
    return pairs, operators


def _ancestors(prefixes: Prefixes, longest: int) -> list[tuple[Ints, Ints, Ints]]:
    """For m = 0 … longest: the nodes of depth ≥ m, their m-th ancestors, and the keys of the strings between."""
    base = prefixes.n_symbols + 2
    node = np.arange(len(prefixes.parent))
    above, key, unit = node, np.zeros(len(node), np.int64), 1
    found = [(node, above, key)]
    for _ in range(longest):
        inner = prefixes.parent[above] >= 0
        node, above, key = node[inner], above[inner], key[inner]
        key = key + unit * (prefixes.symbol[above].astype(np.int64) + 2)
        above = prefixes.parent[above].astype(np.int64)
        unit *= base
        found.append((node, above, key))
    return found


def _histories(prefixes: Prefixes, longest: int) -> tuple[Ints, Ints, Floats]:
    """(node, key, 1) of the suffixes of every prefix; START in front counts as a symbol."""
    base = prefixes.n_symbols + 2
    nodes, keys = [], []
    for m, (node, above, key) in enumerate(_ancestors(prefixes, longest)):
        if m > 0:
            nodes.append(node)
            keys.append(key)
        if m < longest:
            whole = prefixes.parent[above] < 0
            nodes.append(node[whole])
            keys.append(key[whole] + BOUNDARY * base**m)
    node, key = np.concatenate(nodes), np.concatenate(keys)
    return node, key, np.ones(len(node))


def _futures(prefixes: Prefixes, longest: int) -> tuple[Ints, Ints, Floats]:
    """(node, key, count) of the beginnings of what follows every prefix; STOP at the end counts as a symbol."""
    base = prefixes.n_symbols + 2
    nodes, keys, counts = [], [], []
    for m, (node, above, key) in enumerate(_ancestors(prefixes, longest)):
        if m > 0:
            nodes.append(above)
            keys.append(key)
            counts.append(prefixes.passes[node])
        if m < longest:
            ends = prefixes.stops[node] > 0
            nodes.append(above[ends])
            keys.append(key[ends] * base + BOUNDARY)
            counts.append(prefixes.stops[node[ends]])
    return np.concatenate(nodes), np.concatenate(keys), np.concatenate(counts)


def _features(prefixes: Prefixes, node: Ints, key: Ints, count: Floats) -> tuple[Any, Ints]:
    """A sparse matrix [V, features], features numbered source by source, and where each source begins."""
    source = prefixes.source[node].astype(np.int64)
    span = int(key.max()) + 1
    distinct, column = np.unique(source * span + key, return_inverse=True)
    begin = np.searchsorted(distinct, np.arange(prefixes.n_sources + 1) * span)
    shape = (len(prefixes.parent), len(distinct))
    return scipy.sparse.csr_array((count, (node, column)), shape=shape), begin


def _powers(counts: Floats, power: float) -> Any:
    return scipy.sparse.diags_array(np.asarray(counts, np.float64) ** power)
