"""Retraining in a separate process, with progress, while the page continues."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import cast

from latentgram.data.treebank import Treebank
from latentgram.errors import LatentgramError
from latentgram.kinds.protocols import AnyTree, Model
from latentgram.kinds.settings import Settings
from latentgram.learn.fit import fit
from latentgram.parallel.worker import Worker, WorkerEnded, tell


class _Teller:
    """Progress that goes to the parent process, ten times a second at most."""

    def __init__(self) -> None:
        self._last = 0.0

    def step(self, stage: str, done: int, total: int | None = None, **figures: float) -> None:
        """Send a step on."""
        now = time.monotonic()
        if done == total or now - self._last > 0.1:
            self._last = now
            tell((stage, done, total))


def _learn(kind: type[Model], data: Treebank[AnyTree], learner: Settings) -> Model:
    """In the process: learn."""
    return fit(kind, data, by=learner, progress=_Teller())


class Refit:
    """At most one piece of learning at a time; `finished` gets the model."""

    def __init__(self, finished: Callable[[Model], None]) -> None:
        self._finished = finished
        self._worker: Worker | None = None
        self.stage: str | None = None
        self.done = 0
        self.total: int | None = None
        self.seconds: float | None = None
        """How long the last one took."""
        self.failure: str | None = None

    @property
    def running(self) -> bool:
        """Whether there is one under way."""
        return self._worker is not None

    def start(self, kind: type[Model], data: Treebank[AnyTree], learner: Settings) -> None:
        """Begin, if none is under way."""
        if self._worker is not None:
            return
        self._worker = Worker(listen=self._listen)
        self.failure, self.stage, self.done, self.total = None, "starting", 0, None
        threading.Thread(target=self._run, args=(self._worker, kind, data, learner), daemon=True).start()

    def _listen(self, step: object) -> None:
        self.stage, self.done, self.total = cast(tuple[str, int, int | None], step)

    def _run(self, worker: Worker, kind: type[Model], data: Treebank[AnyTree], learner: Settings) -> None:
        started = time.monotonic()
        failure = None
        try:
            try:
                model = worker.call(_learn, kind, data, learner)
            finally:
                worker.kill()
            self.seconds = time.monotonic() - started
            if self._worker is worker:
                self._finished(model)
        except WorkerEnded:
            failure = "the process that was learning ended"
        except Exception as error:
            failure = str(error) if isinstance(error, LatentgramError) else f"{type(error).__name__}: {error}"
        if self._worker is worker:
            self.failure, self._worker = failure, None

    def cancel(self) -> None:
        """Give up."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()
