"""Lists of records as columns: what many Python objects hold, in a few arrays.

    [Parse(tree, logprob, confidence…), …]  ⇄  forest, logprob[n], (confidence end to end, lengths[n]), …

A column is made by what its values are: numbers become one array, arrays and tuples of numbers are laid end to
end, words become numbers in an alphabet, trees a `Forest`, records columns of their fields; what is none of these,
or mixed, stays a list. Sentences and trees shrink to about a third of their pickles.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Generic, Protocol, TypeGuard, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.forest import Forest
from latentgram.data.tree import Tree

Value = TypeVar("Value")
Value_co = TypeVar("Value_co", covariant=True)
Array = NDArray[np.generic]


class Column(Protocol[Value_co]):
    """Values of one kind."""

    def values(self) -> Sequence[Value_co]:
        """The values, as they were."""


Seen = dict[tuple[int, ...], Column[object]]
"""The columns made before, by the identities of their values."""


def column_of(values: Sequence[Value], seen: Seen | None = None) -> Column[Value]:
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
    return cast(Column[Value], known[these])


def _made_column(values: Sequence[object], seen: Seen) -> Column[object]:
    if values and all(value is values[0] for value in values):
        return Same(values[0], len(values))
    kinds = {type(value) for value in values}
    kind = kinds.pop() if len(kinds) == 1 else object
    if kind in _NUMBERS:
        return Numbers(np.array(values, _NUMBERS[kind]))
    if _are(values, kind, Tree):
        return Trees(Forest.of(values))
    if _are(values, kind, tuple):
        return _column_of_tuples(values, seen)
    if _are(values, kind, np.ndarray) and len({(each.dtype, each.ndim) for each in values}) == 1 == values[0].ndim:
        return Arrays(_lengths(values, seen), np.concatenate(values))
    if dataclasses.is_dataclass(kind) and kind.__reduce__ is object.__reduce__:
        names = [field.name for field in dataclasses.fields(kind)]
        return Records(kind, tuple(column_of([getattr(value, name) for value in values], seen) for name in names))
    return Plain(list(values))


_NUMBERS: dict[type, type[np.generic]] = {float: np.float64, bool: np.bool_, int: np.int64}


def _are(values: Sequence[object], kind: type, wanted: type[Value]) -> TypeGuard[Sequence[Value]]:
    """Whether values are of a wanted class, by the class that they all have."""
    return kind is wanted


def _column_of_tuples(values: Sequence[tuple[object, ...]], seen: Seen) -> Column[object]:
    flat = list(chain.from_iterable(values))
    kinds = {type(value) for value in flat}
    kind = kinds.pop() if len(kinds) == 1 else object
    if _are(flat, kind, str):
        words = Alphabet(tuple(dict.fromkeys(flat)))
        return Tuples(_lengths(values, seen), Words(words, words.encode(flat)))
    if kind in (int, bool):
        return Tuples(_lengths(values, seen), Numbers(np.array(flat)))
    widths = {len(value) for value in values}
    if len(widths) == 1 and widths != {0}:
        return Records(tuple, tuple(column_of(part, seen) for part in zip(*values, strict=True)))
    return Plain(list(values))


def _lengths(values: Sequence[Array] | Sequence[tuple[object, ...]], seen: Seen) -> Column[int]:
    return column_of([len(value) for value in values], seen)  # small numbers are the same objects everywhere


def _cuts(lengths: Column[int]) -> Iterator[tuple[int, int]]:
    """Where runs of these lengths begin and end."""
    return pairwise(accumulate(lengths.values(), initial=0))


@dataclass(frozen=True, eq=False)
class Numbers:
    """Python numbers."""

    array: Array

    def values(self) -> list[object]:
        """The numbers."""
        return list(self.array.tolist())


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
class Arrays:
    """Arrays, end to end in one."""

    lengths: Column[int]
    array: Array

    def values(self) -> list[Array]:
        """The arrays."""
        return [self.array[begin:end].copy() for begin, end in _cuts(self.lengths)]


@dataclass(frozen=True, eq=False)
class Tuples:
    """Tuples, cut from a column that has them end to end."""

    lengths: Column[int]
    parts: Column[object]

    def values(self) -> list[tuple[object, ...]]:
        """The tuples."""
        flat = self.parts.values()
        return [tuple(flat[begin:end]) for begin, end in _cuts(self.lengths)]


@dataclass(frozen=True, eq=False)
class Records:
    """Records of one class, or tuples of one length."""

    kind: type
    fields: tuple[Column[object], ...]

    def values(self) -> list[object]:
        """The records, made without their checks, which they have passed."""
        rows = zip(*(field.values() for field in self.fields), strict=True)
        return list(rows) if self.kind is tuple else [record(self.kind, *row) for row in rows]


def record(kind: type[Value], *values: object) -> Value:
    """A record of these fields, made without its checks."""
    assert dataclasses.is_dataclass(kind)
    made = object.__new__(kind)
    for field, value in zip(dataclasses.fields(kind), values, strict=True):
        object.__setattr__(made, field.name, value)
    return made


@dataclass(frozen=True, eq=False)
class Same(Generic[Value]):
    """One value, many times."""

    value: Value
    number: int

    def values(self) -> list[Value]:
        """The value, again and again."""
        return [self.value] * self.number


@dataclass(frozen=True, eq=False)
class Plain(Generic[Value]):
    """Anything."""

    held: list[Value]

    def values(self) -> list[Value]:
        """The list itself."""
        return self.held
