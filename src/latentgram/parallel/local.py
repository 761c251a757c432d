"""The engines of one machine, and the sum over shards that every engine provides.

Work that is sent goes to processes. Compiled work on data in memory goes to threads: compiled kernels
(compiling.py), BLAS and LAPACK release the interpreter lock, so threads run them in parallel on shared arrays, and
nothing has to be sent. Units of work write to places of their own or are summed in order: results do not depend on
the number of threads. These are daemon threads: Ctrl-C ends the process at once, even while they work.

Matrices here are small: within a call, waiting for the threads of linear algebra costs more than they gain, and
results must not depend on their number. So every call has one (`one_thread`). threadpoolctl and numpy are
loaded on first use, so that the command line starts without them.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
import operator
import os
import pickle
import queue
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, ParamSpec, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary

import cloudpickle

from latentgram.errors import LatentgramError, SettingError
from latentgram.interrupt import pause, take
from latentgram.parallel.worker import Worker, WorkerEnded, borrow, give_back

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from threadpoolctl import ThreadpoolController

    Numbers = NDArray[np.integer] | NDArray[np.floating]

Item = TypeVar("Item")
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in _LIBRARIES}
LOOK_AHEAD = 2
"""Items under way for each worker: one in work, one waiting, so that no worker starves."""
MOST_JOBS = 10_000
"""More workers than any machine has use for are a slip of the keyboard."""
_QUOTA = Path("/sys/fs/cgroup/cpu.max")
PIECES = 32
"""Into how many pieces work is cut: enough to keep some threads busy to the end, few enough to cost nothing."""


class Engine(Protocol):
    """Where work runs."""

    @property
    def n_jobs(self) -> int:
        """How many workers there are."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply the function to each item, lazily, keeping the order."""


class Kept(list[Item]):
    """Items that are mapped over again and again, as in rounds of EM: far workers keep what they were sent once.

    >>> parts = Kept([[1, 2], [3]])
    >>> [map_reduce(sum, parts) for _ in range(2)], parts.grouped(2)
    ([6, 6], [[[1, 2], [3]]])
    """

    def __init__(self, items: Iterable[Item]) -> None:
        super().__init__(items)
        self.places: WeakKeyDictionary[object, list[object]] = WeakKeyDictionary()
        """For each engine that keeps them, where the first items are."""
        self._groups: dict[int, Kept[list[Item]]] = {}

    def grouped(self, size: int) -> Kept[list[Item]]:
        """Lists of so many items each, the same whenever they are asked for."""
        if size not in self._groups:
            self._groups[size] = Kept(shards(self, size))
        return self._groups[size]


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
    What a worker raises is raised here as it is. Whatever ends a `map` before its work is done, be it Ctrl-C, an
    error or that nobody wants the results any more, kills the workers.
    """

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply the function to each item, at most `2 · n_jobs` items ahead of the last result consumed."""
        content = cloudpickle.dumps(function)
        token = hashlib.sha256(content).hexdigest()
        workers: list[Worker] = []
        taken = done = 0

        def counted() -> Iterator[Item]:
            nonlocal taken
            for item in items:
                taken += 1
                yield item

        def hire() -> Callable[[Item], Result]:
            worker = borrow(ONE_THREAD)
            workers.append(worker)
            return lambda item: cast(Result, _ask(worker, token, content, item))

        try:
            with closing(in_order(hire, self.n_jobs, counted(), LOOK_AHEAD * self.n_jobs)) as results:
                for result in results:
                    done += 1
                    yield result
        except WorkerEnded:
            raise LatentgramError(
                "a worker process was killed, perhaps because memory ran out; try a smaller n_jobs"
            ) from None
        finally:
            for worker in workers:
                give_back(worker) if done == taken else worker.kill()


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


def _ask(worker: Worker, token: str, content: bytes, item: object) -> object:
    """Have a worker do one item; it is sent the function first, if that is not what it was sent last."""
    if worker.holds != token:
        worker.call(_hold, token, content)
        worker.holds = token
    return worker.call(_apply, token, item)


_HELD: dict[str, Callable[[object], object]] = {}
"""In a worker: the function that was sent last, by its digest."""


def _hold(token: str, content: bytes) -> None:
    """In a worker: take a function."""
    _HELD.clear()
    _HELD[token] = pickle.loads(content)


def _apply(token: str, item: object) -> object:
    """In a worker: one item."""
    return _pinned(_HELD[token], item)


def in_order(
    hire: Callable[[], Callable[[Item], Result]], most: int, items: Iterable[Item], ahead: int
) -> Generator[Result]:
    """Results in the order of the items, each made by the hand that is free first.

    A hand is a function in a thread of its own, a daemon; `hire` gives one for each of the first `most` items. At
    most `ahead` items are taken before the result that is waited for.
    """
    waiting: queue.SimpleQueue[tuple[int, Item] | None] = queue.SimpleQueue()
    finished: queue.SimpleQueue[tuple[int, Callable[[], Result]]] = queue.SimpleQueue()
    source = enumerate(items)
    made: dict[int, Callable[[], Result]] = {}
    awaited = taken = 0

    def work(hand: Callable[[Item], Result]) -> None:
        while (numbered := waiting.get()) is not None:
            number, item = numbered
            finished.put((number, attempt(hand, item)))

    try:
        while True:
            for numbered in itertools.islice(source, awaited + ahead - taken):
                if taken < most:
                    threading.Thread(target=work, args=(hire(),), daemon=True).start()
                waiting.put(numbered)
                taken += 1
            if awaited == taken:
                return
            while awaited not in made:
                number, result = take(finished)
                made[number] = result
            yield made.pop(awaited)()
            awaited += 1
    finally:
        with suppress(queue.Empty):
            while True:
                waiting.get_nowait()
        for _ in range(min(taken, most)):
            waiting.put(None)


def attempt(
    function: Callable[Arguments, Result], *args: Arguments.args, **more: Arguments.kwargs
) -> Callable[[], Result]:
    """Call a function now, and return or raise what came of it when that is called."""
    try:
        result = function(*args, **more)
    except BaseException as error:
        return functools.partial(_raise, error)
    return lambda: result


def _raise(error: BaseException) -> NoReturn:
    raise error


def engine_for(n_jobs: int) -> Engine:
    """The engine for a number of local workers; -1 means one for each processor that may be used.

    >>> engine_for(1).n_jobs, engine_for(3).n_jobs
    (1, 3)
    """
    if n_jobs == -1:
        n_jobs = _processors()
    if n_jobs < 1:
        raise SettingError(f"n_jobs must be at least 1, or -1 for all processors, got {n_jobs}")
    if n_jobs > MOST_JOBS:
        raise SettingError(f"n_jobs must be at most {MOST_JOBS:,}")
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
) -> Result:
    """The sum of a function over parts, added from left to right.

    `start` is what is added to, and the result when there are no parts.

    >>> map_reduce(sum, shards(range(10), 3))
    45
    """
    results = (engine or InProcess()).map(function, parts)
    if start is None:
        try:
            start = next(results)
        except StopIteration:
            raise LatentgramError("there is nothing to sum over: the data are empty") from None
    return functools.reduce(add, results, start)


def _processors() -> int:
    """How many processors this process may use: those it is bound to, within the quota of its container."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):  # no container, or no quota
        quota, period = map(int, _QUOTA.read_text().split())
        return max(1, min(bound, math.ceil(quota / period)))
    return bound


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

    >>> import numpy as np
    >>> pieces(np.ones(100))[:3], pieces(np.ones(100), least=50)
    ([(0, 4), (4, 7), (7, 10)], [(0, 50), (50, 100)])
    >>> pieces(np.array([]))
    []
    """
    import numpy as np

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


@dataclass
class _Limits:
    """What limits the threads of linear algebra, and how many blocks of this process ask for it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    limits: ExitStack = field(default_factory=ExitStack)
    blocks: int = 0
    modules: int = 0
    """How many modules there were when the libraries among them were last looked for."""


_LIMITS = _Limits()


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread in each library of linear algebra while the block runs.

    The number is the process's own, not a thread's: blocks of several threads overlap, and the first to end must
    not undo it for the others. Only the outermost block pays for it; libraries that are loaded after it began are
    limited by the next one.
    """
    with _LIMITS.lock:
        modules = len(sys.modules)
        if not _LIMITS.blocks or modules != _LIMITS.modules:
            _LIMITS.limits.enter_context(_libraries(modules).limit(limits=1))
            _LIMITS.modules = modules
        _LIMITS.blocks += 1
    try:
        yield
    finally:
        with _LIMITS.lock:
            _LIMITS.blocks -= 1
            if not _LIMITS.blocks:
                _LIMITS.limits.close()


@functools.lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """The loaded libraries; looking for them takes longer than many a decomposition: once after new imports."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _pinned(function: Callable[[Item], Result], item: Item) -> Result:
    with one_thread():
        pause()
        return function(item)
