"""What the fields of a model may hold: their types and the invariants of their arrays, and what checks them.

    start: Annotated[Ints, shape("len(words) + 1"), offsets("tag")]
    tag: Annotated[NDArray[np.int32], shape(ANY), below("len(tags)")]

Compiled loops trust these arrays: an index out of range would read foreign memory. Learners create them correctly,
and the contents of a file are trusted only after `check`: one pass over each array, using its smallest and largest
entries and comparing neighbours, O(size) in all. A string in an invariant is an expression over the fields and
properties of the same object; invariants are checked in the order of the fields, so that later ones can rely on
earlier ones.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

ANY = "any"
"""A dimension that nothing is said of."""
Array = NDArray[np.float64]
"""An array of numbers, whatever their type is."""
Truth = Callable[..., bool]
"""Says of an object whether something holds of it."""

_FUNCTIONS = {"all": np.all, "diff": np.diff}
"""What expressions can call besides what is built in."""


class Broken(Exception):
    """An invariant that does not hold: the class, the field and what is wrong, as the end of a sentence."""


@typing.runtime_checkable
class Invariant(Protocol):
    """Something that must hold of a field."""

    def fault(self, value: object, owner: object) -> str | None:
        """What is wrong, or None."""


@dataclass(frozen=True)
class _Shape:
    dimensions: tuple[str | int, ...]

    def fault(self, value: object, owner: object) -> str | None:
        """Another number of axes, or another length of one."""
        wanted = [_number(each, owner) if each != ANY else None for each in self.dimensions]
        actual = _array(value).shape
        if len(actual) == len(wanted) and all(w in (None, a) for w, a in zip(wanted, actual, strict=True)):
            return None
        shown = ", ".join("any" if each is None else str(each) for each in wanted)
        return f"has the shape {list(actual)} in place of [{shown}]"


@dataclass(frozen=True)
class _Within:
    least: float | str
    below: float | str

    def fault(self, value: object, owner: object) -> str | None:
        """An entry out of the range."""
        array = _array(value)
        if not array.size:
            return None
        least, below = _number(self.least, owner), _number(self.below, owner)
        lowest, highest = _extremes(array)
        if lowest >= least and highest < below:  # which also fails where there is a nan
            return None
        wrong = lowest if not lowest >= least else highest
        return f"has the entry {wrong}, which is not {f'from {least} to {below}' if below < np.inf else 'allowed'}"


@dataclass(frozen=True)
class _Offsets:
    into: str
    sizes: str | None

    def fault(self, value: object, owner: object) -> str | None:
        """Not from 0 to the length of what they cut up, or falling, or in other steps than those said."""
        array, end = _array(value), _length(self.into, owner)
        if not array.size or array[0] != 0 or array[-1] != end:
            return f"does not lead from the beginning to the end of {self.into}"
        steps = np.diff(array)
        if array.size > 1 and steps.min() < 0:
            return "falls"
        if self.sizes is not None and not np.array_equal(steps, np.asarray(_evaluate(self.sizes, owner))):
            return f"does not fit the sizes of the pieces of {self.into}"
        return None


@dataclass(frozen=True)
class _Rising:
    columns: tuple[int, ...]
    rows: str | None
    strictly: bool

    def fault(self, value: object, owner: object) -> str | None:
        """Two neighbours out of order."""
        array = _array(value)
        if len(array) < 2:
            return None
        left, right = array[:-1], array[1:]
        if self.columns:
            fine = np.zeros(len(left), np.bool_)
            tied = np.ones(len(left), np.bool_)
            for column in self.columns:
                fine |= tied & (left[:, column] < right[:, column])
                tied &= left[:, column] == right[:, column]
            fine |= tied & (not self.strictly)
        else:
            fine = left < right if self.strictly else left <= right
        if self.rows is not None:
            starts = _array(_evaluate(self.rows, owner)).astype(np.int64, copy=False)  # offsets, so they rise
            fine[starts[np.searchsorted(starts, 1) : np.searchsorted(starts, len(array))] - 1] = True
        return None if fine.all() else "is not sorted"


@dataclass(frozen=True)
class _Earlier:
    first: str | int

    def fault(self, value: object, owner: object) -> str | None:
        """A row that refers to itself or to a later one, and so perhaps to one that refers back."""
        array, first = _array(value), int(_number(self.first, owner))
        if not 0 <= first <= len(array) or (first and _extremes(array[:first]) != (-1, -1)):
            return f"does not begin with {first} entries of -1"
        later = array[first:]
        if len(later) and (later.min() < 0 or (later >= np.arange(first, len(array))).any()):
            return "refers to rows that are not before its own"
        return None


@dataclass(frozen=True)
class _Holds:
    truth: str | Truth
    otherwise: str

    def fault(self, value: object, owner: object) -> str | None:
        """Whatever the words say."""
        fine = _evaluate(self.truth, owner) if isinstance(self.truth, str) else self.truth(owner)
        return None if fine else self.otherwise


def shape(*dimensions: str | int) -> Invariant:
    """An array with axes of these lengths."""
    return _Shape(dimensions)


def within(least: float | str, most: float | str) -> Invariant:
    """Numbers from `least` to just below `most`; also of a field that is one number."""
    return _Within(least, most)


def below(size: str | int, *, or_none: bool = False) -> Invariant:
    """Places in something of this size, counted from 0; -1 for no place if that is allowed."""
    return _Within(-1 if or_none else 0, size)


def offsets(into: str, sizes: str | None = None) -> Invariant:
    """Where the pieces of another field begin, and its end: from 0 to its length, never falling."""
    return _Offsets(into, sizes)


def rising(*columns: int, rows: str | None = None, strictly: bool = True) -> Invariant:
    """Sorted: by these columns, the first above all; within each of the rows that begin at `rows`."""
    return _Rising(columns, rows, strictly)


def earlier(first: str | int) -> Invariant:
    """Each row refers to an earlier one, the `first` ones to none (-1): so following references ends."""
    return _Earlier(first)


def holds(truth: str | Truth, otherwise: str) -> Invariant:
    """Whatever else must hold of the object, and what to say if it does not."""
    return _Holds(truth, otherwise)


_GREATEST = float(np.finfo(np.float64).max)
FINITE = _Within(-_GREATEST, float("inf"))
"""No nan and no infinity."""
COUNTS = _Within(0, 2**53)
"""How often something was seen: up to here sums are exact, so that shares of them are shares."""
NONNEGATIVE = _Within(0, float("inf"))
"""Finite, and not below 0."""


class Declared(NamedTuple):
    """What a class says of a field."""

    hint: object
    required: bool
    """Whether it has no default."""


@lru_cache
def declared_fields(cls: type) -> dict[str, Declared]:
    """The fields of a dataclass that it is made of."""
    hints, none = typing.get_type_hints(cls), dataclasses.MISSING
    return {
        field.name: Declared(hints[field.name], field.default is none and field.default_factory is none)
        for field in dataclasses.fields(cls)
        if field.init
    }


def misfit(value: object, hint: object) -> str | None:
    """What a value is and what the annotation of its field says, if these differ as far as that can be told.

    >>> misfit("two", int), misfit(2, int)
    ('of type str, not int', None)
    """
    return None if _fits(value, hint) else f"{_described(value)}, not {_spoken(hint)}"


def _fits(value: object, hint: object) -> bool:
    """Whether a value is what an annotation says, as far as that can be told."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in (typing.Any, object) or isinstance(hint, typing.TypeVar):
        return True
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, option) for option in arguments)
    if origin is typing.Literal:
        return value in arguments
    if origin is np.ndarray:
        (kind,) = typing.get_args(arguments[1]) or (object,)
        plain = isinstance(kind, type) and issubclass(kind, np.generic)
        return isinstance(value, np.ndarray) and (not plain or np.issubdtype(value.dtype, kind))
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            if arguments[0] is str:  # as alphabets are, which are long
                return all(issubclass(kind, str) for kind in set(map(type, value)))
            return all(_fits(item, arguments[0]) for item in value)
        return len(value) == len(arguments) and all(map(_fits, value, arguments))
    if origin is list:
        return isinstance(value, list) and all(_fits(item, arguments[0]) for item in value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(
            _fits(key, arguments[0]) and _fits(item, arguments[1]) for key, item in value.items()
        )
    if hint is float:
        return isinstance(value, int | float | np.floating | np.integer) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if hint is bool:
        return isinstance(value, bool | np.bool_)
    expected = origin or hint
    return not isinstance(expected, type) or isinstance(value, expected)


def _described(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    return "None" if value is None else f"of type {type(value).__name__}"


def _spoken(hint: object) -> str:
    """An annotation as people say it."""
    if typing.get_origin(hint) is np.ndarray:
        kinds = typing.get_args(typing.get_args(hint)[1])
        return f"an array of {getattr(kinds[0], '__name__', 'numbers') if kinds else 'numbers'}"
    return getattr(hint, "__name__", None) or str(hint)


def check(value: object) -> None:
    """Raise `Broken` if a dataclass breaks one of the invariants of its fields.

    >>> import latentgram as lg
    >>> words = lg.Alphabet(("</s>", "rose"))
    >>> check(lg.Text(words, np.array([0, 1, 0], np.int32)))
    >>> check(lg.Text(words, np.array([0, 5, 0], np.int32)))
    Traceback (most recent call last):
    latentgram.data.invariants.Broken: Text.tokens has the entry 5, which is not from 0 to 2
    """
    cls: type = type(value)
    for field, invariants in _stated(cls):
        content = getattr(value, field)
        if content is None:
            continue
        for invariant in invariants:
            try:
                fault = invariant.fault(content, value)
            except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
                fault = f"is invalid ({error})"
            if fault is not None:
                raise Broken(f"{cls.__name__}.{field} {fault}")


@lru_cache
def _stated(cls: type) -> tuple[tuple[str, tuple[Invariant, ...]], ...]:
    """The fields of a class with what is said of them; of an optional field it is said of what is there."""
    hints = typing.get_type_hints(cls, include_extras=True)
    named = ((field.name, hints[field.name]) for field in dataclasses.fields(cls))
    return tuple((name, stated) for name, hint in named if (stated := tuple(_invariants(hint))))


def _invariants(hint: object) -> Iterator[Invariant]:
    """What else is said of a field, as how it may be rounded, is for others."""
    for option in (hint, *typing.get_args(hint)):
        if typing.get_origin(option) is typing.Annotated:
            yield from (said for said in typing.get_args(option)[1:] if isinstance(said, Invariant))


class _Attributes(Mapping[str, object]):
    """The attributes of an object by name."""

    def __init__(self, owner: object) -> None:
        self._owner = owner

    def __getitem__(self, name: str) -> object:
        try:
            return getattr(self._owner, name)
        except AttributeError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


@lru_cache
def _compiled(expression: str) -> CodeType:
    return compile(expression, "<invariant>", "eval")


def _evaluate(expression: str, owner: object) -> object:
    """An expression of this library's own code: nothing of a file is ever evaluated."""
    return eval(_compiled(expression), dict(_FUNCTIONS), _Attributes(owner))


def _number(said: float | str, owner: object) -> float:
    return typing.cast(float, _evaluate(said, owner)) if isinstance(said, str) else said


def _length(said: str, owner: object) -> int:
    return len(typing.cast(typing.Sized, _evaluate(said, owner)))


def _array(value: object) -> Array:
    return typing.cast(Array, np.asarray(value))


def _extremes(array: Array) -> tuple[float, float]:
    """The least and the greatest entry as plain numbers; two nans if there is one."""
    if array.dtype == np.float16:  # which are slow to compare: as whole numbers their bits are not
        signed, plain = array.view(np.int16), array.view(np.uint16)
        highest = signed.max() if signed.max() >= 0 else signed.min()
        lowest = plain.max() if plain.max() >= 0x8000 else plain.min()  # bits below zero fall
        if max(int(highest), int(lowest) - 0x8000) >= 0x7C00:
            return float("nan"), float("nan")
        return lowest.view(np.float16).item(), highest.view(np.float16).item()
    return array.min().item(), array.max().item()
