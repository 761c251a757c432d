"""Hyper-parameters: frozen dataclasses whose fields say their range and meaning, checked in this one place.

A learner serves several models, and a field left at None means "the model's default". The recipe of a pair
(recipes.py) lists the fields it understands with their defaults; any other field that is set is an error, so
nothing is ever ignored silently. The command line makes its flags from the same fields.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Self

from latentgram.errors import SettingError


def setting(
    help: str,
    *,
    default: Any = None,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    choices: tuple[str, ...] | None = None,
    reader: str | None = None,
    word: str | None = None,
) -> Any:
    """A field of a `Settings` class with its meaning and range; `word` is a value outside of it that is allowed.

    A value that is no number or word has a `reader`, "module:function", which makes it from what the command line
    is given.
    """
    limits = {"at_least": at_least, "above": above, "at_most": at_most, "choices": choices}
    return dataclasses.field(default=default, metadata={"help": help, **limits, "reader": reader, "word": word})


def _complaint(value: Any, limits: Mapping[str, Any], whole: bool) -> str | None:
    """What is wrong with a value, or None; `whole` numbers have no fraction."""
    word = limits.get("word")
    if word is not None and value == word:
        return None
    choices = limits.get("choices")
    if choices is not None:
        return None if value in choices else f"one of {', '.join(choices)}"
    bounds = {name: limits[name] for name in ("at_least", "above", "at_most") if limits.get(name) is not None}
    if not bounds:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "a number" if word is None else f"a number or {word!r}"
    if not math.isfinite(value):
        return "a finite number"
    if whole and not isinstance(value, int):
        return "a whole number"
    holds = {
        "at_least": lambda bound: value >= bound,
        "above": lambda bound: value > bound,
        "at_most": lambda bound: value <= bound,
    }
    if all(holds[name](bound) for name, bound in bounds.items()):
        return None
    return " and ".join(f"{name.replace('_', ' ')} {bound}" for name, bound in bounds.items())


@dataclasses.dataclass(frozen=True, repr=False)
class Settings:
    """Base of everything with hyper-parameters: checks the ranges its fields declare.

    >>> import latentgram as lg
    >>> lg.EM(states=4, seed=1)
    EM(states=4, seed=1)
    """

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            whole = str(field.type).startswith("int")
            wrong = None if value is None else _complaint(value, field.metadata, whole)
            if value is not None and str(field.type) == "str | None" and not isinstance(value, str):
                wrong = wrong or "a string"
            if wrong is not None:
                raise SettingError(f"{type(self).__name__}.{field.name} must be {wrong}, got {value!r}")

    def __repr__(self) -> str:
        """What is set; the rest is the model's default."""
        shown = (
            f"{field.name}={value!r}"
            for field in dataclasses.fields(self)
            if (value := getattr(self, field.name)) != field.default
        )
        return f"{type(self).__name__}({', '.join(shown)})"

    def resolved(self, defaults: Mapping[str, Any], use: str) -> Self:
        """These settings with the defaults of a use filled in; a set field that the use lacks is an error."""
        for field in dataclasses.fields(self):
            if field.name not in defaults and getattr(self, field.name) != field.default:
                known = ", ".join(sorted(defaults)) or "none"
                raise SettingError(
                    f"{type(self).__name__}.{field.name} has no meaning for {use}; its settings are: {known}"
                )
        unset = {name: value for name, value in defaults.items() if getattr(self, name) is None}
        return dataclasses.replace(self, **unset)
