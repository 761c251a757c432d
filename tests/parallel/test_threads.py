"""Threads keep the order, raise what was raised, and cover all items once."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from latentgram.errors import DataError
from latentgram.parallel import (
    Cluster,
    Engine,
    InProcess,
    LocalProcesses,
    Threads,
    across,
    compiled,
    one_thread,
    pieces,
    run_pieces,
    within,
)


def test_order_and_threads() -> None:
    seen = set()

    def slow_first(number: int) -> int:
        seen.add(threading.get_ident())
        time.sleep(0.1 if number == 0 else 0.001)
        return number

    assert list(Threads(3).map(slow_first, iter(range(40)))) == list(range(40))
    assert len(seen) == 3
    assert threading.get_ident() not in seen


def test_an_error_ends_the_work() -> None:
    done = []

    def fail(number: int) -> None:
        time.sleep(0.01)
        if number == 2:
            raise DataError("a fault", line=2)
        done.append(number)

    with pytest.raises(DataError, match="2: a fault"):
        list(Threads(2).map(fail, range(1000)))
    time.sleep(0.05)
    assert len(done) < 20


def blas_threads(_: int = 0) -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_blas_has_one_thread() -> None:
    assert set.union(*Threads(2).map(blas_threads, range(4))) <= {1}


def test_the_end_of_a_block_leaves_other_blocks_their_one_thread() -> None:
    """They may overlap in any order; when the last has ended, the libraries have the threads that they had."""
    with threadpool_limits(limits=2, user_api="blas"):
        first, second = one_thread(), one_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert blas_threads() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == {2}


@pytest.mark.parametrize("cost", [np.ones(5), np.r_[1000.0, np.ones(300)], np.zeros(40), np.arange(999)[::-1]])
def test_pieces_cover_everything_once(cost: np.ndarray) -> None:
    found = pieces(cost)
    assert [number for first, last in found for number in range(first, last)] == list(range(len(cost)))
    assert all(first < last for first, last in found)
    touched = np.zeros(len(cost), int)

    def touch(first: int, last: int) -> None:
        touched[first:last] += 1

    run_pieces(Threads(2), touch, cost)
    assert (touched == 1).all()


def test_which_work_goes_where() -> None:
    two: Engine = LocalProcesses(2)
    assert isinstance(within(two), Threads)
    assert within(two).n_jobs == 2
    assert isinstance(across(two), InProcess)
    assert isinstance(compiled(two), Threads)
    assert isinstance(within(InProcess()), InProcess)
    far = object.__new__(Cluster)
    assert across(far) is far
    assert compiled(far) is far
    assert isinstance(within(far), InProcess)
