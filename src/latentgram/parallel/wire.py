"""What crosses a network: pickles whose arrays are as narrow as their values, and whose records hold only fields.

Integers in arrays here are mostly small (labels, rules, sizes of subtrees) but kept in 4 or 8 bytes for speed. On
the wire an array has the narrowest type that gives back the same bytes: one or two for most, and one for the ones
of indicators, which are whole numbers though they are stored as floats. What a record has derived from its fields
(`cached_property`) stays at home. A list of records is sent as columns (columns.py). Everything else is pickled as
ever; closures are fine (cloudpickle).

Packing looks at each array once or twice, at about 1 GB/s.
"""

from __future__ import annotations

import dataclasses
import io
import pickle
from dataclasses import dataclass

import cloudpickle
import numpy as np

from latentgram.parallel.columns import Array, Column, column_of, record

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
    return value.column.values() if type(value) is _Listed else value


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
