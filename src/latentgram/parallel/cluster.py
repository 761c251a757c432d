"""Work on a Dask cluster: machines that share nothing but a network.

    client ──items──▶ scheduler ──items──▶ workers
    client ◀─results─ scheduler ◀─results─ workers

Function, items and results cross the network as bytes that only the two ends interpret (wire.py). A function, with
the model inside it, is a task of its own that every worker fetches once, from the scheduler or from another
worker. The scheduler keeps its input until the result has been taken, so work that is lost with a worker is
repeated elsewhere, with the same result: it depends on function and item only.

The client has at most `2 · n_jobs` items in progress, and takes results in the order of the items. Items that will
be mapped over again (`Kept`) are tasks of their own: they stay on their workers, and in later rounds only the
function is sent.
"""

from __future__ import annotations

import asyncio
import ctypes
import functools
import itertools
import logging
import operator
import os
import pickle
import sys
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol, TypeVar, cast

from latentgram.errors import ClusterError, SettingError
from latentgram.interrupt import pause
from latentgram.parallel.local import LOOK_AHEAD, ONE_THREAD, Kept
from latentgram.parallel.wire import pack, unpack

Item = TypeVar("Item")
Result = TypeVar("Result")

CONNECT_SECONDS = 5.0
"""How long a scheduler may take to answer."""
GLANCE_SECONDS = 1.0
"""How often one looks whether there still are workers while a result is awaited."""
SILENCE_SECONDS = 30.0
"""How long a scheduler may take to say which workers it has."""
TRANSFER_SECONDS = 600.0
"""How long one result may take to come over the network."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Names of settings in malloc.h of the GNU C library."""
_SCHEMES = ("tcp://", "tls://", "ws://", "wss://", "ucx://", "inproc://")


class _Scheduler(Protocol):
    address: str
    ncores: Callable[..., object]


class _Future(Protocol):
    status: str

    def exception(self, timeout: float) -> BaseException | None: ...
    def release(self) -> None: ...


class _Loop(Protocol):
    asyncio_loop: asyncio.AbstractEventLoop


class _Client(Protocol):
    """What is asked of a `distributed.Client`, which has no types of its own."""

    scheduler: _Scheduler
    loop: _Loop

    def submit(self, function: Callable[..., object], *values: object, pure: bool, key: str) -> _Future: ...
    def gather(self, future: _Future, *, asynchronous: bool) -> Coroutine[object, None, bytes]: ...
    def run(self, function: Callable[[], Result], *, workers: list[str], on_error: str) -> dict[str, Result]: ...
    def sync(self, ask: Callable[..., object], **options: object) -> dict[str, int]: ...
    def close(self, timeout: float) -> None: ...


class Cluster:
    """The workers of a Dask cluster, given by the address of its scheduler or by a `distributed.Client`.

    Exceptions of a worker are raised here unchanged. The tasks of a lost worker are repeated by others;
    `ClusterError` is raised if the scheduler is lost or if there is no worker for `patience` seconds. As a context
    manager it closes the connection at the end, if it opened it.

    >>> Cluster("10.0.0.1:8786")
    Traceback (most recent call last):
    latentgram.errors.SettingError: the address of a cluster is like tcp://10.0.0.1:8786, got '10.0.0.1:8786'
    """

    def __init__(self, at: str | _Client, *, patience: float = 60.0) -> None:
        if isinstance(at, str) and not at.startswith(_SCHEMES):
            raise SettingError(f"the address of a cluster is like tcp://10.0.0.1:8786, got {at!r}")
        self._own = isinstance(at, str)
        self._client = _connected(at) if isinstance(at, str) else at
        self._address: str = at if isinstance(at, str) else at.scheduler.address
        self._patience = patience
        self._known: set[str] = set()
        self._threads: dict[str, int] = {}
        self._asked = -GLANCE_SECONDS
        self.sent = 0
        """Bytes of functions and items sent so far."""
        self.received = 0
        """Bytes of results received so far."""

    @property
    def n_jobs(self) -> int:
        """The current number of workers (of their threads, if they have several); at least 1."""
        return max(1, sum(self._workers().values()))

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply the function to each item, at most `2 · n_jobs` items ahead of the last result consumed."""
        pending: deque[_Future] = deque()
        source = self._at_work(items)
        try:
            # The scheduler looks into what it is sent, and finds nothing that needs this library.
            published = self._submit(pickle.loads, pickle.dumps(Published(self._packed(function))))
            while True:
                self._welcome()
                room = max(0, LOOK_AHEAD * self.n_jobs - len(pending))  # workers come and go
                for item in itertools.islice(source, room):
                    pending.append(self._submit(operator.call, published, item))
                if not pending:
                    return
                packed = self._result(pending[0])
                pending.popleft()
                self.received += len(packed)
                yield cast(Result, unpack(packed))
        finally:
            for future in pending:
                future.release()

    def _at_work(self, items: Iterable[Item]) -> Iterator[object]:
        """Items as they are sent, one by one: packed, or where they are already."""
        if not isinstance(items, Kept):
            yield from map(self._packed, items)
            return
        places = items.places.setdefault(self, [])
        for number, item in enumerate(items):
            if number == len(places):
                places.append(self._submit(pickle.loads, pickle.dumps(Held(self._packed(item)))))
            yield places[number]

    def close(self) -> None:
        """Close the connection, if this engine opened it; the cluster keeps running."""
        if self._own:
            self._client.close(timeout=CONNECT_SECONDS)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _packed(self, value: object) -> bytes:
        packed = pack(value)
        self.sent += len(packed)
        return packed

    def _submit(self, function: Callable[..., object], *values: object) -> _Future:
        with self._explained(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # shards are large on purpose
            return self._client.submit(function, *values, pure=False, key=f"latentgram-{uuid.uuid4().hex}")

    def _result(self, future: _Future) -> bytes:
        """Wait for a result as long as there are workers that may bring it."""
        from distributed import KilledWorker

        lonely_since: float | None = None
        while True:
            with self._explained(), suppress(TimeoutError):
                raised = future.exception(timeout=GLANCE_SECONDS)
                break
            pause()
            now = time.monotonic()
            lonely_since = None if self._workers() else lonely_since or now
            if lonely_since is not None and now - lonely_since >= self._patience:
                raise ClusterError(f"the cluster at {self._address} has had no workers for {self._patience:.0f} s")
        if future.status != "error" or raised is None:
            return self._fetched(future)
        if isinstance(raised, KilledWorker):
            raise ClusterError(
                "the same task has ended several workers, perhaps because they ran out of memory: give them more"
            )
        if isinstance(raised, ImportError):
            self._asked = -GLANCE_SECONDS
            self._welcome()
            raise ClusterError(f"a worker of the cluster lacks a module: {raised}")
        raise raised

    def _fetched(self, future: _Future) -> bytes:
        """A result that is there, brought here; the scheduler must answer meanwhile."""
        bringing = self._client.gather(future, asynchronous=True)
        brought = asyncio.run_coroutine_threadsafe(bringing, self._client.loop.asyncio_loop)
        deadline = time.monotonic() + TRANSFER_SECONDS
        try:
            while not wait([brought], GLANCE_SECONDS).done:
                pause()
                self._workers()
                with self._explained():
                    if time.monotonic() > deadline:
                        raise TimeoutError
            with self._explained():
                return brought.result()
        finally:
            brought.cancel()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """What Dask raises when the scheduler is lost, as one sentence."""
        from distributed import CancelledError
        from distributed.client import ClosedClientError
        from distributed.comm.core import CommClosedError

        try:
            yield
        except TimeoutError:
            raise ClusterError(
                f"the cluster at {self._address} has stopped responding; finished work is kept"
            ) from None
        except (CancelledError, ClosedClientError, CommClosedError, OSError, RuntimeError):
            raise ClusterError(f"the cluster at {self._address} has disappeared; finished work is kept") from None

    def _workers(self) -> dict[str, int]:
        """The workers and their threads, as of a moment ago: to ask costs a way to the scheduler and back."""
        now = time.monotonic()
        if now >= self._asked + GLANCE_SECONDS:
            with self._explained():
                ask = self._client.scheduler.ncores
                self._threads = self._client.sync(ask, workers=None, callback_timeout=SILENCE_SECONDS)
            self._asked = time.monotonic()
        return self._threads

    def _welcome(self) -> None:
        """Look at workers that were not there before: they need this library, in the same version."""
        new = sorted(self._workers().keys() - self._known)
        if not new:
            return
        report = _reporter()
        with self._explained():
            versions = self._client.run(report, workers=new, on_error="ignore")
        self._known.update(new)
        _compare(report(), versions)


def _reporter() -> Callable[[], dict[str, str | None]]:
    """What tells the versions that decide the bits of a result; it travels whole, and needs nothing there."""

    def report() -> dict[str, str | None]:
        import platform
        from importlib.metadata import version

        try:
            import latentgram

            own = latentgram.__version__
        except ImportError:
            own = None
        return {
            "latentgram": own,
            "Python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy", "numba") if own},
        }

    return report


def _compare(ours: dict[str, str | None], workers: dict[str, dict[str, str | None]]) -> None:
    """Refuse workers that cannot work; warn of those whose results may differ, once for each difference."""
    differences: dict[str, list[str]] = {}
    for address, theirs in workers.items():
        if theirs["latentgram"] is None:
            raise ClusterError(f"the worker at {address} has no latentgram: install {ours['latentgram']} there")
        off = [f"{name} {theirs[name]} in place of {mine}" for name, mine in ours.items() if theirs[name] != mine]
        if off:
            differences.setdefault(", ".join(off), []).append(address)
    for what, where in differences.items():
        more = f" (and {len(where) - 1} more)" if len(where) > 1 else ""
        warnings.warn(f"the worker at {where[0]}{more} has {what}: results may differ", stacklevel=2)


def _connected(address: str) -> _Client:
    """A client of the scheduler at an address."""
    try:
        import distributed
        from distributed.versions import VersionMismatchWarning
    except ImportError:
        raise ClusterError("a cluster needs Dask: pip install 'latentgram[cluster]'") from None
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # `ClusterError` says it in one line
    try:
        with ThreadPoolExecutor(1) as thread:  # notebooks run a loop of their own in this one
            thread.submit(asyncio.run, _shake_hands(address)).result()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VersionMismatchWarning)  # said in one line when workers are welcomed
            connect = cast(Callable[..., _Client], distributed.Client)
            return connect(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError):
        raise ClusterError(f"no Dask scheduler answered at {address} within {CONNECT_SECONDS:.0f} s") from None


async def _shake_hands(address: str) -> None:
    """Fail soon where something else than a scheduler listens: a client would wait for its answer for ever."""
    from distributed import Security
    from distributed.comm.core import connect

    keys = Security().get_connection_args("client")  # type: ignore[no-untyped-call]
    greeting = connect(address, timeout=CONNECT_SECONDS, **keys)  # type: ignore[no-untyped-call]
    (await asyncio.wait_for(greeting, CONNECT_SECONDS)).abort()


@dataclass(frozen=True, eq=False)
class Published:
    """In a worker: a function that is unpacked once, takes packed items and gives packed results."""

    packed: bytes

    @functools.cached_property
    def function(self) -> Callable[[object], object]:
        """The function itself."""
        return cast(Callable[[object], object], unpack(self.packed))

    def __call__(self, item: bytes | Held) -> bytes:
        """One item."""
        _keep_memory()
        function, value = self.function, unpack(item) if isinstance(item, bytes) else item.value
        _pin_threads(len(sys.modules))
        return pack(function(value))

    def __getstate__(self) -> dict[str, bytes]:
        """Travel to the next worker packed."""
        return {"packed": self.packed}


@dataclass(frozen=True, eq=False)
class Held:
    """In a worker: an item that stays there, unpacked once."""

    packed: bytes

    @functools.cached_property
    def value(self) -> object:
        """The item itself."""
        return unpack(self.packed)

    def __getstate__(self) -> dict[str, bytes]:
        """Travel to the next worker packed."""
        return {"packed": self.packed}


@functools.lru_cache(maxsize=1)
def _keep_memory() -> None:
    """In a worker: let the C library keep what is freed for the next array.

    Dask starts workers with MALLOC_TRIM_THRESHOLD_ set so low that memory goes back to the system with every array
    that ends; to get it again for the next sentence, page by page, is dear.
    """
    with suppress(OSError, AttributeError):  # other systems and C libraries have no such knob
        library = ctypes.CDLL("libc.so.6")
        library.mallopt(_MMAP_THRESHOLD, 32 << 20)
        library.mallopt(_TRIM_THRESHOLD, 256 << 20)


@functools.lru_cache(maxsize=1)
def _pin_threads(modules: int) -> None:
    """In a worker: one thread in every BLAS from now on; looked at again after new imports only.

    It is never undone: a worker may have several threads, and what one of them undoes is undone for all.
    """
    from threadpoolctl import ThreadpoolController

    if "numba" not in sys.modules:
        os.environ.update(ONE_THREAD)
    ThreadpoolController().limit(limits=1)
