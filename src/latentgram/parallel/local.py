"""The engines of one machine, and the sum over shards that every engine serves."""

from __future__ import annotations

import functools
import hashlib
import itertools
import operator
import os
import signal
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from latentgram.errors import LatentgramError, SettingError
from latentgram.numeric.threads import one_thread

Item = TypeVar("Item")
Result = TypeVar("Result")

_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in _LIBRARIES}
LOOK_AHEAD = 2
"""Items under way for each worker: one in work, one waiting, so that no worker starves."""
_IDLE_SECONDS = 60
_LATEST: list[Any] = []
"""The workers that are there now."""


class Engine(Protocol):
    """Where work runs."""

    @property
    def n_jobs(self) -> int:
        """How many workers there are."""

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Apply the function to each item, lazily, keeping the order."""


class InProcess:
    """Work in this process.

    >>> list(InProcess().map(len, ["a", "bc"]))
    [1, 2]
    """

    n_jobs = 1

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply the function to each item."""
        return (_pinned(function, item) for item in items)


class LocalProcesses:
    """Work in processes of this machine.

    Function, items and results travel as pickles (cloudpickle: closures are fine), the function once to each
    worker and call of `map`. Workers stay for a minute after the last work, so that the next `map` starts at once.
    What a worker raises is raised here as it is. Ctrl-C kills the workers.
    """

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply the function to each item, at most `2 · n_jobs` items ahead of the result last taken.

        Work under way is not cancelled when the results are no longer wanted: loky's manager fails if it finds a
        cancelled item while it ends the workers, and they then live on.
        """
        from joblib.externals.loky import get_reusable_executor
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        with _interrupts_held():
            executor = get_reusable_executor(
                self.n_jobs, timeout=_IDLE_SECONDS, env=ONE_THREAD, initializer=_ignore_interrupts
            )
        _LATEST[:] = [executor]
        pending: deque[Any] = deque()
        source = iter(items)

        def submit(item: Item) -> None:
            with _interrupts_held():
                pending.append(executor.submit(_call, token, path, item))
                _end_workers_at_exit()

        try:
            with _published(function) as (token, path):
                for item in itertools.islice(source, LOOK_AHEAD * self.n_jobs):
                    submit(item)
                while pending:
                    result = pending.popleft().result()
                    for item in itertools.islice(source, 1):
                        submit(item)
                    yield result
        except TerminatedWorkerError:
            raise LatentgramError(
                "a worker process was ended from outside, perhaps for want of memory; try a smaller n_jobs"
            ) from None
        except (KeyboardInterrupt, SystemExit):
            executor.shutdown(kill_workers=True)
            raise


@functools.cache
def _end_workers_at_exit() -> None:
    """See that a program which ends while workers are busy, as by Ctrl-C outside of `map`, does not wait for them.

    Called after the first work is submitted, when joblib has noted that it will wait at the end: of what is noted,
    the last is done first.
    """
    import threading

    def end() -> None:
        _LATEST[0].shutdown(kill_workers=True)

    threading._register_atexit(end)  # type: ignore[attr-defined]


def engine_for(n_jobs: int) -> Engine:
    """The engine for a number of local workers; -1 means one for each processor.

    >>> engine_for(1).n_jobs, engine_for(3).n_jobs
    (1, 3)
    """
    if n_jobs == -1:
        import joblib

        n_jobs = joblib.cpu_count()
    if n_jobs < 1:
        raise SettingError(f"n_jobs must be at least 1, or -1 for all processors, got {n_jobs}")
    return InProcess() if n_jobs == 1 else LocalProcesses(n_jobs)


def shards(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Runs of `size` items, the last one perhaps shorter.

    >>> list(shards("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    if size < 1:
        raise SettingError(f"the size of a shard must be at least 1, got {size}")
    source = iter(items)
    return iter(lambda: list(itertools.islice(source, size)), [])


def map_reduce(
    function: Callable[[Item], Result],
    parts: Iterable[Item],
    engine: Engine | None = None,
    *,
    add: Callable[[Result, Result], Result] = operator.add,
    start: Result | None = None,
    group: int = 1,
) -> Result:
    """The sum of a function over parts, added from left to right.

    `start` is what is added to, and the result when there are no parts. The sums of `group` parts each are made
    where the work is done, so that fewer results travel; it must come from the data, as what is rounded does.

    >>> map_reduce(sum, shards(range(10), 3)), map_reduce(sum, shards(range(10), 3), group=2)
    (45, 45)
    """
    where = engine or InProcess()
    results: Iterator[Result] = (
        where.map(function, parts) if group == 1 else where.map(_Sum(function, add), shards(parts, group))
    )
    if start is None:
        try:
            start = next(results)
        except StopIteration:
            raise LatentgramError("there is nothing to sum over: the data are empty") from None
    return functools.reduce(add, results, start)


@dataclass(frozen=True)
class _Sum:
    """The sum of a function over some parts; a class, so that workers can be sent it."""

    function: Callable[[Any], Any]
    add: Callable[[Any, Any], Any]

    def __call__(self, parts: list[Any]) -> Any:
        return functools.reduce(self.add, map(self.function, parts))


def _pinned(function: Callable[[Item], Result], item: Item) -> Result:
    with one_thread():
        return function(item)


@contextmanager
def _published(function: Callable[..., object]) -> Iterator[tuple[str, str]]:
    """The function as a file that workers read once: a model inside it is not sent with every item.

    Its name is a digest, so that workers who have the same function from an earlier `map` need not read it again.
    """
    import cloudpickle

    content = cloudpickle.dumps(function)
    with tempfile.TemporaryDirectory(prefix="latentgram-") as folder:
        path = os.path.join(folder, "function")
        with open(path, "wb") as file:
            file.write(content)
        yield hashlib.sha256(content).hexdigest(), path


_HELD: dict[str, Callable[[Any], Any]] = {}
"""In a worker: the function that was published last, by its digest."""


def _function(token: str, path: str) -> Callable[[Any], Any]:
    """In a worker: the published function, read when first needed."""
    import pickle

    if token not in _HELD:
        _HELD.clear()
        with open(path, "rb") as file:
            _HELD[token] = pickle.load(file)
    return _HELD[token]


def _call(token: str, path: str, item: Any) -> Any:
    """In a worker: one item."""
    return _pinned(_function(token, path), item)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits while workers start: they inherit the mask, so that none is struck before it can ignore it.

    The trackers of resources, loky's and Python's own, lift the mask when they start: they run before.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as worker_tracker

    worker_tracker.ensure_running()
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ignore_interrupts() -> None:
    """In a worker: Ctrl-C reaches the whole group of processes, but it is the parent who ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
