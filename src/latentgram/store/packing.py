"""Lossless compression of arrays: differences, byte planes, zlib.

Offsets and sorted numbers differ little from their neighbours, so integers are also tried as differences along the
first axis (modulo 2^bits, so they can always be added up again). The first bytes of all entries, then the second
ones and so on form planes, of which the upper ones hardly change. Arrays that do not become smaller in this way
are stored unchanged. Packing and unpacking cost O(bytes).
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]
Bytes = NDArray[np.uint8]

LEAST = 256
"""Arrays of fewer bytes are left as they are."""
WORTHWHILE = 0.9
"""An array is packed if that takes at most this share of its bytes."""
LEVEL = 6
PIECE = 1 << 14
"""Bytes unpacked at once."""
_MOST = 1100
"""zlib makes no array smaller than by this factor: what claims to be is no array."""


@dataclass(frozen=True)
class Packed:
    """The bytes of an array, and what it takes to make it of them."""

    data: Bytes
    type: str
    shape: tuple[int, ...]
    differences: bool

    @classmethod
    def of(cls, array: Array) -> Packed | None:
        """The array packed, or None if that is not worthwhile.

        >>> Packed.of(np.arange(1000)).data.size < 100
        True
        """
        if array.nbytes < LEAST:
            return None
        ways = [(_squeezed(array), False)]
        if array.dtype.kind in "iu" and array.ndim and array.dtype.itemsize > 1:
            ways.append((_squeezed(np.diff(array, axis=0, prepend=np.zeros_like(array[:1]))), True))
        data, differences = min(ways, key=lambda way: len(way[0]))
        if len(data) > WORTHWHILE * array.nbytes:
            return None
        return cls(np.frombuffer(data, np.uint8), array.dtype.str, array.shape, differences)

    def array(self) -> Array:
        """The array; ValueError if the bytes are not those of one.

        >>> Packed.of(np.arange(1000) ** 2).array()[-1]
        np.int64(998001)
        """
        dtype, size = np.dtype(self.type), math.prod(self.shape)
        if size * dtype.itemsize > _MOST * max(self.data.size, 1) or min(self.shape, default=0) < 0:
            raise ValueError("an array is larger than its bytes can be")
        entries = np.empty((size, dtype.itemsize), np.uint8)
        filled = 0
        for part in self._unzipped():
            if filled + part.size > entries.size:
                raise ValueError("an array is smaller than its bytes are")
            while part.size:
                byte, first = divmod(filled, size)
                here = part[: size - first]
                entries[first : first + here.size, byte] = here
                filled, part = filled + here.size, part[here.size :]
        if filled < entries.size:
            raise ValueError("an array has too few bytes")
        array = entries.reshape(-1).view(dtype).reshape(self.shape)
        return np.cumsum(array, axis=0, dtype=dtype) if self.differences else array

    def _unzipped(self) -> Iterator[Bytes]:
        """The planes, one after the other, in parts that stay in the processor's cache."""
        opened = zlib.decompressobj()
        try:
            for begin in range(0, self.data.size, PIECE):
                yield np.frombuffer(opened.decompress(self.data[begin : begin + PIECE].data), np.uint8)
        except zlib.error as error:
            raise ValueError(f"an array cannot be unpacked: {error}") from None


def _squeezed(array: Array) -> bytes:
    """The byte planes of an array under zlib."""
    planes = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, array.dtype.itemsize).T
    return zlib.compress(np.ascontiguousarray(planes).tobytes(), LEVEL)
