"""Workers: a slow piece of work blocks nobody, ends when it is given up, and a dead worker is replaced."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any, cast

import pytest

from latentgram.errors import DataError, LatentgramError
from latentgram.web.refit import Refit
from latentgram.web.server import _listen
from latentgram.web.workers import Busy, GivenUp, Workers

LONG: Any = 3600.0
"""What stands for a parser: the work is `time.sleep` of it, which takes an hour."""


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    made = Workers(cast(Any, LONG), 2)
    made.start(afterwards=lambda: None)
    yield made
    made.close()


def test_the_background_leaves_one_worker_to_people(workers: Workers) -> None:
    deadline = time.monotonic() + 60
    while workers.warming:
        assert time.monotonic() < deadline
        time.sleep(0.02)

    async def crowd() -> float:
        first = asyncio.create_task(workers.run(time.sleep, limit=60, background=True))
        while not workers.count - workers._idle.qsize():
            await asyncio.sleep(0.02)
        second = asyncio.create_task(workers.run(time.sleep, limit=60, background=True))
        answer = await workers.run(abs, limit=60)
        for task in (first, second):
            task.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        return float(answer)

    assert asyncio.run(crowd()) == LONG


def test_slow_work_blocks_nobody_and_can_be_given_up(workers: Workers) -> None:
    waiting = True

    async def gone() -> bool:
        return not waiting

    async def both() -> tuple[float, float]:
        nonlocal waiting
        slow = asyncio.create_task(workers.run(time.sleep, limit=100, gone=gone))
        quick = await workers.run(abs)
        started = time.monotonic()
        waiting = False
        with pytest.raises(GivenUp):
            await slow
        return quick, time.monotonic() - started

    quick, seconds = asyncio.run(both())
    assert quick == LONG
    assert seconds < 2
    # Both workers are there again: two pieces of work at a time.
    assert asyncio.run(_two(workers)) == [LONG, LONG]


async def _two(workers: Workers) -> list[float]:
    return list(await asyncio.gather(workers.run(abs), workers.run(abs)))


def test_given_up_work_that_soon_ends_keeps_its_process(workers: Workers) -> None:
    async def gone() -> bool:
        return True

    def idle() -> set[int | None]:
        deadline = time.monotonic() + 20
        while workers._idle.qsize() < 2:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return {worker.process.pid for worker in workers._idle.queue}

    workers.set_parser(cast(Any, 0.1), workers.version + 1)
    idle()
    assert asyncio.run(_two(workers)) == [0.1, 0.1]  # both are up
    there = idle()
    with pytest.raises(GivenUp):
        asyncio.run(workers.run(time.sleep, gone=gone))
    assert idle() == there
    workers.set_parser(LONG, workers.version + 1)


def test_what_takes_too_long_or_kills_its_worker_is_told(workers: Workers) -> None:
    with pytest.raises(Busy, match="more than"):
        asyncio.run(workers.run(time.sleep, limit=0.2))
    workers.set_parser(cast(Any, 9), workers.version + 1)
    with pytest.raises(Busy, match="ended"):
        asyncio.run(workers.run(os._exit))
    assert asyncio.run(workers.run(float, limit=60)) == 9


def test_errors_come_back_as_they_are(workers: Workers) -> None:
    workers.set_parser(cast(Any, "no number"), workers.version + 1)
    with pytest.raises(RuntimeError, match="ValueError"):
        asyncio.run(workers.run(int))
    workers.set_parser(cast(Any, "wrong here"), workers.version + 1)
    assert asyncio.run(workers.run(DataError)).message == "wrong here"
    assert issubclass(Busy, LatentgramError)


def test_neither_the_page_nor_a_parser_loads_what_only_learning_needs() -> None:
    modules = "latentgram.web.server, latentgram.web.analysis, latentgram.lpcfg.parse.backend"
    heavy = "[name for name in ('scipy.optimize', 'scipy.sparse', 'scipy.cluster') if name in sys.modules]"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, {modules}; print({heavy})"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_nobody_waits_for_processes_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> None:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr("latentgram.web.workers.Worker", full)
    workers = Workers(cast(Any, LONG), 2)
    workers.start(afterwards=lambda: None)
    with pytest.raises(Busy, match="all workers are busy"):
        asyncio.run(asyncio.wait_for(workers.run(abs, limit=0.2), timeout=20))


def test_a_model_that_cannot_be_taken_over_does_not_end_learning_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    class Learning:
        def __init__(self, listen: object) -> None: ...
        def call(self, *_: object) -> str:
            return "model"

        def kill(self) -> None: ...

    taken: list[str] = []

    def take(model: Any) -> None:
        taken.append(model)
        if len(taken) == 1:
            raise DataError("a tree is not one")

    monkeypatch.setattr("latentgram.web.refit.Worker", Learning)
    refit, nothing = Refit(take), cast(Any, None)
    for failure in ("a tree is not one", None):
        refit.start(nothing, nothing, nothing)
        deadline = time.monotonic() + 20
        while refit.running:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert refit.failure == failure
    assert len(taken) == 2


def test_the_last_ports_are_tried_and_none_beyond() -> None:
    with socket.socket() as first:
        try:
            first.bind(("127.0.0.1", 65535))
            first.listen()
        except OSError:
            pytest.skip("another program has the last port")
        with _listen("127.0.0.1", 65535) as listening:
            assert 0 < listening.getsockname()[1] < 65535
