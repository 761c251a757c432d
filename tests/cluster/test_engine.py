"""A cluster gives the same bits as one process, whatever happens to its workers, and says so when it is gone."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from latentgram.errors import ClusterError, DataError, SettingError
from latentgram.parallel import Cluster, InProcess, Kept, map_reduce
from latentgram.parallel import cluster as module
from laws import engines

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def slowly() -> Callable[[int], int]:
    """A function that travels by value: workers cannot find this file."""

    def square(number: int) -> int:
        time.sleep(0.05)
        return number * number

    return square


def test_sums_are_equal_to_the_last_bit(cluster: Cluster) -> None:
    engines.sums_are_equal_to_the_last_bit(cluster)


def test_order_is_kept_when_early_items_take_long(cluster: Cluster) -> None:
    engines.order_is_kept_when_early_items_take_long(cluster)


def test_items_are_taken_a_few_ahead_only(cluster: Cluster) -> None:
    engines.items_are_taken_a_few_ahead_only(cluster)


def test_errors_come_back_as_themselves(cluster: Cluster) -> None:
    def fail(number: int) -> int:
        if number == 3:
            raise DataError("a bracket is never closed", path="a.mrg", line=7, column=2)
        if number == 5:
            raise TimeoutError("too late")
        return number

    results = cluster.map(fail, range(6))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(DataError, match=r"^a\.mrg:7:2: a bracket is never closed$"):
        next(results)
    with pytest.raises(TimeoutError, match="too late"):
        list(cluster.map(fail, range(4, 6)))


def test_workers_have_one_thread(cluster: Cluster) -> None:
    def threads(_: int) -> list[int]:
        import numpy
        from threadpoolctl import threadpool_info

        numpy.ones((2, 2)) @ numpy.ones((2, 2))
        return [pool["num_threads"] for pool in threadpool_info()]

    assert set(next(cluster.map(threads, [0]))) == {1}


def test_a_function_travels_once_a_map(cluster: Cluster) -> None:
    """A megabyte in the function, a hundred items: sent with each it would be a hundred megabytes."""
    ballast = np.random.default_rng(0).normal(size=1 << 17)
    before = cluster.sent
    assert list(cluster.map(lambda number: ballast[number], range(100))) == ballast[:100].tolist()
    assert 1 << 20 < cluster.sent - before < 2 << 20


def test_kept_items_travel_once(processes: Any, cluster: Cluster) -> None:
    """A megabyte in all, three rounds over it, and one more after a worker was lost."""
    numbers = Kept(np.random.default_rng(0).normal(size=(8, 1 << 14)))
    before, sums = cluster.sent, [part.sum() for part in numbers]
    for power in (1.0, 2.0, 3.0):
        found = list(cluster.map(lambda part, power=power: power * part.sum(), numbers))
        assert found == [power * each for each in sums]
    assert 1 << 20 < cluster.sent - before < 5 << 18
    total = map_reduce(lambda group: sum(part[0] for part in group), numbers.grouped(3), cluster)
    assert total == pytest.approx(sum(numbers)[0])
    processes.kill_worker()
    assert list(cluster.map(lambda part: part.sum(), numbers)) == sums


def test_a_client_will_do(processes: Any, cluster: Cluster) -> None:
    from distributed import Client

    with Client(processes.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        with Cluster(client) as engine:
            assert list(engine.map(abs, [-1, 2])) == [1, 2]
        assert client.status == "running"
    with pytest.raises(ClusterError, match="has disappeared; finished work is kept"):
        list(engine.map(abs, [-1, 2]))


def test_a_killed_worker_changes_nothing_but_the_time(
    processes: Any, cluster: Cluster, slowly: Callable[[int], int]
) -> None:
    results = cluster.map(slowly, range(40))
    found = [next(results) for _ in range(5)]
    processes.kill_worker()
    assert [*found, *results] == [number * number for number in range(40)]


def test_work_that_kills_its_workers_is_given_up(start: Callable[..., Any]) -> None:
    own = start(workers=5)
    with Cluster(own.address) as engine, pytest.raises(ClusterError, match="has ended several workers"):
        list(engine.map(lambda number: os.kill(os.getpid(), signal.SIGKILL), range(1)))


def test_a_cluster_without_workers_is_waited_for_only_so_long(
    start: Callable[..., Any], slowly: Callable[[int], int]
) -> None:
    own = start(workers=0)
    with Cluster(own.address, patience=1.0) as engine:
        with pytest.raises(ClusterError, match="has had no workers for 1 s"):
            list(engine.map(abs, [1]))
        results = engine.map(abs, [-1])
        own.add_worker()
        engine._patience = 60.0
        assert list(results) == [1]
        own.scheduler.kill()
        with pytest.raises(ClusterError, match=r"tcp://127\.0\.0\.1:\d+ has disappeared; finished work is kept"):
            list(engine.map(slowly, range(100)))


@pytest.mark.parametrize("listening", [False, True], ids=["nobody", "somebody else"])
def test_an_address_where_no_scheduler_answers(listening: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CONNECT_SECONDS", 1.0)
    with socket.socket() as somebody:
        somebody.bind(("127.0.0.1", 0))
        if listening:
            somebody.listen()
        started = time.monotonic()
        with pytest.raises(ClusterError, match=r"no Dask scheduler answered at tcp://127\.0\.0\.1:\d+ within 1 s"):
            Cluster(f"tcp://127.0.0.1:{somebody.getsockname()[1]}")
        assert time.monotonic() - started < 5


def test_an_address_has_a_scheme() -> None:
    with pytest.raises(SettingError, match="is like tcp://"):
        Cluster("localhost:8786")


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"pip install 'latentgram\[cluster\]'"):
        Cluster("tcp://127.0.0.1:1")


def test_workers_of_another_version_are_named() -> None:
    ours = module._reporter()()
    old = {**ours, "numpy": "1.0"}
    with pytest.warns(
        UserWarning, match=r"tcp://b \(and 1 more\) has numpy 1.0 in place of .*: results may differ"
    ):
        module._compare(ours, {"tcp://a": ours, "tcp://b": old, "tcp://c": old})
    with pytest.raises(ClusterError, match="tcp://a has no latentgram"):
        module._compare(ours, {"tcp://a": {"latentgram": None, "Python": "3.12"}})


# Jobs that a shell starts in the background ignore interrupts, and the tests may run in such a job.
PROGRAM = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from latentgram.parallel import Cluster
def work(number):
    time.sleep(0.0 if number == 0 else 1)
    return number
with Cluster(sys.argv[1]) as engine:
    for result in engine.map(work, range(100)):
        print("ready", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_interrupt_ends_the_client_at_once_and_leaves_the_cluster(processes: Any, cluster: Cluster) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, processes.address],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    started = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, complaint = process.communicate(timeout=20)
    assert time.monotonic() - started < 5
    assert process.returncode == -signal.SIGINT
    assert complaint.count(b"KeyboardInterrupt") == 1
    assert list(cluster.map(abs, [-1])) == list(InProcess().map(abs, [-1]))
