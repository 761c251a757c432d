"""Property tests: no deadline, since a first call may compile; the same examples on every run."""

from hypothesis import settings

settings.register_profile("latentgram", deadline=None, derandomize=True)
settings.load_profile("latentgram")

collect_ignore = ["extension"]
"""A package of its own, which the tests of extending put on the path."""
