"""Hyper-parameters are checked in one place, when they are made."""

from dataclasses import dataclass
from dataclasses import fields as dataclass_fields

import pytest

from latentgram.errors import SettingError
from latentgram.kinds import fields
from latentgram.kinds.kind import kinds
from latentgram.kinds.learners import EM, Clustering, Spectral
from latentgram.kinds.settings import Settings, defaults_of, fields_of


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
    # Compiled loops know integers and floats apart, and would be compiled once more.
    assert [type(value) for value in (Spectral(states=4).states, Spectral(backoff=10).backoff)] == [int, float]


@dataclass(frozen=True, repr=False)
class Plain(Settings):
    states: int = fields.STATES(2)
    seed: int = fields.SEED(0)


@dataclass(frozen=True, repr=False)
class Wide(Plain, states=9):
    bits: int = fields.BITS(20)


@dataclass(frozen=True, repr=False)
class Wider(Wide, states=11, bits=22):
    pass


def test_a_keyword_of_a_class_is_the_default_of_an_inherited_field():
    assert [defaults_of(each) for each in (Plain, Wide, Wider)] == [
        {"states": 2, "seed": 0},
        {"states": 9, "seed": 0, "bits": 20},
        {"states": 11, "seed": 0, "bits": 22},
    ]
    assert (Plain().states, Wide().states, Wider().states, Wider(3).states) == (2, 9, 11, 3)
    assert repr(Wide(states=2)) == "Wide(states=2)"


def test_a_new_default_keeps_the_meaning_and_the_range():
    assert fields_of(Wider) == {**fields_of(Plain), "bits": fields.BITS}
    with pytest.raises(SettingError, match=r"Wide\.states must be at least 1 and at most 1024, got 0"):
        Wide(states=0)


def test_a_default_for_a_field_that_is_not_inherited_is_refused():
    with pytest.raises(SettingError, match="Lost inherits no field 'stats'"):

        class Lost(Plain, stats=3):
            pass


def test_the_numbers_of_recipes_are_never_missing():
    """A learner may leave a number out; what it then is stands in the settings of the recipe."""
    settings = {recipe.settings_class() for kind in kinds().values() for recipe in kind.recipes.values()}
    types = {
        (cls.__name__, field.name): str(field.type).split(" | ")
        for cls in settings
        for field in dataclass_fields(cls)
    }
    assert {"int", "float", "bool"} <= {each for said in types.values() for each in said}
    assert not [place for place, said in types.items() if "None" in said and {"int", "float", "bool"} & {*said}]
