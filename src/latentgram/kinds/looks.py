"""What can be inspected in a model, as plain values: for `latentgram show` and the page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn

from latentgram.errors import SettingError, a_or_an


@dataclass(frozen=True)
class SymbolFacts:
    """A symbol, how many states it has and how often it was seen."""

    name: str
    kind: Literal["phrase", "tag", "head"]
    states: int
    count: float


@dataclass(frozen=True)
class Event:
    """Something a state prefers: its probability there, and by how much more than at large."""

    event: str
    probability: float
    lift: float | None = None


@dataclass(frozen=True)
class TypicalTree:
    """A tree as a picture and as brackets, and its probability."""

    svg: str
    plain: str
    probability: float


@dataclass(frozen=True)
class StateLook:
    """A hidden state: its share of the symbol, what it prefers below and above, and trees typical of it."""

    name: str
    share: float
    below: tuple[Event, ...]
    above: tuple[Event, ...]
    subtrees: tuple[TypicalTree, ...] = ()


@dataclass(frozen=True)
class EndLook:
    """What pulls a coordinate to one of its ends, the strongest first, and trees that begin so."""

    events: tuple[Event, ...]
    subtrees: tuple[TypicalTree, ...]


@dataclass(frozen=True)
class CoordinateLook:
    """A coordinate of a spectral grammar and what is at its two ends."""

    name: str
    ends: tuple[EndLook, ...]


@dataclass(frozen=True)
class Look:
    """What the hidden states of a symbol mean; a spectral grammar has coordinates in place of states."""

    symbol: str
    strengths: tuple[float, ...]
    strengths_name: str
    direction: Literal["left", "right"] | None = None
    note: str | None = None
    states: tuple[StateLook, ...] = ()
    coordinates: tuple[CoordinateLook, ...] = ()
    singular_values: tuple[float, ...] = ()
    svg: str | None = None


@dataclass(frozen=True)
class Request:
    """What `latentgram show` is asked for: states of a symbol, an automaton, neighbours of a word, clusters."""

    subject: Literal["symbol", "automaton", "word", "word clusters"]
    name: str
    direction: Literal["left", "right"] = "left"
    clusters: int = 10
    spectrum: bool = False
    top: int = 5
    svg: bool = False
    trees: Path | None = None
    """A treebank whose modifier sequences the states of an automaton are made of."""


@dataclass(frozen=True)
class Shown:
    """An answer: text or a drawing, and what else is worth a line on standard error."""

    content: str
    note: str = ""
    columns: tuple[str, ...] = ()
    """Of the same as a table; none where it is not one."""
    rows: tuple[tuple[object, ...], ...] = ()


def shown_values(values: Iterable[float], name: str) -> Shown:
    """Numbers, the first being that of state 1; `name` is that of their column.

    >>> shown_values([2.0, 0.5], "singular_value").content
    '1\\t2\\n2\\t0.5'
    """
    rows = tuple(enumerate(values, 1))
    return Shown("\n".join(f"{place}\t{value:.6g}" for place, value in rows), "", ("state", name), rows)


_SUBJECTS = {
    "symbol": "symbols with hidden states to show",
    "automaton": "head automata to show",
    "word": "word vectors",
    "word clusters": "word vectors",
}


def refuse(model: object, subject: str) -> NoReturn:
    """Say that a model has nothing of this kind to show."""
    raise SettingError(f"{a_or_an(type(model).__name__)} has no {_SUBJECTS[subject]}")
