"""What crosses a network: pickles whose arrays are as narrow as their values, and whose records hold only fields.

Integers in arrays here are mostly small (labels, rules, sizes of subtrees) but kept in 4 or 8 bytes for speed. On
the wire an array has the narrowest type that gives back the same bytes: one or two for most, and one for the ones
of indicators, which are whole numbers though they are stored as floats. What a record has derived from its fields
(`cached_property`) stays at home. Everything else is pickled as ever; closures are fine (cloudpickle). Packing
looks at each array once or twice, at about 1 GB/s.

Lists of records are sent as columns: what many Python objects hold, in a few arrays.

    [Parse(tree, logprob, confidence…), …]  ⇄  forest, logprob[n], (confidence end to end, lengths[n]), …

A column is made by what its values are: numbers become one array, arrays and tuples of numbers are laid end to
end, words become numbers in an alphabet, trees a `Forest`, records columns of their fields; what is none of these,
or mixed, stays a list. Sentences and trees shrink to about a third of their pickles. A column is a function that
gives the values back, with what it needs (`functools.partial`), so that it can be pickled.
"""

from __future__ import annotations

import dataclasses
import io
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import TypeGuard, TypeVar, cast

import cloudpickle
import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.forest import Forest
from latentgram.data.tree import Tree

Value = TypeVar("Value")
Array = NDArray[np.generic]
Column = Callable[[], Sequence[Value]]
Seen = dict[tuple[int, ...], Column[object]]
"""The columns made before, by the identities of their values."""

_NUMBERS: dict[type, type[np.generic]] = {float: np.float64, bool: np.bool_, int: np.int64}
_NARROW = (np.int8, np.uint8, np.int16, np.uint16, np.int32)
_LEAST_SIZE = 16
"""Arrays of fewer numbers are not worth a second look."""


def pack(value: object) -> bytes:
    """Bytes that `unpack` makes the same value of.

    >>> numbers = np.arange(100)
    >>> len(pickle.dumps(numbers)) > 800, len(pack(numbers)) < 300, unpack(pack(numbers)).dtype
    (True, True, dtype('int64'))
    """
    file = io.BytesIO()
    sent = _Listed(column_of(value)) if isinstance(value, list) and type(value) is list and value else value
    _Packer(file, protocol=pickle.HIGHEST_PROTOCOL).dump(sent)
    return file.getvalue()


def unpack(packed: bytes) -> object:
    """The value that was packed."""
    value = pickle.loads(packed)
    return value.column() if type(value) is _Listed else value


@dataclass(frozen=True, eq=False)
class _Listed:
    """A list, as the column of its values."""

    column: Column[object]


class _Packer(cloudpickle.Pickler):  # type: ignore[misc]
    """Pickles arrays and records in the form of the wire."""

    def reducer_override(self, value: object) -> object:
        if type(value) is np.ndarray:
            narrow = _narrowed(value)
            if narrow is not None and narrow.size == 1:
                return _filled, (value.shape, narrow.item(), value.dtype.str)
            if narrow is not None:
                return _widened, (narrow, value.dtype.str)
        elif dataclasses.is_dataclass(value) and not isinstance(value, type) and _is_record(type(value)):
            held = value.__dict__
            return record, (type(value), *(held[field.name] for field in dataclasses.fields(value)))
        return super().reducer_override(value)


def _is_record(kind: type) -> bool:
    """Whether instances of a dataclass are their fields, and no class of theirs says otherwise."""
    plain = all(getattr(kind, name) is getattr(object, name) for name in ("__reduce__", "__getstate__"))
    return plain and "__slots__" not in kind.__dict__


def _narrowed(array: Array) -> Array | None:
    """The array in the narrowest type that keeps its numbers to the last bit; None if that is its own.

    If they are all equal, one of them.
    """
    kind, width = array.dtype.kind, array.dtype.itemsize
    if array.size < _LEAST_SIZE or kind not in "iuf":
        return None
    if kind == "f" and not _whole(array.ravel("K")[:_LEAST_SIZE]):
        return None  # most floats are fractions, and show it at once
    low, high = array.min(), array.max()
    if low == high and array.flags.c_contiguous and (kind != "f" or _whole(array)):
        return array.ravel("K")[:1]
    for narrow in _NARROW:
        limits = np.iinfo(narrow)
        if limits.bits < 8 * width and limits.min <= low and high <= limits.max:
            return array.astype(narrow) if kind != "f" or _whole(array) else None
    return None


def _whole(array: Array) -> bool:
    """Whether floats are whole numbers, zeros without a sign."""
    return bool(np.all(np.trunc(array) == array) and not np.any(np.signbit(array) & (array == 0)))


def _filled(shape: tuple[int, ...], number: float, dtype: str) -> Array:
    return np.full(shape, number, dtype)


def _widened(narrow: Array, dtype: str) -> Array:
    return narrow.astype(dtype)


def column_of(values: Sequence[Value], seen: Seen | None = None) -> Column[Value]:
    """The column of some values; `seen` are the columns made before, so that the same values travel once.

    >>> from latentgram.data.sentence import Sentence
    >>> column = column_of([Sentence.of("a rose"), Sentence.of("a rose is")])
    >>> column()[1].words
    ('a', 'rose', 'is')
    """
    known = {} if seen is None else seen
    these = tuple(map(id, values))
    if these not in known:
        known[these] = _made_column(values, known)
    return cast(Column[Value], known[these])


def _made_column(values: Sequence[object], seen: Seen) -> Column[object]:
    if values and all(value is values[0] for value in values):
        return partial(_repeated, values[0], len(values))
    kind = _kind(values)
    if kind in _NUMBERS:
        return partial(_numbers, np.array(values, _NUMBERS[kind]))
    if _are(values, kind, Tree):
        return partial(list, Forest.of(values))
    if _are(values, kind, tuple):
        return _column_of_tuples(values, seen)
    if _are(values, kind, np.ndarray) and len({(each.dtype, each.ndim) for each in values}) == 1 == values[0].ndim:
        return partial(_arrays, _lengths(values, seen), np.concatenate(values))
    if dataclasses.is_dataclass(kind) and kind.__reduce__ is object.__reduce__:
        fields = ([getattr(value, field.name) for value in values] for field in dataclasses.fields(kind))
        return partial(_records, kind, [column_of(field, seen) for field in fields])
    return partial(list, list(values))


def _column_of_tuples(values: Sequence[tuple[object, ...]], seen: Seen) -> Column[object]:
    flat = list(chain.from_iterable(values))
    kind = _kind(flat)
    if _are(flat, kind, str):
        words = Alphabet(tuple(dict.fromkeys(flat)))
        return partial(_tuples, _lengths(values, seen), partial(_words, words, words.encode(flat)))
    if kind in (int, bool):
        return partial(_tuples, _lengths(values, seen), partial(_numbers, np.array(flat)))
    widths = {len(value) for value in values}
    if len(widths) == 1 and widths != {0}:
        return partial(_rows, [column_of(part, seen) for part in zip(*values, strict=True)])
    return partial(list, list(values))


def _kind(values: Sequence[object]) -> type:
    """The class that all values have, or `object`."""
    kinds = {type(value) for value in values}
    return kinds.pop() if len(kinds) == 1 else object


def _are(values: Sequence[object], kind: type, wanted: type[Value]) -> TypeGuard[Sequence[Value]]:
    """Whether values of a class are of the wanted one."""
    return kind is wanted


def _lengths(values: Sequence[Array] | Sequence[tuple[object, ...]], seen: Seen) -> Column[int]:
    return column_of([len(value) for value in values], seen)  # small numbers are the same objects everywhere


def _repeated(value: Value, number: int) -> list[Value]:
    return [value] * number


def _numbers(array: Array) -> list[object]:
    return list(array.tolist())


def _words(alphabet: Alphabet, number: NDArray[np.int32]) -> list[str]:
    return alphabet.decode(number.tolist())


def _arrays(lengths: Column[int], array: Array) -> list[Array]:
    return [array[begin:end].copy() for begin, end in _cuts(lengths)]


def _tuples(lengths: Column[int], parts: Column[Value]) -> list[tuple[Value, ...]]:
    flat = parts()
    return [tuple(flat[begin:end]) for begin, end in _cuts(lengths)]


def _cuts(lengths: Column[int]) -> Iterator[tuple[int, int]]:
    """Where runs of these lengths begin and end."""
    return pairwise(accumulate(lengths(), initial=0))


def _rows(columns: Sequence[Column[object]]) -> list[tuple[object, ...]]:
    return list(zip(*(column() for column in columns), strict=True))


def _records(kind: type[Value], columns: Sequence[Column[object]]) -> list[Value]:
    return [record(kind, *row) for row in _rows(columns)]


def record(kind: type[Value], *values: object) -> Value:
    """A record of these fields, made without its checks, which it has passed."""
    assert dataclasses.is_dataclass(kind)
    made = object.__new__(kind)
    for field, value in zip(dataclasses.fields(kind), values, strict=True):
        object.__setattr__(made, field.name, value)
    return made
