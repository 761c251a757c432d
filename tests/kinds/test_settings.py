"""Hyper-parameters are checked in one place, when they are made."""

import pytest

from latentgram.errors import SettingError
from latentgram.kinds.learners import EM, Clustering, Spectral


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Spectral(states=0), "states must be at least 1 and at most 1024, got 0"),
        (lambda: Spectral(states=2.5), "states must be an integer, got 2.5"),
        (lambda: EM(iterations=True), "iterations must be a number, got True"),
        (lambda: EM(backoff=float("inf")), "backoff must be a finite number, got inf"),
        (lambda: Clustering(pull=float("nan")), "pull must be a finite number, got nan"),
        (lambda: EM(start="there"), "start must be one of random, spectral, clusters, got 'there'"),
        (lambda: Spectral(backoff="much"), "backoff must be a number, got 'much'"),
    ],
)
def test_what_is_refused(make, complaint):
    with pytest.raises(SettingError, match=complaint):
        make()


def test_whole_numbers_may_stand_for_fractions():
    assert Spectral(backoff=3, states=2).backoff == 3
