"""A line from a process to its workers: when the process ends, however it does, the system ends them at once.

The process holds the writing end of a pipe that nobody writes to. Each worker opens the other end and asks the
system for a signal when something happens there (O_ASYNC), which can only be that the pipe is closed; the signal
kills it. No code of the worker has to run for that, which could be kept waiting for seconds by a loading parser.
(PR_SET_PDEATHSIG would strike as soon as the thread that started the worker ends.) Only Linux has it; elsewhere a
worker ends when it reads that no more calls will come.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading

_ENDS: list[int] = []
"""The reading and the writing end of the pipe of this process, once it has one."""
_MAKING = threading.Lock()


def line() -> int | None:
    """What a worker of this process is told to hold on to; None where there is no such thing.

    >>> line() == line()
    True
    """
    if sys.platform != "linux":
        return None
    with _MAKING:
        if not _ENDS:
            _ENDS[:] = os.pipe()
        return _ENDS[0]


def hold(line: int) -> None:
    """In a worker: end when the process that the line comes from does."""
    if sys.platform == "linux":
        import fcntl

        # Who is told is kept with an opened file, which workers share until each opens it for itself.
        own = os.open(f"/proc/self/fd/{line}", os.O_RDONLY)
        fcntl.fcntl(own, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(own, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(own, fcntl.F_SETFL, fcntl.fcntl(own, fcntl.F_GETFL) | os.O_ASYNC)
        if select.select([own], [], [], 0)[0]:  # it was too late to be told
            os._exit(0)


def _forget() -> None:
    """In a fork: the line belongs to the process that was copied, whose end must be noticed."""
    global _MAKING
    _MAKING = threading.Lock()
    if _ENDS:
        os.close(_ENDS[1])
        _ENDS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
