"""Threads for compiled work on what lies in memory.

Compiled kernels (compiling.py), BLAS and LAPACK let go of the interpreter's lock, so threads run them side by side
on arrays that nobody has to send. Pieces of work write to places of their own or are summed in order: results do
not depend on the number of threads. The threads are daemons: Ctrl-C ends the process at once, though they work.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from latentgram.interrupt import take
from latentgram.numeric.threads import one_thread
from latentgram.parallel.local import Engine, InProcess, LocalProcesses, attempt, in_order

Item = TypeVar("Item")
Result = TypeVar("Result")
Numbers = NDArray[np.integer] | NDArray[np.floating]

PIECES = 32
"""Into how many pieces work is cut: enough to keep some threads busy to the end, few enough to cost nothing."""


class Threads:
    """Work in threads of this process, each on one core.

    >>> list(Threads(2).map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply the function to each item, keeping the order."""
        listed = list(items)
        if len(listed) == 1:
            yield from InProcess().map(function, listed)
            return
        with one_thread():
            yield from in_order(lambda: function, self.n_jobs, listed, len(listed))


def across(engine: Engine) -> Engine:
    """Where whole shards go: to the workers of a cluster; on one machine they stay in this process."""
    return InProcess() if _is_local(engine) else engine


def within(engine: Engine) -> Engine:
    """Who does compiled work on what lies in this process: threads, as many as a local engine has workers."""
    return Threads(engine.n_jobs) if _is_local(engine) and engine.n_jobs > 1 else InProcess()


def for_each(
    engine: Engine,
    make: Callable[[int], Item],
    function: Callable[[Item], Result],
    use: Callable[[int, Result], object],
    keys: Sequence[int],
) -> Iterator[int]:
    """Make an item of every key, apply the function, and use the result; yields the keys as they are done.

    Threads do all three; to a cluster the items travel from here, and the results are used here.
    """

    def work(key: int) -> int:
        use(key, function(make(key)))
        return key

    if _is_local(engine):
        yield from within(engine).map(work, keys)
        return
    for key, result in zip(keys, engine.map(function, map(make, keys)), strict=True):
        use(key, result)
        yield key


def beside(engine: Engine, function: Callable[[], Result]) -> Callable[[], Result]:
    """Begin some work beside what follows, where the engine has threads; call what is returned, once, to get it.

    >>> beside(LocalProcesses(2), lambda: 6 * 7)()
    42
    """
    if within(engine).n_jobs == 1:
        return function
    finished: queue.SimpleQueue[Callable[[], Result]] = queue.SimpleQueue()
    threading.Thread(target=lambda: finished.put(attempt(function)), daemon=True).start()
    return lambda: take(finished)()


def compiled(engine: Engine) -> Engine:
    """Where compiled work goes whose items can travel: to the workers of a cluster, else to threads."""
    return within(engine) if _is_local(engine) else engine


def _is_local(engine: Engine) -> bool:
    return isinstance(engine, InProcess | LocalProcesses | Threads)


def pieces(cost: Numbers, least: float = 0.0) -> list[tuple[int, int]]:
    """Ranges [first, last) over items with these costs, of about equal cost each, not less than `least`.

    >>> pieces(np.ones(100))[:3], pieces(np.ones(100), least=50)
    ([(0, 4), (4, 7), (7, 10)], [(0, 50), (50, 100)])
    >>> pieces(np.array([]))
    []
    """
    ends = np.cumsum(np.asarray(cost, np.float64) + 1e-9)
    if not len(ends):
        return []
    number = PIECES if least <= 0 else int(np.clip(ends[-1] / least, 1, PIECES))
    shares = np.arange(1, number) * (ends[-1] / number)
    cuts = np.searchsorted(ends, shares * (1 - 1e-9)) + 1  # what ends at a share but for rounding belongs to it
    bounds = np.unique(np.concatenate(([0], np.minimum(cuts, len(ends)), [len(ends)])))
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


def run_pieces(engine: Engine, work: Callable[[int, int], object], cost: Numbers) -> None:
    """Call `work(first, last)` on ranges that together are all items; it writes to places of its own."""
    for _ in engine.map(lambda piece: work(*piece), pieces(cost)):
        pass
