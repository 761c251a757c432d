"""`Worker`: a process that calls functions for this one.

    this process ──(function, arguments)──▶ worker
    this process ◀──notes on the way, then the result or error── worker

Messages are pickles on the standard input and output of the worker; closures are allowed (cloudpickle), and what
the work prints goes to standard error. A worker ends when its input does, even in the middle of work, and at once
where the system takes care of that (lifeline.py), so none outlives the process that started it. The two share
nothing, neither semaphores nor a managing thread: a worker can be killed at any moment, and the end of a program
never waits for work that nobody needs (the pools of the standard library and of loky do wait, and have no public
way not to).
"""

from __future__ import annotations

import atexit
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import BinaryIO, NoReturn, ParamSpec, TypeVar, cast

import cloudpickle

from latentgram.errors import LatentgramError
from latentgram.interrupt import LAST_DEEDS
from latentgram.parallel.fork import Fork
from latentgram.parallel.lifeline import hold, line

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Call = tuple[Callable[..., object], tuple[object, ...], dict[str, object]]

_NOTE, _RESULT, _ERROR = range(3)
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
        self,
        environment: Mapping[str, str] | None = None,
        listen: Callable[[object], None] | None = None,
        *,
        copied: bool = False,
    ) -> None:
        """With `copied` it begins with all that this process has loaded, which may be so only if `can_fork`."""
        with _deaf():
            self.process = _copy() if copied else _new_process(environment or {})
        self._listen = listen
        self._in_use = threading.Lock()
        self.holds = ""
        """A name of what it was sent to be kept there (local.py, web/workers.py)."""
        _LIVING.add(self)
        LAST_DEEDS[self] = self.process.kill

    def call(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **more: Arguments.kwargs
    ) -> Result:
        """Call a function there; what it raises is raised here, as it is."""
        packed = cloudpickle.dumps((function, args, more))
        calls, answers = cast(BinaryIO, self.process.stdin), cast(BinaryIO, self.process.stdout)
        with self._in_use:
            if calls.closed:
                raise WorkerEnded
            try:
                calls.write(packed)
                calls.flush()
                while (answer := pickle.load(answers))[0] == _NOTE:
                    if self._listen is not None:
                        self._listen(answer[1])
            except (OSError, EOFError, pickle.UnpicklingError):
                raise WorkerEnded from None
            except BaseException:  # an answer that cannot be read: neither can those after it
                self.process.kill()
                raise
        kind, value = answer
        if kind == _ERROR:
            raise cast(BaseException, value)
        return cast(Result, value)

    @property
    def ended(self) -> bool:
        """Whether the process is no more."""
        return self.process.poll() is not None

    def kill(self) -> None:
        """End the process at once; a call under way raises `WorkerEnded`."""
        _LIVING.discard(self)
        LAST_DEEDS.pop(self, None)
        self.process.kill()
        with (
            self._in_use,
            suppress(BrokenPipeError),
            self.process,
        ):  # which closes the pipes, and waits for the end
            pass


@contextmanager
def _deaf() -> Iterator[None]:
    """A process inherits the mask of the thread that starts it: signals to the group never strike a worker."""
    masks = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM}) if masks else set()
    try:
        yield
    finally:
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _new_process(environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    held = line()
    program = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve({held})"
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **environment},
        pass_fds=() if held is None else (held,),
    )


def _copy() -> Fork:
    pipes = (pipe for worker in _LIVING for pipe in (worker.process.stdin, worker.process.stdout))
    return Fork(partial(serve, line()), [cast(BinaryIO, pipe) for pipe in pipes])


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


_ANSWERS: list[BinaryIO] = []
"""In a worker: where answers go."""


def serve(held: int | None) -> NoReturn:
    """The life of a worker, which holds on to a line."""
    if held is not None:
        hold(held)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is the parent who ends its workers
    calls = os.fdopen(os.dup(0), "rb")
    _ANSWERS.append(os.fdopen(os.dup(1), "wb"))
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    waiting: queue.SimpleQueue[Call] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(calls, waiting), daemon=True).start()
    while True:
        function, args, more = waiting.get()
        try:
            packed = cloudpickle.dumps((_RESULT, function(*args, **more)))
        except BaseException as error:
            packed = _packed(error)
        _send(packed)


def tell(value: object) -> None:
    """In a worker, during a call: a word to the parent on how it goes."""
    _send(pickle.dumps((_NOTE, value)))


def _read(calls: BinaryIO, waiting: queue.SimpleQueue[Call]) -> NoReturn:
    """Put calls into a queue, and end the process when no more can come, whatever it does then."""
    try:
        while True:
            waiting.put(pickle.load(calls))
    except (EOFError, OSError):
        os._exit(0)
    except Exception as error:  # what comes after it cannot be read either
        waiting.put((_fail, (error,), {}))
        calls.read()
        os._exit(0)


def _fail(error: Exception) -> NoReturn:
    raise error


def _packed(error: BaseException) -> bytes:
    if not isinstance(error, LatentgramError):
        error.add_note(f"in a worker process:\n{''.join(traceback.format_exception(error))}")
    try:
        return cast(bytes, cloudpickle.dumps((_ERROR, error)))
    except Exception:
        return pickle.dumps((_ERROR, RuntimeError(f"{type(error).__name__}: {error}")))


def _send(packed: bytes) -> None:
    with suppress(OSError):  # nobody listens: the reader will notice, and end all
        _ANSWERS[0].write(packed)
        _ANSWERS[0].flush()
