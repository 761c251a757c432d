"""Operator automata from Hankel matrices of strings, prefixes or factors, and their completion.

A Hankel matrix has a row for each string u of a basis, a column for each string v, and H[u, v] = g(uv), where g is

    string   the share of sequences that are uv                    f(uv)
    prefix   the share of those that begin with uv                 Σ_y f(uvy)
    factor   how often uv stands in a sequence on average          Σ_{x,y} f(x uv y)

Its rank is the number of states of the smallest automaton of g. With H_a[u, v] = g(uav), H ≈ U Σ Vᵀ, ε the empty
string and W = Σ/(Σ² + ridge²) (Hsu, Kakade and Zhang 2009; Balle et al. 2014),

    start = Vᵀ H[ε, ·],   A_aᵀ = W Uᵀ H_a V,   stop = W Uᵀ H[·, ε].

That is an automaton of g; with A = Σ_a A_a, the one of f has (I − A)ᵀ stop in place of stop for prefixes, and for
factors (I − A) start too. Rows and columns are the most frequent strings: a part of a string is at least as
frequent, so the basis is closed under prefixes or suffixes. Rows and columns are divided by a `power` of their
sums first.

*Completion* (Balle and Mohri 2012). Strings that were not seen are not zeros but unknown. Among all g on the
strings of the matrix, take the one that makes

    ½ Σ_{x seen} (g(x) − ĝ(x))² + τ ‖H_g‖_*

least, the sum of the singular values of H_g with all its rows u and ua; τ is given as a share of the largest one.
By alternating directions: singular values are pulled towards zero, cells of one string are averaged.
O(rows · columns²) per round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array, diags_array

from latentgram.arrays import Floats, Ints
from latentgram.data.alphabet import Alphabet
from latentgram.data.text import Text
from latentgram.errors import DataError, RankError, SettingError
from latentgram.numeric.svd import truncated_svd
from latentgram.parallel import one_thread
from latentgram.sequences.automaton import OperatorAutomaton
from latentgram.sequences.statistics import SequenceCounts, ancestors

Of = Literal["string", "prefix", "factor"]
ROUNDS = 300
"""Most rounds of completion."""
MOST_CELLS = 4_000_000
"""Cells of a matrix that is completed: it is dense."""
STILL = 1e-7
"""Completion ends when no cell moves by more than this share of the largest."""


@dataclass(frozen=True)
class Basis:
    """Strings: the last `size` symbols of the path to a `node` of the trie of all prefixes."""

    node: Ints
    size: Ints

    def symbols(self, prefixes: SequenceCounts, longest: int) -> Ints:
        """[strings, longest] their symbols at the right, -1 before them."""
        table = np.full((len(self.node), longest), -1, np.int64)
        node = self.node.copy()
        for place in range(longest):
            inside = place < self.size
            table[inside, longest - 1 - place] = prefixes.symbol[node[inside]]
            node[inside] = prefixes.parent[node[inside]]
        return table


@dataclass(frozen=True)
class Hankel:
    """The matrix and its shifts, one under the other: rows u, then rows ua for each symbol a."""

    rows: Basis
    columns: Basis
    cells: csr_array
    """[(1 + symbols) · rows, columns] counts."""
    sequences: float

    def block(self, symbol: int) -> slice:
        """The rows of H (-1) or of the shift by a symbol."""
        size = len(self.rows.node)
        return slice((symbol + 1) * size, (symbol + 2) * size)


def hankel(prefixes: SequenceCounts, of: Of, history: int, future: int, most: int = 0) -> Hankel:
    """Count a matrix with rows of up to `history` symbols and columns of up to `future`, `most` of each or all."""
    weight = prefixes.stops if of == "string" else prefixes.passes
    place, rows = _row_places(prefixes, of, history, most)
    endings = ancestors(prefixes, future)
    numbers, columns = _chosen(endings, weight, most)
    size, parts = len(rows.node), []
    for (node, above, _), column in zip(endings, numbers, strict=True):
        here = (column >= 0) & (weight[node] > 0)
        node, above, column = node[here], above[here], column[here]
        for row_of in place:
            plain = row_of[above] >= 0
            parts.append((row_of[above[plain]], column[plain], weight[node[plain]]))
            before = prefixes.parent[above].astype(np.int64)
            shifted = (before >= 0) & (row_of[before] >= 0)
            block = (prefixes.symbol[above[shifted]].astype(np.int64) + 1) * size
            parts.append((block + row_of[before[shifted]], column[shifted], weight[node[shifted]]))
    row, column, count = (np.concatenate(group) for group in zip(*parts, strict=True))
    shape = ((1 + prefixes.n_symbols) * size, len(columns.node))
    return Hankel(rows, columns, csr_array((count, (row, column)), shape=shape), float(prefixes.passes[0]))


def _row_places(prefixes: SequenceCounts, of: Of, history: int, most: int) -> tuple[list[Ints], Basis]:
    """For each way in which a prefix may be or end in a row, the row of each prefix or -1; and the rows."""
    groups = ancestors(prefixes, history)
    if of != "factor":
        wholes = [prefixes.parent[above] < 0 for _, above, _ in groups]
        groups = [
            (node[whole], above[whole], key[whole])
            for (node, above, key), whole in zip(groups, wholes, strict=True)
        ]
    numbers, rows = _chosen(groups, prefixes.passes, most)
    places = []
    for (node, _, _), number in zip(groups, numbers, strict=True):
        place = np.full(len(prefixes.parent), -1, np.int64)
        place[node] = number
        places.append(place)
    return places, rows


def _chosen(groups: list[tuple[Ints, Ints, Ints]], weight: Floats, most: int) -> tuple[list[Ints], Basis]:
    """The number of each string among the most frequent ones, or -1; the empty string is number 0."""
    first_node, length, times, numbers, size = [], [], [], [], 0
    for symbols, (node, _, key) in enumerate(groups):
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        times.append(np.bincount(number, weight[node], minlength=len(first)))
        first_node.append(node[first])
        length.append(np.full(len(first), symbols))
        numbers.append(size + number)
        size += len(first)
    total, sizes = np.concatenate(times), np.concatenate(length)
    order = np.lexsort((np.arange(size), sizes, -total, sizes > 0))
    order = order[total[order] > 0] if total[0] > 0 else np.append(0, order[1:][total[order[1:]] > 0])
    order = order[:most] if most else order
    place = np.full(size, -1, np.int64)
    place[order] = np.arange(len(order))
    return [place[number] for number in numbers], Basis(np.concatenate(first_node)[order], sizes[order])


def from_hankel(
    text: Text, prefixes: SequenceCounts, of: Of, *,
    states: int, history: int, future: int, most: int = 0, power: float = 0.0, ridge: float = 0.0,
    completion: float = 0.0,
) -> OperatorAutomaton:  # fmt: skip
    """The automaton of a text by the Hankel matrix of its strings, prefixes or factors."""
    if not len(text):
        raise DataError("there are no sentences to learn from")
    matrix = hankel(prefixes, of, history, future, most)
    cells = csr_array(
        completed(prefixes, matrix, completion) if completion else matrix.cells * (1 / matrix.sequences)
    )
    whole = csr_array(cells[matrix.block(-1)])
    of_row, of_column = np.abs(whole @ np.ones(whole.shape[1])), np.abs(whole.T @ np.ones(whole.shape[0]))
    by_row, by_column = (np.maximum(sums, 1e-12) ** -power for sums in (of_row, of_column))
    svd = truncated_svd(csr_array(diags_array(by_row) @ whole @ diags_array(by_column)), states)
    if not len(svd.values):
        raise RankError("the Hankel matrix is zero: there are no data to learn from")
    right = svd.right * by_column[:, None]
    left = svd.left * (svd.values / (svd.values**2 + ridge**2)) * by_row[:, None]
    # Row 0 and column 0 are those of the empty string.
    start = right.T @ (whole.T @ np.eye(1, whole.shape[0])[0])
    stop = left.T @ (whole @ np.eye(1, whole.shape[1])[0])
    step = np.zeros((prefixes.n_symbols, len(start), len(start)))
    with one_thread():
        for symbol in range(prefixes.n_symbols):
            step[symbol] = (left.T @ (cells[matrix.block(symbol)] @ right)).T
    every = np.eye(len(start)) - step.sum(0)
    if of != "string":
        stop = every.T @ stop
    if of == "factor":
        start = every @ start
    return OperatorAutomaton(Alphabet(text.words.symbols[1:]), start, stop, step)


def completed(prefixes: SequenceCounts, matrix: Hankel, strength: float) -> Floats:
    """[(1 + symbols) · rows, columns] the matrix of least cost; see the module's text."""
    height, width = matrix.cells.shape
    if height * width > MOST_CELLS:
        raise SettingError(
            f"a matrix of {height:,} × {width:,} cells is too large to be completed: choose a smaller basis"
        )
    number = _string_numbers(prefixes, matrix).ravel()
    seen = matrix.cells.toarray() / matrix.sequences
    known = np.zeros(int(number.max()) + 1)
    known[number] = seen.ravel()
    copies = np.bincount(number)
    there = known > 0
    value, dual = known.copy(), np.zeros((height, width))
    with one_thread():
        largest = float(np.linalg.norm(seen, 2))
        for _ in range(ROUNDS):
            left, values, right = np.linalg.svd(value[number].reshape(height, width) + dual, full_matrices=False)
            low = (left * np.maximum(values - strength * largest, 0.0)) @ right
            # The least of ½ [seen] (g − ĝ)² + ½ Σ_cells (g − low + dual)².
            fresh = (known + np.bincount(number, (low - dual).ravel())) / (there + copies)
            dual += fresh[number].reshape(height, width) - low
            moved = float(np.abs(fresh - value).max())
            value = fresh
            if moved <= STILL * largest:
                break
    return value[number].reshape(height, width)


def _string_numbers(prefixes: SequenceCounts, matrix: Hankel) -> Ints:
    """[(1 + symbols) · rows, columns] a number for the string of each cell; equal strings have equal numbers."""
    rows, columns = matrix.rows, matrix.columns
    before, after = int(rows.size.max(initial=0)), int(columns.size.max(initial=0))
    heads, tails = rows.symbols(prefixes, before), columns.symbols(prefixes, after)
    # Rows ua: their symbols one place to the left, and a behind them.
    table = np.full((1 + prefixes.n_symbols, len(heads), before + 1), -1, np.int64)
    table[0, :, 1:] = heads
    table[1:, :, :-1] = heads
    table[1:, :, -1] = np.arange(prefixes.n_symbols)[:, None]
    flat = table.reshape(-1, before + 1)
    strings = np.full((len(flat), len(tails), before + 1 + after), -1, np.int64)
    for size in np.unique(columns.size).tolist():
        # A row moves to the left by as many places as the column has symbols, so that all end at the right.
        chosen = np.flatnonzero(columns.size == size)
        end = strings.shape[2] - size
        strings[:, chosen, end - before - 1 : end] = flat[:, None, :]
        strings[:, chosen, end:] = tails[chosen, after - size :]
    _, number = np.unique(strings.reshape(-1, strings.shape[2]), axis=0, return_inverse=True)
    return np.asarray(number, np.int64).reshape(len(flat), len(tails))
