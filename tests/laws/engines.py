"""What holds wherever work runs. Functions that travel are made here, so that workers need not find this file."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from latentgram.parallel import Engine, map_reduce, shards


def sums_are_equal_to_the_last_bit(*engines: Engine) -> None:
    """A sum through BLAS whose last bits depend on its order."""
    random = np.random.default_rng(5)
    rows = [random.normal(size=40) * 10.0 ** random.integers(-6, 6) for _ in range(523)]

    def gram(part: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        block = np.array(part)
        product: NDArray[np.float64] = block.T @ block
        return product / 3.0

    alone = map_reduce(gram, shards(rows, 50)).tobytes()
    for engine in engines:
        assert map_reduce(gram, shards(rows, 50), engine).tobytes() == alone
    assert map_reduce(gram, list(shards(rows, 50))[::-1]).tobytes() != alone


def order_is_kept_when_early_items_take_long(engine: Engine) -> None:
    def slow_first(number: int) -> int:
        time.sleep(0.2 if number == 0 else 0.0)
        return number

    assert list(engine.map(slow_first, range(12))) == list(range(12))
    assert list(engine.map(abs, [])) == []


def items_are_taken_a_few_ahead_only(engine: Engine) -> None:
    taken = 0

    def stream() -> Iterator[int]:
        nonlocal taken
        for number in range(1000):
            taken += 1
            yield number

    results = engine.map(abs, stream())
    for wanted in range(5):
        assert next(results) == wanted
        assert taken <= wanted + 1 + 2 * engine.n_jobs
    results.close()  # type: ignore[attr-defined]
