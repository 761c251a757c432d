"""`Alphabet`: a fixed table of symbols and the numbers that represent them in arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat

import numpy as np

from latentgram.arrays import Ints32

ABSENT = -1
"""The number of a symbol that is not in the alphabet."""


@dataclass(frozen=True)
class Alphabet:
    """Symbols numbered from 0 in the order given.

    >>> tags = Alphabet.of(["NN", "DT", "NN"])
    >>> tags.symbols, tags.index("NN"), tags.index("VB"), "DT" in tags
    (('DT', 'NN'), 1, -1, True)
    >>> tags.encode(["NN", "VB"])
    array([ 1, -1], dtype=int32)
    """

    symbols: tuple[str, ...]

    @classmethod
    def of(cls, symbols: Iterable[str]) -> Alphabet:
        """The distinct symbols, sorted, so that the order of the data does not matter."""
        return cls(tuple(sorted(set(symbols))))

    @cached_property
    def _index(self) -> dict[str, int]:
        return {symbol: i for i, symbol in enumerate(self.symbols)}

    def index(self, symbol: str) -> int:
        """The number of a symbol, or `ABSENT`."""
        return self._index.get(symbol, ABSENT)

    def encode(self, symbols: Iterable[str]) -> Ints32:
        """The numbers of these symbols."""
        return np.fromiter(map(self._index.get, symbols, repeat(ABSENT)), np.int32)

    def decode(self, numbers: Iterable[int]) -> list[str]:
        """The symbols with these numbers."""
        # Numbers of an array are taken out of it all at once: one by one that costs ten times as much.
        return [self.symbols[i] for i in (numbers.tolist() if isinstance(numbers, np.ndarray) else numbers)]

    def __len__(self) -> int:
        return len(self.symbols)

    def __getitem__(self, number: int) -> str:
        return self.symbols[number]

    def __iter__(self) -> Iterator[str]:
        return iter(self.symbols)

    def __contains__(self, symbol: object) -> bool:
        return symbol in self._index

    def __repr__(self) -> str:
        shown = ", ".join(self.symbols[:4]) + (", …" if len(self) > 4 else "")
        return f"Alphabet({len(self)}: {shown})"
