"""Ctrl-C and termination signals: noticed at any moment, handled where it is safe.

A signal handler that raises an exception can do so anywhere in the interpreter, even inside the calls by which
compiled code returns its results, which then crash. While `obeying` is active, a signal therefore only sets a
flag, and `pause`, called between sentences, rounds and blocks of a file, raises `KeyboardInterrupt` instead.

    signal ──▶ flag ──▶ next `pause` ──▶ KeyboardInterrupt ──▶ status 130 (SIGINT) or 143 (SIGTERM)
       └─────▶ watch: `GRACE` seconds later, or at a second signal, remove temporary files and exit

The watch is a thread that the system wakes whatever the main thread does, so that a long compiled loop (which
releases the interpreter lock) or a read from a terminal ends in time too. A pause costs one test of a list.
"""

from __future__ import annotations

import atexit
import os
import queue
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

GRACE = 1.2
"""Seconds between a signal and the end of a program that came to no pause."""
LOOK = 0.1
"""Seconds between two looks at the flag while waiting for something else."""
WATCH = "watch over signals"
"""The name of the thread that waits for them and does nothing else."""

Item = TypeVar("Item")

_HEARD: list[int] = []
"""The signals that came while they were obeyed."""
LAST_DEEDS: dict[object, Callable[[], object]] = {}
"""What must be done before the program leaves at once, by what it is done to: temporary files, other processes."""
_DOOR = threading.Lock()
"""Held while a file gets or changes its name, and for good by who takes files away to leave at once."""
_LEAVING: list[int] = []
"""The exit status of a program that is on its way out."""


def pause() -> None:
    """Raise `KeyboardInterrupt` if the program was asked to end; a place where that is safe calls this.

    >>> pause()
    """
    if _HEARD:
        raise KeyboardInterrupt


def status() -> int:
    """The exit status of a program that was interrupted: 128 and the first signal, as a shell has it.

    >>> status()
    130
    """
    return 128 + (_HEARD[0] if _HEARD else signal.SIGINT)


def take(waiting: queue.SimpleQueue[Item]) -> Item:
    """The next item of a queue; unlike `get`, it can be interrupted.

    >>> letters = queue.SimpleQueue()
    >>> letters.put("a")
    >>> take(letters)
    'a'
    """
    while True:
        pause()
        with suppress(queue.Empty):
            return waiting.get(timeout=LOOK)


@contextmanager
def short_lived(path: Path) -> Iterator[Path]:
    """While the block runs, a file or folder that goes if the program has to leave in the middle of it."""
    LAST_DEEDS[path] = partial(_remove, path)
    try:
        yield path
    finally:
        del LAST_DEEDS[path]


@contextmanager
def naming() -> Iterator[None]:
    """While the block runs, which gives a short-lived file its name or takes it, the program does not leave.

    It is over in a moment; one that begins when the program is leaving waits for that.
    """
    held = _DOOR.acquire(timeout=10 * GRACE)
    try:
        yield
    finally:
        if held:
            _DOOR.release()


def begin_anew() -> None:
    """In a copy of a process: forget what was heard there, and what had to be done at its end."""
    for kept in (_HEARD, _LEAVING, LAST_DEEDS):
        kept.clear()
    signal.set_wakeup_fd(-1)


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


@contextmanager
def obeying(*, to_the_end: bool = False) -> Iterator[None]:
    """Obey signals at pauses while the block runs; nothing outside the main thread or in another such block.

    `to_the_end` of the program signals do no more than that, also when the block has ended, and the program ends
    without the interpreter taking itself apart, which is slow, and deaf to signals.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) is _hear:
        yield
        return
    ended = threading.Event()
    receiving, sending = socket.socketpair()
    sending.setblocking(False)
    numbers = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # a shell lets what it starts behind ignore Ctrl-C
        numbers.append(signal.SIGINT)
    woken = signal.set_wakeup_fd(sending.fileno(), warn_on_full_buffer=False)
    before = {number: signal.signal(number, _hear) for number in numbers}
    threading.Thread(target=_watch, args=(receiving, ended), name=WATCH, daemon=True).start()
    try:
        yield
    except SystemExit as left:
        if _HEARD or to_the_end:
            _LEAVING.append(left.code if isinstance(left.code, int) else int(left.code is not None))
        raise
    finally:
        if not to_the_end:
            ended.set()
        for number, handler in before.items():
            signal.signal(number, _hear if to_the_end else handler)
        signal.set_wakeup_fd(woken)
        sending.close()
        _HEARD.clear()


def _hear(number: int, _: object) -> None:
    _HEARD.append(number)


def _watch(receiving: socket.socket, ended: threading.Event) -> None:
    """End a program that does not come to a pause, or not to its end after it."""
    obeyed = (signal.SIGINT, signal.SIGTERM)
    with receiving:
        while told := receiving.recv(1):
            if told[0] in obeyed:
                break
        else:
            return
        ended.wait(GRACE / 4)  # who sends one signal to a program and to its group means one
        receiving.settimeout(GRACE * 3 / 4)
        with suppress(TimeoutError):
            if not any(number in obeyed for number in receiving.recv(16)):
                ended.wait(GRACE * 3 / 4)
        if ended.is_set():
            return
    _DOOR.acquire(timeout=GRACE / 4)  # and never released: no file is made behind those that are taken away
    for deed in list(LAST_DEEDS.values()):
        with suppress(OSError):
            deed()
    if not _LEAVING:
        with suppress(OSError):
            os.write(2, b"latentgram: interrupted\n")
    os._exit(128 + told[0])


@atexit.register
def _leave() -> None:
    """At the very end leave without taking threads down that may be in compiled work."""
    if _LEAVING:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(_LEAVING[0])
