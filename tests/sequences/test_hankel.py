"""Hankel matrices against counting by definition, automata against the truth, completion against hidden cells."""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.text import Text
from latentgram.errors import DataError, SettingError
from latentgram.sequences.hankel import Of, completed, hankel
from latentgram.sequences.spectral import _prefixes
from latentgram.sequences.statistics import SequenceCounts

KINDS: tuple[Of, ...] = ("string", "prefix", "factor")


def drawn(strings: int, seed: int = 0) -> Text:
    """Strings of an automaton with two states that prefer a and b, or c."""
    return Text.of([string for string in truth().sample(strings + strings // 2, seed=seed) if string][:strings])


def truth() -> lg.OperatorAutomaton:
    step = {"a": [[0.4, 0.05], [0.1, 0.0]], "b": [[0.1, 0.05], [0.1, 0.1]], "c": [[0.0, 0.1], [0.1, 0.4]]}
    return lg.OperatorAutomaton.of("abc", start=[0.9, 0.1], stop=[0.2, 0.3], step=step)


def by_definition(text: Text, of: Of) -> Counter[tuple[str, ...]]:
    counts: Counter[tuple[str, ...]] = Counter()
    for sentence in text:
        words = sentence.words
        if of == "string":
            counts[words] += 1
        elif of == "prefix":
            counts.update(words[:end] for end in range(len(words) + 1))
        else:
            counts.update(words[i:j] for i in range(len(words) + 1) for j in range(i, len(words) + 1))
    return counts


def spelled(table: np.ndarray) -> list[tuple[str, ...]]:
    return [tuple("abc"[symbol] for symbol in row if symbol >= 0) for row in table.tolist()]


@pytest.mark.parametrize("of", KINDS)
@pytest.mark.parametrize("most", [0, 6])
def test_cells_are_counts_by_definition(of: Of, most: int) -> None:
    text = drawn(80)
    prefixes = _prefixes(text)
    matrix = hankel(prefixes, of, 2, 3, most)
    counts = by_definition(text, of)
    rows, columns = spelled(matrix.rows.symbols(prefixes, 2)), spelled(matrix.columns.symbols(prefixes, 3))
    assert rows[0] == columns[0] == ()
    assert len(set(rows)) == len(rows)
    assert len(set(columns)) == len(columns)
    assert all(len(strings) == most for strings in (rows, columns) if most)
    table = matrix.cells.toarray().reshape(4, len(rows), len(columns))
    for (i, row), (j, column) in product(enumerate(rows), enumerate(columns)):
        assert table[0, i, j] == counts[row + column]
        for a, symbol in enumerate("abc"):
            assert table[a + 1, i, j] == counts[(*row, symbol, *column)]
    # Closed: what a row begins with is a row, what a column ends in is a column (of factors both ways).
    assert {row[:-1] for row in rows} <= set(rows)
    assert of == "prefix" or {column[1:] for column in columns} <= set(columns)


@pytest.mark.parametrize("of", KINDS)
def test_automata_come_near_the_truth(of: Of) -> None:
    exact, strings = truth(), [" ".join(string) for size in (1, 2, 3) for string in product("abc", repeat=size)]
    wanted = np.array([exact.probability(string) for string in strings])
    wanted /= 1.0 - exact.probability([])
    errors = []
    for size in (500, 20_000):
        text = drawn(size)
        found = lg.fit(lg.OperatorAutomaton, text, by=lg.Spectral(states=3, hankel=of, history=2, future=2))
        errors.append(np.abs([found.probability(string) for string in strings] - wanted).sum())
    assert errors[1] < 0.6 * errors[0]
    assert errors[1] < 0.1


def test_completion_finds_what_was_hidden() -> None:
    """Strings of one symbol whose lengths are geometric: a matrix of rank one."""
    share = 0.5 ** np.arange(1, 12)
    counts = np.round(share * 2**14)
    lengths = np.arange(11)
    offset, symbols = np.concatenate([[0], np.cumsum(lengths)]), np.zeros(int(lengths.sum()), np.int64)
    full = SequenceCounts.of_flat(np.zeros(11, np.int64), offset, symbols, counts, n_sources=1, n_symbols=1)
    matrix = hankel(full, "string", 3, 3)
    dense = matrix.cells.toarray() / matrix.sequences
    hidden = np.isclose(dense, dense[1, 2])
    assert hidden.sum() > 1
    holed = replace(matrix, cells=type(matrix.cells)(np.where(hidden, 0.0, matrix.cells.toarray())))
    found = completed(full, holed, 1e-3)
    assert found[hidden] == pytest.approx(dense[hidden], rel=0.1)
    assert np.ptp(found[hidden]) < 1e-12
    assert found[~hidden] == pytest.approx(dense[~hidden], abs=0.01)
    # Much of it makes the matrix small.
    assert np.linalg.norm(completed(full, matrix, 0.5), "nuc") < np.linalg.norm(dense, "nuc")


def test_settings_that_do_not_fit() -> None:
    text = drawn(20)
    with pytest.raises(SettingError, match="hankel must be string, prefix or factor"):
        lg.fit(lg.OperatorAutomaton, text, by=lg.Spectral(states=2, completion=0.1))
    counts = lg.NGramCounts.of(text, order=3)
    with pytest.raises(DataError, match="counted from text"):
        lg.fit(lg.OperatorAutomaton, counts, by=lg.Spectral(states=2, hankel="factor"))
    found = lg.fit(lg.OperatorAutomaton, text, by=lg.Spectral(states=2, hankel="prefix", basis=5, completion=0.01))
    assert np.isfinite(found.total())
