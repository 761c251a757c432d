"""Learning anew in a process of its own, with progress, while the page goes on."""

from __future__ import annotations

import contextlib
import multiprocessing
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from latentgram.data.treebank import Treebank
from latentgram.errors import LatentgramError
from latentgram.learn.fit import fit


class _Teller:
    """Progress that goes through a pipe, ten times a second at most."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe, self._last = pipe, 0.0

    def step(self, stage: str, done: int, total: int | None = None, **figures: float) -> None:
        """Send a step on."""
        now = time.monotonic()
        if done == total or now - self._last > 0.1:
            self._last = now
            self._pipe.send(("progress", (stage, done, total)))


def _learn(pipe: Connection, kind: type, data: Treebank[Any], learner: Any) -> None:
    """The life of the process."""
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        try:
            pipe.send(("done", fit(kind, data, by=learner, progress=_Teller(pipe))))
        except LatentgramError as error:
            pipe.send(("failed", str(error)))
        except Exception as error:
            pipe.send(("failed", f"{type(error).__name__}: {error}"))


class Refit:
    """At most one piece of learning at a time; `finished` gets the model."""

    def __init__(self, finished: Callable[[Any], None]) -> None:
        self._finished = finished
        self._process: BaseProcess | None = None
        self.stage: str | None = None
        self.done = 0
        self.total: int | None = None
        self.seconds: float | None = None
        """How long the last one took."""
        self.failure: str | None = None

    @property
    def running(self) -> bool:
        """Whether there is one under way."""
        return self._process is not None

    def start(self, kind: type, data: Treebank[Any], learner: Any) -> None:
        """Begin, if none is under way."""
        if self._process is not None:
            return
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_learn, args=(theirs, kind, data, learner), daemon=True)
        process.start()
        self._process, self.failure, self.stage, self.done, self.total = process, None, "starting", 0, None
        theirs.close()
        threading.Thread(target=self._listen, args=(process, ours), daemon=True).start()

    def _listen(self, process: BaseProcess, pipe: Connection) -> None:
        started = time.monotonic()
        model = None
        try:
            while True:
                kind, value = pipe.recv()
                if kind == "progress":
                    self.stage, self.done, self.total = value
                    continue
                if kind == "done":
                    model, self.seconds = value, time.monotonic() - started
                else:
                    self.failure = value
                break
        except (EOFError, OSError):
            if self._process is process:
                self.failure = "the process that was learning ended"
        if self._process is process:
            if model is not None:
                self._finished(model)
            if self._process is process:
                self._process = None
        process.join(5)

    def cancel(self) -> None:
        """Give up."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
