"""Hyper-parameters: frozen dataclasses whose fields declare their range and meaning, checked in this one place.

There are two forms of them. A *learner* (learners.py) is what a user writes, `lg.Spectral(states=16)`: it applies
to several models, and a field with the value None was not given. The *settings* of a recipe (settings.py of each
family) are the argument of a learning function: one class for each pair of model and learner, every field with a
type and a default. `Settings.settings` makes the second from the first; a given field that the recipe lacks is an
error, so nothing is ever ignored silently. Both forms take their fields from one catalogue (fields.py), and so
does the command line.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TypeVar

from latentgram.errors import SettingError

Default = TypeVar("Default")
Made = TypeVar("Made", bound="Settings")

AUTO = "auto"
"""The word that asks for a value chosen from the data."""


@dataclasses.dataclass(frozen=True)
class Field:
    """A hyper-parameter: its meaning and its range. Called with a default it makes the field of a dataclass.

    `word` may be said in place of a number; `reader`, as "module:function", makes the value from what the command
    line is given, where that is not a number or a word.

    >>> @dataclasses.dataclass(frozen=True, repr=False)
    ... class Grid(Settings):
    ...     cells: int = Field("number of cells", at_least=1)(10)
    >>> Grid(cells=0)
    Traceback (most recent call last):
    latentgram.errors.SettingError: Grid.cells must be at least 1, got 0
    """

    help: str
    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    choices: tuple[str, ...] | None = None
    reader: str | None = None
    word: str | None = None

    def __call__(self, default: Default) -> Default:
        """The field with a default; None is one that is not said."""
        field: Default = dataclasses.field(default=default, metadata={"field": self})
        return field

    def complaint(self, value: object, *, whole: bool, text: bool) -> str | None:
        """What a value should have been, or None if it is right; `whole` numbers have no fraction."""
        if self.choices is not None:
            return None if value in self.choices else f"one of {', '.join(self.choices)}"
        if text:
            return None if isinstance(value, str) else "a string"
        bounds = {
            name: bound for name in ("at_least", "above", "at_most") if (bound := vars(self)[name]) is not None
        }
        if not bounds:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            return "a number" if self.word is None else f"a number or {self.word!r}"
        if not math.isfinite(value):
            return "a finite number"
        if whole and not isinstance(value, int):
            return "an integer"
        holds = {
            "at_least": lambda bound: value >= bound,
            "above": lambda bound: value > bound,
            "at_most": lambda bound: value <= bound,
        }
        if all(holds[name](bound) for name, bound in bounds.items()):
            return None
        return " and ".join(f"{name.replace('_', ' ')} {bound}" for name, bound in bounds.items())


def fields_of(settings: type[Settings]) -> dict[str, Field]:
    """The hyper-parameters of a class by name.

    >>> import latentgram as lg
    >>> fields_of(lg.MIRA)["order"].at_most
    2
    """
    return {field.name: field.metadata["field"] for field in dataclasses.fields(settings)}


def defaults_of(settings: type[Settings]) -> dict[str, object]:
    """The defaults of a class by name."""
    return {field.name: field.default for field in dataclasses.fields(settings)}


@dataclasses.dataclass(frozen=True, repr=False)
class Settings:
    """Base of everything with hyper-parameters: checks the ranges its fields declare.

    >>> import latentgram as lg
    >>> lg.EM(states=4, seed=1)
    EM(states=4, seed=1)

    A class that differs from its base in defaults says them as keywords:

    >>> from latentgram.lpcfg.settings import EMLPCFG
    >>> @dataclasses.dataclass(frozen=True, repr=False)
    ... class Short(EMLPCFG, iterations=3):
    ...     pass
    >>> Short().iterations, EMLPCFG().iterations
    (3, 20)
    """

    def __init_subclass__(cls, **defaults: object) -> None:
        super().__init_subclass__()
        known = {field.name: field for base in reversed(cls.__bases__) for field in dataclasses.fields(base)}
        for name, default in defaults.items():
            if (field := known.get(name)) is None:
                raise SettingError(f"{cls.__name__} inherits no field {name!r} to give another default to")
            cls.__annotations__[name] = field.type
            setattr(cls, name, field.metadata["field"](default))

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value, rule = vars(self)[field.name], field.metadata["field"]
            if value is None or (rule.word is not None and value == rule.word):
                continue
            kind = str(field.type)
            wrong = rule.complaint(value, whole=kind.startswith("int"), text=kind in ("str", "str | None"))
            if wrong is not None:
                raise SettingError(f"{type(self).__name__}.{field.name} must be {wrong}, got {value!r}")
            if kind.startswith("float") and isinstance(value, int):  # for which kernels would be compiled again
                object.__setattr__(self, field.name, float(value))

    def __repr__(self) -> str:
        """What differs from the defaults."""
        shown = (
            f"{field.name}={value!r}"
            for field in dataclasses.fields(self)
            if (value := vars(self)[field.name]) != field.default
        )
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    def said(self) -> dict[str, object]:
        """The fields that were said, with their values."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def plain(self) -> dict[str, object]:
        """All fields as a model file can keep them: dictionaries and the like by their description."""
        return {
            name: value if value is None or isinstance(value, bool | int | float | str) else repr(value)
            for name, value in vars(self).items()
        }

    def settings(self, wanted: type[Made], use: str, chosen: Mapping[str, object] | None = None) -> Made:
        """The settings of a recipe, with what is said here; `chosen` values take the place of what was said.

        >>> import latentgram as lg
        >>> from latentgram.lpcfg.settings import CountingLPCFG
        >>> lg.Counting(rare=3).settings(CountingLPCFG, "LPCFG by Counting").rare
        3
        """
        if type(self) is wanted:
            return dataclasses.replace(self, **(chosen or {}))
        known = defaults_of(wanted)
        for name in self.said:
            if name not in known:
                raise SettingError(
                    f"{type(self).__name__}.{name} has no meaning for {use}; "
                    f"its settings are: {', '.join(sorted(known)) or 'none'}"
                )
        return wanted(**{**self.said, **(chosen or {})})
