"""One map-reduce over shards. This is the one place that knows where work runs.

An engine maps a function over items and yields the results in the order of the items, so a fold over them is the
same sum in the same order whatever the number of workers. Three more things make results equal to the last bit:
shard boundaries depend on the data only (`shards`), never on the workers; every call runs with one thread in each
BLAS that is loaded before it, in workers and in this process alike (threadpoolctl; workers also start with
OMP_NUM_THREADS and similar variables and NUMBA_NUM_THREADS set to 1); and no state passes from one call to the
next.

An engine reads at most a few items ahead of the requested result, so streams do not pile up in memory.
There are three engines: `InProcess`, `LocalProcesses` (this machine) and `Cluster` (any Dask cluster). Compiled
work on data in memory goes to threads if the engine is local (`within`, `across`, `compiled`).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from latentgram.parallel.local import (
    Engine,
    InProcess,
    Kept,
    LocalProcesses,
    Threads,
    across,
    beside,
    compiled,
    engine_for,
    for_each,
    map_reduce,
    one_thread,
    pieces,
    run_pieces,
    shards,
    within,
)

if TYPE_CHECKING:
    from latentgram.parallel.cluster import Cluster

__all__ = [
    "Cluster",
    "Engine",
    "InProcess",
    "Kept",
    "LocalProcesses",
    "Threads",
    "across",
    "beside",
    "compiled",
    "engine_for",
    "for_each",
    "map_reduce",
    "one_thread",
    "pieces",
    "run_pieces",
    "shards",
    "within",
]


def __getattr__(name: str) -> object:
    """Load the engine of clusters, which needs Dask, on first use."""
    if name != "Cluster":
        raise AttributeError(f"module 'latentgram.parallel' has no attribute {name!r}")
    cluster = importlib.import_module("latentgram.parallel.cluster").Cluster
    globals()[name] = cluster
    return cast(object, cluster)
