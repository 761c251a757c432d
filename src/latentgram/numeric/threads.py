"""How many threads linear algebra may use.

Matrices here are small: waiting for threads costs more than they bring, and results must not depend on how many
there are. threadpoolctl is loaded on first use, so that the command line starts without it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread in each library of linear algebra while the block runs."""
    with _libraries(len(sys.modules)).limit(limits=1):
        yield


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """The loaded libraries; looking for them takes longer than many a decomposition: once after new imports."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
