"""`Worker`: a process that calls functions for this one.

    this process ──(function, arguments)──▶ worker
    this process ◀──notes on the way, (good, result or error)── worker

Messages are pickles behind their lengths, on the standard input and output of the worker; closures are fine
(cloudpickle), and what work prints goes to standard error. A worker ends when its input does, even in the middle
of work, so none outlives the process that started it. The two share nothing, neither semaphores nor a thread that
manages: a worker can be killed at any moment, and the end of a program never waits for work that nobody wants (the
pools of the standard library and of loky do wait, and have no public way not to).
"""

from __future__ import annotations

import atexit
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import FileIO
from typing import NoReturn, ParamSpec, TypeVar, cast

from latentgram.errors import LatentgramError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_HEAD = struct.Struct("<Q?")
"""Of a message: its length, and whether it is a note."""
_IDLE_SECONDS = 60.0
_LIVING: set[Worker] = set()
"""The workers of this process."""
_IDLE: dict[Worker, threading.Timer] = {}
"""Those that wait to be borrowed, and what ends them when they have waited for long."""


class WorkerEnded(Exception):
    """A worker was killed, or ended by itself, before it answered."""


class Worker:
    """A process of its own that does what it is told, one call at a time; `listen` hears how that goes (`tell`).

    >>> worker = Worker()
    >>> worker.call(pow, 2, 5)
    32
    >>> worker.kill()
    """

    def __init__(
        self, environment: Mapping[str, str] | None = None, listen: Callable[[object], None] | None = None
    ) -> None:
        program = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
        with _interrupts_held():
            self.process = subprocess.Popen(
                [sys.executable, "-c", program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                env={**os.environ, **(environment or {})},
            )
        self._in_use = threading.Lock()
        self._listen = listen
        self.holds = ""
        """The digest of the function that it was sent last (local.py)."""
        _LIVING.add(self)

    def call(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **more: Arguments.kwargs
    ) -> Result:
        """Call a function there; what it raises is raised here, as it is."""
        return cast(Result, outcome(self.exchange(message(function, *args, **more))))

    def exchange(self, packed: bytes) -> bytearray:
        """Send a `message` and wait for the answer, of which `outcome` makes the result."""
        try:
            with self._in_use:
                _write(cast(FileIO, self.process.stdin), packed)
                while True:
                    note, answer = _read(cast(FileIO, self.process.stdout))
                    if not note:
                        return answer
                    if self._listen is not None:
                        self._listen(pickle.loads(answer))
        except (OSError, EOFError, ValueError):  # the last is said of a pipe that was closed here
            raise WorkerEnded from None

    @property
    def ended(self) -> bool:
        """Whether the process is no more."""
        return self.process.poll() is not None

    def kill(self) -> None:
        """End the process at once; a call under way raises `WorkerEnded`."""
        _LIVING.discard(self)
        self.process.kill()
        with self._in_use, self.process:  # which closes the pipes, and waits for the end
            pass


def message(function: Callable[Arguments, object], *args: Arguments.args, **more: Arguments.kwargs) -> bytes:
    """A call as bytes."""
    import cloudpickle

    packed: bytes = cloudpickle.dumps((function, args, more))
    return packed


def outcome(packed: bytearray) -> object:
    """What came of a call: returns its result or raises its error."""
    good, value = pickle.loads(packed)
    if good:
        return value
    raise value


def borrow(environment: Mapping[str, str]) -> Worker:
    """An idle worker, or a new one with this environment."""
    while _IDLE:
        with suppress(KeyError):  # another thread was quicker
            worker, end = _IDLE.popitem()
            end.cancel()
            if not worker.ended:
                return worker
            worker.kill()
    return Worker(environment)


def give_back(worker: Worker) -> None:
    """Let a worker wait for a minute to be borrowed again."""
    end = _IDLE[worker] = threading.Timer(_IDLE_SECONDS, _dismiss, [worker])
    end.daemon = True
    end.start()


def _dismiss(worker: Worker) -> None:
    if _IDLE.pop(worker, None) is not None:
        worker.kill()


@atexit.register
def _end_all() -> None:
    for worker in list(_LIVING):
        worker.kill()


if hasattr(os, "register_at_fork"):  # in a fork they are not one's own
    os.register_at_fork(after_in_child=_LIVING.clear)
    os.register_at_fork(after_in_child=_IDLE.clear)


_OUT: list[FileIO] = []
"""In a worker: where answers go."""


def serve() -> NoReturn:
    """The life of a worker."""
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is the parent who ends its workers
    questions = os.fdopen(os.dup(0), "rb", 0)
    _OUT[:] = [os.fdopen(os.dup(1), "wb", 0)]
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    waiting: queue.SimpleQueue[bytearray] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(questions, waiting), daemon=True).start()
    while True:
        answer = _answer(waiting.get())
        with suppress(OSError):  # nobody listens: the other thread will notice, and end all
            _write(_OUT[0], answer)


def tell(value: object) -> None:
    """In a worker, during a call: a word to the parent on how it goes."""
    _write(_OUT[0], pickle.dumps(value), note=True)


def _listen(questions: FileIO, waiting: queue.SimpleQueue[bytearray]) -> NoReturn:
    """Put messages into a queue, and end the process with the last, whatever it does then."""
    with suppress(OSError, EOFError):
        while True:
            waiting.put(_read(questions)[1])
    os._exit(0)


def _answer(packed: bytearray) -> bytes:
    import cloudpickle

    try:
        function, args, more = pickle.loads(packed)
        answer: bytes = cloudpickle.dumps((True, function(*args, **more)))
    except BaseException as error:
        if not isinstance(error, LatentgramError):
            error.add_note(f"in a worker process:\n{traceback.format_exc()}")
        try:
            answer = cloudpickle.dumps((False, error))
        except Exception:
            answer = cloudpickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
    return answer


def _write(pipe: FileIO, packed: bytes, note: bool = False) -> None:
    for part in (_HEAD.pack(len(packed), note), packed):
        rest = memoryview(part)
        while rest:
            rest = rest[pipe.write(rest) :]


def _read(pipe: FileIO) -> tuple[bool, bytearray]:
    """Whether a message is a note, and the message."""
    length, note = _HEAD.unpack(_read_bytes(pipe, _HEAD.size))
    return note, _read_bytes(pipe, length)


def _read_bytes(pipe: FileIO, length: int) -> bytearray:
    content = bytearray(length)
    rest = memoryview(content)
    while rest:
        count = pipe.readinto(rest)
        if not count:
            raise EOFError
        rest = rest[count:]
    return content


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """A worker inherits the mask of the thread that starts it, so that Ctrl-C never strikes it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
