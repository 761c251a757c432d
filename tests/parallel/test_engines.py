"""Work in several processes gives the same bits as work in one, fails as itself, and ends when told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from latentgram.errors import DataError, LatentgramError, SettingError
from latentgram.parallel import Engine, InProcess, LocalProcesses, engine_for, map_reduce, shards
from laws import engines


@pytest.fixture(scope="module")
def two() -> Engine:
    return engine_for(2)


def test_sums_are_equal_to_the_last_bit(two: Engine) -> None:
    engines.sums_are_equal_to_the_last_bit(two, engine_for(3))


def test_order_is_kept_when_early_items_take_long(two: Engine) -> None:
    engines.order_is_kept_when_early_items_take_long(two)


@pytest.mark.parametrize("engine", [InProcess(), LocalProcesses(2)], ids=["alone", "two"])
def test_items_are_taken_a_few_ahead_only(engine: Engine) -> None:
    engines.items_are_taken_a_few_ahead_only(engine)


def test_errors_come_back_as_themselves(two: Engine) -> None:
    def fail(number: int) -> int:
        if number == 3:
            raise DataError("a bracket is never closed", path="a.mrg", line=7, column=2)
        return number

    for engine in (InProcess(), two):
        results = engine.map(fail, range(6))
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(DataError, match=r"^a\.mrg:7:2: a bracket is never closed$") as caught:
            next(results)
        assert (caught.value.path, caught.value.line, caught.value.column) == ("a.mrg", 7, 2)
    assert list(two.map(abs, [1, 2])) == [1, 2]


def test_errors_of_the_source_come_through(two: Engine) -> None:
    def stream() -> Iterator[int]:
        yield 1
        raise DataError("cut short", path="b.txt")

    with pytest.raises(DataError, match="cut short"):
        list(two.map(abs, stream()))


def test_a_killed_worker_is_one_clear_error(two: Engine) -> None:
    with pytest.raises(LatentgramError, match="a worker process was killed"):
        list(two.map(lambda number: os.kill(os.getpid(), signal.SIGKILL), range(3)))
    assert list(two.map(abs, [-1])) == [1]


def test_workers_have_one_thread(two: Engine) -> None:
    def threads(_: int) -> list[int]:
        import numba
        from threadpoolctl import threadpool_info

        return [numba.config.NUMBA_NUM_THREADS, *(pool["num_threads"] for pool in threadpool_info())]

    assert set(next(two.map(threads, [0]))) == {1}
    assert set(next(InProcess().map(threads, [0]))[1:]) <= {1}


def test_a_function_travels_once_a_map(two: Engine) -> None:
    """A megabyte in the function, a thousand items: sent with each it would be a gigabyte."""
    ballast = np.ones(1 << 17)
    started = time.process_time()
    assert sum(two.map(lambda number: number * ballast[number], range(1000))) == 499500
    assert time.process_time() - started < 5


def test_engines_by_number() -> None:
    assert engine_for(-1).n_jobs >= 1
    for wrong in (0, -2):
        with pytest.raises(SettingError, match="n_jobs must be at least 1"):
            engine_for(wrong)
    for absurd in (2**31, 10**30):
        with pytest.raises(SettingError, match="n_jobs must be at most"):
            engine_for(absurd)
    with pytest.raises(SettingError, match="size of a shard"):
        shards([1], 0)


def test_empty_data() -> None:
    assert map_reduce(sum, shards([], 3), start=0) == 0
    with pytest.raises(LatentgramError, match="the data are empty"):
        map_reduce(sum, shards([], 3))


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_workers_are_deaf_to_interrupts_from_their_first_instruction(two: Engine) -> None:
    def blocked(_: int) -> set[int]:
        return set(signal.pthread_sigmask(signal.SIG_BLOCK, []))

    assert signal.SIGINT in next(two.map(blocked, [0]))
    assert signal.SIGINT not in blocked(0)


# Jobs that a shell starts in the background ignore interrupts, and the tests may run in such a job.
PROGRAM = """
import signal
import time
signal.signal(signal.SIGINT, signal.default_int_handler)
from latentgram.parallel import engine_for
def work(number):
    time.sleep(0.05 if number == 0 else 60)
    return number
for result in engine_for(2).map(work, range(100)):
    print("ready", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_interrupt_ends_all_processes_at_once() -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=environment,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    started = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, complaint = process.communicate(timeout=20)
    assert process.returncode == -signal.SIGINT
    assert complaint.count(b"KeyboardInterrupt") == 1
    while time.monotonic() - started < 10:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    pytest.fail("processes are left behind")


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_a_program_that_fails_does_not_wait_for_its_workers() -> None:
    """Ctrl-C may come while a result is used, when `map` does not hear of it."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", f"{PROGRAM}    raise KeyboardInterrupt"],
        capture_output=True,
        timeout=50,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )
    assert b"KeyboardInterrupt" in done.stderr
    assert time.monotonic() - started < 30


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_workers_do_not_outlive_a_program_that_is_killed() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.kill()
    process.communicate(timeout=20)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    pytest.fail("processes are left behind")


def test_workers_stay_for_the_next_work_unless_theirs_was_not_wanted(two: Engine) -> None:
    def who(_: int) -> int:
        return os.getpid()

    def slow(number: int) -> int:
        time.sleep(60 * number)
        return number

    before = set(two.map(who, range(50)))
    assert set(two.map(who, range(50))) <= before
    started = time.monotonic()
    results = two.map(slow, range(3))
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    assert set(two.map(who, range(50))).isdisjoint(before)
    assert time.monotonic() - started < 30


def test_what_work_prints_does_not_disturb_its_results(two: Engine) -> None:
    def loud(number: int) -> int:
        print("aloud")
        return number

    assert list(two.map(loud, range(5))) == list(range(5))
