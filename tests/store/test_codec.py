"""Any value that the format has a form for comes back the same through JSON and arrays."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from latentgram.data.alphabet import Alphabet
from latentgram.store.codec import FormatError, decode, encode
from oracles.equality import same

CLASSES = {"Alphabet": Alphabet}
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
numbers = arrays.arrays(
    st.sampled_from([np.float32, np.float64, np.int8, np.int64, np.uint16, np.bool_]),
    arrays.array_shapes(min_side=0),
)
symbols = st.lists(st.text(max_size=3), max_size=80, unique=True).map(lambda items: Alphabet(tuple(items)))
keys = st.text() | st.tuples(st.text(), st.integers()) | st.integers() | st.sampled_from(["$class", "$tuple", ""])
values = st.recursive(
    plain | numbers | symbols,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(keys, inner, max_size=4)
        | st.lists(st.text(max_size=2), min_size=30, max_size=40).map(tuple)
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(values)
def test_round_trip(value: Any) -> None:
    document, found = encode(value, CLASSES.__getitem__)
    assert same(decode(json.loads(json.dumps(document, allow_nan=False)), found, CLASSES.__getitem__), value)


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", 1j, np.array([None]), np.array(["text"]), Alphabet, object()])
def test_values_without_a_form(value: Any) -> None:
    with pytest.raises(FormatError, match="cannot be stored"):
        encode(value, CLASSES.__getitem__)
