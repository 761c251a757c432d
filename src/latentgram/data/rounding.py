"""How the numbers of a field may be rounded in a compact file, stated beside the field.

    rule_tensor: Annotated[Floats, RoundedLogs(0.1, rule_rows)]

Storage asks for these statements and for nothing else (store/rounding.py has the arithmetic): a class whose fields
say nothing is stored to the last bit.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from latentgram.arrays import Floats, Ints


class Rows(NamedTuple):
    """How an array is cut into rows, and which of its numbers are summed.

    Piece k of the array is `times[k]` rows of `size[k]` numbers. The sums are numbered: those of piece k begin at
    `sum_of[k]` and go on with every row, or with every number of a row if `along_rows`.
    """

    times: Ints
    size: Ints
    sum_of: Ints
    along_rows: bool = False


@dataclass(frozen=True)
class RoundedLogs:
    """Numbers that are products: the logarithm of each is rounded, against that of the greatest of its row.

    The sums that `rows` tells are kept: if no number is negative they are, after reading, what they were.
    """

    step: float
    """In bits."""
    rows: Callable[..., Rows]
    """The rows, from the other fields of the object."""
    single: bool = False
    """Whether what is read is in single precision: it has fewer digits by far, and takes half the memory."""
    made: Callable[..., Floats | None] = lambda _: None
    """The numbers as they follow from other fields of the object, which are then stored in place of them; None
    where they do not."""


@dataclass(frozen=True)
class RoundedSteps:
    """Numbers that are added, as weights: each is rounded to a multiple of a step."""

    step: float


Rounding = RoundedLogs | RoundedSteps


@lru_cache
def roundings_of(cls: type) -> dict[str, Rounding]:
    """What the fields of a class say of it.

    >>> import latentgram as lg
    >>> sorted(roundings_of(lg.LPCFG))
    ['lexicon_vector', 'rule_tensor']
    """
    hints = typing.get_type_hints(cls, include_extras=True)
    stated = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
    return {name: said for name, all_said in stated.items() for said in all_said if isinstance(said, Rounding)}
