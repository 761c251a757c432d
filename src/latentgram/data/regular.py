"""Regular expressions that cannot run for ever.

Python's `re` tries one way after the other, and for `(a+)+$` there are exponentially many; while it does, no other
thread runs and no signal is obeyed. Here all ways are followed at once (Thompson 1968): what is known of the text
so far is a set of states. This tells whether something matches, not where, which is all that a search among labels
and words needs.

**Cost.** O(characters × size of the expression); `a{3,5}` has the size of five `a`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from latentgram.errors import DataError

MOST_STATES = 10_000
"""The largest expression, with counted repetitions written out."""
MOST_NESTED = 100
"""Levels of groups in one another."""

SHOWN = 60
"""Characters of an expression that an error quotes."""

Step = Callable[[str], object]
"""Whether a character leads on."""
Place = Callable[[str, int], bool]
"""Whether a text leads on at this place without a character, as at its end."""
Part = Callable[[int], int]
"""A part of an expression: writes its states behind a given one, and gives the one where it ends."""

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?:|\{\d*,?\d*\}|.", re.DOTALL)
_COUNTS = re.compile(r"\{(\d*)(,?)(\d*)\}")
_CLASSES = frozenset("dDsSwWfnrtv")
"""Letters that stand for characters when there is a backslash before them."""


def _always(text: str, at: int) -> bool:
    return True


def _at_begin(text: str, at: int) -> bool:
    return at == 0


def _at_end(text: str, at: int) -> bool:
    return at == len(text)


def _at_boundary(text: str, at: int) -> bool:
    before, after = text[at - 1 : at] if at else "", text[at : at + 1]
    return bool(re.match(r"\w", before)) != bool(re.match(r"\w", after))


def _inside(text: str, at: int) -> bool:
    return not _at_boundary(text, at)


_PLACES: dict[str, Place] = {
    "^": _at_begin,
    r"\A": _at_begin,
    "$": _at_end,
    r"\Z": _at_end,
    r"\b": _at_boundary,
    r"\B": _inside,
}


@dataclass
class Regular:
    r"""A regular expression: characters, `.`, `[a-z]`, `\d`, `^`, `$`, `\b`, `|`, groups, `*`, `+`, `?`, `{2,3}`.

    With `(?i)` at the beginning upper and lower case are the same.

    >>> expression = Regular("^(?:NP|WHNP)(-|$)")
    >>> [expression.matches(label) for label in ("NP", "WHNP-SBJ", "NPS")]
    [True, True, False]
    >>> Regular("(a+)+$").matches("a" * 1000 + "b")
    False
    """

    text: str
    _steps: list[list[tuple[Step, int]]] = field(init=False, repr=False, default_factory=list)
    _free: list[list[tuple[Place, int]]] = field(init=False, repr=False, default_factory=list)
    _known: dict[str, bool] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.text) > MOST_STATES:
            raise self.wrong("it is too long")
        self._last = _Reader(self).whole()(self.new())

    def wrong(self, why: str) -> DataError:
        """What is wrong with the expression."""
        told = self.text if len(self.text) <= SHOWN else f"{self.text[:SHOWN]}…"
        return DataError(f"/{told}/ is not a regular expression that can be searched: {why}")

    def new(self) -> int:
        """Another state, which leads nowhere yet."""
        if len(self._steps) >= MOST_STATES:
            raise self.wrong("it is too long when its repetitions are written out")
        self._steps.append([])
        self._free.append([])
        return len(self._steps) - 1

    def lead(self, first: int, to: int, place: Place = _always) -> None:
        """Let a state lead to another without a character."""
        self._free[first].append((place, to))

    def step(self, step: Step, first: int) -> int:
        """A state that another leads to by a character."""
        end = self.new()
        self._steps[first].append((step, end))
        return end

    def matches(self, text: str) -> bool:
        """Whether something in a text matches; the answers are kept, since labels and words occur again."""
        if text not in self._known:
            self._known[text] = self._search(text)
        return self._known[text]

    def _search(self, text: str) -> bool:
        active: set[int] = set()
        for at in range(len(text) + 1):
            active = self._reached(active | {0}, text, at)
            if self._last in active:
                return True
            if at < len(text):
                active = {to for each in active for step, to in self._steps[each] if step(text[at])}
        return False

    def _reached(self, active: set[int], text: str, at: int) -> set[int]:
        """All states that some lead to without a character."""
        waiting = list(active)
        while waiting:
            for place, to in self._free[waiting.pop()]:
                if to not in active and place(text, at):
                    active.add(to)
                    waiting.append(to)
        return active


class _Reader:
    """Takes an expression to pieces."""

    def __init__(self, regular: Regular) -> None:
        self.regular = regular
        both = regular.text.startswith("(?i)")
        self.flags = re.IGNORECASE if both else re.NOFLAG
        self.tokens = [*_TOKEN.findall(regular.text.removeprefix("(?i)")), ""]
        self.at = 0

    def whole(self) -> Part:
        """The expression; an empty token is its end."""
        part = self._choice(0)
        if self.tokens[self.at]:
            raise self.regular.wrong("a bracket is closed that was not opened")
        return part

    def _take(self) -> str:
        self.at += 1
        token: str = self.tokens[self.at - 1]
        return token

    def _choice(self, depth: int) -> Part:
        if depth > MOST_NESTED:
            raise self.regular.wrong("its groups are nested too deeply")
        parts = [self._sequence(depth)]
        while self.tokens[self.at] == "|":
            self.at += 1
            parts.append(self._sequence(depth))
        return parts[0] if len(parts) == 1 else partial(self._write_choice, parts)

    def _write_choice(self, parts: list[Part], begin: int) -> int:
        end = self.regular.new()
        for part in parts:
            own = self.regular.new()
            self.regular.lead(begin, own)
            self.regular.lead(part(own), end)
        return end

    def _sequence(self, depth: int) -> Part:
        parts = []
        while self.tokens[self.at] not in ("", "|", ")"):
            parts.append(self._repeated(self._single(depth)))
        return partial(self._write_sequence, parts)

    @staticmethod
    def _write_sequence(parts: list[Part], at: int) -> int:
        for part in parts:
            at = part(at)
        return at

    def _single(self, depth: int) -> Part:
        token = self._take()
        if token in ("(", "(?:"):
            part = self._choice(depth + 1)
            if self._take() != ")":
                raise self.regular.wrong("a bracket is not closed")
            return part
        if token in _PLACES:
            return partial(self._write_place, _PLACES[token])
        return partial(self.regular.step, self._step(token))

    def _write_place(self, place: Place, begin: int) -> int:
        end = self.regular.new()
        self.regular.lead(begin, end, place)
        return end

    def _step(self, token: str) -> Step:
        """What tells whether a character is one of those that a token stands for."""
        if token in ("*", "+", "?") or _times(token):
            raise self.regular.wrong(f"there is nothing for {token} to repeat")
        if token == "[":
            raise self.regular.wrong("a [ is not closed")
        if token[0] == "\\" and (token == "\\" or (token[1].isalnum() and token[1] not in _CLASSES)):
            raise self.regular.wrong(f"{token} has no meaning here")
        special = token == "." or token[0] in "\\["
        try:
            return re.compile(token if special else re.escape(token), self.flags).fullmatch
        except re.error as error:
            raise self.regular.wrong(f"{token}: {error}") from None

    def _repeated(self, part: Part) -> Part:
        times = _times(self.tokens[self.at])
        if times is None:
            return part
        self.at += 1
        if self.tokens[self.at] == "?":  # as few as possible: whether there are any is the same
            self.at += 1
        if _times(self.tokens[self.at]):
            raise self.regular.wrong(f"there is nothing for {self.tokens[self.at]} to repeat")
        if times[1] is not None and times[1] < times[0]:
            raise self.regular.wrong("something is repeated more often at least than at most")
        return partial(self._write_repeated, part, *times)

    def _write_repeated(self, part: Part, least: int, most: int | None, at: int) -> int:
        def once(begin: int) -> int:
            own = self.regular.new()
            self.regular.lead(begin, own)
            return part(own)

        for _ in range(least):
            at = once(at)
        end = self.regular.new()
        self.regular.lead(at, end)
        if most is None:
            self.regular.lead(once(end), end)
        for _ in range((least if most is None else most) - least):
            at = once(at)
            self.regular.lead(at, end)
        return end


def _times(token: str) -> tuple[int, int | None] | None:
    """How often at least and at most something is repeated, or None if this does not say so."""
    if token in ("*", "+", "?"):
        return int(token == "+"), 1 if token == "?" else None
    counts = _COUNTS.fullmatch(token)
    if counts is None or token == "{}":
        return None
    least, more, most = (counts[1][:6], counts[2], counts[3][:6])
    first = int(least or 0)
    return first, (int(most) if most else None) if more else first
