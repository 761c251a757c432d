"""Binary search against looking at every place."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from latentgram.numeric.search import find


@given(st.sets(st.integers(0, 40)), st.integers(-1, 41), st.integers(0, 3), st.integers(0, 3))
def test_find_is_where_the_number_stands(numbers: set[int], wanted: int, before: int, after: int) -> None:
    values = np.array([*[wanted] * before, *sorted(numbers), *[wanted] * after], np.int32)
    end = before + len(numbers)
    places = [i for i in range(before, end) if values[i] == wanted]
    assert find(values, before, end, wanted) == (places[0] if places else -1)
