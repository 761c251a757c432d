"""What the compiler may do with floating-point numbers, and functions whose meaning depends on a type.

`REORDER` lets it add in any order and fuse a product with a sum, which vector instructions need; infinity and NaN
keep their meaning. `REORDER_AND_DIVIDE` also lets it multiply by a reciprocal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from numba.extending import overload

REORDER = {"reassoc", "contract", "nsz"}
REORDER_AND_DIVIDE = REORDER | {"arcp"}

Function = Callable[..., Any]


def by_type(function: Function, meanings: Mapping[type, Function], fastmath: set[str] | None = None) -> None:
    """Give a function its meanings in compiled code, by the type of its first argument, a named tuple.

    A compiled function that gets such arguments is specialised for them and, other than with closures over
    compiled functions, found in the cache on disk by the next process. May be called again for more types.
    """
    options: Any = {"fastmath": fastmath} if fastmath else {}

    def choose(first: Any, *others: Any) -> Function | None:
        return meanings.get(getattr(first, "instance_class", type(None)))

    overload(function, jit_options=options, strict=False)(choose)
