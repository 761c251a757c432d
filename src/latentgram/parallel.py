"""One map-reduce over shards. This is the one place that knows where work runs.

An engine maps a function over items and yields the results in the order of the items, so a fold over them is
the same sum in the same order whatever the number of workers: results are equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Engine(Protocol):
    """Where work runs."""

    n_jobs: int

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Apply the function to each item, lazily, keeping the order."""


class InProcess:
    """Work in this process."""

    n_jobs = 1

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply the function to each item."""
        return map(function, items)


def engine_for(n_jobs: int) -> Engine:
    """The engine for a number of local workers."""
    if n_jobs == 1:
        return InProcess()
    raise NotImplementedError
