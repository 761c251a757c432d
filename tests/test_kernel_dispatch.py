"""A kernel that others call is linked into them, without machine code of its own; Python may call it, too."""

import pickle

import numba
import numpy as np
import pytest

from latentgram import kernel_cache
from latentgram.compiling import jitable, njit


@njit()
def square(values, place):
    if place >= values.shape[0]:
        raise IndexError("there is no such place")
    return values[place] * values[place]


@njit()
def squares(values, count):
    total = 0.0
    for place in range(count):
        total += square(values, place)
    return total


@njit()
def factorial(number):
    if number < 2:
        return 1
    return number * factorial(number - 1)


@njit()
def choose(number, taken):
    return factorial(number) // (factorial(taken) * factorial(number - taken))


@jitable()
def last(values):
    return values[values.shape[0] - 1]


@njit()
def negative_last(values):
    return -last(values)


VALUES = np.array([1.0, 2.0, 3.0])


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kernel_cache, "SHIPPED", tmp_path / "shipped")
    anew(monkeypatch)


def anew(monkeypatch):
    """The same kernels, as another process has them."""
    for function in (square, squares, factorial, choose):
        monkeypatch.setitem(globals(), function.__name__, njit()(function.py_func))


def test_only_what_python_calls_has_a_form_for_python():
    assert squares(VALUES, 3) == 14.0
    assert len(squares.signatures) == 1
    assert square.signatures == []


def test_python_may_call_a_kernel_before_and_after_others_do():
    assert square(VALUES, 2) == 9.0
    assert squares(VALUES, 3) == 14.0
    assert square(VALUES, 1) == 4.0


def test_an_error_in_an_inner_kernel_is_raised():
    with pytest.raises(IndexError, match="there is no such place"):
        squares(VALUES, 4)


def test_inner_kernels_are_found_in_the_cache(monkeypatch):
    def other(values, count):
        return -square(values, count - 1)

    assert squares(VALUES, 3) == 14.0
    anew(monkeypatch)
    assert njit()(other)(VALUES, 3) == -9.0
    assert sum(square._inner.stats.cache_hits.values()) == 1
    assert sum(square._inner.stats.cache_misses.values()) == 0


def test_what_is_stored_for_python_holds_no_code_for_the_linker(tmp_path, monkeypatch):
    assert squares(VALUES, 3) == 14.0
    stored = [pickle.loads(file.read_bytes())[0] for file in tmp_path.rglob("*squares*.nbc")]
    ((_, _, (machine_code, for_the_linker)),) = (each for each in stored if isinstance(each, tuple))
    assert len(for_the_linker) < len(machine_code) / 2
    anew(monkeypatch)
    assert squares(VALUES, 3) == 14.0
    assert sum(squares.stats.cache_misses.values()) == 0


def test_a_damaged_inner_kernel_is_compiled_again(tmp_path, monkeypatch):
    assert squares(VALUES, 3) == 14.0
    for file in tmp_path.rglob("*.nb[ci]"):
        file.write_bytes(file.read_bytes()[:-9])
    anew(monkeypatch)
    assert squares(VALUES, 3) == 14.0


def test_a_kernel_may_call_itself():
    assert factorial(5) == 120
    assert choose(6, 2) == 15


def test_a_function_for_kernels_stays_a_function_of_python():
    assert negative_last(VALUES) == -3.0
    assert last(VALUES) == 3.0
    with pytest.raises(IndexError):
        last(np.zeros(0))
