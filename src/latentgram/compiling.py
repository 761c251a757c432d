"""How kernels are compiled: `njit`, what the compiler may do with numbers, functions whose meaning is a type's;
and what kernels everywhere need, arrays that grow.

`njit` is numba's, with a cache of its own (kernel_cache.py) and two forms of each kernel (kernel_dispatch.py).
`REORDER` lets the compiler add in any order and fuse a product with a sum, which vector instructions need;
infinity and NaN keep their meaning. `REORDER_AND_DIVIDE` also lets it multiply by a reciprocal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Literal, TypeVar, cast

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.extending import overload
from numpy.typing import NDArray

from latentgram.kernel_dispatch import InnerDispatcher, KernelDispatcher

REORDER = {"reassoc", "contract", "nsz"}
REORDER_AND_DIVIDE = REORDER | {"arcp"}

Function = Callable[..., Any]
Kernel = TypeVar("Kernel", bound=Callable[..., object])


def njit(
    *,
    inline: Literal["never", "always"] = "never",
    fastmath: bool | set[str] = False,
    error_model: Literal["python", "numpy"] = "python",
    borrows: bool = False,
) -> Callable[[Kernel], Dispatcher[Kernel]]:
    """A decorator that compiles a function when it is called, or takes what was compiled before.

    Compiled loops let go of the interpreter's lock: others go on, and the watch over signals can end a long one.

    A function that `borrows` makes no array and returns none, and calls only such functions: references to the
    arrays that it reads and writes are not counted, which would cost two atomic operations for each.
    """
    options = _options(inline, fastmath, error_model, borrows)

    def kernel_of(function: Kernel) -> Dispatcher[Kernel]:
        config: Any = numba.config
        if config.DISABLE_JIT:
            return cast("Dispatcher[Kernel]", function)
        return cast("Dispatcher[Kernel]", KernelDispatcher(function, {}, options))

    return kernel_of


def jitable(*, fastmath: bool | set[str] = False, borrows: bool = False) -> Callable[[Kernel], Kernel]:
    """A decorator of a function that only kernels call; to Python it stays the function it is.

    So the same steps can be taken uncompiled, where one beyond an array is an error. What the function calls must
    be known from what its file imports: it is stored (see kernel_cache.py) as long as those files are the same.
    """

    def known(function: Kernel) -> Kernel:
        config: Any = numba.config
        if not config.DISABLE_JIT:
            InnerDispatcher(function, {}, _options("never", fastmath, "python", borrows)).stand_for_function()
        return function

    return known


def _options(inline: str, fastmath: bool | set[str], error_model: str, borrows: bool) -> dict[str, Any]:
    """What numba calls the options of a target; all are said, so that none is a caller's."""
    return {
        "nopython": True,
        "nogil": True,
        "no_cfunc_wrapper": True,
        "boundscheck": None,
        "inline": inline,
        "fastmath": fastmath,
        "error_model": error_model,
        "_nrt": not borrows,
    }


_MEANINGS: dict[Function, dict[type, Function]] = {}


def depends_on_type(declared: Function) -> Function:
    """A function whose meanings `by_type` gives; uncompiled code finds them, too."""

    @wraps(declared)
    def look_up(first: Any, *others: Any) -> Any:
        return _MEANINGS[look_up][type(first)](first, *others)

    return look_up


def by_type(function: Function, meanings: Mapping[type, Function], fastmath: set[str] | None = None) -> None:
    """Give a function its meanings, by the type of its first argument, a named tuple.

    A compiled function that gets such arguments is specialised for them and, other than with closures over
    compiled functions, found in the cache on disk by the next process. May be called again for more types.
    """
    _MEANINGS.setdefault(function, {}).update(meanings)
    options: Any = {"fastmath": fastmath} if fastmath else {}

    def choose(first: Any, *others: Any) -> Function | None:
        return meanings.get(getattr(first, "instance_class", type(None)))

    overload(function, jit_options=options, strict=False)(choose)


@njit()
def grown(array: NDArray[Any], size: Any) -> NDArray[Any]:
    """The array, or a copy of at least twice its length when it cannot hold `size` entries."""
    if size <= array.shape[0]:
        return array
    larger = np.empty(max(size, 2 * array.shape[0]), array.dtype)
    for place in range(array.shape[0]):  # a loop: an assignment to a slice compiles ten times as long
        larger[place] = array[place]
    return larger
