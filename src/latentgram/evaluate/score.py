"""`Score`: the base of all scores. A score is a frozen set of counts; rates are computed from them on demand.

Counts can be added, so the score of a corpus is the sum of the scores of its parts, in any grouping; rates cannot.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from operator import add
from typing import ClassVar, Self, overload


def percent(part: float, whole: float) -> float:
    """A rate in percent; 0 of 0 is 0.

    >>> percent(1, 4), percent(0, 0)
    (25.0, 0.0)
    """
    return 100.0 * part / whole if whole else 0.0


def harmonic(left: float, right: float) -> float:
    """The harmonic mean, the F of recall and precision.

    >>> harmonic(100, 50), harmonic(0, 0)
    (66.66666666666667, 0.0)
    """
    return 2 * left * right / (left + right) if left + right else 0.0


@dataclasses.dataclass(frozen=True)
class Sums:
    """Sums over a set of things, which add field by field; fields may be mappings and tuples of sums.

    Fields marked with `metadata={"same": True}` are conditions (a length limit, a punctuation rule): they must
    agree between two sums that are added.
    """

    def __add__(self, other: object) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        added = {}
        for field in dataclasses.fields(self):
            left, right = getattr(self, field.name), getattr(other, field.name)
            if field.metadata.get("same"):
                if left != right:
                    raise ValueError(f"scores with different {field.name} cannot be added: {left!r} and {right!r}")
                added[field.name] = left
            elif isinstance(left, Mapping):
                added[field.name] = {key: left.get(key, 0) + right.get(key, 0) for key in sorted({*left, *right})}
            elif isinstance(left, tuple):
                if len(left) != len(right):
                    raise ValueError(f"{len(left)} and {len(right)} {field.name} cannot be added")
                added[field.name] = tuple(map(add, left, right))
            else:
                added[field.name] = left + right
        return type(self)(**added)

    def __radd__(self, other: object) -> Self:
        return self if isinstance(other, int) and other == 0 else NotImplemented


@dataclasses.dataclass(frozen=True)
class Score(Sums):
    """Sums from which figures are made; compared by the figure named `HEADLINE`, equal when all sums are."""

    HEADLINE: ClassVar[str]
    FIGURES: ClassVar[tuple[str, ...]]
    """The attributes that `to_json` shows."""

    def to_json(self) -> dict[str, object]:
        """The figures by name; rates in percent."""
        return {name: getattr(self, name) for name in self.FIGURES}

    def __str__(self) -> str:
        raise NotImplementedError

    def table(self) -> str:
        """The figures, one per line."""
        return table(self.to_json())

    def _repr_html_(self) -> str:
        """The figures as a table, in a notebook."""
        from latentgram.view.notebook import figures_html

        return figures_html(type(self).__name__, self.to_json())

    @property
    def headline(self) -> float:
        """The figure by which scores of this kind are compared; more is better."""
        return float(getattr(self, self.HEADLINE))

    def __lt__(self, other: Self) -> bool:
        return self.headline < other.headline

    def __le__(self, other: Self) -> bool:
        return self.headline <= other.headline

    def __gt__(self, other: Self) -> bool:
        return self.headline > other.headline

    def __ge__(self, other: Self) -> bool:
        return self.headline >= other.headline


class Rate:
    """A figure of a score: one of its counts in percent of another, both by their names; and what it means."""

    def __init__(self, part: str, whole: str, meaning: str) -> None:
        self.part, self.whole, self.__doc__ = part, whole, f"{meaning}, in percent."

    @overload
    def __get__(self, score: None, kind: type[Sums]) -> Rate: ...
    @overload
    def __get__(self, score: Sums, kind: type[Sums]) -> float: ...
    def __get__(self, score: Sums | None, kind: type[Sums]) -> Rate | float:
        if score is None:
            return self
        return percent(getattr(score, self.part), getattr(score, self.whole))


def table(figures: Mapping[str, object]) -> str:
    """Names and figures in two columns: rates with two decimals, counts without.

    >>> print(table({"f1": 84.04132, "no_parse": 2}))
    f1        84.04
    no parse      2
    """
    names = [name.replace("_", " ") for name in figures]
    width = max(map(len, names), default=0)
    shown = [f"{value:.2f}" if isinstance(value, float) else str(value) for value in figures.values()]
    wide = max(map(len, shown), default=0)
    return "\n".join(f"{name:{width}}  {value:>{wide}}" for name, value in zip(names, shown, strict=True))
