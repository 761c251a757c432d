"""Where a command works: the options `--n-jobs` and `--cluster`, and the engine they stand for."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from latentgram.errors import SettingError

if TYPE_CHECKING:
    from latentgram.parallel import Engine

NJobs = Annotated[int, typer.Option("--n-jobs", min=1, help="Worker processes.")]
ClusterAddress = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="Work on the Dask cluster with this scheduler (tcp://…)."),
]


@contextmanager
def engine_of(n_jobs: int, cluster: str | None) -> Iterator[Engine]:
    """The engine of the two options; the connection to a cluster ends with the context."""
    from latentgram.parallel import Cluster, engine_for

    if cluster is None:
        yield engine_for(n_jobs)
        return
    if n_jobs != 1:
        raise SettingError("take one of --n-jobs and --cluster: a cluster has the workers that it has")
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _say
        with Cluster(cluster) as engine:
            yield engine


def _say(message: Warning | str, *_: object, **__: object) -> None:
    """A warning as a line like any other."""
    from latentgram.cli.console import say

    say(f"latentgram: {message}")
