"""`Fork`: a copy of this process, which has everything that is imported and loaded here without repeating it.

A copy has one thread, the one that made it: locks held by other threads stay locked in it for ever. So a process
may be copied only while nothing else runs in it, and only where the libraries of the system allow it (those of
macOS do not).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import BinaryIO, NoReturn

from latentgram.interrupt import WATCH, begin_anew


def can_fork() -> bool:
    """Whether this process may be copied now."""
    harmless = {threading.main_thread().name, WATCH}
    return sys.platform == "linux" and all(thread.name in harmless for thread in threading.enumerate())


class Fork:
    """A copy that lives to call a function, with pipes to its standard input and output, like those of `Popen`.

    The pipes in `others`, those of earlier copies, are closed in it: each ends when the end of its input comes.
    """

    def __init__(self, life: Callable[[], NoReturn], others: list[BinaryIO]) -> None:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # or both processes write what waits there
        (calls, self_calls), (self_answers, answers) = os.pipe(), os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which `can_fork` knows
            self.pid = os.fork()
        if not self.pid:
            try:
                _begin(calls, answers, [self_calls, self_answers, *(pipe.fileno() for pipe in others)])
                life()
            finally:
                os._exit(1)
        os.close(calls)
        os.close(answers)
        self.stdin: BinaryIO = os.fdopen(self_calls, "wb")
        self.stdout: BinaryIO = os.fdopen(self_answers, "rb")
        self._status: int | None = None
        self._ending = threading.Lock()

    def poll(self) -> int | None:
        """The status it ended with, or None."""
        return self._wait(os.WNOHANG)

    def kill(self) -> None:
        """End it at once."""
        with self._ending:
            if self._status is None:  # else its number may be another's
                os.kill(self.pid, signal.SIGKILL)

    def __enter__(self) -> Fork:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the pipes and wait for its end."""
        self.stdout.close()
        try:
            self.stdin.close()
        finally:
            self._wait(0)

    def _wait(self, how: int) -> int | None:
        with self._ending:
            if self._status is None:
                pid, status = os.waitpid(self.pid, how)
                self._status = os.waitstatus_to_exitcode(status) if pid else None
            return self._status


def _begin(calls: int, answers: int, foreign: list[int]) -> None:
    """In a copy: nothing of what it was copied from is its own but the pipes."""
    begin_anew()
    for number in foreign:
        os.close(number)
    for number, wanted in ((calls, 0), (answers, 1)):
        os.dup2(number, wanted)
        os.close(number)
