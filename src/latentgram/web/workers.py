"""Processes that parse for the page: a slow sentence blocks nobody, and can be cancelled.

A thread cannot be stopped, and threads would wait for each other in the Python parts of a parse. Hence a few
processes, each with the parser; work that is no longer needed ends with its process, unless it ends within a
second, and a new one is started. A worker gets a new parser as soon as it is idle, and loads its compiled kernels
at once: one worker after the other, so that requests that need not wait for the new parser (`fresh=False`) are
answered. Background work leaves one worker free for people. The first workers may be copies of this process
(`begin`), which already have the parser. Without processes (`count = 0`) work is done in threads, one at a time:
for tests.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import TypeVar, TypeVarTuple, cast

from latentgram.data.sentence import Sentence
from latentgram.errors import LatentgramError
from latentgram.kernel_cache import load_registries
from latentgram.parallel.local import attempt
from latentgram.parallel.worker import Worker, WorkerEnded
from latentgram.parser.parser import Parser
from latentgram.web.analysis import Asked, analyse

Arguments = TypeVarTuple("Arguments")
Answer = TypeVar("Answer")
Gone = Callable[[], Awaitable[bool]]

GRACE = 1.0
"""Seconds that work has to end by itself when it was given up."""
POLL = 0.02
"""Seconds between looks at whether somebody still waits."""


class Busy(LatentgramError):
    """No worker was free, or the work took too long."""


class GivenUp(Exception):
    """Nobody waits for the answer any more."""


_PARSER: list[Parser] = []
"""In a worker: what it parses with."""
_INHERITED = "inherited"
"""What a copy of this process holds: the parser of version 0."""


def _take(parser: Parser) -> None:
    """In a worker: parse with this from now on."""
    _PARSER[:] = [parser]
    _warm()


def _warm() -> None:
    """Load the compiled kernels and make the indices before somebody waits for them; what fails, fails later."""
    parser = _PARSER[0]
    with contextlib.suppress(Exception):
        known = sorted(parser.backend.tags) if parser.kind.needs_tags and parser.tagger is None else []
        tag = (known[0],) * 3 if known else None
        analyse(parser, Asked(Sentence(("a", "b", "c"), tag), count=2))


def _work(task: Callable[[Parser], Answer]) -> Answer:
    """In a worker: one piece of work."""
    try:
        return task(_PARSER[0])
    except LatentgramError:
        raise
    except Exception as error:
        raise RuntimeError(f"{type(error).__name__}: {error}") from None


@dataclass
class Workers:
    """The processes and what they parse with."""

    parser: Parser
    count: int = 2
    version: int = 0
    warming: bool = False
    """Whether no worker has loaded its kernels yet."""
    living: set[Worker] = field(default_factory=set)
    _idle: queue.Queue[Worker] = field(default_factory=queue.LifoQueue)
    """The last used first: it has everything in its memory."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _going_round: threading.Lock = field(default_factory=threading.Lock)
    _closed: bool = False
    _copies: list[Worker] = field(default_factory=list)
    """Copies of this process that have done nothing yet."""
    _starting: threading.Thread | None = None

    def begin(self, *, copied: bool = False) -> None:
        """Start the processes, each with the parser; as copies of this one only where it may be copied now."""
        self.warming = self.count > 0
        if copied:
            load_registries()  # here, or in each copy
            _PARSER[:] = [self.parser]
            self._copies = [Worker(copied=True) for _ in range(self.count)]
            _PARSER.clear()
            self.living.update(self._copies)
            for copy in self._copies:
                copy.holds = _INHERITED
        self._starting = threading.Thread(target=self._start, daemon=True)
        self._starting.start()

    def start(self, afterwards: Callable[[], None]) -> None:
        """Start the processes, unless they were; nobody's first parse waits for what is done `afterwards`."""
        if self._starting is None:
            self.begin()

        def wait() -> None:
            cast(threading.Thread, self._starting).join()
            afterwards()

        threading.Thread(target=wait, daemon=True).start()

    def _start(self) -> None:
        try:
            for _ in range(self.count):
                self._add()
                self.warming = False
        finally:  # where no process can be started, nobody waits for one that loads
            self.warming = False

    def _add(self) -> None:
        """A new worker, ready to work."""
        with self._lock:
            if self._closed:
                return
            worker = self._copies.pop(0) if self._copies else Worker()
            self.living.add(worker)
        self._prepare(worker)

    def _prepare(self, worker: Worker) -> None:
        """Give a worker without work the parser, and let it wait for work."""
        with contextlib.suppress(WorkerEnded):
            self._update(worker)
            self._idle.put(worker)

    def _update(self, worker: Worker) -> None:
        version = self.version  # is set after the parser, hence read before it
        if worker.holds == str(version):
            return
        if worker.holds == _INHERITED and version == 0:
            worker.call(_warm)
        else:
            worker.call(_take, self.parser)
        worker.holds = str(version)

    def set_parser(self, parser: Parser, version: int) -> None:
        """From now on parse with another parser; idle workers get it one after the other, busy ones later."""
        self.parser = parser
        self.version = version
        threading.Thread(target=self._hand_round, args=(version,), daemon=True).start()

    def _hand_round(self, version: int) -> None:
        """Give the parser to all workers that do nothing, unless there is a newer one: then that goes round."""
        with self._going_round:
            while self.version == version and (worker := self._stale()) is not None:
                self._prepare(worker)

    def _stale(self) -> Worker | None:
        """An idle worker without the newest parser, taken out of those that wait for work."""
        idle: list[Worker] = []
        with contextlib.suppress(queue.Empty):
            while True:
                idle.append(self._idle.get_nowait())
        stale = next((worker for worker in idle if worker.holds != str(self.version)), None)
        for worker in reversed(idle):
            if worker is not stale:
                self._idle.put(worker)
        return stale

    def _give_back(self, worker: Worker) -> None:
        """A worker has done its work; if there is a newer parser, it gets it now."""
        self._idle.put(worker)
        if worker.holds != str(self.version):
            threading.Thread(target=self._hand_round, args=(self.version,), daemon=True).start()

    async def run(
        self,
        job: Callable[[Parser, *Arguments], Answer],
        *args: *Arguments,
        limit: float = 60.0,
        gone: Gone | None = None,
        background: bool = False,
        fresh: bool = True,
    ) -> Answer:
        """Do work on the parser; raises `Busy` after `limit` seconds and `GivenUp` when `gone` says so.

        While the parser is being loaded, which may take long on a busy machine, everybody waits.
        Without `fresh` a worker that has not got the newest parser yet will do.
        """

        def task(parser: Parser) -> Answer:
            return job(parser, *args)

        if not self.count:
            return await asyncio.to_thread(self._alone, task)
        worker = await self._free(limit, gone, spared=1 if background and self.count > 1 else 0)
        deadline = time.monotonic() + limit
        call: Future[Callable[[], Answer]] = Future()

        def work() -> Answer:
            if fresh or not worker.holds:
                self._update(worker)
            return worker.call(_work, task)

        threading.Thread(target=lambda: call.set_result(attempt(work)), daemon=True).start()
        try:
            answered = asyncio.wrap_future(call)
            while not (await asyncio.wait([answered], timeout=POLL))[0]:
                if gone is not None and await gone():
                    raise GivenUp
                if time.monotonic() > deadline:
                    raise Busy(f"this took more than {limit:.0f} s and was cancelled; try a shorter sentence")
        except GivenUp:
            threading.Thread(target=self._let_go, args=(worker, call), daemon=True).start()
            raise
        except BaseException:
            self._replace(worker)
            raise
        try:
            return self._outcome(worker, call)
        except WorkerEnded:
            raise Busy("the process that parsed this sentence ended; try again") from None

    def _outcome(self, worker: Worker, call: Future[Callable[[], Answer]]) -> Answer:
        """What came of finished work; the worker may have other work then, unless it has ended."""
        try:
            answer = call.result()()
        except WorkerEnded:
            self._replace(worker)
            raise
        except Exception:
            self._give_back(worker)
            raise
        self._give_back(worker)
        return answer

    async def _free(self, limit: float, gone: Gone | None, spared: int) -> Worker:
        """A worker that does nothing, with so many others like it."""
        deadline = time.monotonic() + limit
        while True:
            if self.warming:
                deadline = time.monotonic() + limit
            with contextlib.suppress(queue.Empty):
                if self._idle.qsize() > spared:
                    return self._idle.get_nowait()
            await asyncio.sleep(POLL)
            if gone is not None and await gone():
                raise GivenUp
            if time.monotonic() > deadline:
                raise Busy("all workers are busy; try again in a moment")

    def _alone(self, task: Callable[[Parser], Answer]) -> Answer:
        with self._lock:
            return task(self.parser)

    def _let_go(self, worker: Worker, call: Future[Callable[[], Answer]]) -> None:
        """Work that nobody waits for any more may end by itself soon, which is cheaper than a new process."""
        if wait([call], GRACE).done:
            with contextlib.suppress(Exception):
                self._outcome(worker, call)
        else:
            self._replace(worker)

    def _replace(self, worker: Worker) -> None:
        with self._lock:
            self.living.discard(worker)
        worker.kill()
        threading.Thread(target=self._add, daemon=True).start()

    def close(self) -> None:
        """End the processes."""
        with self._lock:
            self._closed = True
            living, self.living = self.living, set()
        for worker in living:
            worker.kill()
