"""What is packed comes out the same to the last bit, and smaller than a pickle."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import latentgram as lg
from latentgram.data.sentence import Sentence
from latentgram.parallel.wire import pack, unpack
from oracles.equality import same

WORD = st.text("abc", min_size=1, max_size=3)
SENTENCES = st.lists(WORD, min_size=1, max_size=5).flatmap(
    lambda words: st.builds(
        Sentence,
        st.just(tuple(words)),
        st.none() | st.just(tuple("T" + word for word in words)),
        space_after=st.none() | st.just(tuple(len(word) > 1 for word in words)),
    )
)
VALUES = st.one_of(
    st.integers(),
    st.floats(),
    st.booleans(),
    st.none(),
    WORD,
    st.lists(WORD).map(tuple),
    st.lists(st.integers(-9, 9)).map(tuple),
    st.tuples(SENTENCES, st.none() | st.integers(0, 3)),
    SENTENCES,
)


@given(arrays.arrays(st.sampled_from(["i8", "i4", "u2", "f8", "f4", "?"]), arrays.array_shapes(max_side=30)))
def test_arrays(array: Any) -> None:
    assert same(unpack(pack(array)), array)


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, 255.0, -3.0, 1e9, 0.5]), min_size=16, max_size=40))
def test_whole_floats_keep_their_bits(numbers: list[float]) -> None:
    array = np.array(numbers)
    assert unpack(pack(array)).tobytes() == array.tobytes()


def test_the_order_of_memory_is_kept() -> None:
    columns = np.asfortranarray(np.arange(60.0).reshape(6, 10))
    assert unpack(pack(columns)).flags.f_contiguous


@given(st.one_of(st.lists(st.one_of(strategy), max_size=5) for strategy in (VALUES, SENTENCES)))
def test_lists(values: list[Any]) -> None:
    found = unpack(pack(values))
    assert same(found, values)
    assert all(isinstance(value, Sentence) for value in found) == all(
        isinstance(value, Sentence) for value in values
    )


@pytest.mark.parametrize("kind", ["constituency", "dependencies"])
def test_parses_take_less_room_than_their_pickles(kind: str) -> None:
    if kind == "constituency":
        parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting()))
    else:
        parser = lg.Parser(lg.fit(lg.SHAG, lg.demo_dependencies(50, seed=0), by=lg.Counting()))
    parses = list(parser.parse_many(lg.demo_treebank(64, seed=1).sentences()))
    packed = pack(parses)
    assert same(unpack(packed), parses)
    assert len(packed) < 0.75 * len(pickle.dumps(parses))
    trees = [parse.tree for parse in parses]
    assert len(pack(trees)) < 0.5 * len(pickle.dumps(trees))


def test_what_is_derived_stays_at_home() -> None:
    forest = lg.demo_treebank(50, seed=0).forest
    before = len(pack(forest))
    assert forest.depth.max() > 0
    assert forest.words.index("the") >= 0
    assert len(pack(forest)) == before < 0.4 * len(pickle.dumps(forest))
    assert same(unpack(pack(forest)), forest)
    assert "depth" not in vars(unpack(pack(forest)))


def test_closures_travel() -> None:
    shift = np.arange(20)
    assert unpack(pack(lambda number: number + shift))(1).tolist() == list(range(1, 21))
