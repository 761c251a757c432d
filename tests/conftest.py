"""How the tests run: properties without a deadline, since a first call may compile, and always with the same
examples; files in an order in which two processes do not compile the same kernels at the same time."""

from itertools import chain, groupby, zip_longest

import pytest
from hypothesis import settings

settings.register_profile("latentgram", deadline=None, derandomize=True)
settings.load_profile("latentgram")

collect_ignore = ["extension"]
"""A package of its own, which the tests of extending put on the path."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Take files in turn from the first half of the alphabet and from the second: from different families."""
    files = [list(group) for _, group in groupby(items, key=lambda item: item.path)]
    half = (len(files) + 1) // 2
    pairs = chain.from_iterable(zip_longest(files[:half], files[half:], fillvalue=[]))
    items[:] = chain.from_iterable(pairs)
