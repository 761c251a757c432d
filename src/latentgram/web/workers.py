"""Processes that parse for the page: a slow sentence blocks nobody, and can be given up.

Compiled kernels hold the interpreter's lock while they run, so threads would wait for each other, and a thread
cannot be stopped. Hence a few processes, each with the parser; work that nobody waits for any more ends with its
process, if not by itself within a second, and a new one is started. A worker gets a new parser with the first work
after it changed. Compiled kernels are loaded before the first work comes: by one worker, so that it is ready soon,
then by the others. Work in the background leaves one worker free for people. Without processes (`count = 0`) work
is done in threads, one at a time: for tests.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import queue
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from latentgram.errors import LatentgramError
from latentgram.kinds.registry import kind_of
from latentgram.parser.parser import Parser

Job = Callable[..., Any]
"""A function of the module's level: of a parser, and of plain values."""

GRACE = 1.0
"""Seconds that work has to end by itself when it was given up."""
POLL = 0.02
"""Seconds between looks at whether somebody still waits."""


class Busy(LatentgramError):
    """No worker was free, or the work took too long."""


class GivenUp(Exception):
    """Nobody waits for the answer any more."""


def _serve(pipe: Connection, warm: Any) -> None:
    """The life of a worker; `warm` is set when it has loaded what it needs."""
    parser: Parser | None = None
    with contextlib.suppress(EOFError, KeyboardInterrupt, OSError):
        while True:
            job, args = pipe.recv()
            if job is None:
                parser = args
                _warm(parser)
                warm.set()
                continue
            try:
                answer: tuple[bool, Any] = (True, job(parser, *args))
            except LatentgramError as error:
                answer = (False, error)
            except Exception as error:
                answer = (False, RuntimeError(f"{type(error).__name__}: {error}"))
            pipe.send(answer)


def _warm(parser: Parser) -> None:
    """Load the compiled kernels and make the indices before somebody waits for them; what fails, fails later."""
    from latentgram.data.sentence import Sentence
    from latentgram.web.analysis import analyse

    with contextlib.suppress(Exception):
        known = sorted(parser.backend.tags) if kind_of(parser.model).needs_tags and parser.tagger is None else []
        tag = (known[0],) * 3 if known else None
        analyse(parser, Sentence(("a", "b", "c"), tag), None, 2)


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    warm: Any
    version: int = -1


@dataclass
class Workers:
    """The processes and what they parse with."""

    parser: Parser
    count: int = 2
    version: int = 0
    warming: bool = False
    """Whether no worker has loaded its kernels yet."""
    _idle: queue.Queue[_Worker] = field(default_factory=queue.LifoQueue)
    """The last used first: it has everything in its memory."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closed: bool = False

    def start(self) -> None:
        """Start the processes, each with the parser."""
        if self.count:
            self.warming = True
            threading.Thread(target=self._start_others, args=(self._add(),), daemon=True).start()

    def _start_others(self, first: _Worker) -> None:
        while not first.warm.wait(0.2) and first.process.is_alive() and not self._closed:
            pass
        self.warming = False
        for _ in range(self.count - 1):
            if not self._closed:
                self._add()

    def _add(self) -> _Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        warm = context.Event()
        process = context.Process(target=_serve, args=(theirs, warm), daemon=True)
        process.start()
        theirs.close()
        worker = _Worker(process, ours, warm)
        self._update(worker)
        self._idle.put(worker)
        return worker

    def _update(self, worker: _Worker) -> None:
        parser, version = self.parser, self.version
        if worker.version != version:
            worker.pipe.send((None, parser))
            worker.version = version

    def set_parser(self, parser: Parser, version: int) -> None:
        """From now on parse with another parser; idle workers get it at once, busy ones with their next work."""
        self.parser, self.version = parser, version
        with contextlib.suppress(queue.Empty):
            idle = [self._idle.get_nowait() for _ in range(self._idle.qsize())]
            for worker in idle:
                with contextlib.suppress(OSError):
                    self._update(worker)
                self._idle.put(worker)

    async def run(
        self,
        job: Job,
        *args: Any,
        limit: float = 60.0,
        gone: Callable[[], Awaitable[bool]] | None = None,
        background: bool = False,
    ) -> Any:
        """Do work on the parser; raises `Busy` after `limit` seconds and `GivenUp` when `gone` says so."""
        if not self.count:
            return await asyncio.to_thread(self._alone, job, args)
        deadline = time.monotonic() + limit
        worker = await self._free(deadline, gone, spared=1 if background and self.count > 1 else 0)
        try:
            await asyncio.to_thread(self._update, worker)
            worker.pipe.send((job, args))
            while not worker.pipe.poll():
                await asyncio.sleep(POLL)
                if gone is not None and await gone():
                    raise GivenUp
                if time.monotonic() > deadline:
                    raise Busy(f"this took more than {limit:.0f} s and was given up; try a shorter sentence")
            good, value = worker.pipe.recv()
        except (EOFError, OSError):
            self._replace(worker)
            raise Busy("the process that parsed this ended; try again") from None
        except GivenUp:
            threading.Thread(target=self._let_go, args=(worker,), daemon=True).start()
            raise
        except BaseException:
            self._replace(worker)
            raise
        self._idle.put(worker)
        if good:
            return value
        raise value

    async def _free(self, deadline: float, gone: Callable[[], Awaitable[bool]] | None, spared: int) -> _Worker:
        """A worker that does nothing, with so many others like it."""
        while True:
            with contextlib.suppress(queue.Empty):
                if self._idle.qsize() > spared:
                    return self._idle.get_nowait()
            await asyncio.sleep(POLL)
            if gone is not None and await gone():
                raise GivenUp
            if time.monotonic() > deadline:
                raise Busy("all workers are busy; try again in a moment")

    def _alone(self, job: Job, args: tuple[Any, ...]) -> Any:
        with self._lock:
            return job(self.parser, *args)

    def _let_go(self, worker: _Worker) -> None:
        """Work that nobody waits for any more may end by itself soon, which is cheaper than a new process."""
        with contextlib.suppress(EOFError, OSError):
            if worker.pipe.poll(GRACE) and not self._closed:
                worker.pipe.recv()
                self._idle.put(worker)
                return
        self._replace(worker)

    def _replace(self, worker: _Worker) -> None:
        worker.process.kill()
        worker.pipe.close()
        if not self._closed:
            self._add()

    def close(self) -> None:
        """End the processes."""
        self._closed = True
        with contextlib.suppress(queue.Empty):
            while True:
                worker = self._idle.get_nowait()
                worker.pipe.close()
                worker.process.kill()
