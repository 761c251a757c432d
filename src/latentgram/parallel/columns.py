"""Lists of records as columns: what many Python objects hold, in a few arrays.

    [Parse(tree, logprob, confidence…), …]  ⇄  forest, logprob[n], (confidence end to end, lengths[n]), …

A column is made by what its values are: numbers become one array, arrays and tuples of numbers are laid end to
end, words become numbers in an alphabet, trees a `Forest`, records columns of their fields; what is none of these,
or mixed, stays a list. Sentences and trees shrink to about a third of their pickles.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.forest import Forest
from latentgram.data.tree import Tree


class Column(Protocol):
    """Values of one kind."""

    def values(self) -> list[Any]:
        """The values, as they were."""


def column_of(values: Sequence[Any], seen: dict[tuple[int, ...], Column] | None = None) -> Column:
    """The column of some values; `seen` are the columns made before, so that the same values travel once.

    >>> from latentgram.data.sentence import Sentence
    >>> column = column_of([Sentence.of("a rose"), Sentence.of("a rose is")])
    >>> column.values()[1].words
    ('a', 'rose', 'is')
    """
    known = {} if seen is None else seen
    these = tuple(map(id, values))
    if these not in known:
        known[these] = _made_column(values, known)
    return known[these]


def _made_column(values: Sequence[Any], seen: dict[tuple[int, ...], Column]) -> Column:
    if values and all(value is values[0] for value in values):
        return Same(values[0], len(values))
    kinds = {type(value) for value in values}
    kind = kinds.pop() if len(kinds) == 1 else object
    if kind in (float, bool, int):
        return Numbers(np.array(values, {float: np.float64, bool: np.bool_, int: np.int64}[kind]))
    if kind is Tree:
        return Trees(Forest.of(values))
    if kind is tuple:
        return _column_of_tuples(values, seen)
    if kind is np.ndarray and len({(value.dtype, value.ndim) for value in values}) == 1 and values[0].ndim == 1:
        return Runs(_lengths(values, seen), Arrays(np.concatenate(values)), False)
    if dataclasses.is_dataclass(kind) and kind.__reduce__ is object.__reduce__:
        names = [field.name for field in dataclasses.fields(kind)]
        return Records(kind, tuple(column_of([getattr(value, name) for value in values], seen) for name in names))
    return Plain(list(values))


def _column_of_tuples(values: Sequence[tuple[Any, ...]], seen: dict[tuple[int, ...], Column]) -> Column:
    flat = list(chain.from_iterable(values))
    kinds = {type(value) for value in flat}
    if kinds == {str}:
        words = Alphabet(tuple(dict.fromkeys(flat)))
        return Runs(_lengths(values, seen), Words(words, words.encode(flat)), True)
    if kinds in ({int}, {bool}):
        return Runs(_lengths(values, seen), Numbers(np.array(flat)), True)
    widths = {len(value) for value in values}
    if len(widths) == 1 and widths != {0}:
        return Records(tuple, tuple(column_of(part, seen) for part in zip(*values, strict=True)))
    return Plain(list(values))


def _lengths(values: Sequence[Any], seen: dict[tuple[int, ...], Column]) -> Column:
    return column_of([len(value) for value in values], seen)  # small numbers are the same objects everywhere


@dataclass(frozen=True, eq=False)
class Numbers:
    """Python numbers."""

    array: NDArray[Any]

    def values(self) -> list[Any]:
        """The numbers."""
        return list(self.array.tolist())


@dataclass(frozen=True, eq=False)
class Arrays:
    """The numbers of arrays, end to end."""

    array: NDArray[Any]

    def values(self) -> NDArray[Any]:
        """The whole, to be cut."""
        return self.array


@dataclass(frozen=True, eq=False)
class Words:
    """Words as numbers in an alphabet of their own."""

    alphabet: Alphabet
    number: NDArray[np.int32]

    def values(self) -> list[str]:
        """The words."""
        return self.alphabet.decode(self.number.tolist())


@dataclass(frozen=True, eq=False)
class Trees:
    """Constituency trees."""

    forest: Forest

    def values(self) -> list[Tree]:
        """The trees."""
        return list(self.forest)


@dataclass(frozen=True, eq=False)
class Runs:
    """Tuples or arrays, cut from a column that has them end to end."""

    lengths: Column
    parts: Any
    tuples: bool

    def values(self) -> list[Any]:
        """The tuples or arrays."""
        flat = self.parts.values()
        ends = list(accumulate(self.lengths.values()))
        runs = [flat[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
        return [tuple(run) for run in runs] if self.tuples else [run.copy() for run in runs]


@dataclass(frozen=True, eq=False)
class Records:
    """Records of one class, or tuples of one length."""

    kind: type
    fields: tuple[Any, ...]

    def values(self) -> list[Any]:
        """The records, made without their checks, which they have passed."""
        rows = zip(*(field.values() for field in self.fields), strict=True)
        if self.kind is tuple:
            return list(rows)
        return [record(self.kind, *row) for row in rows]


def record(kind: type, *values: object) -> Any:
    """A record of these fields, made without its checks."""
    made: Any = object.__new__(kind)
    for field, value in zip(dataclasses.fields(kind), values, strict=True):
        object.__setattr__(made, field.name, value)
    return made


@dataclass(frozen=True, eq=False)
class Same:
    """One value, many times."""

    value: Any
    number: int

    def values(self) -> list[Any]:
        """The value, again and again."""
        return [self.value] * self.number


@dataclass(frozen=True, eq=False)
class Plain:
    """Anything."""

    held: list[Any]

    def values(self) -> list[Any]:
        """The list itself."""
        return self.held
